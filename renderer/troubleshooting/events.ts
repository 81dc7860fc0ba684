import type { TroubleEvent } from "../../shared/api/contract.ts";

export type Shown = "all" | "problems" | "slow";

const kept = 1_000;

/** The newest, oldest first. After a lost link the services tell the last ones again: those are known already. */
export function keep(before: readonly TroubleEvent[], fresh: readonly TroubleEvent[]): readonly TroubleEvent[] {
  const keyOf = (event: TroubleEvent) => `${event.at} ${event.host} ${event.what} ${event.durationMs}`;
  const known = new Set(before.map(keyOf));
  return [...before, ...fresh.filter((event) => !known.has(keyOf(event)))].slice(-kept);
}

export function matching(events: readonly TroubleEvent[], shown: Shown, filter: string): readonly TroubleEvent[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return events.filter((event) => {
    if (shown === "problems" && event.level === "info") return false;
    if (shown === "slow" && event.durationMs === null) return false;
    const text =
      `${event.host ?? ""} ${event.what} ${event.error?.code ?? ""} ${event.error?.message ?? ""}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

export function slowestFirst(events: readonly TroubleEvent[]): readonly TroubleEvent[] {
  return events.toSorted((a, b) => (b.durationMs ?? 0) - (a.durationMs ?? 0));
}

export function exportName(now: Date): string {
  return `tessera-events-${now.toISOString().slice(0, 19).replaceAll(":", "")}.json`;
}

/** Days as a date field has them, `2026-05-06`, and the instants they begin at by the clock of this machine. */

/** When the day that lies `later` days after this one begins, in ISO 8601; null where the text is no day. */
export function beginningOf(day: string, later = 0): string | null {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day);
  if (match === null) return null;
  const [year, month, date] = match.slice(1).map(Number) as [number, number, number];
  // A day may have 23 or 25 hours: the calendar counts, not the hours.
  if (new Date(year, month - 1, date).getDate() !== date) return null;
  return new Date(year, month - 1, date + later).toISOString();
}

export interface SlurmSpan {
  readonly kind: "chosen" | "recent";
  /** What the host is asked for: whole days by UTC, at least those that were chosen. */
  readonly ask: { readonly since?: string; readonly until?: string };
}

/** Where no day is chosen, Slurm's own transactions reach back this far: a cluster keeps years of them. */
export const recentDays = 30;

/** The days of Slurm's transactions that belong beside the chosen days of the ledger. */
export function slurmSpan(firstDay: string, lastDay: string, now: Date): SlurmSpan {
  const [from, to] = [beginningOf(firstDay), beginningOf(lastDay, 1)];
  if (from === null && to === null) {
    return { kind: "recent", ask: { since: utcDay(now.getTime() - recentDays * 86_400_000) } };
  }
  return {
    kind: "chosen",
    ask: {
      ...(from === null ? {} : { since: utcDay(Date.parse(from)) }),
      ...(to === null ? {} : { until: utcDay(Date.parse(to) - 1) }),
    },
  };
}

function utcDay(instantMs: number): string {
  return new Date(instantMs).toISOString().slice(0, 10);
}

/** A cluster as a small table for a terminal. */
import type { ClusterSnapshot, HostView } from "../../shared/api/snapshot.ts";
import type { Gpu } from "../../shared/protocol/inventory.ts";

export interface Counts {
  readonly gpus: number;
  readonly migEnabled: number;
  readonly instances: number;
  readonly freeInstances: number;
  /** GPUs that are whole, work, and that nobody holds. */
  readonly freeCards: number;
}

const none: Counts = { gpus: 0, migEnabled: 0, instances: 0, freeInstances: 0, freeCards: 0 };
/** Longer clusters are summed up below. */
const shownHosts = 24;

export function countsOf(gpus: readonly Gpu[]): Counts {
  return {
    gpus: gpus.length,
    migEnabled: gpus.filter((gpu) => gpu.mig.current === "enabled").length,
    instances: gpus.reduce((sum, gpu) => sum + gpu.instances.length, 0),
    freeInstances: gpus.reduce((sum, gpu) => sum + gpu.instances.filter((i) => i.holder === null).length, 0),
    freeCards: gpus.filter(isWholeAndFree).length,
  };
}

function isWholeAndFree(gpu: Gpu): boolean {
  return gpu.state.kind === "ok" && gpu.instances.length === 0 && gpu.holder === null && gpu.processes.length === 0;
}

/** Whether every host has come to where it stays without help: nothing is connecting or loading. */
export function isSettled(snapshot: ClusterSnapshot): boolean {
  return snapshot.hosts.every(({ state }) => !["not-connected", "connecting", "loading"].includes(state.kind));
}

export function summaryOf(snapshot: ClusterSnapshot): string {
  const live = snapshot.hosts.filter((host) => host.state.kind === "live").length;
  const rows = snapshot.hosts.slice(0, shownHosts).map(rowOf);
  const total = snapshot.hosts.map((host) => countsOf(host.inventory?.gpus ?? [])).reduce(plus, none);
  const more = snapshot.hosts.length - rows.length;
  return [
    `Cluster ${snapshot.name}: ${live} of ${counted(snapshot.hosts.length, "host")} live`,
    "",
    ...table([
      ["HOST", "STATE", "GPU MODEL", "GPUS", "MIG ON", "INSTANCES", "FREE", "WHOLE CARDS FREE"],
      ...rows,
      ...(more > 0 ? [[`... ${more} more`, "", "", "", "", "", "", ""]] : []),
      ["total", "", "", ...cellsOf(total)],
    ]),
    ...reasonsOf(snapshot.hosts),
  ].join("\n");
}

/** Each reason once, with the hosts it is about. */
function reasonsOf(hosts: readonly HostView[]): readonly string[] {
  const reasons = new Map<string, string[]>();
  for (const { name, state } of hosts) {
    if (state.kind !== "unreachable" && state.kind !== "refused") continue;
    const reason = state.error.message.replaceAll(name, "the host");
    reasons.set(reason, [...(reasons.get(reason) ?? []), name]);
  }
  if (reasons.size === 0) return [];
  const lines = [...reasons].map(([reason, names]) => {
    const more = names.length > 3 ? ` and ${names.length - 3} more` : "";
    return `${names.slice(0, 3).join(", ")}${more}: ${reason}`;
  });
  return ["", ...lines];
}

function rowOf(host: HostView): readonly string[] {
  const state = host.state.kind === "connecting" ? host.state.phase : host.state.kind;
  if (host.inventory === null) return [host.name, state, "-", "-", "-", "-", "-", "-"];
  const models = [...new Set(host.inventory.gpus.map((gpu) => gpu.name.replace(/^NVIDIA /, "")))].filter(
    // A lost GPU has no name.
    (model) => model !== "",
  );
  return [host.name, state, models.join(", ") || "-", ...cellsOf(countsOf(host.inventory.gpus))];
}

function cellsOf(counts: Counts): readonly string[] {
  return [counts.gpus, counts.migEnabled, counts.instances, counts.freeInstances, counts.freeCards].map(String);
}

function plus(a: Counts, b: Counts): Counts {
  return {
    gpus: a.gpus + b.gpus,
    migEnabled: a.migEnabled + b.migEnabled,
    instances: a.instances + b.instances,
    freeInstances: a.freeInstances + b.freeInstances,
    freeCards: a.freeCards + b.freeCards,
  };
}

/** Columns as wide as their widest cell; numbers to the right. */
export function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows.map((row) =>
    widths
      .map((width, column) => {
        const cell = row[column] ?? "";
        return column < 3 ? cell.padEnd(width) : cell.padStart(width);
      })
      .join("  ")
      .trimEnd(),
  );
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

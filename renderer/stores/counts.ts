/** The numbers of the top bar, summed over the hosts. */
import type { HostView } from "../../shared/api/snapshot.ts";
import { cachedCells } from "../board/cells.ts";
import { profiles, tenants } from "./colouring.ts";

export interface Counts {
  readonly hosts: number;
  readonly liveHosts: number;
  readonly connectingHosts: number;
  readonly troubledHosts: number;
  readonly gpus: number;
  readonly wholeFree: number;
  readonly broken: number;
  /** Share of all GPUs that somebody holds, 0 to 1; null while no GPU is known. */
  readonly held: number | null;
  /** Share of all GPUs that works; null where the use of less than half of what is held is known. */
  readonly used: number | null;
  /** Share of what is held of which the use is known. */
  readonly known: number;
  /** ISO 8601: the oldest of what the live hosts have told. */
  readonly asOf: string | null;
}

export function countsOf(hosts: Iterable<HostView>): Counts {
  let hostCount = 0;
  let liveHosts = 0;
  let connectingHosts = 0;
  let troubledHosts = 0;
  let asOf: string | null = null;
  const sum = { gpus: 0, wholeFree: 0, broken: 0, held: 0, heldKnown: 0, used: 0 };
  for (const host of hosts) {
    hostCount += 1;
    const { kind } = host.state;
    if (kind === "live") {
      liveHosts += 1;
      if (host.asOf !== null && (asOf === null || host.asOf < asOf)) asOf = host.asOf;
    } else if (kind === "connecting" || kind === "loading") connectingHosts += 1;
    else if (kind !== "not-connected") troubledHosts += 1;
    if (host.inventory === null) continue;
    const { totals } = cachedCells(host.inventory, tenants, profiles);
    sum.gpus += totals.gpus;
    sum.wholeFree += totals.wholeFree;
    sum.broken += totals.broken;
    sum.held += totals.held;
    sum.heldKnown += totals.heldKnown;
    sum.used += totals.used;
  }
  const known = sum.held === 0 ? 1 : sum.heldKnown / sum.held;
  return {
    hosts: hostCount,
    liveHosts,
    connectingHosts,
    troubledHosts,
    gpus: sum.gpus,
    wholeFree: sum.wholeFree,
    broken: sum.broken,
    held: sum.gpus === 0 ? null : sum.held / sum.gpus,
    // What is not known is taken to work as the rest does, as long as the rest is most of it.
    used: sum.gpus === 0 || known < 0.5 ? null : sum.used / known / sum.gpus,
    known,
    asOf,
  };
}

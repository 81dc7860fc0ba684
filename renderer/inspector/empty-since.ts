/**
 * Since when an instance has stood empty. The driver does not say, so it is what this console has seen itself:
 * the time it saw the holder leave, or null where it was empty when first seen.
 */
import type { HostView } from "../../shared/api/snapshot.ts";
import { isInUse } from "../partition/facts.ts";
import { useSnapshot } from "../stores/snapshot.ts";

type Seen = Map<string, { readonly empty: boolean; readonly since: number | null }>;

function keyOf(gpuUuid: string, start: number, profileId: number): string {
  return `${gpuUuid} ${start} ${profileId}`;
}

/** Takes one host's inventory into account. */
export function observe(seen: Seen, host: HostView): void {
  const at = host.asOf === null ? Number.NaN : Date.parse(host.asOf);
  for (const gpu of host.inventory?.gpus ?? []) {
    for (const instance of gpu.instances) {
      const key = keyOf(gpu.uuid, instance.placement.start, instance.profileId);
      const empty = !isInUse(gpu, instance);
      const before = seen.get(key);
      if (before?.empty === empty) continue;
      seen.set(key, { empty, since: before === undefined || Number.isNaN(at) ? null : at });
    }
  }
}

const afterNewsMs = 500;
const session: Seen = new Map();
let observing = false;

export function emptySince(gpuUuid: string, start: number, profileId: number): number | null {
  return session.get(keyOf(gpuUuid, start, profileId))?.since ?? null;
}

/** Begins to watch the snapshot; later calls do nothing. */
export function observeSnapshots(): void {
  if (observing) return;
  observing = true;
  for (const host of useSnapshot.getState().hosts.values()) observe(session, host);
  // Well after the frame that shows the news, a little at a time: a thousand hosts at once are some fifty thousand
  // instances, and nobody looks at them yet.
  const waiting = new Map<string, HostView>();
  const work = (deadline: IdleDeadline) => {
    for (const [id, host] of waiting) {
      if (deadline.timeRemaining() < 2) break;
      waiting.delete(id);
      observe(session, host);
    }
    if (waiting.size > 0) requestIdleCallback(work);
  };
  useSnapshot.subscribe((state, before) => {
    if (state.hosts === before.hosts) return;
    const asked = waiting.size > 0;
    for (const [id, host] of state.hosts) {
      if (before.hosts.get(id)?.inventory !== host.inventory) waiting.set(id, host);
    }
    if (!asked && waiting.size > 0) setTimeout(() => requestIdleCallback(work), afterNewsMs);
  });
}

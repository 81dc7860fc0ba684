import type { Allocation, ClusterHost, PlanOptions } from "./types.ts";

export type MovingLimits = Pick<PlanOptions, "tenants" | "hosts" | "at" | "leaveEndingWithinSeconds">;

/** Whether a plan within these limits may touch the host at all. */
export function isTouchable(host: ClusterHost, limits: MovingLimits): boolean {
  return limits.hosts === null || limits.hosts.includes(host.name);
}

/**
 * Whether an instance on a touchable host may be moved: it says so itself, its tenant is among those asked, the time lies in
 * its window, and it does not end by itself soon after. Everything else waits, and counts as unmovable.
 */
export function mayMove(allocation: Allocation, limits: MovingLimits): boolean {
  if (!allocation.movable) return false;
  if (limits.tenants !== null && (allocation.tenant === null || !limits.tenants.includes(allocation.tenant)))
    return false;
  if (limits.at === null) return true;
  const at = Date.parse(limits.at);
  const { movableFrom, movableUntil, endsAt } = allocation;
  if (movableFrom !== null && at < Date.parse(movableFrom)) return false;
  if (movableUntil !== null && at >= Date.parse(movableUntil)) return false;
  return endsAt === null || Date.parse(endsAt) > at + limits.leaveEndingWithinSeconds * 1000;
}

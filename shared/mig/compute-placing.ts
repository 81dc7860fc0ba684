import { sortedByStart, unknownNumber } from "./layout.ts";
import { maskOf } from "./occupancy.ts";
import type { GpuInstanceProfile, LayoutComputeInstance } from "./types.ts";

const place = (item: { readonly profileId: number; readonly start: number }): string =>
  `${item.profileId}@${item.start}`;

export function sameComputeInstances(
  a: readonly LayoutComputeInstance[],
  b: readonly LayoutComputeInstance[],
): boolean {
  return sortedByStart(a).map(place).join() === sortedByStart(b).map(place).join();
}

/** What the driver did not say cannot be compared, and cannot be asked for. */
export function isUnknown(computeInstance: LayoutComputeInstance): boolean {
  return computeInstance.profileId === unknownNumber || computeInstance.start === unknownNumber;
}

/**
 * Where compute instances come to lie that are created in this order beside those that are there. `-cci` takes no placement:
 * the driver takes the lowest start that is free. Ascending by wanted start is the best order, because only what lies below
 * a start can keep the driver from choosing lower; and whoever is moved is moved down, so all still fit.
 */
export function placedByDriver(
  profile: GpuInstanceProfile,
  present: readonly LayoutComputeInstance[],
  wanted: readonly LayoutComputeInstance[],
): readonly LayoutComputeInstance[] {
  const known = new Map(profile.computeInstanceProfiles.map((candidate) => [candidate.id, candidate]));
  const take = ({ profileId, start }: LayoutComputeInstance) =>
    start < 0 ? 0 : maskOf(start, known.get(profileId)?.computeSlices ?? 0);
  let taken = present.reduce((mask, one) => mask | take(one), 0);
  return sortedByStart(wanted).map(({ profileId, start }) => {
    const isFree = (candidate: number) => (take({ profileId, start: candidate }) & taken) === 0;
    const chosen = { profileId, start: known.get(profileId)?.starts.find(isFree) ?? start };
    taken |= take(chosen);
    return chosen;
  });
}

/** What has to happen inside one GPU instance that stays. */
export interface ComputeChange {
  readonly removed: readonly LayoutComputeInstance[];
  /** In the order of creation, where the driver will put them. */
  readonly added: readonly LayoutComputeInstance[];
  readonly left: readonly LayoutComputeInstance[];
}

/**
 * The fewest changes from `before` to `wanted`; null when there is nothing to do. That is also so when the same sizes stand
 * elsewhere and the driver could not be brought to put them where they are wanted: else the same plan would be made
 * again and again.
 */
export function computeChange(
  profile: GpuInstanceProfile,
  before: readonly LayoutComputeInstance[],
  wanted: readonly LayoutComputeInstance[],
): ComputeChange | null {
  if (sameComputeInstances(before, wanted)) return null;
  const wantedPlaces = new Set(wanted.map(place));
  const left = before.filter((one) => wantedPlaces.has(place(one)));
  const leftPlaces = new Set(left.map(place));
  const missing = wanted.filter((one) => !leftPlaces.has(place(one)));
  const added = placedByDriver(profile, left, missing);
  const sizes = (list: readonly LayoutComputeInstance[]) =>
    list.map(({ profileId }) => profileId).sort((a, b) => a - b);
  const sameSizes = sizes(before).join() === sizes(wanted).join();
  if (sameSizes && !sameComputeInstances(added, missing)) return null;
  return { removed: before.filter((one) => !wantedPlaces.has(place(one))), added, left };
}

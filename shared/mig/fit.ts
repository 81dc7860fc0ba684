import { sortedByStart } from "./layout.ts";
import {
  alternatives,
  indexOf,
  isFree,
  mayAdd,
  missingEngine,
  type Occupancy,
  occupancyOf,
  startsIn,
  withInstance,
} from "./occupancy.ts";
import { refuse } from "./refusal.ts";
import { checkLayout } from "./rules.ts";
import type { GpuGeometry, GpuInstanceProfile, Layout, LayoutInstance, Refusal } from "./types.ts";

/** How much more of one profile a layout takes. */
export interface Fit {
  readonly profileId: number;
  readonly profile: string;
  /** Memory slices at which the next one may start. */
  readonly starts: readonly number[];
  /** How many more can exist at the same time, nothing else being added. */
  readonly capacity: number;
}

/**
 * How many more of this profile fit. All its placements have one width, so taking the lowest free start again and
 * again gives the most.
 */
function capacityIn(geometry: GpuGeometry, occupancy: Occupancy, profile: GpuInstanceProfile): number {
  let filled = occupancy;
  let count = 0;
  for (const start of profile.starts) {
    if (!isFree(filled, profile, start)) continue;
    if (!mayAdd(geometry, filled, profile)) break;
    filled = withInstance(filled, profile, start);
    count += 1;
  }
  return count;
}

/** For every profile of the GPU, in its order: how many more fit beside what is there, and where the next may start. */
export function whatFits(geometry: GpuGeometry, layout: Layout): readonly Fit[] {
  const occupancy = occupancyOf(geometry, layout.instances);
  return geometry.profiles.map((profile) => ({
    profileId: profile.id,
    profile: profile.name,
    starts: startsIn(geometry, occupancy, profile),
    capacity: capacityIn(geometry, occupancy, profile),
  }));
}

/** The profiles whose room is worth keeping, the largest first: one for each size, the plain one. */
function sizesOf(geometry: GpuGeometry): readonly GpuInstanceProfile[] {
  return geometry.profiles
    .filter((profile) => profile.media === "default" && !profile.graphics)
    .toSorted((a, b) => b.computeSlices - a.computeSlices || b.memorySlices - a.memorySlices);
}

type Score = readonly number[];

/** Compares room for the largest profile first; at the same room the lower starts win. */
function isBetter(a: Score, b: Score): boolean {
  for (const [position, value] of a.entries()) {
    const other = b[position] ?? 0;
    if (value !== other) return value > other;
  }
  return false;
}

interface Best {
  readonly score: Score;
  readonly starts: readonly number[];
}

function search(geometry: GpuGeometry, fixed: Occupancy, profiles: readonly GpuInstanceProfile[]): Best | null {
  const sizes = sizesOf(geometry);
  let best: Best | null = null;
  const starts: number[] = [];
  const visit = (occupancy: Occupancy, position: number): void => {
    const profile = profiles[position];
    if (profile === undefined) {
      const score = sizes.map((size) => capacityIn(geometry, occupancy, size));
      if (best === null || isBetter(score, best.score)) best = { score, starts: [...starts] };
      return;
    }
    if (!mayAdd(geometry, occupancy, profile)) return;
    // Two of one profile are the same two, whichever comes first.
    const previous = profiles[position - 1]?.id === profile.id ? (starts[position - 1] ?? -1) : -1;
    for (const start of profile.starts) {
      if (start <= previous || !isFree(occupancy, profile, start)) continue;
      starts.push(start);
      visit(withInstance(occupancy, profile, start), position + 1);
      starts.pop();
    }
  };
  visit(fixed, 0);
  return best;
}

/**
 * Why these do not fit together: as many as can be are placed, the largest first, and the next one is explained. Whether it
 * fails by a rule or for want of room does not depend on where the others lie, since every place was tried for them.
 */
function whyNot(geometry: GpuGeometry, fixed: Occupancy, profiles: readonly GpuInstanceProfile[]): Refusal {
  let placeable = profiles.length - 1;
  let best = search(geometry, fixed, profiles.slice(0, placeable));
  while (best === null && placeable > 0) {
    placeable -= 1;
    best = search(geometry, fixed, profiles.slice(0, placeable));
  }
  const placed = profiles.slice(0, placeable);
  const starts = best?.starts ?? [];
  const filled = placed.reduce(
    (occupancy, profile, position) => withInstance(occupancy, profile, starts[position] ?? 0),
    fixed,
  );
  const failing = profiles[placeable];
  if (failing === undefined) return refuse({ rule: "no-room", profile: "", wanted: 0, fits: 0 });
  const instead = alternatives(geometry, filled, failing, 0);
  const { name, maxInstances } = failing;
  if ((filled.counts.get(failing.id) ?? 0) >= maxInstances) {
    const all = (fixed.counts.get(failing.id) ?? 0) + profiles.filter(({ id }) => id === failing.id).length;
    return refuse({ rule: "too-many", profile: name, maxInstances, wanted: all }, instead);
  }
  const wanted = profiles.reduce((sum, profile) => sum + profile.computeSlices, fixed.computeSlices);
  if (filled.computeSlices + failing.computeSlices > geometry.computeSlices) {
    return refuse({ rule: "compute-slices", wanted, available: geometry.computeSlices }, instead);
  }
  const engine = missingEngine(geometry, filled, failing);
  if (engine !== null) {
    const present = [...filled.counts.keys()].flatMap((id) => indexOf(geometry).profiles.get(id) ?? []);
    const largest = present.toSorted((a, b) => (b.engines[engine] ?? 0) - (a.engines[engine] ?? 0))[0];
    return refuse({ rule: "media-engines", profile: name, otherProfile: largest?.name ?? name }, instead);
  }
  const alike = (list: readonly GpuInstanceProfile[]) => list.filter((profile) => profile.id === failing.id).length;
  return refuse({ rule: "no-room", profile: name, wanted: alike(profiles), fits: alike(placed) }, instead);
}

/**
 * Finds a place for each of these profiles around instances that stay, looking at every possibility: if there is
 * one, it is found. Of several it takes the one that leaves the most room for the largest profiles, then the lowest starts: the
 * same question always has the same answer. Fixed instances are kept as given.
 */
export function placeProfiles(
  geometry: GpuGeometry,
  fixed: readonly LayoutInstance[],
  profileIds: readonly number[],
): Layout | Refusal {
  const { profiles: known } = indexOf(geometry);
  const unknown = profileIds.find((profileId) => !known.has(profileId));
  if (unknown !== undefined) {
    return refuse({
      rule: "unknown-profile",
      profileId: unknown,
      known: geometry.profiles.map((profile) => profile.name),
    });
  }
  const [broken] = checkLayout(geometry, { migEnabled: true, instances: fixed });
  if (broken !== undefined) return broken;
  const profiles = profileIds
    .flatMap((profileId) => known.get(profileId) ?? [])
    .toSorted((a, b) => b.memorySlices - a.memorySlices || b.computeSlices - a.computeSlices || a.id - b.id);
  const occupancy = occupancyOf(geometry, fixed);
  const best = search(geometry, occupancy, profiles);
  if (best === null) return whyNot(geometry, occupancy, profiles);
  const placed = profiles.map((profile, position) => ({ profileId: profile.id, start: best.starts[position] ?? 0 }));
  return { migEnabled: true, instances: sortedByStart([...fixed, ...placed]) };
}

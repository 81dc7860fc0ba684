/**
 * What a set of instances takes of a GPU, as one mask and a few sums: the one place where the rules of
 * "may this be added" are counted. Fast enough to ask for every placement while something is dragged.
 */
import type { GpuGeometry, GpuInstanceProfile, LayoutInstance, Refusal } from "./types.ts";

export const mediaEngineKinds = ["decoder", "encoder", "jpeg", "opticalFlow"] as const;
export type MediaEngineKind = (typeof mediaEngineKinds)[number];
export type EngineTotals = Readonly<Record<MediaEngineKind, number>>;

/** What is looked up again and again, made once for each geometry. */
interface GeometryIndex {
  readonly profiles: ReadonlyMap<number, GpuInstanceProfile>;
  readonly engineTotals: EngineTotals;
  /** Filled as it is asked: the other profiles by likeness to the one of that ID. */
  readonly alike: Map<number | undefined, readonly GpuInstanceProfile[]>;
}

const indexes = new WeakMap<GpuGeometry, GeometryIndex>();

/**
 * The media engines of the whole GPU are those of the profiles that take all of it. Where no listing shows
 * them, or it was cut before them, the number is infinite: the rule then cannot forbid anything, and the driver decides.
 */
function engineTotal(geometry: GpuGeometry, kind: MediaEngineKind): number {
  const whole = geometry.profiles.filter(
    (profile) => profile.computeSlices === geometry.computeSlices && profile.memorySlices === geometry.memorySlices,
  );
  const amounts = whole.map((profile) => profile.engines[kind] ?? Number.POSITIVE_INFINITY);
  return amounts.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...amounts);
}

export function indexOf(geometry: GpuGeometry): GeometryIndex {
  const known = indexes.get(geometry);
  if (known !== undefined) return known;
  const index: GeometryIndex = {
    profiles: new Map(geometry.profiles.map((profile) => [profile.id, profile])),
    engineTotals: {
      decoder: engineTotal(geometry, "decoder"),
      encoder: engineTotal(geometry, "encoder"),
      jpeg: engineTotal(geometry, "jpeg"),
      opticalFlow: engineTotal(geometry, "opticalFlow"),
    },
    alike: new Map(),
  };
  indexes.set(geometry, index);
  return index;
}

export interface Occupancy {
  /** Bit n is set when memory slice n is taken. */
  readonly memory: number;
  readonly computeSlices: number;
  readonly counts: ReadonlyMap<number, number>;
  readonly engines: EngineTotals;
}

export const nothing: Occupancy = {
  memory: 0,
  computeSlices: 0,
  counts: new Map(),
  engines: { decoder: 0, encoder: 0, jpeg: 0, opticalFlow: 0 },
};

/** Memory slices of a placement as a mask. GPUs have at most 12; a mask holds 31. */
export function maskOf(start: number, size: number): number {
  return ((1 << size) - 1) << start;
}

export function withInstance(occupancy: Occupancy, profile: GpuInstanceProfile, start: number): Occupancy {
  const { engines } = occupancy;
  return {
    memory: occupancy.memory | maskOf(start, profile.memorySlices),
    computeSlices: occupancy.computeSlices + profile.computeSlices,
    counts: new Map(occupancy.counts).set(profile.id, (occupancy.counts.get(profile.id) ?? 0) + 1),
    engines: {
      decoder: engines.decoder + (profile.engines.decoder ?? 0),
      encoder: engines.encoder + (profile.engines.encoder ?? 0),
      jpeg: engines.jpeg + (profile.engines.jpeg ?? 0),
      opticalFlow: engines.opticalFlow + (profile.engines.opticalFlow ?? 0),
    },
  };
}

/** What the instances take together; those of a profile that the geometry does not know take nothing. */
export function occupancyOf(geometry: GpuGeometry, instances: readonly LayoutInstance[]): Occupancy {
  const { profiles } = indexOf(geometry);
  // Summed in place: this is asked at every move of a pointer, and a copy for each instance was most of its time.
  const engines = { decoder: 0, encoder: 0, jpeg: 0, opticalFlow: 0 };
  const counts = new Map<number, number>();
  let memory = 0;
  let computeSlices = 0;
  for (const { profileId, start } of instances) {
    const profile = profiles.get(profileId);
    if (profile === undefined) continue;
    memory |= maskOf(start, profile.memorySlices);
    computeSlices += profile.computeSlices;
    counts.set(profileId, (counts.get(profileId) ?? 0) + 1);
    for (const kind of mediaEngineKinds) engines[kind] += profile.engines[kind] ?? 0;
  }
  return { memory, computeSlices, counts, engines };
}

/** The media engine that one more of this profile would have too few of; null when there are enough. */
export function missingEngine(
  geometry: GpuGeometry,
  occupancy: Occupancy,
  profile: GpuInstanceProfile,
): MediaEngineKind | null {
  const totals = indexOf(geometry).engineTotals;
  // A profile that asks for none is never in the way, even where the others already take too much.
  const missing = mediaEngineKinds.find((kind) => {
    const asked = profile.engines[kind] ?? 0;
    return asked > 0 && occupancy.engines[kind] + asked > totals[kind];
  });
  return missing ?? null;
}

/** Whether one more of this profile may exist at all, wherever it lies. */
export function mayAdd(geometry: GpuGeometry, occupancy: Occupancy, profile: GpuInstanceProfile): boolean {
  return (
    (occupancy.counts.get(profile.id) ?? 0) < profile.maxInstances &&
    occupancy.computeSlices + profile.computeSlices <= geometry.computeSlices &&
    missingEngine(geometry, occupancy, profile) === null
  );
}

export function isFree(occupancy: Occupancy, profile: GpuInstanceProfile, start: number): boolean {
  return (occupancy.memory & maskOf(start, profile.memorySlices)) === 0;
}

/** Every start at which one more of this profile is legal. */
export function startsIn(geometry: GpuGeometry, occupancy: Occupancy, profile: GpuInstanceProfile): readonly number[] {
  if (!mayAdd(geometry, occupancy, profile)) return [];
  return profile.starts.filter((start) => isFree(occupancy, profile, start));
}

const offers = 5;

/** The other profiles, the most alike in size and kind first; without a profile to compare with, the largest first. */
function othersLike(geometry: GpuGeometry, profile: GpuInstanceProfile | undefined): readonly GpuInstanceProfile[] {
  const { alike } = indexOf(geometry);
  const known = alike.get(profile?.id);
  if (known !== undefined) return known;
  const unlike = (other: GpuInstanceProfile) =>
    profile === undefined
      ? -other.computeSlices
      : Math.abs(other.computeSlices - profile.computeSlices) * 8 +
        Math.abs(other.memorySlices - profile.memorySlices) * 2 +
        (other.media === profile.media ? 0 : 4) +
        (other.graphics === profile.graphics ? 0 : 4);
  const others = geometry.profiles
    .filter((other) => other.id !== profile?.id)
    .toSorted((a, b) => unlike(a) - unlike(b) || b.id - a.id);
  alike.set(profile?.id, others);
  return others;
}

/**
 * What is legal instead of `profile` at `start`: the same profile elsewhere first, nearest first; then other
 * profiles, the most alike in size and kind first, each at its nearest start.
 */
export function alternatives(
  geometry: GpuGeometry,
  occupancy: Occupancy,
  profile: GpuInstanceProfile | undefined,
  start: number,
): Refusal["instead"] {
  const near = (a: number, b: number) => Math.abs(a - start) - Math.abs(b - start) || a - b;
  const same = profile === undefined ? [] : startsIn(geometry, occupancy, profile).toSorted(near);
  const found = same.slice(0, offers).map((legal) => ({ profile: profile?.name ?? "", start: legal }));
  for (const other of othersLike(geometry, profile)) {
    if (found.length >= offers) break;
    const nearest = startsIn(geometry, occupancy, other).toSorted(near)[0];
    if (nearest !== undefined) found.push({ profile: other.name, start: nearest });
  }
  return found;
}

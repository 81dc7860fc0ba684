/** Where instances go and how they are numbered: the model of the driver's own choice. */
import type { ComputeInstanceProfile, GpuGeometry, GpuInstanceProfile } from "../../../shared/mig/types.ts";
import type { SimulatedComputeInstance, SimulatedGpuInstance } from "./state.ts";

export function profileById(geometry: GpuGeometry, id: number): GpuInstanceProfile {
  const found = geometry.profiles.find((profile) => profile.id === id);
  if (found === undefined) throw new RangeError(`${geometry.key} has no profile ${id}`);
  return found;
}

export function computeProfileById(profile: GpuInstanceProfile, id: number): ComputeInstanceProfile {
  const found = profile.computeInstanceProfiles.find((candidate) => candidate.id === id);
  if (found === undefined) throw new RangeError(`${profile.name} has no compute instance profile ${id}`);
  return found;
}

/** The compute instance profile that fills a GPU instance: what `-C` makes. */
export function fillingProfile(profile: GpuInstanceProfile): ComputeInstanceProfile {
  const found = profile.computeInstanceProfiles.find((candidate) => candidate.computeSlices === profile.computeSlices);
  if (found === undefined) throw new RangeError(`${profile.name} has no compute instance profile that fills it`);
  return found;
}

type Covered = { readonly profileId: number; readonly start: number };

function overlaps(start: number, size: number, otherStart: number, otherSize: number): boolean {
  return start < otherStart + otherSize && otherStart < start + size;
}

/** Whether an instance of the profile fits at `start` beside those that exist. */
export function fits(
  geometry: GpuGeometry,
  existing: readonly Covered[],
  profile: GpuInstanceProfile,
  start: number,
): boolean {
  let computeSlices = profile.computeSlices;
  let same = 0;
  for (const other of existing) {
    const otherProfile = profileById(geometry, other.profileId);
    if (overlaps(start, profile.memorySlices, other.start, otherProfile.memorySlices)) return false;
    if (profile.media === "extended" && otherProfile.media === "extended") return false;
    computeSlices += otherProfile.computeSlices;
    if (other.profileId === profile.id) same += 1;
  }
  return computeSlices <= geometry.computeSlices && same < profile.maxInstances;
}

/** The first free start, or null where the profile fits nowhere. */
export function firstStart(
  geometry: GpuGeometry,
  existing: readonly Covered[],
  profile: GpuInstanceProfile,
): number | null {
  return profile.starts.find((start) => fits(geometry, existing, profile, start)) ?? null;
}

/** How many more instances of the profile could be made now: the "Free" of `-lgip`. */
export function freeCount(geometry: GpuGeometry, existing: readonly Covered[], profile: GpuInstanceProfile): number {
  const trial: Covered[] = [...existing];
  for (const start of profile.starts) {
    if (fits(geometry, trial, profile, start)) trial.push({ profileId: profile.id, start });
  }
  return trial.length - existing.length;
}

/**
 * GPU instance IDs number the halves, quarters and eighths of the memory from left to right: 0 is the whole
 * GPU, 1 and 2 its halves, 3 to 6 its quarters, 7 to 14 its eighths. Taken IDs (a half that is not a power
 * of two) move on to the next free one.
 */
export function instanceId(
  geometry: GpuGeometry,
  existing: readonly SimulatedGpuInstance[],
  profile: GpuInstanceProfile,
  start: number,
): number {
  const level = Math.round(Math.log2(geometry.memorySlices / profile.memorySlices));
  let id = 2 ** level - 1 + Math.floor(start / profile.memorySlices);
  while (existing.some((instance) => instance.id === id)) id += 1;
  return id;
}

export function computeFits(
  profile: GpuInstanceProfile,
  existing: readonly Covered[],
  wanted: ComputeInstanceProfile,
  start: number,
): boolean {
  return existing.every(
    (other) =>
      !overlaps(start, wanted.computeSlices, other.start, computeProfileById(profile, other.profileId).computeSlices),
  );
}

export function firstComputeStart(
  profile: GpuInstanceProfile,
  existing: readonly Covered[],
  wanted: ComputeInstanceProfile,
): number | null {
  return wanted.starts.find((start) => computeFits(profile, existing, wanted, start)) ?? null;
}

export function freeComputeCount(
  profile: GpuInstanceProfile,
  existing: readonly Covered[],
  wanted: ComputeInstanceProfile,
): number {
  const trial: Covered[] = [...existing];
  for (const start of wanted.starts) {
    if (computeFits(profile, trial, wanted, start)) trial.push({ profileId: wanted.id, start });
  }
  return trial.length - existing.length;
}

/** Compute instances take the lowest free ID. */
export function computeInstanceId(existing: readonly SimulatedComputeInstance[]): number {
  let id = 0;
  while (existing.some((instance) => instance.id === id)) id += 1;
  return id;
}

import type { ComputeInstanceProfile, GpuInstanceProfile } from "./types.ts";

/**
 * Compute instance profile IDs by their compute slices, as `-lcip` lists them (`NVML_COMPUTE_INSTANCE_PROFILE_*`):
 * the number is the same on every GPU, only the double-memory 1g is filled by another one (7).
 */
const idOfSize: Readonly<Record<number, number>> = { 1: 0, 2: 1, 3: 2, 4: 3, 7: 4, 8: 5, 6: 6 };

/** A compute instance starts at a multiple of its width rounded up to a power of two: 3c at 0 and 4, not at 3. */
function alignment(slices: number): number {
  let step = 1;
  while (step < slices) step *= 2;
  return step;
}

/** Every start from 0 at which an instance of `width` lies inside `total` slices, aligned by `step`. */
export function alignedStarts(width: number, total: number, step: number): readonly number[] {
  const starts: number[] = [];
  for (let start = 0; start + width <= total; start += step) starts.push(start);
  return starts;
}

/**
 * The compute instance profiles inside a GPU instance, by the rule that all `-lcip` listings follow: sizes 1, 2, 3, 4
 * and 7 that fit, and of those only the full size of a 4g leaves out 3. `multiprocessorsPerSlice` is null where unknown.
 */
export function deriveComputeProfiles(profile: {
  readonly name: string;
  readonly computeSlices: number;
  readonly multiprocessors: number | null;
  readonly multiprocessorsPerSlice: number | null;
  readonly fillProfileId?: number | undefined;
}): readonly ComputeInstanceProfile[] {
  const total = profile.computeSlices;
  const partial = [1, 2, 3, 4].filter((slices) => slices < total && !(slices === 3 && total === 4));
  const profiles = [...partial, total].map((slices): ComputeInstanceProfile => {
    const fills = slices === total;
    const starts = alignedStarts(slices, total, alignment(slices));
    const perSlice = profile.multiprocessorsPerSlice;
    return {
      id: (fills ? profile.fillProfileId : undefined) ?? idOfSize[slices] ?? slices,
      name: fills ? profile.name : `${slices}c.${profile.name}`,
      computeSlices: slices,
      maxInstances: starts.length,
      starts,
      multiprocessors: fills ? profile.multiprocessors : perSlice === null ? null : perSlice * slices,
    };
  });
  return profiles.sort((a, b) => a.id - b.id);
}

/** The compute instance profile that fills a GPU instance, the one that `-C` makes. */
export function fillingComputeProfile(profile: GpuInstanceProfile): ComputeInstanceProfile | undefined {
  return profile.computeInstanceProfiles.find((candidate) => candidate.computeSlices === profile.computeSlices);
}

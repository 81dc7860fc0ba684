/** What a layout is worth, by the measures that people of the field use. */
import { geometryFor, profileNamed, whatFits } from "../mig/index.ts";
import { freeGpuBound } from "./free-gpu-bound.ts";
import type { MovingLimits } from "./movable.ts";
import { isFreeGpu } from "./replay.ts";
import type { ClusterGpu, ClusterLayout, ProfileCapacity } from "./types.ts";

/** How often each profile is asked for: weights above 0, by model and profile name. */
export type DemandMix = readonly { readonly model: string; readonly profile: string; readonly weight: number }[];

export function freeGpus(layout: ClusterLayout): number {
  return layout.hosts.flatMap(({ gpus }) => gpus).filter(isFreeGpu).length;
}

/** Hosts with GPUs on which nobody holds anything. */
export function freeHosts(layout: ClusterLayout): number {
  return layout.hosts.filter(({ gpus }) => gpus.length > 0 && gpus.every(isFreeGpu)).length;
}

/** Recoverable GPUs: the proven bound (`freeGpuBound`) minus those that are free already. Our own measure. */
export function recoverableGpus(layout: ClusterLayout, limits: MovingLimits): number {
  return freeGpuBound(layout, limits) - freeGpus(layout);
}

interface Room {
  readonly geometryKey: string;
  readonly freeSlices: number;
  /** By profile name: how many fit, nothing else being added. */
  readonly fits: ReadonlyMap<string, number>;
}

/** What is left beside the instances that somebody holds; null where the GPU cannot be divided or is held whole. */
function roomOf(gpu: ClusterGpu): Room | null {
  const geometry = geometryFor({ name: gpu.model });
  if (geometry === null || gpu.allocation !== null) return null;
  const held = gpu.instances.flatMap(({ profile: name, start, allocation }) => {
    const profile = allocation === null ? undefined : profileNamed(geometry, name);
    return profile === undefined ? [] : [{ profile, start }];
  });
  const instances = held.map(({ profile, start }) => ({ profileId: profile.id, start }));
  const fits = new Map(
    whatFits(geometry, { migEnabled: true, instances }).map(({ profile, capacity }) => [profile, capacity]),
  );
  const taken = held.reduce((sum, { profile }) => sum + profile.memorySlices, 0);
  return { geometryKey: geometry.key, freeSlices: geometry.memorySlices - taken, fits };
}

const roomsOf = (layout: ClusterLayout): readonly Room[] =>
  layout.hosts.flatMap(({ gpus }) => gpus.flatMap((gpu) => roomOf(gpu) ?? []));

/** How many of each profile fit as things stand, each asked for alone; by key of the table and in its order. */
export function capacityOf(layout: ClusterLayout): readonly ProfileCapacity[] {
  const byModel = Map.groupBy(roomsOf(layout), ({ geometryKey }) => geometryKey);
  return [...byModel].flatMap(([model, rooms]) => {
    const names = [...(rooms[0]?.fits.keys() ?? [])];
    return names.map((profile) => ({
      model,
      profile,
      fits: rooms.reduce((sum, { fits }) => sum + (fits.get(profile) ?? 0), 0),
    }));
  });
}

/**
 * Fragmentation for a demand mix, 0 to 1: of the free memory slices, the share on GPUs where what is asked for does not fit,
 * `sum over p of mix(p) * sum over g of free(g) * [p has no place on g] / sum over g of free(g)`, the sums over the GPUs of
 * p's model. Null where nothing is free or nothing is asked for.
 *
 * Source: Weng et al., "Beware of Fragmentation", USENIX ATC 2023 (FGD), written down for MIG placements instead of shares.
 */
export function fragmentation(layout: ClusterLayout, mix: DemandMix): number | null {
  const byModel = Map.groupBy(roomsOf(layout), ({ geometryKey }) => geometryKey);
  let weights = 0;
  let sum = 0;
  for (const { model, profile, weight } of mix) {
    const geometry = geometryFor({ name: model });
    const name = geometry === null ? undefined : profileNamed(geometry, profile)?.name;
    const rooms = byModel.get(geometry?.key ?? "") ?? [];
    const free = rooms.reduce((all, { freeSlices }) => all + freeSlices, 0);
    if (name === undefined || free === 0) continue;
    const lost = rooms.reduce((all, { freeSlices, fits }) => all + (fits.get(name) === 0 ? freeSlices : 0), 0);
    weights += weight;
    sum += (weight * lost) / free;
  }
  return weights === 0 ? null : sum / weights;
}

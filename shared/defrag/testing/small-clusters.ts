/** Clusters for tests, and what trying everything finds on the smallest of them. */
import fc from "fast-check";
import { geometryFor } from "../../mig/index.ts";
import { maskOf } from "../../mig/occupancy.ts";
import { allLayouts, mayExistTogether, type Place, spread } from "../../mig/testing/layouts.ts";
import { readLayout } from "../read-layout.ts";
import type { ClusterLayout, ExecutionMode } from "../types.ts";

const a30 = geometryOf("NVIDIA A30");

function geometryOf(model: string) {
  const geometry = geometryFor({ name: model });
  if (geometry === null) throw new Error(`the table has no ${model}`);
  return geometry;
}

const holder = (most: number) =>
  fc.record({
    isHeld: fc.boolean(),
    movable: fc.integer({ min: 0, max: 4 }).map((one) => one > 0),
    cost: fc.integer({ min: 1, max: most }).map((tenths) => (most === 1 ? 1 : tenths / 10)),
  });

export const gpuOf = (model: string, most: number, names?: readonly string[]) => {
  const geometry = geometryOf(model);
  const nameOf = (id: number) => geometry.profiles.find((one) => one.id === id)?.name ?? "";
  const layouts = allLayouts(geometry).filter((places) =>
    places.every(({ profileId }) => names?.includes(nameOf(profileId)) ?? true),
  );
  return fc.constantFrom(...spread(layouts, 300)).chain((places) =>
    fc.array(holder(most), { minLength: places.length, maxLength: places.length }).map((holders) => ({
      model,
      mig: true,
      instances: places.map(({ profileId, start }, id) => {
        const { isHeld = true, movable = true, cost = 1 } = holders[id] ?? {};
        return { id, profile: nameOf(profileId), start, ...(isHeld ? { allocation: { movable, cost } } : {}) };
      }),
    })),
  );
};

export function clusterOf(gpus: readonly object[]): ClusterLayout {
  const hosts = gpus.map((gpu, at) => ({ name: `h${at}`, rack: `r${at % 2}`, gpus: [{ ...gpu, index: 0 }] }));
  return readLayout({ schema: "tessera.layout/1", hosts });
}

export const inTwoPools = (gpus: readonly object[]): ClusterLayout => {
  const { hosts, takenAt } = clusterOf(gpus);
  return { takenAt, hosts: hosts.map((host, at) => ({ ...host, pool: at % 3 === 0 ? "other" : null })) };
};

const smallA30 = ["1g.6gb", "2g.12gb", "4g.24gb"];
export const smallCluster = (most: number) =>
  fc.array(gpuOf("NVIDIA A30", most, smallA30), { minLength: 1, maxLength: 3 }).map(clusterOf);

export const twoPools = (most: number) =>
  fc.array(gpuOf("NVIDIA A30", most, smallA30), { minLength: 1, maxLength: 4 }).map(inTwoPools);

interface Standing extends Place {
  /** The GPU where it stood at the start; null for what may not move. */
  readonly from: number | null;
  readonly isMoved: boolean;
}

/** What a GPU is like at the start, for the modes that ask. */
interface Start {
  readonly heldSlices: number;
  readonly unheld: readonly Place[];
  /** Instances that somebody holds. */
  readonly held: number;
}

const isIn = (places: readonly Place[], { profileId, start }: Place) =>
  places.some((one) => one.profileId === profileId && one.start === start);

const slicesOf = ({ profileId, start }: Place) =>
  maskOf(start, a30.profiles.find(({ id }) => id === profileId)?.memorySlices ?? 0);

/** Whether a mode lets a GPU become so. */
function isAllowed(mode: ExecutionMode, gpu: number, start: Start, places: readonly Standing[]): boolean {
  const coming = places.filter(({ isMoved }) => isMoved);
  if (mode === "in-use" || coming.length === 0) return true;
  if (mode === "free-space") return coming.every((place) => (slicesOf(place) & start.heldSlices) === 0);
  const staying = places.length - coming.length;
  if (staying === 0) return coming.every(({ from }) => from !== gpu);
  return staying === start.held && coming.every((place) => isIn(start.unheld, place));
}

/** Least cost by number of free GPUs, by trying every place for every movable instance. */
export function cheapest(layout: ClusterLayout, mode: ExecutionMode = "in-use"): readonly number[] {
  const least: number[] = Array.from({ length: layout.hosts.length + 1 }, () => Number.POSITIVE_INFINITY);
  const standing: Standing[][] = layout.hosts.map(() => []);
  const idOf = (name: string) => a30.profiles.find((one) => one.name === name)?.id ?? -1;
  const starts = layout.hosts.map(({ gpus }): Start => {
    const places = (gpus[0]?.instances ?? []).map((one) => ({ ...one, profileId: idOf(one.profile) }));
    const held = places.filter(({ allocation }) => allocation !== null);
    const unheld = places.filter(({ allocation }) => allocation === null);
    return { held: held.length, unheld, heldSlices: held.reduce((mask, place) => mask | slicesOf(place), 0) };
  });
  const movers = layout.hosts.flatMap(({ gpus }, gpu) =>
    (gpus[0]?.instances ?? []).flatMap(({ profile, start, allocation }) => {
      if (allocation === null) return [];
      if (allocation.movable) return [{ gpu, profileId: idOf(profile), start, cost: allocation.cost }];
      standing[gpu]?.push({ profileId: idOf(profile), start, from: null, isMoved: false });
      return [];
    }),
  );
  const note = (free: number, cost: number) => {
    const isLegal = standing.every((places, gpu) => {
      const start = starts[gpu];
      return start !== undefined && isAllowed(mode, gpu, start, places);
    });
    if (isLegal) for (let fewer = 0; fewer <= free; fewer++) least[fewer] = Math.min(least[fewer] ?? 0, cost);
  };
  const visit = (next: number, cost: number): void => {
    const free = standing.filter((places) => places.length === 0).length;
    if (least.slice(0, free + 1).every((one) => one <= cost)) return;
    const mover = movers[next];
    if (mover === undefined) {
      note(free, cost);
      return;
    }
    const { profileId, gpu: from } = mover;
    for (const [gpu, places] of standing.entries()) {
      if (layout.hosts[gpu]?.pool !== layout.hosts[from]?.pool) continue;
      for (const start of a30.profiles.find(({ id }) => id === profileId)?.starts ?? []) {
        if (!mayExistTogether(a30, [...places, { profileId, start }])) continue;
        const isMoved = gpu !== from || start !== mover.start;
        places.push({ profileId, start, from, isMoved });
        visit(next + 1, cost + (isMoved ? mover.cost : 0));
        places.pop();
      }
    }
  };
  visit(0, 0);
  return least;
}

/**
 * The selection against a model that shares nothing with it: a binary for every instance at every place, solved by HiGHS.
 * It grows too fast for more than a dozen GPUs, which is why the product does not work so.
 */
import loadHighs from "highs";
import { expect, test } from "vitest";
import { type GpuGeometry, type GpuInstanceProfile, geometryFor, profileNamed } from "../mig/index.ts";
import { readLayout } from "./read-layout.ts";
import { selectFreeGpus } from "./selection.ts";
import { type ClusterInstance, type ClusterLayout, defaultOptions } from "./types.ts";

/** mulberry32: the same clusters in every run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function geometryOf(model: string): GpuGeometry {
  const geometry = geometryFor({ name: model });
  if (geometry === null) throw new Error(`the table has no ${model}`);
  return geometry;
}

interface Small {
  readonly model: string;
  readonly gpus: number;
  readonly load: number;
  readonly pins: number;
  readonly isUnitCost: boolean;
  readonly profiles: readonly string[];
}

/** Each instance on a random GPU where it fits, as a scheduler that spreads leaves it behind. */
function clusterOf({ model, gpus, load, pins, isUnitCost, profiles }: Small, seed: number): ClusterLayout {
  const random = randomFrom(seed);
  const geometry = geometryOf(model);
  const taken = Array.from({ length: gpus }, () => ({ memory: 0, compute: 0, media: 0, instances: [] as object[] }));
  let slices = 0;
  for (let tries = 0; tries < 400 && slices < load * gpus * geometry.memorySlices; tries++) {
    const profile = profileNamed(geometry, profiles[Math.floor(random() * profiles.length)] ?? "");
    const gpu = taken[Math.floor(random() * gpus)];
    if (profile === undefined || gpu === undefined) throw new Error("no such profile");
    const media = profile.name.endsWith("+me") ? 1 : 0;
    const open = profile.starts.filter((start) => (gpu.memory & maskOf(profile, start)) === 0);
    const start = open[Math.floor(random() * open.length)];
    if (start === undefined || gpu.compute + profile.computeSlices > computeSlices(geometry) || gpu.media + media > 1)
      continue;
    gpu.memory |= maskOf(profile, start);
    gpu.compute += profile.computeSlices;
    gpu.media += media;
    slices += profile.memorySlices;
    const allocation = { movable: random() >= pins, cost: isUnitCost ? 1 : Math.ceil(random() * 90) / 10 };
    gpu.instances.push({ id: gpu.instances.length, profile: profile.name, start, allocation });
  }
  return readLayout({
    schema: "tessera.layout/1",
    hosts: taken.map(({ instances }, at) => ({ name: `h${at}`, gpus: [{ index: 0, model, mig: true, instances }] })),
  });
}

const maskOf = (profile: GpuInstanceProfile, start: number) => ((1 << profile.memorySlices) - 1) << start;
const computeSlices = (geometry: GpuGeometry) => Math.max(...geometry.profiles.map((profile) => profile.computeSlices));

interface Place {
  readonly name: string;
  readonly mover: number;
  readonly gpu: number;
  readonly profile: GpuInstanceProfile;
  readonly start: number;
  /** Where the instance stands already. */
  readonly isHome: boolean;
  readonly cost: number;
}

interface Model {
  readonly places: readonly Place[];
  readonly frees: readonly string[];
  readonly rows: readonly string[];
}

/** Every binary and every rule but the one on how many are free. */
function modelOf(layout: ClusterLayout, geometry: GpuGeometry): Model {
  const gpus = layout.hosts.map(({ gpus: [gpu] }) => gpu?.instances ?? []);
  const profileOf = ({ profile }: ClusterInstance) => {
    const found = profileNamed(geometry, profile);
    if (found === undefined) throw new Error(`no profile ${profile}`);
    return found;
  };
  const movers = gpus.flatMap((instances, gpu) =>
    instances.filter(({ allocation }) => allocation?.movable === true).map((instance) => ({ instance, gpu })),
  );
  const places = movers.flatMap(({ instance, gpu: home }, mover) =>
    gpus.flatMap((_, gpu) =>
      profileOf(instance).starts.map((start) => ({
        name: `x_${mover}_${gpu}_${start}`,
        mover,
        gpu,
        profile: profileOf(instance),
        start,
        isHome: gpu === home && start === instance.start,
        cost: instance.allocation?.cost ?? 0,
      })),
    ),
  );
  const sum = (some: readonly Place[], weight: (place: Place) => number = () => 1) =>
    some.length === 0 ? null : some.map((place) => `${weight(place)} ${place.name}`).join(" + ");
  const rows = movers.map((_, mover) => `${sum(places.filter((one) => one.mover === mover))} = 1`);
  const atMost = (left: string | null, most: number) => left !== null && rows.push(`${left} <= ${most}`);
  const frees: string[] = [];
  for (const [gpu, instances] of gpus.entries()) {
    const here = places.filter((one) => one.gpu === gpu);
    const pinned = instances.filter(({ allocation }) => allocation?.movable === false);
    const pinnedMask = pinned.reduce((mask, one) => mask | maskOf(profileOf(one), one.start), 0);
    for (let slice = 0; slice < geometry.memorySlices; slice++) {
      const covering = here.filter((one) => (maskOf(one.profile, one.start) & (1 << slice)) !== 0);
      atMost(sum(covering), (pinnedMask & (1 << slice)) === 0 ? 1 : 0);
    }
    const pinnedCompute = pinned.reduce((all, one) => all + profileOf(one).computeSlices, 0);
    atMost(
      sum(here, ({ profile }) => profile.computeSlices),
      computeSlices(geometry) - pinnedCompute,
    );
    const media = (name: string) => name.endsWith("+me");
    atMost(
      sum(here.filter(({ profile }) => media(profile.name))),
      1 - pinned.filter(({ profile }) => media(profile)).length,
    );
    if (pinned.length > 0) continue;
    frees.push(`f_${gpu}`);
    for (const { name } of here) rows.push(`${name} + f_${gpu} <= 1`);
  }
  return { places, frees, rows };
}

interface Solver {
  solve(
    model: string,
    options: { readonly output_flag: boolean },
  ): { readonly Status: string; readonly ObjectiveValue: number };
}

// Its types are those of a CommonJS module to one of our compilers and of an ES module to the other.
const highs = await (loadHighs as unknown as () => Promise<Solver>)();

function solved({ places, frees, rows }: Model, objective: string, more: readonly string[]): number {
  const names = [...places.map(({ name }) => name), ...frees].join("\n");
  const all = [...rows, ...more].map((row, at) => ` c${at}: ${row}`).join("\n");
  const answer = highs.solve(`${objective}\nSubject To\n${all}\nBinary\n${names}\nEnd`, { output_flag: false });
  if (answer.Status !== "Optimal") throw new Error(`HiGHS says ${answer.Status}`);
  return answer.ObjectiveValue;
}

/** The most that can be free, and the least that so many cost. */
function independently(layout: ClusterLayout, geometry: GpuGeometry) {
  const model = modelOf(layout, geometry);
  const frees = model.frees.join(" + ");
  const most = Math.round(solved(model, `Maximize\n obj: ${frees}`, []));
  const home = model.places.filter(({ isHome }) => isHome);
  const staying = home.map(({ name, cost }) => `${cost} ${name}`).join(" + ");
  const kept = solved(model, `Maximize\n obj: ${staying}`, [`${frees} >= ${most}`]);
  return { freeGpus: most, cost: home.reduce((sum, { cost }) => sum + cost, 0) - kept };
}

const a100 = ["1g.5gb", "1g.5gb+me", "2g.10gb", "3g.20gb", "4g.20gb"];
const a30 = ["1g.6gb", "2g.12gb"];
const cases = [0.35, 0.5, 0.65, 0.8].flatMap((load) =>
  [0, 0.15].flatMap((pins) =>
    [true, false].flatMap((isUnitCost): readonly Small[] => [
      { model: "NVIDIA A100-SXM4-40GB", gpus: 6, load, pins, isUnitCost, profiles: a100 },
      { model: "NVIDIA A30", gpus: 9, load, pins, isUnitCost, profiles: a30 },
    ]),
  ),
);

test.each(cases.map((small, at) => [small, at + 1] as const))("%j, seed %i: the same optimum", (small, seed) => {
  const layout = clusterOf(small, seed);
  const expected = independently(layout, geometryOf(small.model));
  const found = selectFreeGpus(layout, { ...defaultOptions, count: null, nodeLimit: 400 });
  expect(found.freeGpus).toBe(expected.freeGpus);
  expect(found.freeGpuBound).toBeGreaterThanOrEqual(expected.freeGpus);
  expect(found.cost).toBeCloseTo(expected.cost, 5);
  expect(found.costBound).toBeLessThanOrEqual(expected.cost + 1e-5);
});

/**
 * The selection against a model that shares nothing with it: a binary for every instance at every place, solved by HiGHS.
 * It grows too fast for more than a dozen GPUs, which is why the product does not work so.
 */
import fc from "fast-check";
import loadHighs from "highs";
import { describe, expect, test } from "vitest";
import { type GpuGeometry, type GpuInstanceProfile, geometryFor, profileNamed } from "../mig/index.ts";
import { selectFreeGpus } from "./selection.ts";
import { clusterOf, gpuOf } from "./testing/small-clusters.ts";
import { type ClusterInstance, type ClusterLayout, defaultOptions } from "./types.ts";

function geometryOf(model: string): GpuGeometry {
  const geometry = geometryFor({ name: model });
  if (geometry === null) throw new Error(`the table has no ${model}`);
  return geometry;
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
const kinds = [
  { model: "NVIDIA A100-SXM4-40GB", gpus: 6, profiles: a100 },
  { model: "NVIDIA A30", gpus: 9, profiles: a30 },
];
/** Costs of 1, and of 0.1 to 9. */
const cases = kinds.flatMap((kind) => [1, 90].map((mostTenths) => ({ ...kind, mostTenths })));

describe.each(cases)("$gpus $model, costs up to $mostTenths tenths", ({ model, gpus, profiles, mostTenths }) => {
  const clusters = fc.array(gpuOf(model, mostTenths, profiles), { minLength: gpus, maxLength: gpus }).map(clusterOf);
  const expected = fc
    .sample(clusters, { seed: 7, numRuns: 8 })
    .map((layout) => ({ layout, optimum: independently(layout, geometryOf(model)) }));

  test("the same optimum", () => {
    for (const { layout, optimum } of expected) {
      const found = selectFreeGpus(layout, { ...defaultOptions, count: null, nodeLimit: 400 });
      expect(found.freeGpus).toBe(optimum.freeGpus);
      expect(found.freeGpuBound).toBeGreaterThanOrEqual(optimum.freeGpus);
      expect(found.cost).toBeCloseTo(optimum.cost, 5);
      expect(found.costBound).toBeLessThanOrEqual(optimum.cost + 1e-5);
    }
  });

  test("there is something to find", () => {
    expect(expected.filter(({ optimum }) => optimum.cost > 0).length).toBeGreaterThanOrEqual(6);
  });
});

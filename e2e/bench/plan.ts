/**
 * How long the planner thinks: p99 of `planGpu` for each GPU model, over pairs of layouts in which as much as can be has to
 * change, and of the question that is asked while a slice is dragged. Every call is timed on its own.
 */
import {
  checkLayout,
  explainPlacement,
  type GpuGeometry,
  knownGeometries,
  type Layout,
  type LayoutInstance,
  legalStarts,
  planGpu,
} from "../../shared/mig/index.ts";
import type { Metric } from "./metric.ts";

const layoutsPerModel = 60;
const plansPerModel = 20_000;
const warmUp = 3_000;

/** A repeatable source of numbers from 0 to 1, so that two runs measure the same work. */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

/** A layout filled at random until nothing more fits, as it would be read from a host. */
function fullLayout(geometry: GpuGeometry, random: () => number): Layout {
  let layout: Layout = { migEnabled: true, instances: [] };
  for (;;) {
    const places = geometry.profiles.flatMap((profile) =>
      legalStarts(geometry, layout, profile.id).map((start) => ({ profileId: profile.id, start })),
    );
    const place = places[Math.floor(random() * places.length)];
    if (place === undefined) return layout;
    const profile = geometry.profiles.find((candidate) => candidate.id === place.profileId);
    const slice = profile?.computeInstanceProfiles.find((candidate) => candidate.computeSlices === 1);
    const split = slice?.starts.map((start, id) => ({ profileId: slice.id, start, id })) ?? [];
    const instance: LayoutInstance = { ...place, id: layout.instances.length + 1, computeInstances: split };
    layout = { migEnabled: true, instances: [...layout.instances, instance] };
  }
}

function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function timed(times: Float64Array, work: (round: number) => void): Float64Array {
  for (let round = -warmUp; round < times.length; round += 1) {
    const started = performance.now();
    work(Math.max(round, 0));
    if (round >= 0) times[round] = performance.now() - started;
  }
  return times.sort();
}

function measurePlans(geometry: GpuGeometry): Metric {
  const random = sequence(geometry.key.length + 1);
  const layouts = Array.from({ length: layoutsPerModel }, () => fullLayout(geometry, random));
  const pick = () => layouts[Math.floor(random() * layouts.length)] ?? { migEnabled: true, instances: [] };
  const times = timed(new Float64Array(plansPerModel), () => {
    planGpu({
      gpuUuid: "GPU-00000000-0000-0000-0000-000000000000",
      gpuIndex: 0,
      gpuName: geometry.key,
      geometry,
      current: pick(),
      wanted: pick(),
    });
  });
  const value = percentile(times, 0.99);
  return { metric: `plan, p99: ${geometry.key}`, value, unit: "ms", target: "< 1 ms", ok: value < 1 };
}

function measureDrag(geometry: GpuGeometry): Metric {
  const random = sequence(7);
  const layout: Layout = { migEnabled: true, instances: fullLayout(geometry, random).instances.slice(1) };
  const questions = geometry.profiles.flatMap((profile) =>
    Array.from({ length: geometry.memorySlices }, (_, start) => ({ id: profile.id, start })),
  );
  const times = timed(new Float64Array(plansPerModel), (round) => {
    const question = questions[round % questions.length];
    if (question !== undefined) explainPlacement(geometry, layout, question.id, question.start);
  });
  const value = percentile(times, 0.99) * 1000;
  return { metric: `legal here?, p99: ${geometry.key}`, value, unit: "us", target: "< 50 us", ok: value < 50 };
}

/** One line a GPU model that anything can be placed on (of Thor no placement is known). Throws if a generated layout were not legal: the numbers would then mean nothing. */
export async function run(): Promise<Metric[]> {
  const divisible = knownGeometries.filter((geometry) => geometry.memorySlices > 0);
  for (const geometry of divisible) {
    const [broken] = checkLayout(geometry, fullLayout(geometry, sequence(1)));
    if (broken !== undefined) throw new Error(broken.sentence);
  }
  const drag = divisible.filter((geometry) => ["H100-SXM5-80GB", "RTX-PRO-6000-Blackwell"].includes(geometry.key));
  return [...divisible.map(measurePlans), ...drag.map(measureDrag)];
}

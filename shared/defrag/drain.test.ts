import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { geometryFor } from "../mig/index.ts";
import { allLayouts, spread } from "../mig/testing/layouts.ts";
import { type DrainLimits, greedyDrain } from "./drain.ts";
import { freeGpuBound } from "./free-gpu-bound.ts";
import { readLayout } from "./read-layout.ts";
import { isFreeGpu, replay } from "./replay.ts";
import { type ClusterLayout, defaultOptions } from "./types.ts";

const noLimits: DrainLimits = { ...defaultOptions, price: null };

const gpuOf = (model: string) => {
  const geometry = geometryFor({ name: model });
  if (geometry === null) throw new Error(`the table has no ${model}`);
  const layouts = spread(allLayouts(geometry), 400);
  const one = fc.record({
    movable: fc.boolean(),
    isHeld: fc.boolean(),
    cost: fc.integer({ min: 1, max: 40 }).map((tenths) => tenths / 10),
  });
  return fc.constantFrom(...layouts).chain((places) =>
    fc.array(one, { minLength: places.length, maxLength: places.length }).map((holders) => ({
      model,
      mig: true,
      instances: places.map(({ profileId, start }, id) => {
        const { isHeld = true, movable = true, cost = 1 } = holders[id] ?? {};
        const profile = geometry.profiles.find((candidate) => candidate.id === profileId)?.name;
        return { id, profile, start, ...(isHeld ? { allocation: { movable, cost } } : {}) };
      }),
    })),
  );
};

const gpu = fc.oneof(gpuOf("NVIDIA A100-SXM4-40GB"), gpuOf("NVIDIA A30"), gpuOf("NVIDIA H100 80GB HBM3"));
const cluster: fc.Arbitrary<ClusterLayout> = fc.array(gpu, { minLength: 1, maxLength: 14 }).map((gpus) =>
  readLayout({
    schema: "tessera.layout/1",
    hosts: [{ name: "a", gpus: gpus.map((one, index) => ({ ...one, index })) }],
  }),
);

const freeIn = (layout: ClusterLayout) => layout.hosts.flatMap(({ gpus }) => gpus).filter(isFreeGpu).length;
const costOf = (moves: ReturnType<typeof greedyDrain>) => moves.reduce((sum, { cost }) => sum + cost, 0);

describe("on any cluster", () => {
  test("the replay finds no fault, every GPU that was left is free, and the bound holds", () => {
    fc.assert(
      fc.property(cluster, (layout) => {
        const moves = greedyDrain(layout, noLimits);
        const left = new Set(moves.map(({ from }) => from.gpu)).size;
        const done = replay(layout, moves);
        expect(done).toMatchObject({ ok: true, freeGpus: freeIn(layout) + left });
        if (done.ok) expect(done.freeGpus).toBeLessThanOrEqual(freeGpuBound(layout, noLimits));
        if (done.ok) expect(done.cost).toBeCloseTo(costOf(moves), 9);
        expect(greedyDrain(layout, noLimits)).toEqual(moves);
      }),
      { numRuns: 300 },
    );
  });

  test("limits are kept", () => {
    fc.assert(
      fc.property(cluster, fc.integer({ min: 0, max: 6 }), (layout, limit) => {
        expect(greedyDrain(layout, { ...noLimits, maxMoves: limit }).length).toBeLessThanOrEqual(limit);
        expect(costOf(greedyDrain(layout, { ...noLimits, maxCost: limit }))).toBeLessThanOrEqual(limit + 1e-9);
        const priced = Map.groupBy(greedyDrain(layout, { ...noLimits, price: limit }), ({ from }) => from.gpu);
        for (const moves of priced.values()) expect(costOf(moves)).toBeLessThanOrEqual(limit + 1e-9);
      }),
      { numRuns: 100 },
    );
  });
});

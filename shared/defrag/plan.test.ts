import fc from "fast-check";
import { expect, test } from "vitest";
import { greedyDrain } from "./drain.ts";
import { freeGpus } from "./measures.ts";
import { planDefragmentation } from "./plan.ts";
import { replay } from "./replay.ts";
import { clusterOf, gpuOf } from "./testing/small-clusters.ts";
import { type ClusterLayout, defaultOptions, type Goal } from "./types.ts";

const mostGpus: Goal = { kind: "free-gpus", count: null };
const options = { ...defaultOptions, goal: mostGpus, nodeLimit: 200 };
const model = "NVIDIA A100-SXM4-40GB";

interface Held {
  readonly profile: string;
  readonly start: number;
  readonly movable?: boolean;
  readonly cost?: number;
  readonly moveSeconds?: number;
}

const layoutOf = (...gpus: readonly (readonly Held[])[]) =>
  clusterOf(
    gpus.map((instances) => ({
      model,
      mig: true,
      instances: instances.map(({ profile, start, movable = true, cost = 1, moveSeconds = 20 }, id) => ({
        id,
        profile,
        start,
        allocation: { movable, cost, moveSeconds },
      })),
    })),
  );

const cluster = fc.array(gpuOf(model, 40), { minLength: 2, maxLength: 16 }).map(clusterOf);

/** A host for each GPU that the greedy drain frees, as often as something moves from it. */
const drainOf = (layout: ClusterLayout, maxMoves: number) =>
  greedyDrain(layout, { ...options, price: null, maxCost: null, maxMoves }).map(({ from }) => from.host);

test("two half-used GPUs become one, and the plan says what it takes", () => {
  const layout = layoutOf([{ profile: "3g.20gb", start: 0, cost: 2 }], [{ profile: "3g.20gb", start: 4 }]);
  const plan = planDefragmentation(layout, options);
  expect(plan).toMatchObject({
    schema: "tessera.defrag-plan/1",
    goal: "free-gpus",
    before: { freeGpus: 0, freeHosts: 0 },
    after: { freeGpus: 1, freeHosts: 1 },
    bound: { freeGpus: 1, kind: "exact" },
    cost: 1,
    costBound: 1,
    bounces: 0,
    freed: [{ host: "h1", gpu: 0 }],
    length: { waves: 1, seconds: 20 },
    shortfall: null,
    moves: [{ order: 1, profile: "3g.20gb", from: { host: "h1", gpu: 0, instance: 0, start: 4 } }],
  });
  expect(plan.moves[0]?.to.host).toBe("h0");
});

test("a limit on moves gives a plan for fewer GPUs, and says so", () => {
  const one = [{ profile: "1g.5gb", start: 0 }];
  const layout = layoutOf(one, one, one, one);
  expect(planDefragmentation(layout, options).after.freeGpus).toBe(3);
  const limited = planDefragmentation(layout, { ...options, maxMoves: 2 });
  expect(limited.after.freeGpus).toBe(2);
  expect(limited.moves).toHaveLength(2);
  expect(limited.costBound).toBe(2);
  expect(limited.bound).toMatchObject({ freeGpus: 3, kind: "upper" });
  expect(limited.shortfall).toContain("limit on moves or cost");
  expect(planDefragmentation(layout, { ...options, maxCost: 0.5 }).moves).toEqual([]);
});

test("within a limit never fewer come free than by the drain", () => {
  fc.assert(
    fc.property(cluster, fc.integer({ min: 0, max: 8 }), (layout, maxMoves) => {
      const free = freeGpus(layout) + new Set(drainOf(layout, maxMoves)).size;
      expect(planDefragmentation(layout, { ...options, maxMoves }).after.freeGpus).toBeGreaterThanOrEqual(free);
    }),
    { numRuns: 60 },
  );
});

test("so many as are asked for, and no more", () => {
  const one = [{ profile: "1g.5gb", start: 0 }];
  const layout = layoutOf(one, one, one, one);
  const plan = planDefragmentation(layout, { ...options, goal: { kind: "free-gpus", count: 1 } });
  expect([plan.goal, plan.after.freeGpus, plan.moves.length]).toEqual(["free-gpus:1", 1, 1]);
});

test("no more than a price for one more GPU", () => {
  const layout = layoutOf(
    [{ profile: "1g.5gb", start: 0 }],
    [{ profile: "1g.5gb", start: 0, cost: 2 }],
    [{ profile: "1g.5gb", start: 0, cost: 5 }],
    [{ profile: "1g.5gb", start: 0, cost: 9 }],
  );
  const upTo = (price: number) => planDefragmentation(layout, { ...options, goal: { kind: "price", price } });
  const two = upTo(3);
  expect([two.goal, two.after.freeGpus, two.cost, two.nextGpuPrice]).toEqual(["price:3", 2, 3, 5]);
  expect(upTo(0.5).moves).toEqual([]);
  const all = upTo(5);
  expect([all.after.freeGpus, all.cost, all.nextGpuPrice]).toEqual([3, 8, null]);
});

test("what may not move stays, and what is unknown in length is not guessed", () => {
  const layout = layoutOf([{ profile: "3g.20gb", start: 0, movable: false }], [{ profile: "3g.20gb", start: 0 }]);
  const unknown = {
    ...layout,
    hosts: layout.hosts.map((host) => ({
      ...host,
      gpus: host.gpus.map((gpu) => ({
        ...gpu,
        instances: gpu.instances.map((one) => ({
          ...one,
          allocation: one.allocation === null ? null : { ...one.allocation, moveSeconds: null },
        })),
      })),
    })),
  };
  const plan = planDefragmentation(unknown, options);
  expect(plan.moves.map(({ from }) => from.host)).toEqual(["h1"]);
  expect(plan.length.seconds).toBeNull();
});

test("goals and modes that are not planned yet are refused by name", () => {
  const layout = layoutOf([]);
  expect(() => planDefragmentation(layout, { ...options, goal: { kind: "hosts" } })).toThrow("planned yet");
  expect(() => planDefragmentation(layout, { ...options, mode: "empty" })).toThrow("planned yet");
});

test("every plan can be carried out, costs what it says, and never beats its bounds", () => {
  fc.assert(
    fc.property(cluster, fc.constantFrom(0, 1), fc.constantFrom(null, 3), (layout, spareGpus, maxMoves) => {
      const plan = planDefragmentation(layout, { ...options, spareGpus, maxMoves });
      const carriedOut = replay(layout, plan.moves);
      if (!carriedOut.ok) throw new Error(carriedOut.fault.reason);
      expect(carriedOut.freeGpus).toBe(plan.after.freeGpus);
      expect(plan.after.freeGpus).toBe(plan.before.freeGpus + plan.freed.length);
      expect(plan.after.freeGpus).toBeLessThanOrEqual(plan.bound.freeGpus);
      expect(carriedOut.cost).toBeCloseTo(plan.cost, 6);
      expect(plan.cost).toBeGreaterThanOrEqual(plan.costBound - 1e-6);
      expect(plan.moves.length).toBeLessThanOrEqual(maxMoves ?? Number.POSITIVE_INFINITY);
      // Only a stated reason makes it less than what was found possible.
      if (plan.bound.kind === "exact" && plan.shortfall === null) {
        expect(plan.after.freeGpus).toBe(plan.bound.freeGpus);
      }
    }),
    { numRuns: 80 },
  );
});

test("into free space every plan is one wave and keeps its bounds", () => {
  let moves = 0;
  fc.assert(
    fc.property(cluster, (layout) => {
      const plan = planDefragmentation(layout, { ...options, mode: "free-space" });
      expect(replay(layout, plan.moves, "free-space")).toMatchObject({ ok: true, freeGpus: plan.after.freeGpus });
      expect(plan.length.waves).toBe(Math.min(1, plan.moves.length));
      expect(plan.after.freeGpus).toBeLessThanOrEqual(plan.bound.freeGpus);
      expect(plan.cost).toBeGreaterThanOrEqual(plan.costBound - 1e-6);
      moves += plan.moves.length;
    }),
    { numRuns: 60 },
  );
  expect(moves).toBeGreaterThan(0);
});

test("the same input gives the same plan", () => {
  fc.assert(
    fc.property(cluster, (layout) => {
      expect(planDefragmentation(layout, options)).toEqual(planDefragmentation(structuredClone(layout), options));
    }),
    { numRuns: 20 },
  );
});

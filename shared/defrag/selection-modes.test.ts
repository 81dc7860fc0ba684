import fc from "fast-check";
import { expect, test } from "vitest";
import { readLayout } from "./read-layout.ts";
import { isFreeGpu, replay } from "./replay.ts";
import { selectMoves } from "./selection.ts";
import { cheapest, twoPools } from "./testing/small-clusters.ts";
import { defaultOptions, type ExecutionMode } from "./types.ts";

const goal = { kind: "free-gpus", count: null } as const;
const optionsOf = (mode: ExecutionMode) => ({ ...defaultOptions, mode, goal, nodeLimit: 400 });

test.each(["empty", "free-space"] as const)("in the mode %s it finds what trying everything finds", (mode) => {
  fc.assert(
    fc.property(twoPools(30), (layout) => {
      const least = cheapest(layout, mode);
      const most = least.findLastIndex((cost) => cost < Number.POSITIVE_INFINITY);
      const found = selectMoves(layout, optionsOf(mode));
      expect(found.freeGpuBound).toBeGreaterThanOrEqual(most);
      expect(found.freeGpus).toBe(most);
      expect(found.boundKind).toBe(most === found.freeGpuBound ? "exact" : "upper");
      for (let count = 0; count <= most; count++) {
        const one = selectMoves(layout, { ...optionsOf(mode), goal: { kind: "free-gpus", count } });
        expect(one.cost).toBeCloseTo(least[count] ?? 0, 6);
        expect(one.costBound).toBeLessThanOrEqual((least[count] ?? 0) + 1e-6);
      }
    }),
    { numRuns: 100 },
  );
});

test("into free space all moves may run at once", () => {
  fc.assert(
    fc.property(twoPools(30), (layout) => {
      const { moves, freeGpus } = selectMoves(layout, optionsOf("free-space"));
      const done = replay(
        layout,
        moves.map((move) => ({ ...move, order: 1 })),
      );
      expect(done).toMatchObject({ ok: true, freeGpus });
    }),
    { numRuns: 100 },
  );
});

const a30 = (instances: readonly object[]) => ({ index: 0, model: "NVIDIA A30", mig: true, instances });
const small = { id: 0, profile: "1g.6gb", start: 0, allocation: { movable: true } };
const beside = (...instances: readonly object[]) =>
  readLayout({
    schema: "tessera.layout/1",
    hosts: [
      { name: "a", gpus: [a30([small])] },
      { name: "b", gpus: [a30([small, ...instances])] },
    ],
  });

test("a GPU in use takes others only into an instance that stands there unheld, where it is not divided anew", () => {
  const unheld = { id: 1, profile: "1g.6gb", start: 1 };
  expect(
    beside()
      .hosts.flatMap(({ gpus }) => gpus)
      .some(isFreeGpu),
  ).toBe(false);
  expect(selectMoves(beside(), optionsOf("empty"))).toMatchObject({ freeGpus: 0, moves: [], boundKind: "upper" });
  expect(selectMoves(beside(unheld), optionsOf("empty"))).toMatchObject({
    freeGpus: 1,
    moves: [{ from: { host: "a" }, to: { host: "b", start: 1 } }],
  });
  expect(selectMoves(beside(), optionsOf("in-use"))).toMatchObject({ freeGpus: 1 });
});

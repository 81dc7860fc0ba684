import { describe, expect, test } from "vitest";
import { readLayout } from "./read-layout.ts";
import { replay } from "./replay.ts";
import type { Move } from "./types.ts";

const held = (id: number, profile: string, start: number, changes: object = {}) => ({
  id,
  profile,
  start,
  allocation: { tenant: "nlp", movable: true, cost: 2, ...changes },
});
const a100 = (index: number, ...instances: readonly object[]) => ({
  index,
  model: "NVIDIA A100-SXM4-40GB",
  mig: true,
  instances,
});
const layout = readLayout({
  schema: "tessera.layout/1",
  hosts: [
    {
      name: "a",
      gpus: [
        a100(0, held(1, "3g.20gb", 0), { id: 2, profile: "3g.20gb", start: 4 }),
        a100(1, held(1, "3g.20gb", 4), held(2, "1g.5gb", 0, { movable: false })),
        a100(2, held(7, "3g.20gb", 0), held(8, "3g.20gb", 4)),
        { index: 3, model: "NVIDIA H100 80GB HBM3", mig: true, instances: [] },
      ],
    },
    { name: "b", pool: "other", gpus: [a100(0)] },
  ],
});

const move = (
  order: number,
  from: readonly [number, number, number],
  to: readonly [number, number],
  host = "a",
): Move => ({
  order,
  profile: "3g.20gb",
  cost: 2,
  from: { host: "a", gpu: from[0], instance: from[1], start: from[2] },
  to: { host, gpu: to[0], start: to[1] },
});

test("a plan that holds gives the layout after it, what is free, and its cost", () => {
  const done = replay(layout, [move(1, [2, 7, 0], [0, 4])]);
  expect(done).toMatchObject({ ok: true, cost: 2, freeGpus: 2 });
  const after = done.ok ? done.after.hosts[0]?.gpus.map(({ instances }) => instances.map(({ start }) => start)) : null;
  expect(after).toEqual([[0, 4], [0, 4], [4], []]);
});

test("an instance that is moved twice keeps its number", () => {
  const moves = [move(1, [2, 7, 0], [0, 4]), move(2, [0, 7, 4], [2, 0])];
  expect(replay(layout, moves)).toMatchObject({ ok: true, cost: 4 });
});

describe("it refuses", () => {
  test.each([
    ["what overlaps something held", [move(1, [0, 1, 0], [2, 0])], "overlaps"],
    [
      "a place that is given up only in the same order",
      [move(1, [2, 7, 0], [0, 4]), move(1, [1, 1, 4], [2, 0])],
      "overlaps",
    ],
    ["one place used twice", [move(1, [2, 7, 0], [0, 4]), move(2, [2, 8, 4], [0, 4])], "overlaps"],
    ["a start that the profile has not", [move(1, [2, 7, 0], [0, 5])], "cannot start"],
    ["an instance that does not stand there", [move(1, [2, 7, 4], [0, 4])], "nothing that is held"],
    ["one that nobody holds", [move(1, [0, 2, 4], [1, 4])], "nothing that is held"],
    ["another model", [move(1, [2, 7, 0], [3, 0])], "another model"],
    ["another pool", [move(1, [2, 7, 0], [0, 0], "b")], "another pool"],
    ["an order that falls", [move(2, [2, 7, 0], [0, 4]), move(1, [2, 8, 4], [2, 0])], "order"],
    ["two moves of one instance at once", [move(1, [2, 7, 0], [0, 4]), move(1, [2, 7, 0], [0, 4])], "on the way"],
    ["a target that is not there", [move(1, [2, 7, 0], [9, 0])], "no such target"],
  ])("%s", (_, moves, words) => {
    const done = replay(layout, moves);
    expect(done.ok ? "" : done.fault.reason).toContain(words);
  });

  test("what may not be moved", () => {
    const pinned: Move = { ...move(1, [1, 2, 0], [0, 4]), profile: "1g.5gb" };
    expect(replay(layout, [pinned])).toEqual({ ok: false, fault: { move: 0, reason: "it may not be moved" } });
  });
});

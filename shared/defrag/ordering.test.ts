import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { geometryFor } from "../mig/index.ts";
import { GpuStates } from "./gpu-states.ts";
import type { UnorderedMove } from "./matching.ts";
import { type OrderingOptions, orderMoves } from "./ordering.ts";
import { readLayout } from "./read-layout.ts";
import { replay } from "./replay.ts";
import { selectFreeGpus } from "./selection.ts";
import { type ClusterLayout, defaultOptions, type ExecutionMode, type Move } from "./types.ts";

const options: OrderingOptions = { ...defaultOptions, mode: "in-use", spareGpus: 0 };
type Instance = readonly [profile: string, start: number, allocation?: object | null];

/** One host; every GPU a list of its instances, held and movable where nothing else is said. */
function hostOf(...gpus: readonly (readonly Instance[])[]): ClusterLayout {
  const model = "NVIDIA A100-SXM4-40GB";
  const dividedGpus = gpus.map((instances, index) => ({
    index,
    model,
    mig: true,
    instances: instances.map(([profile, start, allocation], id) => ({
      id,
      profile,
      start,
      ...(allocation === null ? {} : { allocation: { movable: true, ...allocation } }),
    })),
  }));
  return readLayout({ schema: "tessera.layout/1", hosts: [{ name: "a", gpus: dividedGpus }] });
}

/** Of the instance with this number on a GPU to a start on another. */
function move(layout: ClusterLayout, gpu: number, id: number, toGpu: number, toStart: number): UnorderedMove {
  const instance = layout.hosts[0]?.gpus[gpu]?.instances.find((one) => one.id === id);
  const { profile = "", start = 0, allocation } = instance ?? {};
  return {
    profile,
    cost: allocation?.cost ?? 0,
    from: { host: "a", gpu, instance: id, start },
    to: { host: "a", gpu: toGpu, start: toStart },
  };
}

function ordered(layout: ClusterLayout, moves: readonly UnorderedMove[], wanted: Partial<OrderingOptions> = {}) {
  const found = orderMoves(layout, moves, { ...options, ...wanted });
  if (!found.ok) return found;
  const done = replay(layout, found.moves, wanted.mode);
  expect(done).toMatchObject({ ok: true });
  if (done.ok) expect(done.cost).toBeCloseTo(found.cost, 6);
  return { ...found, after: done.ok ? done.after.hosts[0]?.gpus.map((gpu) => gpu.instances.map(textOf)) : null };
}

const textOf = ({ profile, start }: { profile: string; start: number }) => `${profile}@${start}`;
const pathOf = (moves: readonly { order: number; from: { gpu: number }; to: { gpu: number } }[]) =>
  moves.map(({ order, from, to }) => `${order}: ${from.gpu}>${to.gpu}`);

/** Two full GPUs that exchange a half for three pieces, and a third GPU. */
function crossing(third: readonly Instance[], costs: readonly number[] = [1, 1]) {
  const layout = hostOf(
    [
      ["4g.20gb", 0, { cost: costs[0] }],
      ["3g.20gb", 4, { movable: false }],
    ],
    [
      ["2g.10gb", 0, { cost: costs[1] }],
      ["2g.10gb", 2, { cost: costs[1] }],
      ["3g.20gb", 4, { movable: false }],
    ],
    third,
  );
  return { layout, moves: [move(layout, 0, 0, 1, 0), move(layout, 1, 0, 0, 0), move(layout, 1, 1, 0, 2)] };
}

describe("in use", () => {
  test("what goes into room that is free runs together", () => {
    const layout = hostOf([["1g.5gb", 0]], [["1g.5gb", 0]], [["3g.20gb", 4]]);
    const found = ordered(layout, [move(layout, 0, 0, 2, 0), move(layout, 1, 0, 2, 1)]);
    const after = [[], [], ["1g.5gb@0", "1g.5gb@1", "3g.20gb@4"]];
    expect(found).toMatchObject({ ok: true, bounces: 0, cost: 2, after });
    expect(found.ok && found.moves.map(({ order }) => order)).toEqual([1, 1]);
  });

  test("a chain is one wave for each link", () => {
    const layout = hostOf([["4g.20gb", 0]], [["3g.20gb", 0]], [["1g.5gb", 0]], []);
    const moves = [move(layout, 0, 0, 1, 0), move(layout, 1, 0, 2, 0), move(layout, 2, 0, 3, 0)];
    const found = ordered(layout, moves);
    expect(found.ok && pathOf(found.moves)).toEqual(["1: 2>3", "2: 1>2", "3: 0>1"]);
  });

  test("two of one profile that would change places stay", () => {
    const layout = hostOf([["7g.40gb", 0]], [["7g.40gb", 0]]);
    const found = ordered(layout, [move(layout, 0, 0, 1, 0), move(layout, 1, 0, 0, 0)]);
    expect(found).toMatchObject({ ok: true, cost: 0, moves: [] });
  });

  test("one whose place another of its profile gets stays, and the other goes where it would have gone", () => {
    const layout = hostOf([["3g.20gb", 0, { cost: 2 }]], [["3g.20gb", 0, { cost: 5 }]], []);
    const found = ordered(layout, [move(layout, 0, 0, 1, 0), move(layout, 1, 0, 2, 4)]);
    expect(found).toMatchObject({ ok: true, cost: 2, after: [[], ["3g.20gb@0"], ["3g.20gb@4"]] });
  });

  test("an open place goes first to one that others wait for", () => {
    const layout = hostOf(
      [["2g.10gb", 0]],
      [
        ["2g.10gb", 0],
        ["3g.20gb", 4, { movable: false }],
      ],
      [["4g.20gb", 0]],
      [
        ["1g.5gb", 0, { movable: false }],
        ["1g.5gb", 1, { movable: false }],
        ["3g.20gb", 4, { movable: false }],
      ],
      [
        ["4g.20gb", 0, { movable: false }],
        ["2g.10gb", 4, { movable: false }],
      ],
    );
    // The place on GPU 4 that was meant for the first is not there yet; the one of the second is.
    const moves = [move(layout, 0, 0, 3, 2), move(layout, 2, 0, 1, 0), move(layout, 1, 0, 2, 0)];
    const found = ordered(layout, moves);
    expect(found).toMatchObject({ ok: true, bounces: 0, cost: 3 });
    expect(found.ok && pathOf(found.moves)).toEqual(["1: 1>3", "2: 2>1", "3: 0>2"]);
  });

  test("a circle is broken by the cheapest stop, on a GPU that comes free", () => {
    const held = { movable: false };
    const layout = hostOf(
      [
        ["4g.20gb", 0, { cost: 3 }],
        ["3g.20gb", 4, held],
      ],
      [
        ["2g.10gb", 0],
        ["2g.10gb", 2],
        ["3g.20gb", 4, held],
      ],
      [["1g.5gb", 6, { cost: 2 }]],
      [
        ["2g.10gb", 0, held],
        ["2g.10gb", 2, held],
        ["2g.10gb", 4, held],
      ],
    );
    const circle = [move(layout, 0, 0, 1, 0), move(layout, 1, 0, 0, 0), move(layout, 1, 1, 0, 2)];
    const found = ordered(layout, [...circle, move(layout, 2, 0, 3, 6)]);
    // Two stops of a 2g cost 2, one of the 4g would cost 3.
    expect(found).toMatchObject({ ok: true, bounces: 2, cost: 3 + 2 + 2 + 2 });
    expect(found.ok && found.after?.[2]).toEqual([]);
  });

  test("a circle that only a spare GPU breaks is refused without one, and says what would help", () => {
    const { layout, moves } = crossing([]);
    const refused = ordered(layout, moves);
    expect(refused).toEqual({ ok: false, stuck: moves, spareWouldHelp: true });
    const found = ordered(layout, moves, { spareGpus: 1 });
    expect(found).toMatchObject({ ok: true, bounces: 1, cost: 4 });
    expect(found.ok && pathOf(found.moves)).toEqual(["1: 0>2", "2: 1>0", "2: 1>0", "3: 2>1"]);
    const last = found.ok ? found.moves.at(-1) : null;
    expect(last?.from).toEqual({ host: "a", gpu: 2, instance: 0, start: 0 });
  });

  test("a GPU that is not to be touched is no spare", () => {
    const { layout, moves } = crossing([]);
    const hosts = [...layout.hosts, { name: "b", rack: null, pool: null, gpus: hostOf([]).hosts[0]?.gpus ?? [] }];
    const full = hosts.map((host) => ({ ...host, gpus: host.name === "a" ? host.gpus.slice(0, 2) : host.gpus }));
    const cluster = { takenAt: null, hosts: full };
    expect(ordered(cluster, moves, { spareGpus: 1 })).toMatchObject({ ok: true, bounces: 1 });
    expect(ordered(cluster, moves, { spareGpus: 1, hosts: ["a"] })).toMatchObject({ ok: false, spareWouldHelp: true });
  });

  test("room that stays is used before a stop, at no cost", () => {
    const { layout, moves } = crossing([["3g.20gb", 4, { movable: false }]]);
    const found = ordered(layout, moves);
    expect(found).toMatchObject({ ok: true, bounces: 0, cost: 3 });
  });

  test("one +me instance goes before another comes to the same GPU", () => {
    const layout = hostOf(
      [["1g.5gb+me", 0]],
      [
        ["1g.5gb+me", 3],
        ["2g.10gb", 4],
      ],
      [],
    );
    const found = ordered(layout, [move(layout, 0, 0, 1, 0), move(layout, 1, 0, 2, 0)]);
    expect(found).toMatchObject({ ok: true, bounces: 0, cost: 2 });
    expect(found.ok && pathOf(found.moves)).toEqual(["1: 1>2", "2: 0>1"]);
  });

  test("what nobody holds gives way", () => {
    const layout = hostOf([["1g.5gb", 0]], [["7g.40gb", 0, null]]);
    expect(ordered(layout, [move(layout, 0, 0, 1, 3)])).toMatchObject({ ok: true, after: [[], ["1g.5gb@3"]] });
  });
});

test("only what the limits allow makes a stop", () => {
  const { layout, moves } = crossing([], [1, 3]);
  const hosts = layout.hosts.map((host) => ({
    ...host,
    gpus: host.gpus.map((gpu) => ({
      ...gpu,
      instances: gpu.instances.map((one) => ({
        ...one,
        allocation: one.allocation && { ...one.allocation, tenant: one.profile === "4g.20gb" ? "x" : "y" },
      })),
    })),
  }));
  const first = (tenants: readonly string[]) => {
    const found = ordered({ ...layout, hosts }, moves, { spareGpus: 1, tenants });
    return found.ok ? found.moves[0]?.profile : null;
  };
  expect([first(["x", "y"]), first(["y"]), first([])]).toEqual(["4g.20gb", "2g.10gb", null]);
});

describe("empty", () => {
  const mode: ExecutionMode = "empty";

  test("an existing instance is handed on beside others", () => {
    const layout = hostOf(
      [["1g.5gb", 0]],
      [
        ["1g.5gb", 0, null],
        ["3g.20gb", 4],
      ],
    );
    expect(ordered(layout, [move(layout, 0, 0, 1, 0)], { mode })).toMatchObject({ ok: true, cost: 1 });
  });

  test("a GPU is not divided anew while it is held", () => {
    const layout = hostOf([["1g.5gb", 0]], [["3g.20gb", 4]]);
    const moves = [move(layout, 0, 0, 1, 0)];
    expect(ordered(layout, moves, { mode })).toMatchObject({ ok: false, stuck: moves, spareWouldHelp: false });
    const at = moves.map((one) => ({ ...one, order: 1 }));
    expect(replay(layout, at)).toMatchObject({ ok: true });
    expect(replay(layout, at, mode)).toMatchObject({ ok: false, fault: { move: 0 } });
  });

  test("a GPU is emptied, then divided once for all that comes", () => {
    const unheld: readonly Instance[] = [
      ["1g.5gb", 3, null],
      ["2g.10gb", 4, null],
    ];
    const layout = hostOf([["1g.5gb", 0]], [["2g.10gb", 0]], unheld, [["2g.10gb", 2]]);
    // GPU 1 takes a 1g and a 2g that it has no instances for; its own 2g must leave first.
    const moves = [move(layout, 1, 0, 2, 4), move(layout, 0, 0, 1, 6), move(layout, 3, 0, 1, 4)];
    const found = ordered(layout, moves, { mode });
    expect(found.ok && pathOf(found.moves)).toEqual(["1: 1>2", "2: 0>1", "2: 3>1"]);
  });
});

test("into free space all moves run at once, or what has no room is named", () => {
  const layout = hostOf(
    [["1g.5gb", 0]],
    [["1g.5gb+me", 0]],
    [
      ["3g.20gb", 4],
      ["1g.5gb+me", 1],
    ],
  );
  const fits = [move(layout, 0, 0, 2, 0)];
  expect(ordered(layout, fits, { mode: "free-space" })).toMatchObject({ ok: true, bounces: 0 });
  const stuck = [move(layout, 1, 0, 2, 2)];
  const found = ordered(layout, [...fits, ...stuck, move(layout, 2, 1, 0, 1)], { mode: "free-space", spareGpus: 5 });
  expect(found).toEqual({ ok: false, stuck, spareWouldHelp: false });
});

const models = ["NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-80GB", "NVIDIA H100 80GB HBM3", "NVIDIA A30"];

/** A repeatable source of numbers from 0 to 1. */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

/**
 * Each instance on a random GPU where it fits, up to the load; `pinned` is the share that may not be moved. With GPUs that are
 * free all are of one model and pool.
 */
function randomCluster(seed: number, gpus: number, load: number, pinned: number, free = 0): ClusterLayout {
  const random = sequence(seed);
  const modelOf = (at: number) => models[(seed + (free > 0 ? 0 : Math.floor(at / 16))) % 4] ?? "";
  const hosts = Array.from({ length: gpus + free }, (_, at) => {
    const geometry = geometryFor({ name: modelOf(at) });
    if (geometry === null) throw new Error("the table has no such model");
    return { at, geometry, states: new GpuStates(geometry), state: 0, slices: 0, instances: [] as object[] };
  });
  for (let tries = 0; tries < gpus * 30; tries++) {
    const host = hosts[Math.floor(random() * gpus)];
    if (host === undefined || host.slices >= load * host.geometry.memorySlices + random() * 2 - 1) continue;
    const position = Math.floor(random() ** 2 * host.geometry.profiles.length);
    const profile = host.geometry.profiles[position];
    const start = profile?.starts[Math.floor(random() * profile.starts.length)] ?? -1;
    const next = host.states.add(host.state, position, start);
    if (profile === undefined || next < 0) continue;
    host.state = next;
    host.slices += profile.memorySlices;
    const allocation = { movable: random() >= pinned, cost: Math.ceil(random() * 50) / 10 };
    host.instances.push({ id: host.at * 10 + host.instances.length, profile: profile.name, start, allocation });
  }
  return readLayout({
    schema: "tessera.layout/1",
    hosts: hosts.map(({ at, instances }) => ({
      name: `h${at}`,
      rack: `r${at % 3}`,
      ...(free === 0 && seed % 2 === 0 && at % 16 < 5 ? { pool: "other" } : {}),
      gpus: [{ index: 0, model: modelOf(at), mig: true, instances }],
    })),
  });
}

/** What moves again later has made a stop. */
function costOfStops(moves: readonly Move[]): number {
  const next = new Set(moves.map(({ from }) => `${from.instance} ${from.start} ${from.host}`));
  const stops = moves.filter(({ from, to }) => next.has(`${from.instance} ${to.start} ${to.host}`));
  return stops.reduce((sum, { cost }) => sum + cost, 0);
}

function expectOrdered(layout: ClusterLayout, spareGpus: number): boolean {
  const selection = selectFreeGpus(layout, { ...defaultOptions, count: null, nodeLimit: 60 });
  const found = orderMoves(layout, selection.moves, { ...options, spareGpus });
  if (!found.ok) {
    expect(found.stuck.length).toBeGreaterThan(0);
    return false;
  }
  const done = replay(layout, found.moves);
  expect(done).toMatchObject({ ok: true, freeGpus: selection.freeGpus });
  if (done.ok) expect(done.cost).toBeCloseTo(found.cost, 6);
  if (found.bounces === 0) expect(found.cost).toBeCloseTo(selection.cost, 6);
  else expect(found.cost).toBeCloseTo(selection.cost + costOfStops(found.moves), 6);
  expect(found.moves.length).toBe(selection.moves.length + found.bounces);
  return true;
}

const seeds = fc.integer({ min: 1, max: 1_000_000 });
const shares = fc.integer({ min: 0, max: 2 }).map((tenths) => tenths / 10);
const sizes = fc.integer({ min: 16, max: 40 });

test("every plan that is ordered can be carried out, frees what was promised and costs the selection and its bounces", () => {
  const loads = fc.integer({ min: 30, max: 97 }).map((percent) => percent / 100);
  fc.assert(
    fc.property(seeds, sizes, loads, shares, (seed, size, load, pinned) => {
      expectOrdered(randomCluster(seed, size, load, pinned), 0);
    }),
    { numRuns: 60 },
  );
});

test("with one spare GPU no plan of a full cluster is stuck", () => {
  const loads = fc.integer({ min: 80, max: 97 }).map((percent) => percent / 100);
  fc.assert(
    fc.property(seeds, sizes, loads, (seed, size, load) => {
      expect(expectOrdered(randomCluster(seed, size, load, 0, 1), 1)).toBe(true);
    }),
    { numRuns: 40 },
  );
});

test("in mode `empty` a chain of GPUs, each divided as the one before it, is emptied from its end", () => {
  fc.assert(
    fc.property(seeds, fc.integer({ min: 2, max: 8 }), (seed, size) => {
      const layout = randomCluster(seed, size, 0.8, 0, 1);
      const moves = layout.hosts.flatMap(({ name, gpus }, at) =>
        (gpus[0]?.instances ?? []).map(({ id, profile, start, allocation }): UnorderedMove => {
          const from = { host: name, gpu: 0, instance: id, start };
          return { profile, cost: allocation?.cost ?? 0, from, to: { host: `h${at + 1}`, gpu: 0, start } };
        }),
      );
      const found = orderMoves(layout, moves, { ...options, mode: "empty" });
      expect(found).toMatchObject({ ok: true, bounces: 0 });
      if (found.ok) expect(replay(layout, found.moves, "empty")).toMatchObject({ ok: true, cost: found.cost });
    }),
    { numRuns: 60 },
  );
});

import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AppError } from "../errors.ts";
import { commandsOf } from "./commands.ts";
import { fillingComputeProfile } from "./compute-profiles.ts";
import { geometryFor, knownGeometries, modeChangeNeedsReset, profileOf } from "./geometry.ts";
import { layoutVersion } from "./layout.ts";
import { planGpu } from "./plan.ts";
import { DriverModel } from "./testing/driver-model.ts";
import { allLayouts, asText, type Place, spread } from "./testing/layouts.ts";
import type { GpuGeometry, GpuPlan, Layout, LayoutInstance } from "./types.ts";
import { undoPlan } from "./undo.ts";

const uuid = "GPU-11111111-2222-3333-4444-555555555555";
/** Models that the table can place something on, ids known or not. */
const divisible = knownGeometries.filter((geometry) => geometry.profiles.some((profile) => profile.starts.length > 0));
const named = divisible.map((geometry) => [geometry.key, geometry] as const);

function geometryNamed(name: string): GpuGeometry {
  const geometry = geometryFor({ name });
  if (geometry === null) throw new Error(`${name} is not in the table`);
  return geometry;
}
const h100 = geometryNamed("NVIDIA H100 80GB HBM3");
const a30 = geometryNamed("NVIDIA A30");

const driverOf = (geometry: GpuGeometry, layout: Layout) =>
  new DriverModel(geometry, uuid, layout, modeChangeNeedsReset({ geometryKey: geometry.key, name: geometry.key }));

const requestPlan = (geometry: GpuGeometry, current: Layout, wanted: Layout) =>
  planGpu({ gpuUuid: uuid, gpuIndex: 3, gpuName: geometry.key, geometry, current, wanted });

function planned(geometry: GpuGeometry, current: Layout, wanted: Layout): GpuPlan {
  const outcome = requestPlan(geometry, current, wanted);
  if (!outcome.ok) throw new Error(outcome.refusals.map((refusal) => refusal.sentence).join(" "));
  return outcome.plan;
}

/** Runs a plan on the little driver, command by command; every one must be accepted. */
function carryOut(plan: GpuPlan, driver: DriverModel): void {
  for (const step of plan.steps) {
    const [first, ...rest] = commandsOf(step, uuid);
    if (first === undefined) throw new Error("a step without a command");
    const answer = driver.run(first);
    if (answer.words !== null) throw new Error(`${first.join(" ")}: ${answer.words}`);
    const afterwards = answer.created === undefined ? rest : commandsOf(step, uuid, answer.created).slice(1);
    for (const command of afterwards) {
      const { words } = driver.run(command);
      if (words !== null) throw new Error(`${command.join(" ")}: ${words}`);
    }
  }
}

/** The wish with what it leaves open written out. */
function writtenOut(geometry: GpuGeometry, wanted: Layout): readonly LayoutInstance[] {
  return wanted.instances.map((instance) => {
    const profile = profileOf(geometry, instance.profileId);
    const filling = profile === undefined ? undefined : fillingComputeProfile(profile);
    const fill = filling === undefined ? [] : [{ profileId: filling.id, start: 0 }];
    return { ...instance, computeInstances: instance.computeInstances ?? fill };
  });
}

const divided = (instances: readonly LayoutInstance[]): Layout => ({ migEnabled: true, instances });
const undivided: Layout = { migEnabled: false, instances: [] };

const samePlace = (a: Place, b: Place) => a.profileId === b.profileId && a.start === b.start;

/**
 * Variants of a layout: as it is; its first instance split as small as can be, with one slice only, and split unevenly;
 * its last instance without a compute instance.
 */
function variants(geometry: GpuGeometry, places: readonly Place[]): readonly Layout[] {
  const [first, ...rest] = places;
  const last = places.at(-1);
  if (first === undefined || last === undefined) return [divided(places)];
  const inside = profileOf(geometry, first.profileId)?.computeInstanceProfiles ?? [];
  const ofSize = (slices: number) => inside.find((candidate) => candidate.computeSlices === slices);
  const [single, pair] = [ofSize(1), ofSize(2)];
  const split = single?.starts.map((start) => ({ profileId: single.id, start })) ?? [];
  // A pair below, single slices above: created in the other order the driver would put them elsewhere.
  const uneven =
    single === undefined || pair === undefined
      ? []
      : [{ profileId: pair.id, start: 0 }, ...split.filter(({ start }) => start >= 2)];
  return [
    divided(places),
    divided([{ ...first, computeInstances: split }, ...rest]),
    divided([{ ...first, computeInstances: split.slice(0, 1) }, ...rest]),
    divided([{ ...first, computeInstances: uneven }, ...rest]),
    divided([{ ...first, computeInstances: uneven.toReversed() }, ...rest]),
    divided([...places.slice(0, -1), { ...last, computeInstances: [] }]),
  ];
}

/** What differs, counted: the mode, each instance that goes or comes, each compute instance inside one that stays. */
function fewestSteps(geometry: GpuGeometry, from: Layout, to: Layout): number {
  const theirs = writtenOut(geometry, from);
  const ours = writtenOut(geometry, to);
  const inside = (instance: LayoutInstance) => instance.computeInstances ?? [];
  const onlyIn = (a: readonly Place[], b: readonly Place[]) =>
    a.filter((item) => !b.some((other) => samePlace(item, other))).length;
  const within = theirs.flatMap((instance) => {
    const same = ours.find((other) => samePlace(other, instance));
    return same === undefined ? [] : [onlyIn(inside(instance), inside(same)) + onlyIn(inside(same), inside(instance))];
  });
  const modes = from.migEnabled === to.migEnabled ? 0 : 1;
  return modes + onlyIn(theirs, ours) + onlyIn(ours, theirs) + within.reduce((a, b) => a + b, 0);
}

/** One model of each family is gone through at length; the others divide alike and only their numbers are their own. */
const atLength = ["A100-40GB", "A30-24GB", "RTX-PRO-6000-Blackwell", "RTX-PRO-5000-Blackwell-48GB"];

describe.each(named)("every pair of a sample of layouts: %s", (key, geometry) => {
  const sample = [
    undivided,
    ...spread(allLayouts(geometry), atLength.includes(key) ? 10 : 4).flatMap((places) => variants(geometry, places)),
  ];

  it("is carried out by the driver and ends at what is wanted, in the fewest steps", () => {
    // Differences are collected and looked at once: an assertion for each of the thousands of pairs would take the time.
    const wrong: unknown[] = [];
    for (const from of sample) {
      for (const wanted of sample) {
        const driver = driverOf(geometry, from);
        const before = driver.layout();
        const plan = planned(geometry, before, wanted);
        carryOut(plan, driver);
        const after = driver.layout();
        const undo = undoPlan(plan, after, geometry);
        if (undo.ok) carryOut(undo.plan, driver);
        const found = [
          plan.steps.length,
          after.migEnabled,
          asText(after.instances),
          asText(plan.after.instances),
          plan.kept.every((kept) => after.instances.some((instance) => isDeepStrictEqual(instance, kept))),
          planned(geometry, after, wanted).steps.length,
          asText(driver.layout().instances),
        ];
        const end = asText(writtenOut(geometry, wanted));
        const due = [
          fewestSteps(geometry, before, wanted),
          wanted.migEnabled,
          end,
          end,
          true,
          0,
          asText(before.instances),
        ];
        if (!isDeepStrictEqual(found, due)) wrong.push({ from, wanted, found, due });
      }
    }
    expect(wrong).toEqual([]);
  });

  it("never touches what is in use, and says so where it would have to", () => {
    for (const from of sample.filter((layout) => layout.instances.length > 0)) {
      for (const wanted of sample) {
        const held = from.instances[0];
        if (held === undefined) continue;
        const used = divided([{ ...held, inUse: true }, ...from.instances.slice(1)]);
        const driver = driverOf(geometry, used);
        const before = driver.layout();
        const theirs = before.instances.find((instance) => instance.inUse);
        const outcome = requestPlan(geometry, before, wanted);
        const present = writtenOut(geometry, used).find((instance) => samePlace(instance, held));
        const wish = writtenOut(geometry, wanted).find((instance) => samePlace(instance, held));
        const wishedInside = new Set(wish?.computeInstances?.map(({ profileId, start }) => `${profileId}@${start}`));
        const survives =
          wish !== undefined &&
          (present?.computeInstances ?? []).every(({ profileId, start }) => wishedInside.has(`${profileId}@${start}`));
        expect(outcome.ok).toBe(survives);
        if (outcome.ok) {
          carryOut(outcome.plan, driver);
          const now = driver.layout().instances.find((instance) => instance.id === theirs?.id);
          expect(now?.computeInstances).toEqual(expect.arrayContaining([...(theirs?.computeInstances ?? [])]));
        } else {
          expect(outcome.refusals.map((refusal) => refusal.violation)).toContainEqual({
            rule: "instance-in-use",
            profile: profileOf(geometry, held.profileId)?.name,
            start: held.start,
            gpuInstanceId: theirs?.id,
          });
        }
      }
    }
  });
});

/** Fewest creates and destroys between two layouts, found by trying everything. */
function distances(layouts: readonly (readonly Place[])[]): (from: number) => readonly number[] {
  const text = (places: readonly Place[]) => asText(places);
  const numbers = new Map(layouts.map((places, number) => [text(places), number]));
  const neighbours: number[][] = layouts.map(() => []);
  for (const [number, places] of layouts.entries()) {
    for (const gone of places) {
      const smaller = numbers.get(text(places.filter((place) => place !== gone)));
      if (smaller === undefined) continue;
      neighbours[number]?.push(smaller);
      neighbours[smaller]?.push(number);
    }
  }
  return (from) => {
    const distance: number[] = layouts.map(() => Number.POSITIVE_INFINITY);
    distance[from] = 0;
    for (const queue = [from]; queue.length > 0; ) {
      const here = queue.shift() ?? from;
      for (const next of neighbours[here] ?? []) {
        if (distance[next] !== Number.POSITIVE_INFINITY) continue;
        distance[next] = (distance[here] ?? 0) + 1;
        queue.push(next);
      }
    }
    return distance;
  };
}

describe("the fewest steps", () => {
  const layouts = allLayouts(a30);
  const from = distances(layouts);

  it(`agree with a search through all ${layouts.length} layouts of A30, from each to each`, () => {
    for (const [start, places] of layouts.entries()) {
      const before = driverOf(a30, divided(places)).layout();
      const steps = layouts.map((wanted) => planned(a30, before, divided(wanted)).steps.length);
      expect(steps).toEqual(from(start));
    }
  });
});

describe("planGpu", () => {
  const full = { profileId: 9, start: 0, id: 1, computeInstances: [{ profileId: 2, start: 0, id: 0 }] };
  const orphan = { profileId: 19, start: 4, id: 7, computeInstances: [] };

  it("writes out the whole plan", () => {
    const current = divided([full, orphan]);
    const wanted = divided([
      { profileId: 19, start: 4 },
      { profileId: 14, start: 0 },
      {
        profileId: 14,
        start: 2,
        computeInstances: [
          { profileId: 0, start: 1 },
          { profileId: 0, start: 0 },
        ],
      },
    ]);
    const halves = [
      { profileId: 0, start: 0 },
      { profileId: 0, start: 1 },
    ];
    expect(planned(h100, current, wanted)).toEqual({
      gpuUuid: uuid,
      gpuIndex: 3,
      gpuName: "H100-SXM5-80GB",
      basedOn: "mig=on 9@0#1[2@0#0] 19@4#7[]",
      before: current,
      after: divided([
        { profileId: 14, start: 0, computeInstances: [{ profileId: 1, start: 0 }] },
        { profileId: 14, start: 2, computeInstances: halves },
        { ...orphan, computeInstances: [{ profileId: 0, start: 0 }] },
      ]),
      steps: [
        {
          kind: "destroy-instance",
          gpuInstanceId: 1,
          profileId: 9,
          profile: "3g.40gb",
          placement: { start: 0, size: 4 },
          computeInstances: full.computeInstances,
        },
        {
          kind: "create-compute-instance",
          gpuInstanceId: 7,
          profile: "1g.10gb",
          computeInstance: { profileId: 0, start: 0 },
        },
        {
          kind: "create-instance",
          profileId: 14,
          profile: "2g.20gb",
          placement: { start: 0, size: 2 },
          computeInstances: [{ profileId: 1, start: 0 }],
          defaultComputeInstance: true,
        },
        {
          kind: "create-instance",
          profileId: 14,
          profile: "2g.20gb",
          placement: { start: 2, size: 2 },
          computeInstances: halves,
          defaultComputeInstance: false,
        },
      ],
      kept: [],
    } satisfies GpuPlan);
  });

  it("keeps the GPU instance where only compute instances differ, and the compute instances that stay", () => {
    const thirds = [0, 1, 2].map((start) => ({ profileId: 0, start, id: start }));
    const current = divided([{ ...full, computeInstances: thirds }]);
    const wanted = divided([
      {
        profileId: 9,
        start: 0,
        computeInstances: [
          { profileId: 0, start: 0 },
          { profileId: 0, start: 2 },
        ],
      },
    ]);
    const plan = planned(h100, current, wanted);
    expect(plan.steps).toEqual([
      {
        kind: "destroy-compute-instance",
        gpuInstanceId: 1,
        profile: "3g.40gb",
        computeInstance: { profileId: 0, start: 1, id: 1 },
      },
    ]);
    expect(plan.after.instances[0]?.computeInstances).toEqual([thirds[0], thirds[2]]);
  });

  it("adds a compute instance to an instance in use without touching what runs", () => {
    const current = divided([{ ...full, inUse: true, computeInstances: [{ profileId: 1, start: 0, id: 0 }] }]);
    const inside = [
      { profileId: 1, start: 0 },
      { profileId: 0, start: 2 },
    ];
    const plan = planned(h100, current, divided([{ profileId: 9, start: 0, computeInstances: inside }]));
    expect(plan.steps.map((step) => step.kind)).toEqual(["create-compute-instance"]);
  });

  it("shows where the driver will put a compute instance, and is content with it", () => {
    const wanted = divided([{ profileId: 9, start: 0, computeInstances: [{ profileId: 0, start: 2 }] }]);
    const plan = planned(h100, divided([]), wanted);
    expect(plan.after.instances[0]?.computeInstances).toEqual([{ profileId: 0, start: 0 }]);
    const driver = driverOf(h100, divided([]));
    carryOut(plan, driver);
    expect(asText(driver.layout().instances)).toBe(asText(plan.after.instances));
    expect(planned(h100, driver.layout(), wanted).steps).toEqual([]);
  });

  it.each([
    ["NVIDIA A100-SXM4-40GB", true],
    ["NVIDIA H100 80GB HBM3", false],
  ])("makes the change of MIG mode a step of its own, with the reset where %s needs it", (name, needsReset) => {
    const geometry = geometryNamed(name);
    const on = planned(geometry, undivided, divided([{ profileId: 0, start: 0 }]));
    const off = planned(geometry, driverOf(geometry, on.after).layout(), undivided);
    expect(on.steps.map((step) => step.kind)).toEqual(["set-mig-mode", "create-instance"]);
    expect(on.steps[0]).toEqual({ kind: "set-mig-mode", enabled: true, needsReset });
    expect(off.steps.map((step) => step.kind)).toEqual(["destroy-instance", "set-mig-mode"]);
    expect(off.steps[1]).toEqual({ kind: "set-mig-mode", enabled: false, needsReset });
  });

  it("lets the caller say whether a reset is needed", () => {
    const request = {
      gpuUuid: uuid,
      gpuIndex: 0,
      gpuName: "",
      geometry: h100,
      current: undivided,
      wanted: divided([]),
    };
    const outcome = planGpu({ ...request, resetOnModeChange: true });
    expect(outcome.ok && outcome.plan.steps).toEqual([{ kind: "set-mig-mode", enabled: true, needsReset: true }]);
    const held = planGpu({ ...request, wholeGpuInUse: true });
    expect(held.ok ? [] : held.refusals.map((refusal) => refusal.violation)).toEqual([
      { rule: "mig-mode-in-use", instances: 0 },
    ]);
  });

  it("refuses to disable MIG mode over an instance in use, by its name", () => {
    const outcome = requestPlan(h100, divided([{ ...full, inUse: true }, orphan]), undivided);
    expect(outcome.ok ? [] : outcome.refusals.map((refusal) => refusal.sentence)).toEqual([
      "3g.40gb at memory slice 0 (GPU instance 1) is in use and would have to go.",
      "MIG mode cannot be disabled while 1 instance is in use.",
    ]);
  });

  it("refuses instances on a GPU that is to be left undivided, and GPUs that cannot be divided", () => {
    const onOff = requestPlan(h100, divided([]), { migEnabled: false, instances: [{ profileId: 0, start: 0 }] });
    const t4 = planGpu({
      gpuUuid: uuid,
      gpuIndex: 0,
      gpuName: "Tesla T4",
      geometry: null,
      current: undivided,
      wanted: divided([]),
    });
    expect(
      [onOff, t4].map((outcome) => (outcome.ok ? [] : outcome.refusals.map((refusal) => refusal.violation))),
    ).toEqual([[{ rule: "mig-mode-off", instances: 1 }], [{ rule: "not-mig-capable", model: "Tesla T4" }]]);
  });

  it("leaves alone what it does not understand, as long as it is wanted as it stands", () => {
    const strange = { ...full, computeInstances: [{ profileId: -1, start: -1, id: 4 }] };
    const same = [{ profileId: -1, start: -1 }];
    const plan = planned(
      h100,
      divided([strange]),
      divided([
        { profileId: 9, start: 0, computeInstances: same },
        { profileId: 9, start: 4 },
      ]),
    );
    expect([plan.steps.map((step) => step.kind), plan.kept]).toEqual([["create-instance"], [strange]]);
  });

  it("takes back a layout of which the compute instances could not be read", () => {
    const before = divided([{ ...full, computeInstances: [{ profileId: -1, start: -1, id: 4 }] }]);
    const plan = planned(h100, before, divided([]));
    const undo = undoPlan(plan, divided([]), h100);
    expect(undo.ok && undo.plan.after).toEqual(
      divided([{ profileId: 9, start: 0, computeInstances: [{ profileId: 2, start: 0 }] }]),
    );
    expect(undoPlan(plan, before, h100)).toMatchObject({ ok: true, plan: { steps: [], kept: before.instances } });
  });

  it("says that a layout without IDs is no layout to destroy from", () => {
    const act = () => requestPlan(h100, divided([{ profileId: 9, start: 0 }]), divided([]));
    expect(act).toThrow(AppError);
  });
});

describe("compute instances in any places", () => {
  const seven = { profileId: 0, start: 0 };
  const inside = profileOf(h100, 0)?.computeInstanceProfiles ?? [];
  /** Any that fit into 7g beside each other, wherever they lie. */
  const anyInside = fc
    .shuffledSubarray(
      inside.flatMap(({ id, computeSlices, starts }) =>
        starts.map((start) => ({ profileId: id, start, computeSlices })),
      ),
    )
    .map((candidates) => {
      const taken = new Set<number>();
      const slicesOf = (one: { start: number; computeSlices: number }) =>
        Array.from({ length: one.computeSlices }, (_, slice) => one.start + slice);
      const kept = candidates.filter((one) => {
        if (slicesOf(one).some((slice) => taken.has(slice))) return false;
        for (const slice of slicesOf(one)) taken.add(slice);
        return true;
      });
      return kept.map(({ profileId, start }) => ({ profileId, start }));
    })
    .chain((all) => fc.subarray(all));

  it("are made in the wanted sizes where the driver puts them, exactly as the plan says, and then are left alone", () => {
    fc.assert(
      fc.property(anyInside, anyInside, (from, to) => {
        const wanted = divided([{ ...seven, computeInstances: to }]);
        for (const start of [divided([]), divided([{ ...seven, computeInstances: from }])]) {
          const driver = driverOf(h100, start);
          const plan = planned(h100, driver.layout(), wanted);
          carryOut(plan, driver);
          const after = driver.layout();
          const sizes = (list: readonly Place[] = []) => list.map(({ profileId }) => profileId).sort();
          expect(asText(after.instances)).toBe(asText(plan.after.instances));
          expect(sizes(after.instances[0]?.computeInstances)).toEqual(sizes(to));
          expect(planned(h100, after, wanted).steps).toEqual([]);
        }
      }),
      { numRuns: 1500 },
    );
  });
});

describe("laws", () => {
  const rtx = geometryNamed("NVIDIA RTX PRO 6000 Blackwell Server Edition");
  const pools = [h100, rtx].map((geometry) => ({ geometry, layouts: allLayouts(geometry) }));
  const pair = fc.constantFrom(...pools).chain(({ geometry, layouts }) =>
    fc.record({
      geometry: fc.constant(geometry),
      from: fc.constantFrom(...layouts),
      to: fc.constantFrom(...layouts),
      used: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
    }),
  );

  it("a plan is carried out, is idempotent, spares what is in use, and is undone", () => {
    fc.assert(
      fc.property(pair, ({ geometry, from, to, used }) => {
        // Only what is wanted anyway may be in use here: the rest is refused, which the pairs above show.
        const start = divided(
          from.map((place, n) => ({
            ...place,
            inUse: (used[n] ?? false) && to.some((wish) => samePlace(wish, place)),
          })),
        );
        const driver = driverOf(geometry, start);
        const before = driver.layout();
        const plan = planned(geometry, before, divided(to));
        carryOut(plan, driver);
        const after = driver.layout();
        expect(after.instances).toEqual(expect.arrayContaining(before.instances.filter((instance) => instance.inUse)));
        expect(planned(geometry, after, divided(to)).steps).toEqual([]);
        const undo = undoPlan(plan, after, geometry);
        if (!undo.ok) throw new Error("an undo was refused");
        carryOut(undo.plan, driver);
        expect(asText(driver.layout().instances)).toBe(asText(before.instances));
        expect(plan.basedOn).toBe(layoutVersion(before));
        // As many steps back as forth.
        expect(undo.plan.steps.length).toBe(plan.steps.length);
      }),
      { numRuns: 400 },
    );
  });
});

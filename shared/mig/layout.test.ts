import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GpuInstance, GpuProcess } from "../protocol/inventory.ts";
import { quietGpu } from "../protocol/testing/gpu.ts";
import { asWish, layoutOf, layoutVersion } from "./layout.ts";
import type { Layout, LayoutInstance } from "./types.ts";

const gpu = quietGpu;

const instance = (changes: Partial<GpuInstance>): GpuInstance => ({
  id: 1,
  profileId: 9,
  profile: "3g.40gb",
  placement: { start: 0, size: 4 },
  computeInstances: [],
  memory: { totalMiB: null, usedMiB: null },
  utilisationPercent: null,
  holder: null,
  ...changes,
});

const processIn = (gpuInstanceId: number): GpuProcess => ({
  pid: 4711,
  name: "python",
  user: "ada",
  gpuInstanceId,
  computeInstanceId: 0,
  usedMemoryMiB: null,
  kind: "compute",
  startedAt: null,
});

const computeInstance = { id: 0, uuid: null, deviceIndex: null };

describe("layoutOf", () => {
  it("reads instances with their compute instances, and who uses them", () => {
    const layout = layoutOf({
      ...gpu,
      instances: [
        instance({
          id: 2,
          placement: { start: 4, size: 4 },
          holder: { tenant: null, project: null, user: "ada", by: "lease", allocation: "7", since: null },
        }),
        instance({
          computeInstances: [
            { ...computeInstance, profileId: 2, profile: "3g.40gb", placement: { start: 0, size: 3 } },
          ],
        }),
      ],
      processes: [processIn(1)],
    });
    expect(layout).toEqual({
      migEnabled: true,
      instances: [
        { profileId: 9, start: 0, id: 1, computeInstances: [{ profileId: 2, start: 0, id: 0 }], inUse: true },
        { profileId: 9, start: 4, id: 2, computeInstances: [], inUse: true },
      ],
    });
  });

  it("is not in use because of what runs elsewhere", () => {
    const layout = layoutOf({ ...gpu, instances: [instance({})], processes: [processIn(5)] });
    expect(layout.instances.map(({ inUse }) => inUse)).toEqual([false]);
  });

  it("names a compute instance by its profile where the driver gave no number, and says where it cannot", () => {
    const inside = [
      { ...computeInstance, profileId: null, profile: "3g.40gb", placement: null },
      { ...computeInstance, id: 1, profileId: null, profile: "1c.3g.40gb", placement: { start: 2, size: 1 } },
      { ...computeInstance, id: 2, profileId: null, profile: "5c.3g.40gb", placement: null },
    ];
    const layout = layoutOf({ ...gpu, instances: [instance({ computeInstances: inside })] });
    expect(layout.instances[0]?.computeInstances).toEqual([
      { profileId: -1, start: -1, id: 2 },
      { profileId: 2, start: 0, id: 0 },
      { profileId: 0, start: 2, id: 1 },
    ]);
  });

  it.each(["disabled", "not-supported", null] as const)("of a GPU with MIG mode %s is undivided", (current) => {
    expect(layoutOf({ ...gpu, mig: { current, pending: "enabled" }, instances: [instance({})] })).toEqual({
      migEnabled: false,
      instances: [],
    });
  });
});

describe("layoutVersion", () => {
  it("can be read", () => {
    const layout: Layout = {
      migEnabled: true,
      instances: [
        { profileId: 19, start: 4, id: 7, computeInstances: [] },
        { profileId: 14, start: 6 },
        {
          profileId: 9,
          start: 0,
          id: 1,
          inUse: true,
          computeInstances: [
            { profileId: 0, start: 2, id: 1 },
            { profileId: 1, start: 0, id: 0 },
          ],
        },
      ],
    };
    expect(layoutVersion(layout)).toBe("mig=on 9@0#1[1@0#0,0@2#1] 19@4#7[] 14@6[*]");
    expect(layoutVersion({ migEnabled: false, instances: [] })).toBe("mig=off");
  });

  const small = fc.integer({ min: 0, max: 2 });
  const optionalId = fc.option(small, { nil: undefined });
  const withId = <T extends object>(item: T, id: number | undefined) => (id === undefined ? item : { ...item, id });
  const inside = fc
    .record({ profileId: small, start: small, id: optionalId })
    .map(({ id, ...rest }) => withId(rest, id));
  const anyInstance = fc
    .record({
      profileId: small,
      start: small,
      id: optionalId,
      computeInstances: fc.option(fc.array(inside, { maxLength: 2 }), { nil: undefined }),
    })
    .map(
      ({ id, computeInstances, ...rest }): LayoutInstance =>
        withId(computeInstances === undefined ? rest : { ...rest, computeInstances }, id),
    );
  const anyLayout = fc.record({ migEnabled: fc.boolean(), instances: fc.array(anyInstance, { maxLength: 3 }) });

  /** The layout as a set of facts, by way of JSON, which is another way than the version's own. */
  const facts = ({ migEnabled, instances }: Layout): string => {
    const lines = instances.map(({ profileId, start, id, computeInstances }) =>
      JSON.stringify([
        profileId,
        start,
        id ?? null,
        computeInstances?.map((one) => JSON.stringify([one.profileId, one.start, one.id ?? null])).sort() ?? null,
      ]),
    );
    return JSON.stringify([migEnabled, lines.sort()]);
  };

  it("is the same exactly where the layouts are the same", () => {
    fc.assert(
      fc.property(anyLayout, anyLayout, (a, b) => {
        expect(layoutVersion(a) === layoutVersion(b)).toBe(facts(a) === facts(b));
      }),
      { numRuns: 5000 },
    );
  });

  it("does not depend on order or on who uses what", () => {
    fc.assert(
      fc.property(anyLayout, (layout) => {
        const turned = {
          ...layout,
          instances: layout.instances.toReversed().map((one) => ({
            ...one,
            inUse: true,
            ...(one.computeInstances === undefined ? {} : { computeInstances: one.computeInstances.toReversed() }),
          })),
        };
        expect(layoutVersion(turned)).toBe(layoutVersion(layout));
      }),
    );
  });
});

describe("asWish", () => {
  it("keeps the division and nothing of the host", () => {
    const layout: Layout = {
      migEnabled: true,
      instances: [
        { profileId: 9, start: 4, id: 2, inUse: true, computeInstances: [{ profileId: 2, start: 0, id: 0 }] },
        { profileId: 9, start: 0 },
      ],
    };
    expect(asWish(layout)).toEqual({
      migEnabled: true,
      instances: [
        { profileId: 9, start: 0 },
        { profileId: 9, start: 4, computeInstances: [{ profileId: 2, start: 0 }] },
      ],
    });
  });
});

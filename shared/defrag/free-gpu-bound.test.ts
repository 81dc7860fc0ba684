import fc from "fast-check";
import { expect, test } from "vitest";
import { geometryOfKey } from "../mig/index.ts";
import { allLayouts, mayExistTogether, type Place } from "../mig/testing/layouts.ts";
import { freeGpuBound } from "./free-gpu-bound.ts";
import { readLayout } from "./read-layout.ts";
import { type ClusterLayout, defaultOptions } from "./types.ts";

const a30 = geometryOfKey("A30-24GB");
if (a30 === null) throw new Error("the table has no A30");
const geometry = a30;
const names = ["1g.6gb", "2g.12gb", "4g.24gb"];
const plainIds = geometry.profiles.filter(({ name }) => names.includes(name)).map(({ id }) => id);
const layouts = allLayouts(geometry).filter((places) => places.every(({ profileId }) => plainIds.includes(profileId)));

interface Held extends Place {
  readonly movable: boolean;
}

/** A cluster of A30s, one list of instances for each GPU. */
function clusterOf(gpus: readonly (readonly Held[])[], allocated = true): ClusterLayout {
  const nameOf = (id: number) => geometry.profiles.find((profile) => profile.id === id)?.name;
  return readLayout({
    schema: "tessera.layout/1",
    hosts: gpus.map((instances, host) => ({
      name: `h${host}`,
      gpus: [
        {
          index: 0,
          model: "NVIDIA A30",
          mig: true,
          instances: instances.map(({ profileId, start, movable }, id) => ({
            id,
            profile: nameOf(profileId),
            start,
            allocation: allocated ? { tenant: `t${host}`, movable } : null,
          })),
        },
      ],
    })),
  });
}

/** Most GPUs that can be free, by trying every place for every movable instance. */
function mostFree(gpus: readonly (readonly Held[])[]): number {
  const standing: Place[][] = gpus.map((instances) => instances.filter(({ movable }) => !movable));
  const movers = gpus.flat().filter(({ movable }) => movable);
  let best = 0;
  const visit = (next: number): void => {
    const free = standing.filter((places) => places.length === 0).length;
    if (free <= best) return;
    const mover = movers[next];
    if (mover === undefined) {
      best = free;
      return;
    }
    const starts = geometry.profiles.find(({ id }) => id === mover.profileId)?.starts ?? [];
    for (const places of standing) {
      for (const start of starts) {
        if (!mayExistTogether(geometry, [...places, { profileId: mover.profileId, start }])) continue;
        places.push({ profileId: mover.profileId, start });
        visit(next + 1);
        places.pop();
      }
    }
  };
  visit(0);
  return best;
}

const gpu = fc
  .constantFrom(...layouts)
  .chain((places) =>
    fc
      .array(fc.boolean(), { minLength: places.length, maxLength: places.length })
      .map((movable) => places.map((place, at): Held => ({ ...place, movable: movable[at] ?? true }))),
  );

test("on small clusters nothing is above the bound, and it is reached", () => {
  fc.assert(
    fc.property(fc.array(gpu, { minLength: 1, maxLength: 3 }), (gpus) => {
      expect(freeGpuBound(clusterOf(gpus), defaultOptions)).toBe(mostFree(gpus));
    }),
    { numRuns: 200 },
  );
});

const [small, half] = plainIds.map((profileId): Held => ({ profileId, start: 0, movable: true }));
if (small === undefined || half === undefined) throw new Error("the A30 has no small profiles");
const scattered = [[small], [small], [half], [half]];

test("four scattered instances leave two GPUs free", () => {
  expect(freeGpuBound(clusterOf(scattered), defaultOptions)).toBe(2);
});

test("what nobody holds is no hindrance", () => {
  expect(freeGpuBound(clusterOf(scattered, false), defaultOptions)).toBe(4);
});

test("tenants and hosts that are left out keep what they hold", () => {
  expect(freeGpuBound(clusterOf(scattered), { ...defaultOptions, tenants: ["t0", "t1"] })).toBe(2);
  expect(freeGpuBound(clusterOf(scattered), { ...defaultOptions, tenants: [] })).toBe(0);
  expect(freeGpuBound(clusterOf(scattered), { ...defaultOptions, hosts: ["h0", "h1"] })).toBe(1);
});

import { expect, test } from "vitest";
import { capacityOf, fragmentation, freeGpus, freeHosts, recoverableGpus } from "./measures.ts";
import { readLayout } from "./read-layout.ts";
import { defaultOptions } from "./types.ts";

const model = "NVIDIA A100-SXM4-40GB";
const held = (id: number, profile: string, start: number) => ({ id, profile, start, allocation: { movable: true } });
const gpu = (index: number, ...instances: readonly object[]) => ({ index, model, mig: true, instances });
const layout = readLayout({
  schema: "tessera.layout/1",
  hosts: [
    {
      name: "a",
      gpus: [gpu(0, held(1, "3g.20gb", 0)), gpu(1, held(1, "1g.5gb", 0), { id: 2, profile: "3g.20gb", start: 4 })],
    },
    { name: "b", gpus: [gpu(0), { index: 1, model: "NVIDIA L40S", mig: false }] },
    {
      name: "c",
      gpus: [gpu(0, held(1, "7g.40gb", 0)), { index: 1, model, mig: false, allocation: { tenant: "nlp" } }],
    },
  ],
});

test("free GPUs and hosts are those on which nobody holds anything, and one more could come free", () => {
  expect([freeGpus(layout), freeHosts(layout), recoverableGpus(layout, defaultOptions)]).toEqual([2, 1, 1]);
});

test("how many of each profile fit, instances that nobody holds giving way", () => {
  const fits = Object.fromEntries(capacityOf(layout).map(({ profile, fits: count }) => [profile, count]));
  expect(fits).toMatchObject({ "7g.40gb": 1, "4g.20gb": 1, "3g.20gb": 4, "1g.5gb": 3 + 6 + 7 });
});

test("fragmentation is the share of the free slices where what is asked for does not fit", () => {
  // 4, 7 and 8 slices are free; 7g fits on the 8 only.
  expect(fragmentation(layout, [{ model, profile: "7g.40gb", weight: 1 }])).toBeCloseTo(11 / 19, 9);
  expect(fragmentation(layout, [{ model, profile: "1g.5gb", weight: 1 }])).toBe(0);
  const mix = [
    { model, profile: "7g.40gb", weight: 3 },
    { model, profile: "1g.5gb", weight: 1 },
  ];
  expect(fragmentation(layout, mix)).toBeCloseTo((3 * 11) / 19 / 4, 9);
  expect(fragmentation(layout, [])).toBeNull();
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { fraction, type Limits } from "../../../../../shared/quota/index.ts";
import { period } from "../../../../../shared/quota/testing/arbitraries.ts";
import {
  changeBetween,
  foreignTres,
  gpuTypeOfSlurm,
  isHeld,
  limitsFromSlurm,
  resourceOfTres,
  resourcesOf,
  slurmGpuType,
  toSlurm,
} from "./limit-mapping.ts";

const types = ["a100", "a100_1g.5gb", "h100_3g.40gb", "h100_1g.10gb+me", "rtx_pro_6000"];
const tracked = ["cpu", "mem", "gres/gpu", "gres/vram", "gres/cardshare", ...types.map((type) => `gres/gpu:${type}`)];
const all = resourcesOf(tracked, types);

const whole = fc.nat(100_000).map((count) => fraction(count));
const slurmable: fc.Arbitrary<Limits> = fc.record(
  {
    cards: fc.nat(1_000_000).map((units) => fraction(units, 56)),
    gpuMemoryGiB: whole,
    cpuCores: whole,
    memoryGiB: fc.nat(10_000_000).map((mebibytes) => fraction(mebibytes, 1024)),
    cardHours: fc.record({ hours: fc.nat(100_000_000).map((minutes) => fraction(minutes, 56 * 60)), period }),
    gpuTypes: fc.dictionary(fc.constantFrom(...types.map(gpuTypeOfSlurm)), whole, {
      minKeys: 1,
      noNullPrototype: true,
    }),
  },
  { requiredKeys: [] },
);
const found = fc.record({
  grpTres: fc.dictionary(
    fc.constantFrom("cpu", "mem", "gres/vram", "gres/cardshare", "gres/gpu:a100", "gres/gpu:a100_1g.5gb"),
    fc.nat(),
    {
      noNullPrototype: true,
    },
  ),
  grpTresMins: fc.dictionary(fc.constant("gres/cardshare"), fc.nat(), { noNullPrototype: true }),
});

test("limits go to Slurm and come back as they were", () => {
  fc.assert(
    fc.property(slurmable, (limits) => {
      const held = toSlurm(limits, all);
      expect(limitsFromSlurm(held, all, limits.cardHours?.period ?? { kind: "none" })).toEqual(limits);
      for (const count of Object.values({ ...held.grpTres, ...held.grpTresMins }))
        expect(count).toSatisfy(Number.isSafeInteger);
    }),
  );
});

test("what Slurm has comes to us and goes back as it was", () => {
  fc.assert(
    fc.property(found, period, (limits, counted) => {
      expect(toSlurm(limitsFromSlurm(limits, all, counted), all)).toEqual(limits);
    }),
  );
});

test("a change makes what was into what is wanted, and names nothing that stays", () => {
  fc.assert(
    fc.property(slurmable, slurmable, (before, after) => {
      const change = changeBetween(before, after, all);
      const [old, wanted] = [toSlurm(before, all), toSlurm(after, all)];
      const merged = (was: Readonly<Record<string, number>>, set: Readonly<Record<string, number | null>> = {}) =>
        Object.fromEntries(Object.entries({ ...was, ...set }).filter(([, count]) => count !== null));
      const made = {
        grpTres: merged(old.grpTres, change?.grpTres),
        grpTresMins: merged(old.grpTresMins, change?.grpTresMins),
      };
      expect(made).toEqual(wanted);
      for (const [tres, count] of Object.entries(change?.grpTres ?? {}))
        expect(old.grpTres[tres] ?? null).not.toBe(count);
      if (change !== null) expect([isHeld(change, wanted), isHeld(change, old)]).toEqual([true, false]);
    }),
  );
});

test("half a card is 28 units, an hour of it 1680 unit-minutes; a limit that is gone is cleared", () => {
  const before: Limits = { cards: fraction(1, 2), cpuCores: fraction(4) };
  const after: Limits = { cpuCores: fraction(4), cardHours: { hours: fraction(1, 2), period: { kind: "none" } } };
  expect([toSlurm(before, all).grpTres, changeBetween(before, after, all), changeBetween(after, after, all)]).toEqual([
    { "gres/cardshare": 28, cpu: 4 },
    { grpTres: { "gres/cardshare": null }, grpTresMins: { "gres/cardshare": 1680 } },
    null,
  ]);
});

test("what is not whole in Slurm's units is refused, never rounded", () => {
  const refused: readonly Limits[] = [
    { cards: fraction(1, 10) },
    { gpuMemoryGiB: fraction(1, 2) },
    { cardHours: { hours: fraction(1, 1000), period: { kind: "none" } } },
    { gpuTypes: { "h200/1g.18gb": fraction(1) } },
  ];
  for (const limits of refused)
    expect(() => toSlurm(limits, all)).toThrow(expect.objectContaining({ code: "bad-request" }));
});

test("names of types go both ways; what would come back as another name is refused", () => {
  const names = types.map((type) => [gpuTypeOfSlurm(type), slurmGpuType(gpuTypeOfSlurm(type))]);
  expect(names).toEqual([
    ["a100", "a100"],
    ["a100/1g.5gb", "a100_1g.5gb"],
    ["h100/3g.40gb", "h100_3g.40gb"],
    ["h100/1g.10gb+me", "h100_1g.10gb+me"],
    ["rtx_pro_6000", "rtx_pro_6000"],
  ]);
  for (const name of ["A100", "a100_1g.5gb", "a100/x", "a/b/c", "a100,b", "a100=1", ""]) {
    expect(() => slurmGpuType(name)).toThrow(expect.objectContaining({ code: "bad-request" }));
  }
});

test("without gres/cardshare cards are whole GPUs where none is divided, and nothing where one is", () => {
  const plain = resourcesOf(["cpu", "mem", "gres/gpu"], ["a100"]);
  const divided = resourcesOf(["cpu", "mem", "gres/gpu"], types);
  const limits: Limits = { cards: fraction(2), cardHours: { hours: fraction(3), period: { kind: "none" } } };
  expect([toSlurm(limits, plain), toSlurm(limits, divided)]).toEqual([
    { grpTres: { "gres/gpu": 2 }, grpTresMins: { "gres/gpu": 180 } },
    { grpTres: {}, grpTresMins: {} },
  ]);
  expect(() => toSlurm({ cards: fraction(1, 2) }, plain)).toThrow("whole numbers");
});

test("other limits are told in Slurm's words", () => {
  const limits = { grpTres: { cpu: 1, node: 2, "gres/gpu": 3 }, grpTresMins: { billing: 4, "gres/cardshare": 5 } };
  expect(foreignTres(limits, all)).toEqual(["GrpTRES node=2", "GrpTRES gres/gpu=3", "GrpTRESMins billing=4"]);
  expect(resourceOfTres("GrpTRES", "gres/gpu:a100_1g.5gb", all)).toEqual({ resource: "gpuType:a100/1g.5gb", units: 1 });
  expect(resourceOfTres("MaxTRESPerJob", "cpu", all)).toBe(null);
});

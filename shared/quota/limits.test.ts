import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compare, fraction } from "./fraction.ts";
import { amountsOf, changesBetween, type Limits, limitsOf, partsOfResource } from "./limits.ts";
import { limits } from "./testing/arbitraries.ts";

const month = { kind: "month", timeZone: "Europe/Berlin" } as const;
const full: Limits = {
  memoryGiB: fraction(512),
  cards: fraction(7, 2),
  gpuTypes: { b: fraction(2), a: fraction(1) },
  cardHours: { hours: fraction(100), period: month },
  cpuCores: fraction(0),
  gpuMemoryGiB: fraction(80),
};

describe("amountsOf", () => {
  it("lists what is stated, in one order; zero is stated, absent is not", () => {
    expect(amountsOf(full)).toEqual([
      ["cards", fraction(7, 2)],
      ["gpuMemoryGiB", fraction(80)],
      ["cpuCores", fraction(0)],
      ["memoryGiB", fraction(512)],
      ["cardHours:month:Europe/Berlin", fraction(100)],
      ["gpuType:a", fraction(1)],
      ["gpuType:b", fraction(2)],
    ]);
    expect(amountsOf({})).toEqual([]);
  });

  it("lists card-hours of a usage once for each period", () => {
    const cardHours = [
      { hours: fraction(1), period: { kind: "none" } as const },
      { hours: fraction(2), period: month },
    ];
    expect(amountsOf({ cardHours })).toEqual([
      ["cardHours:none", fraction(1)],
      ["cardHours:month:Europe/Berlin", fraction(2)],
    ]);
  });

  it("is undone by limitsOf", () => {
    fc.assert(
      fc.property(limits, (each) => {
        expect(limitsOf(amountsOf(each))).toEqual(each);
      }),
    );
  });
});

describe("partsOfResource", () => {
  it("takes a key apart", () => {
    const keys = [
      "cards",
      "cardHours:none",
      "cardHours:month:Europe/Berlin",
      "gpuType:a/3g.40gb",
      "gpuType:constructor",
    ];
    expect(keys.map(partsOfResource)).toEqual([
      { kind: "cards" },
      { kind: "cardHours", period: { kind: "none" } },
      { kind: "cardHours", period: month },
      { kind: "gpuType", gpuType: "a/3g.40gb" },
      { kind: "gpuType", gpuType: "constructor" },
    ]);
    expect(
      ["", "cardHours", "cardHours:", "cardHours:year:UTC", "gpuType:", "gpuType", "toString"].map(partsOfResource),
    ).toEqual([null, null, null, null, null, null, null]);
  });
});

describe("changesBetween", () => {
  it("tells set, cleared, raised and lowered apart", () => {
    const after: Limits = {
      cards: fraction(4),
      gpuMemoryGiB: fraction(40),
      cpuCores: fraction(0),
      cardHours: { hours: fraction(100), period: { kind: "week", timeZone: "Europe/Berlin" } },
      gpuTypes: { a: fraction(1), c: fraction(0) },
    };
    expect(changesBetween(full, after)).toEqual([
      { resource: "cards", kind: "raised", before: fraction(7, 2), after: fraction(4) },
      { resource: "gpuMemoryGiB", kind: "lowered", before: fraction(80), after: fraction(40) },
      { resource: "cardHours:week:Europe/Berlin", kind: "set", before: null, after: fraction(100) },
      { resource: "gpuType:c", kind: "set", before: null, after: fraction(0) },
      { resource: "memoryGiB", kind: "cleared", before: fraction(512), after: null },
      { resource: "cardHours:month:Europe/Berlin", kind: "cleared", before: fraction(100), after: null },
      { resource: "gpuType:b", kind: "cleared", before: fraction(2), after: null },
    ]);
  });

  it("is empty exactly between equal limits, says the same backwards, and leads from one to the other", () => {
    const opposite = { set: "cleared", cleared: "set", raised: "lowered", lowered: "raised" } as const;
    fc.assert(
      fc.property(limits, limits, (a, b) => {
        const changes = changesBetween(a, b);
        expect(changesBetween(a, a)).toEqual([]);
        const back = changesBetween(b, a).map(({ resource, kind, before, after }) => ({
          resource,
          kind: opposite[kind],
          before: after,
          after: before,
        }));
        const sorted = (list: typeof changes) => list.toSorted((x, y) => (x.resource < y.resource ? -1 : 1));
        expect(sorted(back)).toEqual(sorted(changes));
        const applied = new Map(amountsOf(a));
        for (const { resource, after } of changes) {
          if (after === null) applied.delete(resource);
          else applied.set(resource, after);
        }
        expect(limitsOf(applied)).toEqual(b);
        for (const { kind, before, after } of changes) {
          if (before === null || after === null) continue;
          expect(kind).toBe(compare(before, after) < 0 ? "raised" : "lowered");
        }
      }),
    );
  });
});

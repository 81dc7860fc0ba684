import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AppError } from "../errors.ts";
import { knownGeometries } from "../mig/geometry.ts";
import { allLayouts, spread } from "../mig/testing/layouts.ts";
import type { GpuGeometry } from "../mig/types.ts";
import { cardShareOf, cardShareRules, inUnits, unitsPerCard, wholeCardShare } from "./card-share.ts";
import { add, compare, fraction, max, one, subtract, sum, toWords } from "./fraction.ts";

function tableOf(key: string): GpuGeometry {
  const geometry = knownGeometries.find((candidate) => candidate.key === key);
  if (geometry === undefined) throw new Error(`${key} is not in the table`);
  return geometry;
}

/** `1g.10gb 1/7 1/7 1/8`: each profile with its share under larger, compute and memory. */
const sharesOf = (geometry: GpuGeometry): readonly string[] =>
  geometry.profiles.map((profile) =>
    [profile.name, ...cardShareRules.map((rule) => toWords(cardShareOf(geometry, profile, rule).share))].join(" "),
  );

const sevenSlices = (names: readonly string[]): readonly string[] =>
  ["1/7 1/7 1/8", "1/7 1/7 1/8", "1/4 1/7 1/4", "2/7 2/7 1/4", "1/2 3/7 1/2", "4/7 4/7 1/2", "1 1 1"].map(
    (shares, index) => `${names[index]} ${shares}`,
  );

describe("cardShareOf", () => {
  it("counts the larger part, or the one that the rule names", () => {
    expect(sharesOf(tableOf("H100-SXM5-80GB"))).toEqual(
      sevenSlices(["1g.10gb", "1g.10gb+me", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"]),
    );
    expect(sharesOf(tableOf("A30-24GB"))).toEqual([
      "1g.6gb 1/4 1/4 1/4",
      "1g.6gb+me 1/4 1/4 1/4",
      "2g.12gb 1/2 1/2 1/2",
      "2g.12gb+me 1/2 1/2 1/2",
      "4g.24gb 1 1 1",
    ]);
    expect(sharesOf(tableOf("RTX-PRO-6000-Blackwell"))).toEqual([
      "1g.24gb 1/4 1/4 1/4",
      "1g.24gb+me 1/4 1/4 1/4",
      "1g.24gb+gfx 1/4 1/4 1/4",
      "1g.24gb+me.all 1/4 1/4 1/4",
      "1g.24gb-me 1/4 1/4 1/4",
      "2g.48gb 1/2 1/2 1/2",
      "2g.48gb+gfx 1/2 1/2 1/2",
      "2g.48gb+me.all 1/2 1/2 1/2",
      "2g.48gb-me 1/2 1/2 1/2",
      "4g.96gb 1 1 1",
      "4g.96gb+gfx 1 1 1",
    ]);
    // No memory slices: the compute slices decide under every rule.
    expect(sharesOf(tableOf("Thor-iGPU-GB10B"))).toEqual([
      "1g.0gb+me 1/3 1/3 1/3",
      "1g.0gb 1/3 1/3 1/3",
      "1g.0gb+gfx 1/3 1/3 1/3",
      "2g.0gb 2/3 2/3 2/3",
      "2g.0gb+gfx 2/3 2/3 2/3",
      "3g.0gb 1 1 1",
      "3g.0gb+gfx 1 1 1",
    ]);
  });

  it.each(knownGeometries.map((geometry) => [geometry.key, geometry] as const))(
    "%s: a share is above 0 and at most 1, the larger one is the larger of the two, the full profile is 1",
    (_, geometry) => {
      for (const profile of geometry.profiles) {
        const [larger, compute, memory] = cardShareRules.map((rule) => cardShareOf(geometry, profile, rule).share);
        if (larger === undefined || compute === undefined || memory === undefined) throw new Error("three rules");
        expect(larger).toStrictEqual(max(compute, memory));
        const isFull = profile.computeSlices === geometry.computeSlices;
        for (const share of [larger, compute, memory]) {
          expect([compare(share, fraction(0)), compare(share, one)]).toEqual([1, isFull ? 0 : -1]);
        }
      }
    },
  );

  it.each(knownGeometries.map((geometry) => [geometry.key, geometry] as const))(
    "%s: what fits on a card is one card at most where one kind of slice is counted",
    (_, geometry) => {
      for (const places of spread(allLayouts(geometry), 40)) {
        for (const rule of ["compute", "memory"] as const) {
          const total = sum(
            places.map(({ profileId }) => {
              const profile = geometry.profiles.find((candidate) => candidate.id === profileId);
              if (profile === undefined) throw new Error(`profile ${profileId}`);
              return cardShareOf(geometry, profile, rule).share;
            }),
          );
          expect(compare(total, one)).toBeLessThanOrEqual(0);
        }
      }
    },
  );

  it("can count more than one card on a card under the rule larger: 3g + 4g is 1 1/14", () => {
    const h100 = tableOf("H100-SXM5-80GB");
    const shares = h100.profiles.filter(({ id }) => id === 9 || id === 5).map((each) => cardShareOf(h100, each).share);
    expect(toWords(sum(shares))).toBe("1 1/14");
  });

  it("says which rule was set and which part decided", () => {
    const h100 = tableOf("H100-SXM5-80GB");
    const basisOf = (name: string) =>
      h100.profiles.filter((profile) => profile.name === name).map((profile) => cardShareOf(h100, profile))[0];
    expect([basisOf("3g.40gb"), basisOf("4g.40gb"), basisOf("7g.80gb")]).toEqual([
      { share: fraction(1, 2), rule: "larger", basis: "memory", compute: fraction(3, 7), memory: fraction(1, 2) },
      { share: fraction(4, 7), rule: "larger", basis: "compute", compute: fraction(4, 7), memory: fraction(1, 2) },
      { share: one, rule: "larger", basis: "both", compute: one, memory: one },
    ]);
    expect(cardShareOf(h100, { computeSlices: 0, memorySlices: 0 }, "memory")).toEqual({
      share: one,
      rule: "memory",
      basis: "whole-card",
      compute: null,
      memory: null,
    });
    expect(cardShareOf(h100, { computeSlices: 0, memorySlices: 2 }, "compute")).toMatchObject({
      share: fraction(1, 4),
      basis: "memory",
    });
    expect(wholeCardShare("memory")).toEqual({
      share: one,
      rule: "memory",
      basis: "whole-card",
      compute: one,
      memory: one,
    });
  });
});

describe("unitsPerCard", () => {
  it.each([
    ["H100-SXM5-80GB", 56, 28, 7, 8],
    ["A30-24GB", 4, 4, 4, 4],
    ["RTX-PRO-6000-Blackwell", 4, 4, 4, 4],
    ["RTX-PRO-5000-Blackwell-48GB", 2, 2, 2, 2],
    ["Thor-iGPU-GB10B", 3, 3, 3, 3],
  ])("%s: %d for every rule, %d, %d and %d for one", (key, every, larger, compute, memory) => {
    const cards = [tableOf(key)];
    expect([unitsPerCard(cards), ...cardShareRules.map((rule) => unitsPerCard(cards, rule))]).toEqual([
      every,
      larger,
      compute,
      memory,
    ]);
  });

  it("serves a mixed cluster, and a card that nobody divides is one unit", () => {
    expect([unitsPerCard(knownGeometries), unitsPerCard([])]).toEqual([168, 1]);
  });

  it("is the smallest in which every share is whole", () => {
    const cards = fc.subarray([...knownGeometries], { minLength: 1 });
    const rules = fc.constantFrom(null, ...cardShareRules);
    fc.assert(
      fc.property(cards, rules, (geometries, rule) => {
        const shares = geometries.flatMap((geometry) =>
          geometry.profiles.flatMap((profile) =>
            (rule === null ? cardShareRules : [rule]).map((each) => cardShareOf(geometry, profile, each).share),
          ),
        );
        const isCommon = (unit: number) => shares.every((share) => unit % share.denominator === 0);
        const units = unitsPerCard(geometries, rule);
        expect(Array.from({ length: units }, (_, index) => index + 1).find(isCommon)).toBe(units);
      }),
    );
  });
});

describe("inUnits", () => {
  it("turns shares into the integers that Slurm counts, and keeps their sums", () => {
    fc.assert(
      fc.property(fc.constantFrom(...knownGeometries), fc.constantFrom(...cardShareRules), (geometry, rule) => {
        const units = unitsPerCard([geometry]);
        const [first, second] = [geometry.profiles[0], geometry.profiles.at(-2)];
        if (first === undefined || second === undefined) throw new Error("no profiles");
        const [a, b] = [cardShareOf(geometry, first, rule).share, cardShareOf(geometry, second, rule).share];
        expect(inUnits(add(a, b), units)).toBe(inUnits(a, units) + inUnits(b, units));
        expect(inUnits(subtract(one, a), units)).toBe(units - inUnits(a, units));
      }),
    );
  });

  it("refuses what is not whole in them", () => {
    expect(inUnits(fraction(3, 7), 56)).toBe(24);
    expect(() => inUnits(fraction(1, 3), 56)).toThrow(AppError);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { whatFits } from "./fit.ts";
import { knownGeometries, profileOf } from "./geometry.ts";
import { checkComputeInstances, checkLayout, explainPlacement, legalStarts } from "./rules.ts";
import { allLayouts, mayExistTogether, type Place, spread } from "./testing/layouts.ts";
import type { GpuGeometry, GpuInstanceProfile, LayoutInstance, RuleViolation } from "./types.ts";

function byKey(key: string): GpuGeometry {
  const geometry = knownGeometries.find((candidate) => candidate.key === key);
  if (geometry === undefined) throw new Error(`${key} is not in the table`);
  return geometry;
}
const a100 = byKey("A100-40GB");
const a30 = byKey("A30-24GB");
const h100 = byKey("H100-SXM5-80GB");
const rtx = byKey("RTX-PRO-6000-Blackwell");

/** Instances by the names of their profiles. */
function instances(
  geometry: GpuGeometry,
  ...names: readonly [name: string, start: number][]
): readonly LayoutInstance[] {
  return names.map(([name, start]) => ({ profileId: profileNamed(geometry, name).id, start }));
}
function profileNamed(geometry: GpuGeometry, name: string): GpuInstanceProfile {
  const profile = geometry.profiles.find((candidate) => candidate.name === name);
  if (profile === undefined) throw new Error(`${geometry.key} has no ${name}`);
  return profile;
}
const check = (geometry: GpuGeometry, ...names: readonly [name: string, start: number][]): readonly RuleViolation[] =>
  checkLayout(geometry, { migEnabled: true, instances: instances(geometry, ...names) }).map(
    ({ violation }) => violation,
  );

describe("checkLayout", () => {
  it.each<[GpuGeometry, readonly [string, number][]]>([
    [h100, []],
    [h100, [["7g.80gb", 0]]],
    [
      h100,
      [
        ["4g.40gb", 0],
        ["3g.40gb", 4],
      ],
    ],
    [
      h100,
      [
        ["3g.40gb", 0],
        ["3g.40gb", 4],
      ],
    ],
    [
      h100,
      [
        ["1g.10gb", 0],
        ["1g.10gb+me", 1],
        ["2g.20gb", 2],
        ["3g.40gb", 4],
      ],
    ],
    [
      h100,
      [
        ["2g.20gb", 0],
        ["2g.20gb", 2],
        ["2g.20gb", 4],
        ["1g.20gb", 6],
      ],
    ],
    [h100, [0, 1, 2, 3, 4, 5, 6].map((start): [string, number] => ["1g.10gb", start])],
    [
      a30,
      [
        ["2g.12gb+me", 0],
        ["2g.12gb", 2],
      ],
    ],
    [
      rtx,
      [
        ["1g.24gb+me.all", 0],
        ["1g.24gb-me", 3],
        ["2g.48gb-me", 6],
      ],
    ],
    [
      rtx,
      [
        ["2g.48gb", 0],
        ["1g.24gb+me", 6],
        ["1g.24gb+gfx", 9],
      ],
    ],
    [rtx, [["4g.96gb+gfx", 0]]],
  ])("accepts %o %o", (geometry, names) => {
    expect(check(geometry, ...names)).toEqual([]);
  });

  it.each<[string, GpuGeometry, readonly [string, number][], readonly RuleViolation[]]>([
    [
      "a start that the profile does not have",
      h100,
      [["3g.40gb", 2]],
      [{ rule: "illegal-start", profile: "3g.40gb", start: 2, legalStarts: [0, 4] }],
    ],
    [
      "the last memory slice for a 1g",
      h100,
      [["1g.10gb", 7]],
      [{ rule: "illegal-start", profile: "1g.10gb", start: 7, legalStarts: [0, 1, 2, 3, 4, 5, 6] }],
    ],
    [
      "overlap",
      h100,
      [
        ["3g.40gb", 4],
        ["2g.20gb", 4],
      ],
      [{ rule: "overlap", profile: "2g.20gb", start: 4, otherProfile: "3g.40gb", otherStart: 4, otherInUse: false }],
    ],
    [
      "a second +me",
      h100,
      [
        ["1g.10gb+me", 0],
        ["1g.10gb+me", 1],
      ],
      [{ rule: "too-many", profile: "1g.10gb+me", maxInstances: 1 }],
    ],
    [
      "a +me of each size, since there is one JPEG engine",
      a30,
      [
        ["2g.12gb+me", 0],
        ["1g.6gb+me", 2],
      ],
      [{ rule: "media-engines", profile: "1g.6gb+me", otherProfile: "2g.12gb+me" }],
    ],
    [
      "+me.all beside anything with media engines",
      rtx,
      [
        ["2g.48gb+me.all", 0],
        ["1g.24gb", 6],
      ],
      [{ rule: "media-engines", profile: "1g.24gb", otherProfile: "2g.48gb+me.all" }],
    ],
    [
      "+me.all beside graphics with media engines",
      rtx,
      [
        ["1g.24gb+me.all", 0],
        ["1g.24gb+gfx", 3],
      ],
      [{ rule: "media-engines", profile: "1g.24gb+gfx", otherProfile: "1g.24gb+me.all" }],
    ],
  ])("refuses %s", (_, geometry, names, violations) => {
    expect(check(geometry, ...names)).toEqual(violations);
  });

  it("refuses profiles that the GPU does not have, and offers some that it has", () => {
    const [refusal] = checkLayout(h100, { migEnabled: true, instances: [{ profileId: 47, start: 0 }] });
    expect([refusal?.violation.rule, refusal?.driverWords, refusal?.instead[0]]).toEqual([
      "unknown-profile",
      "Invalid Argument",
      { profile: "7g.80gb", start: 0 },
    ]);
  });

  it("refuses more compute slices than there are, where the driver's placements would allow them", () => {
    const [one] = a100.profiles;
    if (one === undefined) throw new Error("no profile");
    const narrow: GpuGeometry = { ...a100, computeSlices: 2, profiles: [one] };
    expect(check(narrow, ["1g.5gb", 0], ["1g.5gb", 1], ["1g.5gb", 2])).toEqual([
      { rule: "compute-slices", wanted: 3, available: 2 },
    ]);
    expect(
      explainPlacement(narrow, { migEnabled: true, instances: instances(narrow, ["1g.5gb", 0], ["1g.5gb", 1]) }, 19, 2)
        ?.violation,
    ).toEqual({ rule: "compute-slices", wanted: 3, available: 2 });
    const filled = { migEnabled: true, instances: instances(narrow, ["1g.5gb", 0]) };
    expect([legalStarts(narrow, filled, 19), whatFits(narrow, filled)[0]?.capacity]).toEqual([[1, 2, 3, 4, 5, 6], 1]);
  });

  it("never asks an instance in use to give way", () => {
    const used = { profileId: 9, start: 4, id: 2, inUse: true };
    const [refusal] = checkLayout(h100, { migEnabled: true, instances: [used, { profileId: 0, start: 0 }] });
    expect(refusal?.violation).toEqual({
      rule: "overlap",
      profile: "7g.80gb",
      start: 0,
      otherProfile: "3g.40gb",
      otherStart: 4,
      otherInUse: true,
    });
    expect(refusal?.sentence).toBe(
      "7g.80gb at memory slice 0 overlaps 3g.40gb at 4, which is in use. 4g.40gb at 0 would fit.",
    );
  });

  /** Any instances at all, legal or not. */
  const anyInstances = fc.constantFrom(...knownGeometries).chain((geometry) =>
    fc.record({
      geometry: fc.constant(geometry),
      places: fc.array(
        fc.record({
          profileId: fc.constantFrom(...geometry.profiles.map((profile) => profile.id), 99),
          start: fc.integer({ min: 0, max: 12 }),
        }),
        { maxLength: 8 },
      ),
    }),
  );

  it("agrees with a checker that goes slice by slice, for any instances", () => {
    fc.assert(
      fc.property(anyInstances, ({ geometry, places }) => {
        const refusals = checkLayout(geometry, { migEnabled: true, instances: places });
        expect(refusals.length === 0).toBe(mayExistTogether(geometry, places));
      }),
      { numRuns: 3000 },
    );
  });

  it("offers only what would be legal, for any instances", () => {
    fc.assert(
      fc.property(anyInstances, ({ geometry, places }) => {
        // The last one may be wrong in any way; the others are made legal first.
        const legal: Place[] = [];
        for (const place of places.slice(0, -1)) {
          if (mayExistTogether(geometry, [...legal, place])) legal.push(place);
        }
        const last = places.at(-1);
        if (last === undefined) return;
        const found = checkLayout(geometry, { migEnabled: true, instances: [...legal, last] });
        const hovered = explainPlacement(geometry, { migEnabled: true, instances: legal }, last.profileId, last.start);
        for (const offer of hovered?.instead ?? []) {
          const profileId = profileNamed(geometry, offer.profile).id;
          expect(mayExistTogether(geometry, [...legal, { profileId, start: offer.start }])).toBe(true);
        }
        expect(hovered === null).toBe(found.length === 0);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("legalStarts and explainPlacement", () => {
  it.each(knownGeometries.map((geometry) => [geometry.key, geometry] as const))(
    "%s: agree with the checker for every profile at every slice of a sample of layouts",
    (_, geometry) => {
      for (const places of spread(allLayouts(geometry), 60)) {
        const layout = { migEnabled: true, instances: places };
        for (const profile of geometry.profiles) {
          const legal = Array.from({ length: geometry.memorySlices + 1 }, (_, start) => start).filter((start) =>
            mayExistTogether(geometry, [...places, { profileId: profile.id, start }]),
          );
          expect(legalStarts(geometry, layout, profile.id)).toEqual(legal);
          const unexplained = Array.from({ length: geometry.memorySlices + 1 }, (_, start) => start).filter(
            (start) => explainPlacement(geometry, layout, profile.id, start) === null,
          );
          expect(unexplained).toEqual(legal);
        }
      }
    },
  );

  it("says what is in the way and what is nearest", () => {
    const layout = { migEnabled: true, instances: [{ profileId: 9, start: 0, id: 1, inUse: true }] };
    expect(explainPlacement(h100, layout, 14, 2)).toEqual({
      violation: {
        rule: "overlap",
        profile: "2g.20gb",
        start: 2,
        otherProfile: "3g.40gb",
        otherStart: 0,
        otherInUse: true,
      },
      sentence: "2g.20gb at memory slice 2 overlaps 3g.40gb at 0, which is in use. 2g.20gb at 4 would fit.",
      driverWords: "Insufficient Resources",
      instead: [
        { profile: "2g.20gb", start: 4 },
        { profile: "1g.20gb", start: 4 },
        { profile: "1g.10gb", start: 4 },
        { profile: "3g.40gb", start: 4 },
        { profile: "1g.10gb+me", start: 4 },
      ],
    });
    expect(explainPlacement(h100, layout, 9, 4)).toBeNull();
    expect(explainPlacement(h100, layout, 1234, 4)?.violation.rule).toBe("unknown-profile");
  });
});

describe("compute instances inside a GPU instance", () => {
  const four = profileOf(h100, 5);
  const inside = (...computeInstances: readonly Place[]) =>
    four === undefined
      ? []
      : checkComputeInstances(four, { profileId: 5, start: 0, computeInstances }).map(({ violation }) => violation);

  it.each<[string, readonly Place[], readonly RuleViolation[]]>([
    ["none", [], []],
    ["one that fills", [{ profileId: 3, start: 0 }], []],
    [
      "two halves",
      [
        { profileId: 1, start: 0 },
        { profileId: 1, start: 2 },
      ],
      [],
    ],
    [
      "a half and two quarters",
      [
        { profileId: 1, start: 2 },
        { profileId: 0, start: 0 },
        { profileId: 0, start: 1 },
      ],
      [],
    ],
    [
      "one of another GPU instance",
      [{ profileId: 4, start: 0 }],
      [
        {
          rule: "unknown-compute-profile",
          profile: "4g.40gb",
          profileId: 4,
          known: ["1c.4g.40gb", "2c.4g.40gb", "4g.40gb"],
        },
      ],
    ],
    [
      "one between two starts",
      [{ profileId: 1, start: 1 }],
      [{ rule: "illegal-compute-start", profile: "2c.4g.40gb", start: 1, legalStarts: [0, 2] }],
    ],
    [
      "two in one place",
      [
        { profileId: 1, start: 0 },
        { profileId: 0, start: 1 },
      ],
      [{ rule: "compute-overlap", profile: "1c.4g.40gb", start: 1 }],
    ],
  ])("%s", (_, computeInstances, violations) => {
    expect(inside(...computeInstances)).toEqual(violations);
  });

  it("is held to the driver's count where that is lower than the placements", () => {
    const profile = profileOf(h100, 14);
    const [slice, ...others] = profile?.computeInstanceProfiles ?? [];
    if (profile === undefined || slice === undefined) throw new Error("no profile");
    const single = { ...profile, computeInstanceProfiles: [{ ...slice, maxInstances: 1 }, ...others] };
    const computeInstances = [0, 1].map((start) => ({ profileId: 0, start }));
    expect(
      checkComputeInstances(single, { profileId: 14, start: 0, computeInstances }).map(({ violation }) => violation),
    ).toEqual([{ rule: "too-many", profile: "1c.2g.20gb", maxInstances: 1 }]);
  });

  it("is part of checking a layout", () => {
    const computeInstances = [
      { profileId: 3, start: 0 },
      { profileId: 0, start: 0 },
    ];
    const refusals = checkLayout(h100, { migEnabled: true, instances: [{ profileId: 5, start: 0, computeInstances }] });
    expect(refusals.map(({ violation }) => violation.rule)).toEqual(["compute-overlap"]);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { placeProfiles, whatFits } from "./fit.ts";
import { knownGeometries } from "./geometry.ts";
import { isRefusal } from "./refusal.ts";
import { allLayouts, asText, mayExistTogether, type Place, spread } from "./testing/layouts.ts";
import type { GpuGeometry, RuleViolation } from "./types.ts";

const pools = ["H100-SXM5-80GB", "A30-24GB", "RTX-PRO-6000-Blackwell", "B200-180GB"].flatMap((key) => {
  const geometry = knownGeometries.find((candidate) => candidate.key === key);
  return geometry === undefined ? [] : [{ geometry, layouts: allLayouts(geometry) }];
});
const pool = fc.constantFrom(...pools);

/** The most of one profile that can be added, by trying every subset of its starts. */
function mostOf(geometry: GpuGeometry, places: readonly Place[], profileId: number): number {
  const starts = geometry.profiles.find((profile) => profile.id === profileId)?.starts ?? [];
  let most = 0;
  for (let subset = 0; subset < 1 << starts.length; subset++) {
    const added = starts.filter((_, bit) => (subset & (1 << bit)) !== 0).map((start) => ({ profileId, start }));
    if (added.length > most && mayExistTogether(geometry, [...places, ...added])) most = added.length;
  }
  return most;
}

/** Whether these can be placed at all, by trying every start for each. */
function canBePlaced(geometry: GpuGeometry, places: readonly Place[], profileIds: readonly number[]): boolean {
  const [profileId, ...rest] = profileIds;
  if (profileId === undefined) return true;
  const starts = geometry.profiles.find((profile) => profile.id === profileId)?.starts ?? [];
  return starts.some((start) => {
    const more = [...places, { profileId, start }];
    return mayExistTogether(geometry, more) && canBePlaced(geometry, more, rest);
  });
}

describe("whatFits", () => {
  it.each(knownGeometries.map((geometry) => [geometry.key, geometry] as const))(
    "%s: starts and capacity agree with trying everything",
    (_, geometry) => {
      for (const places of spread(allLayouts(geometry), 25)) {
        const fits = whatFits(geometry, { migEnabled: true, instances: places });
        expect(fits.map(({ profileId, starts, capacity }) => [profileId, starts, capacity])).toEqual(
          geometry.profiles.map(({ id, starts }) => [
            id,
            starts.filter((start) => mayExistTogether(geometry, [...places, { profileId: id, start }])),
            mostOf(geometry, places, id),
          ]),
        );
      }
    },
  );

  it("of an empty GPU is the count of each profile", () => {
    const geometry = pools[0]?.geometry;
    if (geometry === undefined) throw new Error("no geometry");
    const fits = whatFits(geometry, { migEnabled: true, instances: [] });
    expect(fits.map((fit) => [fit.profile, fit.capacity])).toEqual([
      ["1g.10gb", 7],
      ["1g.10gb+me", 1],
      ["1g.20gb", 4],
      ["2g.20gb", 3],
      ["3g.40gb", 2],
      ["4g.40gb", 1],
      ["7g.80gb", 1],
    ]);
  });
});

describe("placeProfiles", () => {
  const question = pool.chain(({ geometry, layouts }) =>
    fc.record({
      geometry: fc.constant(geometry),
      fixed: fc.constantFrom(...layouts.filter((places) => places.length < 4)),
      profileIds: fc.array(fc.constantFrom(...geometry.profiles.map((profile) => profile.id)), { maxLength: 6 }),
    }),
  );

  it("finds a place for all exactly where there is one, and keeps what is fixed", () => {
    fc.assert(
      fc.property(question, ({ geometry, fixed, profileIds }) => {
        const answer = placeProfiles(geometry, fixed, profileIds);
        expect(isRefusal(answer)).toBe(!canBePlaced(geometry, fixed, profileIds));
        if (isRefusal(answer)) return;
        expect(mayExistTogether(geometry, answer.instances)).toBe(true);
        expect(answer.instances).toEqual(expect.arrayContaining([...fixed]));
        expect(answer.instances.map(({ profileId }) => profileId).sort()).toEqual(
          [...fixed.map(({ profileId }) => profileId), ...profileIds].sort(),
        );
      }),
      { numRuns: 1500 },
    );
  });

  it("leaves as much room for the largest profile that still fits as any placement could", () => {
    fc.assert(
      fc.property(question, ({ geometry, fixed, profileIds }) => {
        const answer = placeProfiles(geometry, fixed, profileIds);
        if (isRefusal(answer)) return;
        const pooled = pools.find((candidate) => candidate.geometry === geometry)?.layouts ?? [];
        const wanted = asSorted(answer.instances);
        const same = pooled.filter(
          (places) =>
            asSorted(places) === wanted &&
            fixed.every((stay) =>
              places.some((place) => place.profileId === stay.profileId && place.start === stay.start),
            ),
        );
        const plain = geometry.profiles
          .filter((profile) => profile.media === "default" && !profile.graphics)
          .sort((a, b) => b.computeSlices - a.computeSlices || b.memorySlices - a.memorySlices);
        const rooms = (places: readonly Place[]) => plain.map((profile) => mostOf(geometry, places, profile.id));
        const ours = rooms(answer.instances);
        for (const places of spread(same, 40)) expect(compare(ours, rooms(places))).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 60 },
    );
  });

  it("answers the same whatever the order of the question", () => {
    fc.assert(
      fc.property(question, ({ geometry, fixed, profileIds }) => {
        const text = (ids: readonly number[]) => {
          const answer = placeProfiles(geometry, fixed, ids);
          return isRefusal(answer) ? "refused" : asText(answer.instances);
        };
        expect(text([...profileIds].reverse())).toBe(text(profileIds));
      }),
      { numRuns: 300 },
    );
  });

  const h100 = pools[0]?.geometry;
  it.each<[string, readonly Place[], readonly number[], RuleViolation]>([
    ["two 4g", [], [5, 5], { rule: "too-many", profile: "4g.40gb", maxInstances: 1, wanted: 2 }],
    ["3g, 3g and a 1g", [], [9, 9, 19], { rule: "no-room", profile: "1g.10gb", wanted: 1, fits: 0 }],
    [
      "four 1g beside 4g",
      [{ profileId: 5, start: 0 }],
      [19, 19, 19, 19],
      { rule: "compute-slices", wanted: 8, available: 7 },
    ],
    [
      "a 2g between fragments",
      [0, 3, 5].map((start) => ({ profileId: 19, start })),
      [9],
      { rule: "no-room", profile: "3g.40gb", wanted: 1, fits: 0 },
    ],
    [
      "a whole GPU beside a 1g",
      [{ profileId: 19, start: 0 }],
      [0],
      { rule: "compute-slices", wanted: 8, available: 7 },
    ],
    [
      "profile 47",
      [],
      [47],
      { rule: "unknown-profile", profileId: 47, known: (h100?.profiles ?? []).map(({ name }) => name) },
    ],
    [
      "fixed ones that overlap",
      [
        { profileId: 0, start: 0 },
        { profileId: 19, start: 0 },
      ],
      [],
      { rule: "overlap", profile: "1g.10gb", start: 0, otherProfile: "7g.80gb", otherStart: 0, otherInUse: false },
    ],
  ])("refuses %s", (_, fixed, profileIds, violation) => {
    if (h100 === undefined) throw new Error("no geometry");
    const answer = placeProfiles(h100, fixed, profileIds);
    expect(isRefusal(answer) ? answer.violation : answer).toEqual(violation);
  });
});

const asSorted = (places: readonly Place[]): string =>
  places
    .map(({ profileId }) => profileId)
    .sort((a, b) => a - b)
    .join();

function compare(a: readonly number[], b: readonly number[]): number {
  const difference = a.map((value, n) => value - (b[n] ?? 0)).find((value) => value !== 0);
  return difference ?? 0;
}

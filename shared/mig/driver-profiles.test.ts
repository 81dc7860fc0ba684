import { describe, expect, it } from "vitest";
import { type DriverProfile, mergeGeometry } from "./driver-profiles.ts";
import { placeProfiles } from "./fit.ts";
import { geometryFor, knownGeometries, profileOf } from "./geometry.ts";
import { isRefusal } from "./refusal.ts";
import { checkLayout, legalStarts } from "./rules.ts";
import type { GpuGeometry } from "./types.ts";

/** What a driver says that agrees with the table in every number. */
function spokenBy(geometry: GpuGeometry): readonly DriverProfile[] {
  return geometry.profiles.map((profile) => ({
    id: profile.id,
    name: `MIG ${profile.name}`,
    memoryGiB: profile.memoryMiB === null ? null : profile.memoryMiB / 1024,
    maxInstances: profile.maxInstances,
    multiprocessors: profile.multiprocessors,
    engines: profile.engines,
    placements: { starts: profile.starts, size: profile.memorySlices },
  }));
}

function tableOf(name: string): GpuGeometry {
  const geometry = geometryFor({ name });
  if (geometry === null) throw new Error(`${name} is not in the table`);
  return geometry;
}

const gb200 = tableOf("NVIDIA GB200");

describe("mergeGeometry", () => {
  it.each(knownGeometries.map((geometry) => [geometry.key, geometry] as const))(
    "%s: a driver that agrees with the table changes nothing",
    (_, geometry) => {
      expect(mergeGeometry(geometry, { name: geometry.key, profiles: spokenBy(geometry) })).toEqual({
        ...geometry,
        source: "driver-and-table",
      });
    },
  );

  it("joins by number where the name has drifted, and names the compute instances after it", () => {
    const merged = mergeGeometry(gb200, {
      name: "NVIDIA GB200",
      profiles: [
        { id: 19, name: "MIG 1g.24gb", memoryGiB: 20, maxInstances: 7 },
        { id: 9, name: "MIG 3g.95gb", memoryGiB: 93.5, multiprocessors: 60 },
      ],
    });
    expect(merged?.profiles.map((profile) => [profile.id, profile.name, profile.memoryMiB, profile.starts])).toEqual([
      [19, "1g.24gb", 20_480, [0, 1, 2, 3, 4, 5, 6]],
      [9, "3g.95gb", 95_744, [0, 4]],
    ]);
    expect(merged?.profiles[1]?.computeInstanceProfiles.map((inside) => [inside.name, inside.multiprocessors])).toEqual(
      [
        ["1c.3g.95gb", 18],
        ["2c.3g.95gb", 36],
        ["3g.95gb", 60],
      ],
    );
  });

  it("drops what the driver does not list, but not where the listing was cut", () => {
    const profiles = [{ id: 19, name: "MIG 1g.23gb" }];
    const whole = mergeGeometry(gb200, { name: "NVIDIA GB200", profiles });
    const cut = mergeGeometry(gb200, { name: "NVIDIA GB200", profiles, complete: false });
    expect([whole?.profiles.map(({ id }) => id), cut?.profiles.map(({ id }) => id)]).toEqual([
      [19],
      [19, 20, 15, 14, 9, 5, 0],
    ]);
  });

  it("lets the driver override placements, counts, engines and compute instances", () => {
    const merged = mergeGeometry(gb200, {
      name: "NVIDIA GB200",
      profiles: [
        {
          id: 14,
          name: "MIG 2g.47gb",
          maxInstances: 2,
          engines: { decoder: 7, opticalFlow: 0 },
          placements: { starts: [4, 0], size: 2 },
          computeInstanceProfiles: [
            { id: 1, name: "MIG 2g.47gb", maxInstances: 1, multiprocessors: 40 },
            { id: 0, name: "MIG 1c.2g.47gb", maxInstances: 2, starts: [1, 0] },
            { id: 99, name: "not a profile" },
          ],
        },
      ],
    });
    expect(merged?.profiles).toEqual([
      {
        id: 14,
        name: "2g.47gb",
        computeSlices: 2,
        memorySlices: 2,
        memoryMiB: 46_592,
        multiprocessors: 38,
        maxInstances: 2,
        starts: [0, 4],
        media: "default",
        graphics: false,
        engines: { copy: 4, decoder: 7, encoder: 0, jpeg: 2, opticalFlow: 0 },
        computeInstanceProfiles: [
          { id: 0, name: "1c.2g.47gb", computeSlices: 1, maxInstances: 2, starts: [0, 1], multiprocessors: 18 },
          { id: 1, name: "2g.47gb", computeSlices: 2, maxInstances: 1, starts: [0], multiprocessors: 40 },
        ],
      },
    ]);
  });

  it("works from the driver's word alone on a GPU that nobody has heard of", () => {
    const geometry = mergeGeometry(null, {
      name: "NVIDIA X1000",
      profiles: [
        { id: 3, name: "MIG 2g.100gb", maxInstances: 2, placements: { starts: [0, 2], size: 2 } },
        {
          id: 8,
          name: "MIG 1g.50gb",
          maxInstances: 4,
          multiprocessors: 20,
          placements: { starts: [0, 1, 2, 3], size: 1 },
        },
        { id: 4, name: "MIG 4g.200gb+gfx", maxInstances: 1, placements: { starts: [0], size: 4 } },
        { id: 77, name: "MIG something new" },
      ],
    });
    if (geometry === null) throw new Error("nothing was made of it");
    expect(geometry).toMatchObject({ key: "NVIDIA X1000", source: "driver", memorySlices: 4, computeSlices: 4 });
    expect(geometry.profiles.map(({ id, graphics }) => [id, graphics])).toEqual([
      [3, false],
      [8, false],
      [4, true],
    ]);
    expect(profileOf(geometry, 3)?.computeInstanceProfiles).toEqual([
      { id: 0, name: "1c.2g.100gb", computeSlices: 1, maxInstances: 2, starts: [0, 1], multiprocessors: 20 },
      { id: 1, name: "2g.100gb", computeSlices: 2, maxInstances: 1, starts: [0], multiprocessors: null },
    ]);
    const layout = placeProfiles(geometry, [], [3, 8, 8]);
    expect(isRefusal(layout) ? layout : checkLayout(geometry, layout)).toEqual([]);
  });

  it("forbids nothing because a listing was cut", () => {
    const spoken = spokenBy(tableOf("NVIDIA H100 80GB HBM3")).filter(({ id }) => [19, 20, 14].includes(id));
    const geometry = mergeGeometry(null, { name: "NVIDIA X1000", profiles: spoken });
    expect(geometry?.computeSlices).toBe(7);
    const layout = geometry === null ? null : placeProfiles(geometry, [], [14, 14, 14, 20]);
    expect(layout !== null && isRefusal(layout)).toBe(false);
  });

  it("places nothing where the driver gave no placements and the table has none", () => {
    const geometry = mergeGeometry(null, { name: "NVIDIA X1000", profiles: [{ id: 8, name: "MIG 1g.50gb" }] });
    expect(geometry === null ? null : legalStarts(geometry, { migEnabled: true, instances: [] }, 8)).toEqual([]);
  });

  it("takes the driver's number where the documents give only the name", () => {
    const table = tableOf("NVIDIA RTX PRO 4500 Blackwell");
    const merged = mergeGeometry(table, { name: "", profiles: [{ id: 67, name: "MIG 1g.16gb-me" }], complete: false });
    expect(merged?.profiles[0]).toMatchObject({ id: 67, name: "1g.16gb-me", starts: [0, 1], memorySlices: 1 });
    expect(merged?.profiles.map(({ name }) => name).sort()).toEqual(table.profiles.map(({ name }) => name).sort());
  });

  it("does not take another GPU's meaning of a number", () => {
    // 14 is 2g on seven slices, 1g on A30.
    const merged = mergeGeometry(gb200, { name: "", profiles: [{ id: 14, name: "MIG 1g.6gb", maxInstances: 4 }] });
    expect(merged?.profiles[0]).toMatchObject({ computeSlices: 1, memorySlices: 0, starts: [], memoryMiB: null });
  });

  it("leaves the table as it is where the driver said nothing", () => {
    expect(mergeGeometry(gb200, { name: "NVIDIA GB200", profiles: [] })).toBe(gb200);
    expect(mergeGeometry(gb200, { name: "NVIDIA GB200", profiles: [{ id: 1, name: "?" }] })).toBe(gb200);
    expect(mergeGeometry(null, { name: "Tesla T4", profiles: [] })).toBeNull();
  });
});

import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fillingComputeProfile } from "./compute-profiles.ts";
import { geometryFor, knownGeometries, modeChangeNeedsReset } from "./geometry.ts";
import { models } from "./geometry-data.ts";
import { parseProfileName } from "./profile-name.ts";
import type { GpuGeometry } from "./types.ts";

/** The collected listings of real boards, kept beside the repository: read where they are, never copied. */
const collected = new URL("../../../shared/data/mig-geometry.json", import.meta.url);

interface CollectedProfile {
  name: string;
  giProfileId: number | null;
  memoryGiB: number | null;
  sm: number | null;
  computeSlices: number;
  memorySlices: number | null;
  maxInstances: number;
  placements: { starts: number[] | null; size: number | null } | null;
  engines: Record<"ce" | "dec" | "enc" | "jpeg" | "ofa", number | null> | null;
  media: string;
  graphics: boolean;
  inferred: string[];
  ciProfiles: { name: string; id: number; computeSlices: number; maxInstances: number; sm: number | null }[] | null;
}
interface CollectedGpu {
  key: string;
  productNames: string[];
  pciDeviceIds: string[];
  memorySlices: number | null;
  computeSlices: number;
  profiles: CollectedProfile[];
}

function collectedGpus(): readonly CollectedGpu[] {
  if (!existsSync(collected)) return [];
  const file: { gpus: CollectedGpu[] } = JSON.parse(readFileSync(collected, "utf8"));
  return file.gpus;
}

const gpus = collectedGpus();
if (gpus.length === 0) console.log(`Not compared with collected listings: ${collected.pathname} is not here.`);

/** Our table in the words of the file, so that one comparison of the whole value shows every difference. */
function inTheirWords(geometry: GpuGeometry, theirs: CollectedGpu) {
  return geometry.profiles.map((profile, index) => {
    const their = theirs.profiles[index];
    return {
      name: profile.name,
      giProfileId: profile.id < 0 ? null : profile.id,
      memoryMiB: profile.memoryMiB,
      sm: profile.multiprocessors,
      computeSlices: profile.computeSlices,
      memorySlices: profile.memorySlices === 0 ? null : profile.memorySlices,
      maxInstances: profile.maxInstances,
      // Where the file knows no starts, ours follow from the widths and are checked further down.
      starts: their?.placements?.starts == null ? null : profile.starts,
      engines: [
        profile.engines.copy,
        profile.engines.decoder,
        profile.engines.encoder,
        profile.engines.jpeg,
        profile.engines.opticalFlow,
      ],
      media: profile.media,
      graphics: profile.graphics,
      computeProfiles:
        their?.ciProfiles == null
          ? null
          : profile.computeInstanceProfiles.map((candidate) => ({
              name: candidate.name,
              id: candidate.id,
              computeSlices: candidate.computeSlices,
              maxInstances: candidate.maxInstances,
              sm: candidate.multiprocessors,
            })),
    };
  });
}

function theirProfiles(gpu: CollectedGpu) {
  return gpu.profiles.map((profile) => ({
    name: profile.name,
    giProfileId: profile.giProfileId,
    memoryMiB: profile.memoryGiB === null ? null : Math.round(profile.memoryGiB * 1024),
    sm: profile.sm,
    computeSlices: profile.computeSlices,
    memorySlices: profile.memorySlices,
    maxInstances: profile.maxInstances,
    starts: profile.placements?.starts ?? null,
    engines:
      profile.engines === null
        ? null
        : (["ce", "dec", "enc", "jpeg", "ofa"] as const).map((kind) => profile.engines?.[kind]),
    media: profile.media,
    graphics: profile.graphics,
    computeProfiles:
      profile.ciProfiles?.map(({ name, id, computeSlices, maxInstances, sm }) => ({
        name,
        id,
        computeSlices,
        maxInstances,
        sm,
      })) ?? null,
  }));
}

describe.skipIf(gpus.length === 0)("the table against the collected listings", () => {
  it("holds exactly the GPUs that were collected, in their order", () => {
    expect(knownGeometries.map((geometry) => geometry.key)).toEqual(gpus.map((gpu) => gpu.key));
  });

  it.each(gpus.map((gpu) => [gpu.key, gpu] as const))("%s: every profile as collected", (key, gpu) => {
    const geometry = knownGeometries.find((candidate) => candidate.key === key);
    expect(geometry).toBeDefined();
    if (geometry === undefined) return;
    expect(inTheirWords(geometry, gpu)).toEqual(theirProfiles(gpu));
    expect([geometry.memorySlices || null, geometry.computeSlices]).toEqual([gpu.memorySlices, gpu.computeSlices]);
  });

  it.each(gpus.map((gpu) => [gpu.key, gpu] as const))("%s: found by every name and device ID", (key, gpu) => {
    const names = gpu.productNames.map((name) => geometryFor({ name: name.replace("*", "20C") })?.key);
    const ids = gpu.pciDeviceIds.map((id) => geometryFor({ name: "a name not known", pciDeviceId: `0x${id}` })?.key);
    expect([...new Set([...names, ...ids])]).toEqual([key]);
  });
});

describe("the table on its own", () => {
  it("has each key and each device ID once", () => {
    const keys = models.map((model) => model.key);
    const ids = models.flatMap((model) => model.pciDeviceIds);
    expect([new Set(keys).size, new Set(ids).size]).toEqual([keys.length, ids.length]);
  });

  it.each(knownGeometries.map((geometry) => [geometry.key, geometry] as const))(
    "%s: profiles agree with their own names, slices and counts",
    (_, geometry) => {
      expect(new Set(geometry.profiles.map((profile) => profile.id)).size).toBe(geometry.profiles.length);
      for (const profile of geometry.profiles) {
        expect(parseProfileName(profile.name)).toMatchObject({
          computeSlices: profile.computeSlices,
          media: profile.media,
          graphics: profile.graphics,
        });
        const ends = profile.starts.map((start) => start + profile.memorySlices);
        expect(Math.max(0, ...ends)).toBeLessThanOrEqual(geometry.memorySlices);
        // A profile that could never reach its count, or had none, would be a typing error in the table.
        if (geometry.memorySlices > 0) expect(profile.starts.length).toBeGreaterThanOrEqual(profile.maxInstances);
        const filling = fillingComputeProfile(profile);
        expect(filling).toMatchObject({ name: profile.name, maxInstances: 1, starts: [0] });
        for (const inside of profile.computeInstanceProfiles) {
          expect(inside.starts.every((start) => start + inside.computeSlices <= profile.computeSlices)).toBe(true);
        }
      }
    },
  );

  it("derives the compute instance placements that the driver lists", () => {
    const starts = (profileId: number) => {
      const profile = geometryFor({ name: "NVIDIA H100 80GB HBM3" })?.profiles.find(({ id }) => id === profileId);
      return profile?.computeInstanceProfiles.map((inside) => [inside.id, inside.starts]);
    };
    // -lcipp of 2g and 3g on H100, driver 550.
    expect(starts(14)).toEqual([
      [0, [0, 1]],
      [1, [0]],
    ]);
    expect(starts(9)).toEqual([
      [0, [0, 1, 2]],
      [1, [0]],
      [2, [0]],
    ]);
    // Starts are aligned to a power of two: the driver numbers compute instances by halves, quarters and eighths.
    expect(starts(0)?.slice(1, 4)).toEqual([
      [1, [0, 2, 4]],
      [2, [0, 4]],
      [3, [0]],
    ]);
  });
});

describe("geometryFor", () => {
  it.each([
    ["A100-SXM4-40GB", null, "A100-40GB"],
    ["A100-PCIE-40GB", 40_536, "A100-40GB"],
    ["NVIDIA A100-SXM-80GB", null, "A100-80GB"],
    ["NVIDIA A100-PG509-200", 40_960, "A100-40GB"],
    ["NVIDIA A100X", 81_920, "A100-80GB"],
    ["GRID A100-20C", null, "A100-40GB"],
    ["GRID A100-7-40C", 40_960, "A100-40GB"],
    ["GRID A100D-80C", 81_920, "A100-80GB"],
    ["NVIDIA A30X", 24_576, "A30-24GB"],
    ["nvidia  h100 80gb hbm3", null, "H100-SXM5-80GB"],
    ["NVIDIA H100 96GB HBM3", 97_871, "H100-96GB"],
    ["NVIDIA H20", 97_871, "H20-96GB"],
    ["NVIDIA H200", 143_771, "H200-141GB"],
    ["NVIDIA GB200", 189_471, "GB200-186GB"],
    ["NVIDIA A40", 46_068, undefined],
    ["NVIDIA A100-SXM-64GB", 65_536, undefined],
    ["NVIDIA A300", 24_576, undefined],
    ["Tesla T4", 15_360, undefined],
    ["", null, undefined],
  ])("%s with %s MiB is %s", (name, memoryTotalMiB, key) => {
    expect(geometryFor({ name, memoryTotalMiB })?.key).toBe(key);
  });

  it("knows where a change of MIG mode needs a reset", () => {
    const needs = (name: string) => modeChangeNeedsReset({ geometryKey: geometryFor({ name })?.key ?? name, name });
    expect(
      [
        "NVIDIA A100-SXM4-40GB",
        "NVIDIA A30",
        "NVIDIA A100-SXM-64GB",
        "NVIDIA H100 PCIe",
        "NVIDIA B200",
        "NVIDIA X9",
      ].map(needs),
    ).toEqual([true, true, true, false, false, false]);
  });
});

import { alignedStarts, deriveComputeProfiles } from "./compute-profiles.ts";
import { type FamilyProfile, type Model, models } from "./geometry-data.ts";
import { parseProfileName } from "./profile-name.ts";
import type { GpuGeometry, GpuInstanceProfile } from "./types.ts";

export const mebibytesPerGibibyte = 1024;

/**
 * Profiles whose number no listing shows carry -1, -2 ... in the order of the table. No driver uses negative
 * numbers: `commandsOf` then writes the name, and a live driver's number replaces it.
 */
export function isProfileIdKnown(profileId: number): boolean {
  return profileId >= 0;
}

function buildProfile(model: Model, row: FamilyProfile, index: number): GpuInstanceProfile {
  const { family } = model;
  const name = `${row.computeSlices}g.${model.gigabytes[index] ?? 0}gb${row.suffix ?? ""}`;
  const parts = parseProfileName(name);
  const memoryGiB = model.memoryGiB[index] ?? null;
  const multiprocessors = model.multiprocessors[index] ?? null;
  const [copy, decoder, encoder, jpeg, opticalFlow] = model.engines[index] ?? [null, null, null, null, null];
  const width = row.memorySlices ?? 0;
  return {
    id: row.id ?? -1 - index,
    name,
    computeSlices: row.computeSlices,
    memorySlices: width,
    memoryMiB: memoryGiB === null ? null : Math.round(memoryGiB * mebibytesPerGibibyte),
    multiprocessors,
    maxInstances: row.maxInstances,
    starts: row.starts ?? (width === 0 ? [] : alignedStarts(width, family.memorySlices, width)),
    media: parts?.media ?? "default",
    graphics: parts?.graphics ?? false,
    engines: { copy, decoder, encoder, jpeg, opticalFlow },
    computeInstanceProfiles: deriveComputeProfiles({
      name,
      computeSlices: row.computeSlices,
      multiprocessors,
      multiprocessorsPerSlice: model.multiprocessorsPerSlice,
      fillProfileId: row.fillComputeProfileId,
    }),
  };
}

function buildGeometry(model: Model): GpuGeometry {
  return {
    key: model.key,
    memorySlices: model.family.memorySlices,
    computeSlices: model.family.computeSlices,
    source: "table",
    profiles: model.family.profiles.map((row, index) => buildProfile(model, row, index)),
  };
}

/** Every GPU model of the table, in its order. */
export const knownGeometries: readonly GpuGeometry[] = models.map(buildGeometry);

const byKey: ReadonlyMap<string, GpuGeometry> = new Map(knownGeometries.map((geometry) => [geometry.key, geometry]));

/** What a GPU says of itself; `pciDeviceId` as `0x20B010DE` or `20B010DE`. */
export interface GpuIdentity {
  readonly name: string;
  readonly pciDeviceId?: string | null;
  readonly memoryTotalMiB?: number | null;
}

/** Older drivers leave "NVIDIA " out of the name. */
function bareName(name: string): string {
  return name
    .trim()
    .replace(/\s+/g, " ")
    .replace(/^NVIDIA /i, "")
    .toLowerCase();
}

function matchesPattern(pattern: string, name: string): boolean {
  const [head = "", ...rest] = bareName(pattern).split("*");
  if (rest.length === 0 || !name.startsWith(head)) return false;
  return name.endsWith(rest.join("*"));
}

/**
 * Names that no list holds (`A100-SXM-80GB`, `NVIDIA A100-PG509-200`): by the chip in the name and the memory. The
 * bounds are MiB of `memory.total`, which lies a little under the marketing size.
 */
const families: readonly {
  readonly name: RegExp;
  readonly fromMiB: number;
  readonly toMiB: number;
  readonly key: string;
}[] = [
  { name: /^(grid )?a[18]00/, fromMiB: 38_000, toMiB: 41_500, key: "A100-40GB" },
  { name: /^(grid )?a[18]00/, fromMiB: 78_000, toMiB: 82_500, key: "A100-80GB" },
  { name: /^(grid )?a30(?![\d])/, fromMiB: 22_000, toMiB: 25_000, key: "A30-24GB" },
  { name: /^h[18]00.*pcie/, fromMiB: 78_000, toMiB: 82_500, key: "H100-PCIe-80GB" },
  { name: /^h[18]00/, fromMiB: 78_000, toMiB: 82_500, key: "H100-SXM5-80GB" },
  { name: /^h[18]00/, fromMiB: 93_000, toMiB: 96_500, key: "H100-NVL-94GB" },
  { name: /^h[18]00/, fromMiB: 96_501, toMiB: 98_500, key: "H100-96GB" },
  { name: /^h[18]00/, fromMiB: 62_000, toMiB: 66_000, key: "H100-SXM5-64GB" },
  { name: /^gh200/, fromMiB: 93_000, toMiB: 98_500, key: "GH200-96GB" },
  { name: /^gh200/, fromMiB: 140_000, toMiB: 148_000, key: "GH200-144GB" },
  { name: /^h200/, fromMiB: 138_000, toMiB: 145_000, key: "H200-141GB" },
  { name: /^h20(?!\d)/, fromMiB: 93_000, toMiB: 98_500, key: "H20-96GB" },
  { name: /^h20(?!\d)/, fromMiB: 138_000, toMiB: 145_000, key: "H20-141GB" },
  { name: /^b200/, fromMiB: 175_000, toMiB: 185_000, key: "B200-180GB" },
  { name: /^gb200/, fromMiB: 183_000, toMiB: 192_000, key: "GB200-186GB" },
  { name: /^b300/, fromMiB: 265_000, toMiB: 296_000, key: "B300-288GB" },
  { name: /^gb300/, fromMiB: 250_000, toMiB: 296_000, key: "GB300-278GB" },
  { name: /^rtx pro 6000 blackwell/, fromMiB: 90_000, toMiB: 99_000, key: "RTX-PRO-6000-Blackwell" },
  { name: /^rtx pro 5000 blackwell/, fromMiB: 46_000, toMiB: 50_000, key: "RTX-PRO-5000-Blackwell-48GB" },
  { name: /^rtx pro 4500 blackwell/, fromMiB: 30_000, toMiB: 33_500, key: "RTX-PRO-4500-Blackwell-32GB" },
];

/** The gigabytes that a name states (`A100-SXM-80GB`), as MiB; null where it states none. */
function memoryInName(name: string): number | null {
  const match = /(\d+)\s?gb?\b/.exec(name);
  return match === null ? null : Number(match[1]) * mebibytesPerGibibyte;
}

function findKey(gpu: GpuIdentity): string | undefined {
  const name = bareName(gpu.name);
  const named = models.find((model) => model.names.some((known) => bareName(known) === name));
  if (named !== undefined) return named.key;
  const deviceId = gpu.pciDeviceId?.replace(/^0x/i, "").toUpperCase();
  const listed = models.find((model) => deviceId !== undefined && model.pciDeviceIds.includes(deviceId));
  if (listed !== undefined) return listed.key;
  const memoryMiB = gpu.memoryTotalMiB ?? memoryInName(name);
  const sized = families.find(
    (family) =>
      family.name.test(name) && memoryMiB !== null && memoryMiB >= family.fromMiB && memoryMiB <= family.toMiB,
  );
  if (sized !== undefined) return sized.key;
  // A wildcard is taken only where the memory does not speak against it.
  return memoryMiB === null || memoryMiB < 41_500
    ? models.find((model) => model.names.some((known) => matchesPattern(known, name)))?.key
    : undefined;
}

/**
 * The geometry of a GPU by product name (exact, then wildcard), PCI device ID, or chip and memory size.
 * Null: not in the table, which says nothing about whether its driver can divide it (`mergeGeometry`).
 */
export function geometryFor(gpu: GpuIdentity): GpuGeometry | null {
  const key = findKey(gpu);
  return key === undefined ? null : (byKey.get(key) ?? null);
}

/** The geometry of a table key, `H100-SXM5-80GB`. */
export function geometryOfKey(key: string): GpuGeometry | null {
  return byKey.get(key) ?? null;
}

/**
 * Whether a change of MIG mode takes effect only at a GPU reset: so on Ampere (A100, A30 and their relatives), at once on
 * Hopper and newer. Source: MIG user guide, "Enable MIG Mode".
 */
export function modeChangeNeedsReset(gpu: { readonly geometryKey: string; readonly name: string }): boolean {
  const model = models.find((candidate) => candidate.key === gpu.geometryKey);
  if (model !== undefined) return model.resetOnModeChange;
  return /^(grid )?(a[18]00|a30|pg50\d)/.test(bareName(gpu.name));
}

/** The profile of that ID; undefined where the GPU has none. */
export function profileOf(geometry: GpuGeometry, profileId: number): GpuInstanceProfile | undefined {
  return geometry.profiles.find((profile) => profile.id === profileId);
}

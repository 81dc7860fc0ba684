import { deriveComputeProfiles } from "./compute-profiles.ts";
import { isProfileIdKnown, mebibytesPerGibibyte } from "./geometry.ts";
import { parseProfileName } from "./profile-name.ts";
import type { ComputeInstanceProfile, GpuGeometry, GpuInstanceProfile } from "./types.ts";

/** A row of `nvidia-smi mig -lcip`, with its placements of `-lcipp` where they were read. */
export interface DriverComputeProfile {
  /** "Profile ID", without the `*` of the default. */
  readonly id: number;
  /** With or without "MIG ". */
  readonly name: string;
  /** The total of "Free/Total". */
  readonly maxInstances?: number | null;
  readonly starts?: readonly number[] | null;
  readonly multiprocessors?: number | null;
}

/** What a live driver says about a GPU instance profile; whatever was not printed or not understood is left out. */
export interface DriverProfile {
  /** `-lgip` "ID". */
  readonly id: number;
  /** With or without "MIG ". */
  readonly name: string;
  /** GiB as `-lgip` prints it. */
  readonly memoryGiB?: number | null;
  /** The total of "Free/Total". */
  readonly maxInstances?: number | null;
  readonly multiprocessors?: number | null;
  readonly engines?: Partial<GpuInstanceProfile["engines"]>;
  /** `-lgipp`: `{0,4}:4`. */
  readonly placements?: { readonly starts: readonly number[]; readonly size: number } | null;
  /** Rows of `-lcip` for a GPU instance of this profile; the tool lists them only where one exists. */
  readonly computeInstanceProfiles?: readonly DriverComputeProfile[];
}

export interface DriverGeometry {
  /** Product name. */
  readonly name: string;
  readonly profiles: readonly DriverProfile[];
  /** False when the listing was cut: profiles that only the table knows then stay. By default it is whole. */
  readonly complete?: boolean;
}

const bare = (name: string): string => name.trim().replace(/^MIG\s+/i, "");

/**
 * The table's row for what the driver lists: the same number and size, or the same name where the table has no number.
 * A row of another size is another GPU's meaning of that number, and is not used.
 */
function rowOf(table: GpuGeometry | null, driver: DriverProfile): GpuInstanceProfile | undefined {
  const slices = parseProfileName(driver.name)?.computeSlices;
  return table?.profiles.find((row) =>
    isProfileIdKnown(row.id)
      ? row.id === driver.id && (slices === undefined || slices === row.computeSlices)
      : row.name === bare(driver.name),
  );
}

function computeSlicesInName(name: string): number | null {
  const match = /^(\d+)c\./.exec(name);
  return match === null ? (parseProfileName(name)?.computeSlices ?? null) : Number(match[1]);
}

function mergeComputeProfile(
  driver: DriverComputeProfile,
  derived: readonly ComputeInstanceProfile[],
): ComputeInstanceProfile | null {
  const name = bare(driver.name);
  const computeSlices = computeSlicesInName(name);
  if (computeSlices === null) return null;
  const known = derived.find((candidate) => candidate.computeSlices === computeSlices);
  const starts = driver.starts ?? known?.starts ?? [];
  return {
    id: driver.id,
    name,
    computeSlices,
    maxInstances: driver.maxInstances ?? known?.maxInstances ?? starts.length,
    starts: [...starts].sort((a, b) => a - b),
    multiprocessors: driver.multiprocessors ?? known?.multiprocessors ?? null,
  };
}

function mergeProfile(
  driver: DriverProfile,
  row: GpuInstanceProfile | undefined,
  multiprocessorsPerSlice: number | null,
): GpuInstanceProfile | null {
  const name = bare(driver.name);
  const parts = parseProfileName(name);
  const computeSlices = parts?.computeSlices ?? row?.computeSlices;
  if (computeSlices === undefined) return null;
  const multiprocessors = driver.multiprocessors ?? row?.multiprocessors ?? null;
  const starts = driver.placements?.starts ?? row?.starts ?? [];
  // 7 fills the double-memory 1g: only the table knows it where `-lcip` was not read.
  const filling = row?.computeInstanceProfiles.find((candidate) => candidate.computeSlices === computeSlices);
  const derived = deriveComputeProfiles({
    name,
    computeSlices,
    multiprocessors,
    multiprocessorsPerSlice,
    fillProfileId: filling?.id,
  });
  const listed = (driver.computeInstanceProfiles ?? []).flatMap(
    (candidate) => mergeComputeProfile(candidate, derived) ?? [],
  );
  return {
    id: driver.id,
    name,
    computeSlices,
    memorySlices: driver.placements?.size ?? row?.memorySlices ?? 0,
    memoryMiB:
      driver.memoryGiB === undefined || driver.memoryGiB === null
        ? (row?.memoryMiB ?? null)
        : Math.round(driver.memoryGiB * mebibytesPerGibibyte),
    multiprocessors,
    maxInstances: driver.maxInstances ?? row?.maxInstances ?? starts.length,
    starts: [...starts].sort((a, b) => a - b),
    media: parts?.media ?? row?.media ?? "default",
    graphics: parts?.graphics ?? row?.graphics ?? false,
    engines: {
      copy: driver.engines?.copy ?? row?.engines.copy ?? null,
      decoder: driver.engines?.decoder ?? row?.engines.decoder ?? null,
      encoder: driver.engines?.encoder ?? row?.engines.encoder ?? null,
      jpeg: driver.engines?.jpeg ?? row?.engines.jpeg ?? null,
      opticalFlow: driver.engines?.opticalFlow ?? row?.engines.opticalFlow ?? null,
    },
    computeInstanceProfiles: listed.length === 0 ? derived : listed.sort((a, b) => a.id - b.id),
  };
}

/**
 * SM of one compute slice inside a larger instance: what the table says, or those of a 1g that takes a single memory
 * slice. Of a 1g with more memory than that they are more than a slice has (26 on H100, where a slice has 16).
 */
function multiprocessorsPerSlice(table: GpuGeometry | null, driver: DriverGeometry): number | null {
  const inTable = table?.profiles
    .filter((profile) => profile.computeSlices > 1)
    .flatMap((profile) => profile.computeInstanceProfiles)
    .find((candidate) => candidate.computeSlices === 1)?.multiprocessors;
  const single = driver.profiles.find((profile) => {
    const parts = parseProfileName(profile.name);
    const width = profile.placements?.size ?? rowOf(table, profile)?.memorySlices;
    return parts?.computeSlices === 1 && parts.media === "default" && !parts.graphics && width === 1;
  });
  return inTable ?? single?.multiprocessors ?? null;
}

/**
 * The geometry of a live GPU: what its driver says, and what our table says where the driver is silent. Profiles are
 * joined by number, since names drift (`1g.23gb`, `1g.24gb`). A GPU that the table does not know works from the driver's word
 * alone; without placements (`-lgipp`) its profiles have no starts, and nothing can be put anywhere.
 * Null when neither says anything.
 */
export function mergeGeometry(table: GpuGeometry | null, driver: DriverGeometry): GpuGeometry | null {
  if (driver.profiles.length === 0) return table;
  const perSlice = multiprocessorsPerSlice(table, driver);
  const merged = driver.profiles.flatMap((profile) => mergeProfile(profile, rowOf(table, profile), perSlice) ?? []);
  const heard = new Set(driver.profiles.flatMap((profile) => rowOf(table, profile)?.id ?? profile.id));
  const unheard = driver.complete === false ? (table?.profiles.filter((row) => !heard.has(row.id)) ?? []) : [];
  const profiles = [...merged, ...unheard];
  if (profiles.length === 0) return table;
  const ends = profiles.flatMap((profile) => profile.starts.map((start) => start + profile.memorySlices));
  return {
    key: table?.key ?? driver.name,
    memorySlices: Math.max(table?.memorySlices ?? 0, ...ends),
    // A listing that was cut may lack the profile that takes the whole GPU; as many 1g as there can be take it as well.
    computeSlices: Math.max(
      table?.computeSlices ?? 0,
      ...profiles.map((profile) => profile.computeSlices * Math.max(1, profile.maxInstances)),
    ),
    source: table === null ? "driver" : "driver-and-table",
    profiles,
  };
}

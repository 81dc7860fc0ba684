/** Which observations speak of the same GPU, laid over one another into one. */

import { isMaskedUuid } from "../nvidia-smi/csv-report.ts";
import type { FailedGpu } from "../nvidia-smi/device-list.ts";
import { type GpuObservation, nothingObserved, type ObservedMigDevice } from "../nvidia-smi/observation.ts";
import type { DriverGpu } from "./host-files.ts";
import type { RankedObservation, ReadOutputs } from "./output.ts";

/** A GPU whose index is known. */
export type KnownGpu = GpuObservation & { readonly index: number };

interface Group {
  members: RankedObservation[];
}

/** The GPUs of all outputs, ascending by index; those that failed are among them with what is known. */
export function gpusOf(read: ReadOutputs): readonly KnownGpu[] {
  const groups: Group[] = [];
  // Observations with the most identity first, so that they can join those with less.
  const ordered = [...read.observations].sort((a, b) => identityCount(b.gpu) - identityCount(a.gpu));
  for (const observation of ordered) {
    const group = groups.find((candidate) => candidate.members.some((member) => isSame(member.gpu, observation.gpu)));
    if (group === undefined) groups.push({ members: [observation] });
    else group.members.push(observation);
  }
  const order = new Map(read.observations.map((observation, at) => [observation, at]));
  const gpus = groups.map((group) => {
    // Highest rank first; of the same rank the later one, which is the newer.
    const members = group.members.sort((a, b) => b.rank - a.rank || (order.get(b) ?? 0) - (order.get(a) ?? 0));
    return members.map((member) => member.gpu).reduce(laidOver);
  });
  return withIndexes(joinFailed(gpus, read.failedGpus), read.attachedGpus);
}

function identityCount(gpu: GpuObservation): number {
  const uuid = gpu.uuid !== null && !isMaskedUuid(gpu.uuid);
  return (uuid ? 4 : 0) + (gpu.pciBusId === null ? 0 : 2) + (gpu.index === null ? 0 : 1);
}

/** The same UUID; where either has none, the same bus id; where either has none of those, the same index. */
function isSame(a: GpuObservation, b: GpuObservation): boolean {
  if (a.uuid !== null && b.uuid !== null && !isMaskedUuid(a.uuid) && !isMaskedUuid(b.uuid)) return a.uuid === b.uuid;
  if (a.pciBusId !== null && b.pciBusId !== null) return a.pciBusId === b.pciBusId;
  return a.index !== null && a.index === b.index;
}

/** `above`, and what it does not say from `below`. */
function laidOver(above: GpuObservation, below: GpuObservation): GpuObservation {
  const name = above.nameIsCut && below.name !== null && !below.nameIsCut ? below : above.name === null ? below : above;
  const read = <Key extends keyof GpuObservation>(key: Key) => above[key] ?? below[key];
  return {
    index: read("index"),
    minorNumber: read("minorNumber"),
    uuid: read("uuid"),
    pciBusId: read("pciBusId"),
    pciDeviceId: read("pciDeviceId"),
    name: name.name,
    nameIsCut: name.nameIsCut,
    failure: above.failure ?? below.failure,
    migCurrent: read("migCurrent"),
    migPending: read("migPending"),
    memoryTotalMiB: read("memoryTotalMiB"),
    memoryUsedMiB: read("memoryUsedMiB"),
    utilisationPercent: read("utilisationPercent"),
    memoryUtilisationPercent: read("memoryUtilisationPercent"),
    powerDrawWatts: read("powerDrawWatts"),
    powerLimitWatts: read("powerLimitWatts"),
    temperatureCelsius: read("temperatureCelsius"),
    fanPercent: read("fanPercent"),
    eccEnabled: read("eccEnabled"),
    volatileUncorrected: read("volatileUncorrected"),
    aggregateUncorrected: read("aggregateUncorrected"),
    memoryRepair: read("memoryRepair"),
    persistenceMode: read("persistenceMode"),
    computeMode: read("computeMode"),
    nvlinkActive: read("nvlinkActive"),
    nvlinkTotal: read("nvlinkTotal"),
    migDevices: joinDevices(above.migDevices, below.migDevices),
    processes: read("processes"),
  };
}

/** The XML knows the ids, `-L` the names and UUIDs; "Device N" is what they share. */
function joinDevices(
  above: readonly ObservedMigDevice[] | null,
  below: readonly ObservedMigDevice[] | null,
): readonly ObservedMigDevice[] | null {
  if (above === null || below === null) return above ?? below;
  const joined = above.map((device) => {
    const other = below.find((candidate) => candidate.deviceIndex === device.deviceIndex);
    if (other === undefined || device.deviceIndex === null) return device;
    return {
      deviceIndex: device.deviceIndex,
      gpuInstanceId: device.gpuInstanceId ?? other.gpuInstanceId,
      computeInstanceId: device.computeInstanceId ?? other.computeInstanceId,
      multiprocessors: device.multiprocessors ?? other.multiprocessors,
      memoryTotalMiB: device.memoryTotalMiB ?? other.memoryTotalMiB,
      memoryUsedMiB: device.memoryUsedMiB ?? other.memoryUsedMiB,
      uuid: device.uuid ?? other.uuid,
      profile: device.profile ?? other.profile,
    };
  });
  return joined.length > 0 ? joined : below;
}

function joinFailed(gpus: readonly GpuObservation[], failed: readonly FailedGpu[]): readonly GpuObservation[] {
  const joined = [...gpus];
  for (const gpu of failed) {
    const failure = {
      kind: "failed",
      reason: gpu.reason === "lost" ? "lost" : gpu.reason === "permission" ? "no-permission" : "unknown",
      words: gpu.words,
    } as const;
    const same = joined.findIndex((known) => isSame(known, { ...nothingObserved, ...gpu }));
    const known = joined[same];
    if (known !== undefined) joined[same] = { ...known, failure: known.failure ?? failure };
    else joined.push({ ...nothingObserved, index: gpu.index, pciBusId: gpu.pciBusId, failure });
  }
  return joined;
}

/**
 * GPUs whose index no output names get the minor number where that fits, else the next free one: an inventory
 * that is read from a fragment shows them in the order in which they were found.
 */
function withIndexes(gpus: readonly GpuObservation[], attached: number | null): readonly KnownGpu[] {
  const taken = new Set(gpus.map((gpu) => gpu.index).filter((index) => index !== null));
  const unnamed = gpus.filter((gpu) => gpu.index === null);
  const minors = unnamed.map((gpu) => gpu.minorNumber);
  const minorsFit =
    minors.every((minor) => minor !== null && !taken.has(minor) && (attached === null || minor < attached)) &&
    new Set(minors).size === minors.length;
  let next = 0;
  const named = gpus.map((gpu): KnownGpu => {
    if (gpu.index !== null) return { ...gpu, index: gpu.index };
    if (minorsFit && gpu.minorNumber !== null) return { ...gpu, index: gpu.minorNumber };
    while (taken.has(next)) next += 1;
    taken.add(next);
    return { ...gpu, index: next };
  });
  return named.sort((a, b) => a.index - b.index);
}

/**
 * The failed GPUs that no output names, by what is known of them otherwise: by their bus id; those without one are joined with
 * what is left, both in the order of the bus, where there are as many of the one as of the other.
 */
export function withDriverIdentity(gpus: readonly KnownGpu[], claimed: readonly DriverGpu[]): readonly KnownGpu[] {
  const nameless = gpus.filter((gpu) => gpu.uuid === null && gpu.pciBusId === null);
  const isNamed = (driver: DriverGpu) =>
    gpus.some((gpu) => gpu.pciBusId === driver.pciBusId || (gpu.uuid !== null && gpu.uuid === driver.uuid));
  const left = claimed.filter((driver) => !isNamed(driver)).sort((a, b) => a.pciBusId.localeCompare(b.pciBusId));
  const driverOf = (gpu: KnownGpu) => {
    if (gpu.pciBusId !== null) return claimed.find((driver) => driver.pciBusId === gpu.pciBusId);
    if (gpu.uuid !== null) return claimed.find((driver) => driver.uuid === gpu.uuid);
    return nameless.length === left.length ? left[nameless.indexOf(gpu)] : undefined;
  };
  return gpus.map((gpu) => {
    if (gpu.uuid !== null && gpu.name !== null && gpu.pciBusId !== null) return gpu;
    const driver = driverOf(gpu);
    if (driver === undefined) return gpu;
    const { pciBusId } = driver;
    return { ...gpu, pciBusId, uuid: gpu.uuid ?? driver.uuid, name: gpu.name ?? driver.name };
  });
}

/** What the driver's folder says, and where it no longer says it, what was read of the same slot before. */
export function withRemembered(
  claimed: readonly DriverGpu[],
  remembered: ReadonlyMap<string, DriverGpu>,
): readonly DriverGpu[] {
  const named = claimed.map((gpu) => {
    const before = remembered.get(gpu.pciBusId);
    return { ...gpu, uuid: gpu.uuid ?? before?.uuid ?? null, name: gpu.name ?? before?.name ?? null };
  });
  const present = new Set(claimed.map((gpu) => gpu.pciBusId));
  return [...named, ...[...remembered.values()].filter((gpu) => !present.has(gpu.pciBusId))];
}

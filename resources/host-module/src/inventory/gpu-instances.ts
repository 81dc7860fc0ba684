/**
 * The instances of one GPU: `-lgi` says which exist and where, `-lci` what is in them, the XML's `mig_device` and "Device N"
 * of `-L` give memory and UUID. An instance without compute instance is in `-lgi` alone.
 */
import { unknownNumber } from "../../../../shared/mig/layout.ts";
import type { GpuGeometry } from "../../../../shared/mig/types.ts";
import type { ComputeInstance, GpuInstance, Unread } from "../../../../shared/protocol/inventory.ts";
import type { ListedComputeInstance, ListedGpuInstance } from "../nvidia-smi/instances.ts";
import type { ObservedMigDevice } from "../nvidia-smi/observation.ts";
import type { KnownGpu } from "./gpus.ts";
import type { CreatedInstance } from "./output.ts";

export interface InstanceListing {
  /** Null where `-lgi` (`-lci`) was not read. */
  readonly gpuInstances: readonly ListedGpuInstance[] | null;
  readonly computeInstances: readonly ListedComputeInstance[] | null;
  readonly createdInstances: readonly CreatedInstance[];
}

export function instancesOf(
  gpu: KnownGpu,
  listing: InstanceListing,
  geometry: GpuGeometry | null,
): { readonly instances: readonly GpuInstance[]; readonly unread: readonly Unread[] } {
  const devices = gpu.migDevices ?? [];
  const rows = listing.gpuInstances?.filter((row) => row.gpuIndex === gpu.index);
  const inside = (listing.computeInstances ?? []).filter((row) => row.gpuIndex === gpu.index);
  const named = namedDevices(devices, inside);
  const created = listing.createdInstances.filter((row) => row.gpuIndex === gpu.index);
  if (rows !== undefined && (rows.length > 0 || devices.length === 0)) {
    const listed = rows.map((row) => listedInstance(row, inside, named));
    const since = created.filter((row) => !rows.some((known) => known.gpuInstanceId === row.gpuInstanceId));
    const instances = [...listed, ...told([], [], since, geometry)].sort(byPlacement);
    const isBlind = listing.computeInstances === null && devices.length === 0 && rows.length > 0;
    const unread = isBlind ? [notRead(gpu, "-lci", "which compute instances there are is not known")] : [];
    return { instances, unread: [...unread, ...renames(gpu, instances, geometry)] };
  }
  const instances = told(named, inside, created, geometry);
  const entry = notRead(gpu, "-lgi", "placements, and instances without compute instance, are not known");
  return { instances, unread: instances.length === 0 ? [] : [entry] };
}

function notRead(gpu: KnownGpu, option: string, consequence: string): Unread {
  return {
    source: `nvidia-smi mig ${option}`,
    field: `gpus[${gpu.index}].instances`,
    reason: `not read: ${consequence}`,
    raw: "",
  };
}

const byPlacement = (a: GpuInstance, b: GpuInstance) => a.placement.start - b.placement.start || a.id - b.id;

/**
 * Without the XML nothing says which (instance, compute instance) "Device N" is. The driver numbers devices in the order of
 * those ids (seen in every table and XML from 535 to 610); that is used only where each name agrees with it.
 */
function namedDevices(
  devices: readonly ObservedMigDevice[],
  inside: readonly ListedComputeInstance[],
): readonly ObservedMigDevice[] {
  if (devices.length === 0 || devices.length !== inside.length) return devices;
  if (devices.some((device) => device.gpuInstanceId !== null || device.deviceIndex === null)) return devices;
  const inOrder = [...inside].sort(
    (a, b) => a.gpuInstanceId - b.gpuInstanceId || a.computeInstanceId - b.computeInstanceId,
  );
  const joined = [...devices]
    .sort((a, b) => (a.deviceIndex ?? 0) - (b.deviceIndex ?? 0))
    .map((device, at) => ({ device, row: inOrder[at] }));
  if (joined.some(({ device, row }) => device.profile !== row?.profile)) return devices;
  return joined.map(({ device, row }) => ({
    ...device,
    gpuInstanceId: row?.gpuInstanceId ?? null,
    computeInstanceId: row?.computeInstanceId ?? null,
  }));
}

function listedInstance(
  row: ListedGpuInstance,
  inside: readonly ListedComputeInstance[],
  devices: readonly ObservedMigDevice[],
): GpuInstance {
  const own = devices.filter((device) => device.gpuInstanceId === row.gpuInstanceId);
  const listed = inside.filter((compute) => compute.gpuInstanceId === row.gpuInstanceId);
  return {
    id: row.gpuInstanceId,
    profileId: row.profileId,
    profile: row.profile,
    placement: row.placement,
    computeInstances: computeInstancesOf(listed, own, row.profile),
    memory: memoryOf(own),
    utilisationPercent: null,
    holder: null,
  };
}

function computeInstancesOf(
  listed: readonly ListedComputeInstance[],
  devices: readonly ObservedMigDevice[],
  profile: string,
): readonly ComputeInstance[] {
  const computeInstances = listed.map((compute): ComputeInstance => {
    const device = devices.find((candidate) => candidate.computeInstanceId === compute.computeInstanceId);
    return {
      id: compute.computeInstanceId,
      profileId: compute.profileId,
      profile: compute.profile,
      placement: compute.placement,
      uuid: device?.uuid ?? null,
      deviceIndex: device?.deviceIndex ?? null,
    };
  });
  // `-lci` not read, or older than the XML: a device is a compute instance all the same.
  const unlisted = devices.filter(
    (device) => !listed.some((row) => row.computeInstanceId === device.computeInstanceId),
  );
  return [...computeInstances, ...unlisted.map((device) => computeInstanceOf(device, profile))].sort(
    (a, b) => (a.placement?.start ?? a.id) - (b.placement?.start ?? b.id) || a.id - b.id,
  );
}

function computeInstanceOf(device: ObservedMigDevice, profile: string): ComputeInstance {
  return {
    id: device.computeInstanceId ?? unknownNumber,
    profileId: null,
    profile: device.profile ?? profile,
    placement: null,
    uuid: device.uuid,
    deviceIndex: device.deviceIndex,
  };
}

/** The driver repeats the memory of the GPU instance at each of its compute instances: it is not added up. */
function memoryOf(devices: readonly ObservedMigDevice[]): GpuInstance["memory"] {
  const device = devices.find((candidate) => candidate.memoryTotalMiB !== null);
  return { totalMiB: device?.memoryTotalMiB ?? null, usedMiB: device?.memoryUsedMiB ?? null };
}

/** Instances as far as devices, compute instances and reports of their creation tell: without placement. */
function told(
  devices: readonly ObservedMigDevice[],
  inside: readonly ListedComputeInstance[],
  created: readonly CreatedInstance[],
  geometry: GpuGeometry | null,
): readonly GpuInstance[] {
  // Negative where no output gives the id: only "Device N" of `-L` is known.
  const idOf = (device: ObservedMigDevice, at: number) =>
    device.gpuInstanceId ?? unknownNumber - (device.deviceIndex ?? at);
  const ids = new Set([
    ...devices.map(idOf),
    ...inside.map((row) => row.gpuInstanceId),
    ...created.map((row) => row.gpuInstanceId),
  ]);
  return [...ids].map((id) => {
    const members = devices.filter((device, at) => idOf(device, at) === id);
    const listed = inside.filter((row) => row.gpuInstanceId === id);
    const report = created.find((row) => row.gpuInstanceId === id);
    const profile = report?.profile ?? profileNameOf(members, listed, geometry);
    const known = geometry?.profiles.find((candidate) =>
      report === undefined ? candidate.name === profile : candidate.id === report.profileId,
    );
    return {
      id,
      profileId: report?.profileId ?? known?.id ?? unknownNumber,
      profile,
      placement: { start: unknownNumber, size: known?.memorySlices ?? 0 },
      computeInstances: computeInstancesOf(listed, members, profile),
      memory: memoryOf(members),
      utilisationPercent: null,
      holder: null,
    };
  });
}

/** `1c.3g.40gb` is in a `3g.40gb`; without a name, the profile whose memory it is, where only one has that. */
function profileNameOf(
  members: readonly ObservedMigDevice[],
  listed: readonly ListedComputeInstance[],
  geometry: GpuGeometry | null,
): string {
  const name = listed[0]?.profile ?? members.find((device) => device.profile !== null)?.profile;
  if (name !== undefined && name !== null) return name.replace(/^\d+c\./, "");
  const memory = memoryOf(members).totalMiB;
  const multiprocessors = members.length === 1 ? (members[0]?.multiprocessors ?? null) : null;
  const fitting = (geometry?.profiles ?? []).filter(
    (profile) =>
      profile.media === "default" &&
      !profile.graphics &&
      memory !== null &&
      profile.memoryMiB !== null &&
      Math.abs(profile.memoryMiB - memory) < 0.05 * memory &&
      (multiprocessors === null || profile.multiprocessors === multiprocessors),
  );
  return fitting.length === 1 ? (fitting[0]?.name ?? "") : "";
}

/** The same profile under two names: after a driver update `-lgi` and the table of profiles may differ. */
function renames(gpu: KnownGpu, instances: readonly GpuInstance[], geometry: GpuGeometry | null): readonly Unread[] {
  const renamed = new Map<number, string>();
  for (const instance of instances) {
    const known = geometry?.profiles.find((profile) => profile.id === instance.profileId);
    if (known !== undefined && known.name !== instance.profile) renamed.set(instance.profileId, known.name);
  }
  return [...renamed].map(([profileId, name]) => ({
    source: "nvidia-smi mig -lgi",
    field: `gpus[${gpu.index}].instances`,
    reason: `profile ${profileId} has two names: this driver's and "${name}"`,
    raw: instances.find((instance) => instance.profileId === profileId)?.profile ?? "",
  }));
}

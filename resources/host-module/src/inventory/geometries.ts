/** What each GPU can be divided into: the driver's listing over the table, one entry for GPUs that agree. */
import { geometryFor, mergeGeometry } from "../../../../shared/mig/index.ts";
import type { GpuGeometry } from "../../../../shared/mig/types.ts";
import type { KnownGpu } from "./gpus.ts";
import type { ReadOutputs } from "./output.ts";

export interface HostGeometries {
  readonly geometries: Readonly<Record<string, GpuGeometry>>;
  /** Key into `geometries` by GPU index; absent where the GPU cannot be divided. */
  readonly keys: ReadonlyMap<number, string>;
}

export function geometriesOf(gpus: readonly KnownGpu[], read: ReadOutputs): HostGeometries {
  const geometries: Record<string, GpuGeometry> = {};
  const keys = new Map<number, string>();
  for (const gpu of gpus) {
    const geometry = geometryOf(gpu, gpus, read);
    if (geometry === null) continue;
    const key = keyFor(geometry, geometries);
    geometries[key] = geometry;
    keys.set(gpu.index, key);
  }
  return { geometries, keys };
}

/** Two GPUs of one model may be listed differently (one is in MIG mode, the other is not): the second gets a key of its own. */
function keyFor(geometry: GpuGeometry, known: Readonly<Record<string, GpuGeometry>>): string {
  for (let number = 1; ; number += 1) {
    const key = number === 1 ? geometry.key : `${geometry.key}#${number}`;
    const other = known[key];
    if (other === undefined || JSON.stringify(other) === JSON.stringify(geometry)) return key;
  }
}

function geometryOf(gpu: KnownGpu, gpus: readonly KnownGpu[], read: ReadOutputs): GpuGeometry | null {
  if (gpu.migCurrent === "not-supported") return null;
  const name = gpu.name ?? "";
  const table =
    name === "" || gpu.nameIsCut
      ? null
      : geometryFor({ name, pciDeviceId: gpu.pciDeviceId, memoryTotalMiB: gpu.memoryTotalMiB });
  // A GPU whose MIG mode is off lists nothing; one of the same model on the same host speaks for it.
  const alike = [
    gpu,
    ...gpus.filter((other) => gpu.name !== null && other.name === gpu.name && other.index !== gpu.index),
  ];
  const speaker = alike.find((other) => read.gpuInstanceProfiles.some((row) => row.gpuIndex === other.index));
  if (speaker === undefined) return table;
  const indexes = [speaker, ...alike.filter((other) => other !== speaker)].map((other) => other.index);
  const profiles = driverProfiles(speaker.index, indexes, read);
  const isCut = read.unread.some((entry) => entry.field === "GPU instance profiles");
  // Every listing of the whole GPU ends with the profile that covers it.
  const isWhole = !isCut && profiles.some((profile) => profile.id === 0);
  return mergeGeometry(table, { name: name === "" ? `GPU ${gpu.index}` : name, profiles, complete: isWhole });
}

/**
 * `-lcip` lists the compute instance profiles of instances that exist: what GPUs of one model (`alike`) hold tells all of them, so
 * that they stay one geometry however they are divided.
 */
function driverProfiles(
  gpuIndex: number,
  alike: readonly number[],
  read: ReadOutputs,
): Parameters<typeof mergeGeometry>[1]["profiles"] {
  const listedInside = (profileId: number) =>
    alike
      .flatMap((index) => (read.gpuInstances ?? []).filter((row) => row.gpuIndex === index))
      .filter((row) => row.profileId === profileId)
      .map((instance) =>
        read.computeInstanceProfiles.filter(
          (row) => row.gpuIndex === instance.gpuIndex && row.gpuInstanceId === instance.gpuInstanceId,
        ),
      )
      .find((rows) => rows.length > 0) ?? [];
  return read.gpuInstanceProfiles
    .filter((row) => row.gpuIndex === gpuIndex)
    .map((row) => {
      const placements = read.gpuInstancePlacements.find(
        (listed) => listed.gpuIndex === gpuIndex && listed.profileId === row.profileId,
      );
      const inside = listedInside(row.profileId);
      return {
        id: row.profileId,
        name: row.name,
        memoryGiB: row.memoryGiB,
        maxInstances: row.total,
        multiprocessors: row.multiprocessors,
        engines: {
          copy: row.copyEngines,
          decoder: row.decoders,
          encoder: row.encoders,
          jpeg: row.jpegEngines,
          opticalFlow: row.opticalFlowEngines,
        },
        placements: placements === undefined ? null : { starts: placements.starts, size: placements.size },
        computeInstanceProfiles: inside.map((listed) => ({
          id: listed.profileId,
          name: listed.name,
          maxInstances: listed.total,
          multiprocessors: listed.multiprocessors,
          starts:
            read.computeInstancePlacements.find(
              (row) =>
                row.gpuIndex === listed.gpuIndex &&
                row.gpuInstanceId === listed.gpuInstanceId &&
                row.profileId === listed.profileId,
            )?.starts ?? null,
        })),
      };
    });
}

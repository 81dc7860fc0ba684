/**
 * From Slurm's number of a GPU on a node (`IDX:2`) to the device: the number is a place in the list that slurmd makes of
 * slurm.conf and gres.conf.
 *
 * - Without AutoDetect the list follows `Gres=` of slurm.conf, type by type, and within a type the lines of gres.conf
 *   (`_merge_gres2` in gres.c; seen on 22.05 to 26.05).
 * - With it slurmd sorts by device file, then by links in NVML's order (`_merge_system_gres_conf` in gres_gpu.c). Only where
 *   both orders are one and nothing is divided can a number be followed from outside.
 */
import type { Gpu } from "../../../../shared/protocol/inventory.ts";
import type { Gres } from "./gres.ts";
import type { GresConf } from "./gres-conf.ts";

export type GresSlots =
  /** By Slurm's number: the device files, null where they are not known. */
  | { readonly kind: "listed"; readonly files: readonly (readonly string[] | null)[] }
  | { readonly kind: "detected"; readonly count: number };

/** The places of a node, `gres` as `scontrol show node` says it; null where Slurm's numbers cannot be followed. */
export function gresSlots(gres: readonly Gres[], conf: GresConf): GresSlots | null {
  const gpus = gres.filter(({ name }) => name === "gpu");
  const count = gpus.reduce((sum, each) => sum + each.count, 0);
  if (conf.autoDetect) return { kind: "detected", count };
  const typed = gpus.filter(({ type }) => type !== null);
  // Slurm counts places of one type together, and has no rule for a node with and without types.
  const isMixed = typed.length > 0 && (typed.length < gpus.length || new Set(typed.map(typeOf)).size < typed.length);
  if (isMixed) return null;
  const files = gpus.flatMap(({ type, count: wanted }) => {
    const found = conf.gpus
      .filter((line) => type === null || line.type?.toLowerCase() === type.toLowerCase())
      .flatMap(({ devices }) => devices)
      .slice(0, wanted);
    return [...found, ...Array.from({ length: wanted - found.length }, () => null)];
  });
  return { kind: "listed", files };
}

const typeOf = ({ type }: Gres) => type?.toLowerCase();

export interface GpuPlace {
  readonly gpuUuid: string;
  /** Null: the whole GPU. */
  readonly gpuInstanceId: number | null;
}

/** A GPU instance by the minor number of its access file in `/dev/nvidia-caps`. */
export type Capabilities = ReadonlyMap<number, { readonly gpuMinor: number; readonly gpuInstanceId: number }>;

/**
 * `/proc/driver/nvidia-caps/mig-minors`: `gpu0/gi1/access 12`, `gpu0/gi1/ci0/access 13`. N of `gpuN` is the GPU's minor
 * number. Other lines (`config`, `monitor`) are no instances.
 */
export function readMigMinors(content: string): Capabilities {
  const capabilities = new Map<number, { readonly gpuMinor: number; readonly gpuInstanceId: number }>();
  for (const line of content.split("\n")) {
    const match = /^gpu(\d{1,4})\/gi(\d{1,4})(?:\/ci\d{1,4})?\/access (\d{1,7})$/.exec(line.trim());
    if (match !== null)
      capabilities.set(Number(match[3]), { gpuMinor: Number(match[1]), gpuInstanceId: Number(match[2]) });
  }
  return capabilities;
}

export interface HostDevices {
  readonly gpus: readonly Gpu[];
  /** By UUID; absent where the driver does not tell. */
  readonly minorNumbers: ReadonlyMap<string, number>;
  readonly capabilities: Capabilities;
}

/** What stands behind one of Slurm's numbers; empty where it is not known, or is not there as configured. */
export function placesOf(slots: GresSlots, index: number, devices: HostDevices): readonly GpuPlace[] {
  if (slots.kind === "detected") return detectedPlace(slots.count, index, devices);
  const files = slots.files[index];
  return files === undefined || files === null ? [] : placesOfFiles(files, devices);
}

function detectedPlace(count: number, index: number, { gpus, minorNumbers }: HostDevices): readonly GpuPlace[] {
  const minors = gpus.map(({ uuid }) => minorNumbers.get(uuid) ?? -1);
  const gpu = gpus[index];
  // `gpus` is in NVML's order, by bus id. By file `/dev/nvidia10` may come before `/dev/nvidia2`.
  const isOneOrder = minors.every((minor, place) => minor >= 0 && minor < 10 && (minors[place - 1] ?? -1) < minor);
  const isWhole = gpus.every(({ mig }) => mig.current !== "enabled");
  if (gpu === undefined || !isOneOrder || !isWhole || count !== gpus.length) return [];
  return [{ gpuUuid: gpu.uuid, gpuInstanceId: null }];
}

/** The GPU's own file, and those of its instance where there are any. */
function placesOfFiles(files: readonly string[], devices: HostDevices): readonly GpuPlace[] {
  const minors = numbersOf(files, /^\/dev\/nvidia(\d{1,4})$/);
  const caps = numbersOf(files, /^\/dev\/nvidia-caps\/nvidia-cap(\d{1,7})$/);
  if (minors.length + caps.length < files.length) return [];
  const whole = minors.map((minor) => gpuOfMinor(minor, devices));
  if (caps.length === 0) {
    return whole.flatMap((gpu) =>
      gpu === undefined || gpu.mig.current === "enabled" ? [] : [{ gpuUuid: gpu.uuid, gpuInstanceId: null }],
    );
  }
  const instances = caps.map((cap) => devices.capabilities.get(cap));
  const [first] = instances;
  const isOne = instances.every(
    (each) => each?.gpuMinor === first?.gpuMinor && each?.gpuInstanceId === first?.gpuInstanceId,
  );
  if (first === undefined || !isOne || minors.some((minor) => minor !== first.gpuMinor)) return [];
  const gpu = gpuOfMinor(first.gpuMinor, devices);
  const isThere = gpu?.instances.some(({ id }) => id === first.gpuInstanceId) ?? false;
  return gpu === undefined || !isThere ? [] : [{ gpuUuid: gpu.uuid, gpuInstanceId: first.gpuInstanceId }];
}

function numbersOf(files: readonly string[], pattern: RegExp): readonly number[] {
  return files.flatMap((file) => {
    const number = pattern.exec(file)?.[1];
    return number === undefined ? [] : [Number(number)];
  });
}

function gpuOfMinor(minor: number, { gpus, minorNumbers }: HostDevices): Gpu | undefined {
  return gpus.find(({ uuid }) => minorNumbers.get(uuid) === minor);
}

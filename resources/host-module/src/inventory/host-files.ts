/** Facts of the host itself, from `/proc` and `/sys`. Every one of them may be missing in a capture or a container. */
import type { NetworkInterface, NumaNode } from "../../../../shared/protocol/inventory.ts";
import { normalBusId } from "../nvidia-smi/values.ts";
import type { Files } from "../system.ts";

export type ReadableFiles = Pick<Files, "read" | "list">;

/** Content of a small text file, trimmed; null where there is none. */
export async function readText(files: ReadableFiles, path: string): Promise<string | null> {
  const bytes = await files.read(path);
  return bytes === null ? null : new TextDecoder().decode(bytes).trim();
}

/** How many numbers a kernel list names: `0-31,64-95` are 64. Null where it is none. */
export function countOfList(list: string | null): number | null {
  const numbers = numbersOfList(list);
  return numbers === null ? null : numbers.length;
}

export function numbersOfList(list: string | null): readonly number[] | null {
  if (list === null || !/^\d+(-\d+)?(,\d+(-\d+)?)*$/.test(list)) return null;
  const numbers = list.split(",").flatMap((range) => {
    const [from = 0, to = from] = range.split("-").map(Number);
    return to < from || to - from > 100_000 ? [] : Array.from({ length: to - from + 1 }, (_, at) => from + at);
  });
  return numbers;
}

/** `MemTotal` of `/proc/meminfo` (or of a NUMA node's, where the line begins with `Node 0`), in MiB. */
export function memoryTotalMiB(meminfo: string | null): number | null {
  const match = /\bMemTotal:\s*(\d+) kB/.exec(meminfo ?? "");
  return match === null ? null : Math.round(Number(match[1]) / 1024);
}

export interface KernelFacts {
  readonly bootId: string | null;
  readonly kernel: string | null;
  readonly cpuCount: number | null;
  readonly memoryMiB: number | null;
  /** Seconds since the epoch. */
  readonly bootedAtSeconds: number | null;
}

export const kernelPaths = {
  bootId: "/proc/sys/kernel/random/boot_id",
  kernel: "/proc/sys/kernel/osrelease",
  cpus: "/sys/devices/system/cpu/online",
  memory: "/proc/meminfo",
  stat: "/proc/stat",
  nodes: "/sys/devices/system/node/online",
} as const;

export async function readKernelFacts(files: ReadableFiles): Promise<KernelFacts> {
  const stat = await readText(files, kernelPaths.stat);
  const booted = /^btime (\d+)$/m.exec(stat ?? "");
  return {
    bootId: await readText(files, kernelPaths.bootId),
    kernel: await readText(files, kernelPaths.kernel),
    cpuCount: countOfList(await readText(files, kernelPaths.cpus)),
    memoryMiB: memoryTotalMiB(await readText(files, kernelPaths.memory)),
    bootedAtSeconds: booted === null ? null : Number(booted[1]),
  };
}

export async function readNumaNodes(files: ReadableFiles): Promise<readonly NumaNode[]> {
  const ids = numbersOfList(await readText(files, kernelPaths.nodes)) ?? [];
  const nodes: NumaNode[] = [];
  for (const id of ids) {
    const cpus = await readText(files, `/sys/devices/system/node/node${id}/cpulist`);
    const memory = await readText(files, `/sys/devices/system/node/node${id}/meminfo`);
    // Grace hosts list the memory of each GPU as a node without CPUs of its own.
    if (cpus !== null) nodes.push({ id, cpus, memoryMiB: memoryTotalMiB(memory) });
  }
  return nodes;
}

/** The RDMA devices that `topo -m` names, and those that it does not. */
export async function readNics(files: ReadableFiles, listed: readonly string[]): Promise<readonly NetworkInterface[]> {
  const present = (await files.list("/sys/class/infiniband")) ?? [];
  const names = [...new Set([...listed, ...present])];
  const nics: NetworkInterface[] = [];
  for (const name of names) {
    nics.push({ name, numaNode: nodeNumber(await readText(files, `/sys/class/infiniband/${name}/device/numa_node`)) });
  }
  return nics;
}

export interface PciPlace {
  readonly numaNode: number | null;
  readonly cpus: string | null;
}

/** Where a PCI device stands, `00000000:1A:00.0`. */
export async function readPciPlace(files: ReadableFiles, pciBusId: string): Promise<PciPlace> {
  const device = `${pciDevicesPath}/${pciBusId.slice(4).toLowerCase()}`;
  const cpus = await readText(files, `${device}/local_cpulist`);
  return { numaNode: nodeNumber(await readText(files, `${device}/numa_node`)), cpus: cpus === "" ? null : cpus };
}

/** The kernel says -1 on machines without NUMA. */
function nodeNumber(text: string | null): number | null {
  return text !== null && /^\d+$/.test(text) ? Number(text) : null;
}

export interface DriverGpu {
  /** As `normalBusId` writes it. */
  readonly pciBusId: string;
  /** Null where the driver no longer knows it (`GPU-????????-...`). */
  readonly uuid: string | null;
  readonly name: string | null;
}

/** The GPUs that the driver has claimed, lost ones included, from its own folder in `/proc`. */
export async function readDriverGpus(files: ReadableFiles): Promise<readonly DriverGpu[]> {
  const gpus: DriverGpu[] = [];
  for (const directory of (await files.list(driverGpusPath)) ?? []) {
    const pciBusId = normalBusId(directory);
    const text = await readText(files, `${driverGpusPath}/${directory}/information`);
    if (pciBusId === null || text === null) continue;
    const value = (label: string) => new RegExp(`^${label}:\\s*(\\S.*)$`, "m").exec(text)?.[1]?.trim() ?? null;
    const uuid = value("GPU UUID");
    gpus.push({ pciBusId, uuid: uuid?.includes("?") ? null : uuid, name: value("Model") });
  }
  return gpus;
}

export const driverGpusPath = "/proc/driver/nvidia/gpus";

/**
 * Whether the host has an NVIDIA GPU, with or without a driver; null where the PCI bus cannot be read, or not whole.
 * Source: vendor 10de and class 03 (display controller) in sysfs.
 */
export async function hasNvidiaGpu(files: ReadableFiles): Promise<boolean | null> {
  const devices = await files.list(pciDevicesPath);
  if (devices === null) return null;
  let isWhole = true;
  for (const device of devices) {
    const vendor = await readText(files, `${pciDevicesPath}/${device}/vendor`);
    const kind = await readText(files, `${pciDevicesPath}/${device}/class`);
    if (vendor === "0x10de" && kind?.startsWith("0x03") === true) return true;
    if (vendor === null || kind === null) isWhole = false;
  }
  return isWhole ? false : null;
}

export const pciDevicesPath = "/sys/bus/pci/devices";

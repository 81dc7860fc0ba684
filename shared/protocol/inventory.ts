/**
 * What `tessera-host inventory` says about one host: the contract between the host module and
 * everything that reads it. `null` is "unknown": the driver did not give it. It is never zero.
 */
import type { GpuGeometry, Placement } from "../mig/types.ts";

export const inventorySchema = "tessera.inventory/1";

export interface HostInventory {
  readonly schema: typeof inventorySchema;
  /** ISO 8601, the host's clock. */
  readonly takenAt: string;
  readonly host: HostFacts;
  readonly driver: { readonly version: string | null; readonly cudaVersion: string | null };
  /** What the GPUs of this host can be divided into, by `Gpu.geometry`: the driver's word over our table. */
  readonly geometries: Readonly<Record<string, GpuGeometry>>;
  readonly gpus: readonly Gpu[];
  /** GPU to GPU and GPU to NIC, each pair once (`nvidia-smi topo -m`). */
  readonly links: readonly TopologyLink[];
  /** What could not be read, with the raw text; the rest stands. */
  readonly unread: readonly Unread[];
}

export interface HostFacts {
  readonly name: string;
  /** `/proc/sys/kernel/random/boot_id`. A new one means that MIG layouts are gone. */
  readonly bootId: string | null;
  readonly kernel: string | null;
  readonly architecture: string | null;
  readonly cpuCount: number | null;
  readonly memoryMiB: number | null;
  readonly numaNodes: readonly NumaNode[];
  readonly nics: readonly NetworkInterface[];
  /** Programs that hold GPUs or change MIG by themselves: mig-manager, dcgm, DRA driver ... */
  readonly managers: readonly { readonly name: string; readonly pid: number }[];
}

export interface NumaNode {
  readonly id: number;
  /** Kernel list format, `0-31,64-95`. */
  readonly cpus: string;
  readonly memoryMiB: number | null;
}

export interface NetworkInterface {
  /** As `topo -m` names it in its legend, `mlx5_0`. */
  readonly name: string;
  readonly numaNode: number | null;
}

export type LinkKind = "NVLINK" | "PIX" | "PXB" | "PHB" | "NODE" | "SYS" | "unknown";

export interface TopologyLink {
  /** `GPU0`, or the name of a NIC. */
  readonly a: string;
  readonly b: string;
  readonly kind: LinkKind;
  /** Number of NVLink links where kind is NVLINK (`NV18`). */
  readonly nvlinkCount: number | null;
}

export type MigMode = "enabled" | "disabled" | "not-supported";

export interface Gpu {
  /** Changes across reboots: a name for people, never for writing. */
  readonly index: number;
  /** `unknown:` and its bus id or index where nothing gives it: a lost GPU, a fragment of a capture. */
  readonly uuid: string;
  /** Empty where nothing gives it. */
  readonly name: string;
  readonly pciBusId: string | null;
  readonly numaNode: number | null;
  readonly cpuAffinity: string | null;
  readonly state: GpuState;
  readonly mig: { readonly current: MigMode | null; readonly pending: MigMode | null };
  /** Key into `HostInventory.geometries`; null where the GPU cannot be divided. */
  readonly geometry: string | null;
  /** Who holds the whole GPU while it is not divided; null when nobody does. */
  readonly holder: Holder | null;
  /** `-lgi` joined with `-lci` and `-L`; ascending by start. */
  readonly instances: readonly GpuInstance[];
  readonly memory: { readonly totalMiB: number | null; readonly usedMiB: number | null };
  /** 0 to 100; null under MIG, where the driver gives none. */
  readonly utilisationPercent: number | null;
  readonly memoryUtilisationPercent: number | null;
  readonly power: { readonly drawWatts: number | null; readonly limitWatts: number | null };
  readonly temperatureCelsius: number | null;
  readonly fanPercent: number | null;
  readonly ecc: {
    readonly enabled: boolean | null;
    readonly volatileUncorrected: number | null;
    readonly aggregateUncorrected: number | null;
  };
  /** Row remapping or page retirement that waits for a reset, or has failed. */
  readonly memoryRepair: "none" | "pending" | "failed" | null;
  /** Xid events of this GPU since boot, newest last, from the kernel log. */
  readonly xids: readonly { readonly code: number; readonly at: string | null; readonly text: string }[];
  readonly nvlinks: { readonly active: number | null; readonly total: number | null };
  readonly persistenceMode: boolean | null;
  readonly computeMode: string | null;
  /** Processes of the whole GPU, including those in its instances. */
  readonly processes: readonly GpuProcess[];
}

export type GpuState =
  | { readonly kind: "ok" }
  /** Lost, no permission, unknown error: in the driver's own words. */
  | { readonly kind: "failed"; readonly reason: "lost" | "no-permission" | "unknown"; readonly words: string };

export interface GpuInstance {
  /** GPU instance ID; negative where only "Device N" of `-L` tells of it. */
  readonly id: number;
  /** `unknownNumber` (-1) where `-lgi` was not readable; so is `placement.start` then. */
  readonly profileId: number;
  /** As the driver prints it without "MIG ". */
  readonly profile: string;
  readonly placement: Placement;
  /** Empty: an orphan that nothing can use, invisible in `-L`. */
  readonly computeInstances: readonly ComputeInstance[];
  readonly memory: { readonly totalMiB: number | null; readonly usedMiB: number | null };
  readonly utilisationPercent: number | null;
  /** Who holds it; null when nobody does. */
  readonly holder: Holder | null;
}

export interface ComputeInstance {
  readonly id: number;
  readonly profileId: number | null;
  readonly profile: string;
  readonly placement: Placement | null;
  /** `MIG-...`, null where the driver did not list it. */
  readonly uuid: string | null;
  /** Index of "Device N" in `-L`, null where not listed. */
  readonly deviceIndex: number | null;
}

export interface GpuProcess {
  readonly pid: number;
  readonly name: string;
  readonly user: string | null;
  readonly gpuInstanceId: number | null;
  readonly computeInstanceId: number | null;
  readonly usedMemoryMiB: number | null;
  readonly kind: "compute" | "graphics" | "both" | null;
  /** ISO 8601. */
  readonly startedAt: string | null;
}

/** The tenant, project and user behind an instance or a whole GPU. */
export interface Holder {
  readonly tenant: string | null;
  readonly project: string | null;
  readonly user: string | null;
  /** Where it is known from: a running process, a Slurm job, a lease of the embedded engine. */
  readonly by: "process" | "job" | "lease";
  /** Job or lease number, for people. */
  readonly allocation: string | null;
  /** ISO 8601. */
  readonly since: string | null;
}

export interface Unread {
  /** The command or file it came from. */
  readonly source: string;
  /** What was looked for, `gpus[3].temperatureCelsius`; empty for the whole output. */
  readonly field: string;
  readonly reason: string;
  /** The first 200 characters of the raw text. */
  readonly raw: string;
}

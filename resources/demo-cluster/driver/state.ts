/** The state of a simulated machine: plain data, so that it can live in a file between two processes. */
import type { NvmlError } from "./nvml.ts";

export interface SimulatedComputeInstance {
  id: number;
  profileId: number;
  start: number;
}

export interface SimulatedGpuInstance {
  id: number;
  profileId: number;
  start: number;
  computeInstances: SimulatedComputeInstance[];
  /** 0 to 100: how busy the instance is. It shows in the GPU's power only: the driver gives no utilisation of instances. */
  activityPercent: number;
}

export interface SimulatedGpu {
  uuid: string;
  productName: string;
  /** Without the domain, `1B:00.0`. */
  bus: string;
  serial: string;
  numaNode: number;
  migEnabled: boolean;
  migPending: boolean;
  instances: SimulatedGpuInstance[];
  persistenceMode: boolean;
  utilisationPercent: number;
  memoryUtilisationPercent: number;
  powerWatts: number;
  temperatureCelsius: number;
  volatileUncorrected: number;
  aggregateUncorrected: number;
  remappedRowsPending: boolean;
  remappedRowsFailed: boolean;
  /** Every question about this GPU is answered with it: lost, no permission, reset required. */
  broken: NvmlError | null;
  /** NVLink links that are down. */
  inactiveLinks: number[];
}

/** A process of the machine; what it does on a GPU, if anything, is in `gpu`. */
export interface SimulatedProcess {
  pid: number;
  uid: number;
  /** Argument vector; the first is the program. */
  command: string[];
  startedAtMs: number;
  gpu: {
    uuid: string;
    gpuInstanceId: number | null;
    computeInstanceId: number | null;
    usedMemoryMiB: number;
  } | null;
  /** Lines of `/proc/PID/cgroup`, as Slurm or podman would have left them. */
  cgroup?: string;
  /** `NAME=value` pairs of `/proc/PID/environ`, SLURM_JOB_ID for one. */
  environment?: string[];
}

export type PlannedOperation =
  | "create-gpu-instance"
  | "create-compute-instance"
  | "destroy-gpu-instance"
  | "destroy-compute-instance"
  | "set-mig-mode";

/** An answer that the driver will give once, instead of doing the work. */
export interface PlannedError {
  operation: PlannedOperation;
  gpuIndex: number;
  error: NvmlError;
  /** For `set-mig-mode`: the mode stays pending for this reason, and the command succeeds. */
  pending?: boolean;
}

export interface SimulatedUser {
  name: string;
  uid: number;
  gid: number;
}

export interface MachineState {
  hostName: string;
  bootId: string;
  bootedAtMs: number;
  /** The machine's clock; null follows the real one. */
  clockMs: number | null;
  driverVersion: string;
  cudaVersion: string;
  /** `no-library`: nothing of the driver is there. An NvmlError: the library cannot be initialised. */
  initialisation: "ok" | "no-library" | NvmlError;
  gpus: SimulatedGpu[];
  processes: SimulatedProcess[];
  users: SimulatedUser[];
  groups: { name: string; gid: number; members: string[] }[];
  numaNodes: { id: number; cpus: string; memoryMiB: number }[];
  nics: { name: string; numaNode: number; nearGpu: number }[];
  memoryMiB: number;
  kernel: string;
  /** What the kernel said since it booted, NVRM messages above all. */
  kernelLog: { atMs: number; text: string }[];
  plannedErrors: PlannedError[];
  /** Counts boots, so that boot ids are reproducible. */
  boots: number;
  /** Some driver libraries answer 0 for a divided GPU's utilisation; real ones answer nothing. */
  zeroUtilisationUnderMig: boolean;
}

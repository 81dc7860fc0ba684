/**
 * A machine with simulated GPUs: the state and the rules by which the driver changes it. No input or output;
 * `nvidia-smi` (nvidia-smi.ts) and the demo hosts read and change it through this class.
 */
import { createHash } from "node:crypto";
import type { GpuGeometry, GpuInstanceProfile } from "../../../shared/mig/types.ts";
import { geometryOf, type SimulatedModel, simulatedModel } from "./models.ts";
import type { NvmlError } from "./nvml.ts";
import {
  computeFits,
  computeInstanceId,
  computeProfileById,
  fillingProfile,
  firstComputeStart,
  firstStart,
  fits,
  instanceId,
  profileById,
} from "./placement.ts";
import type {
  MachineState,
  PlannedOperation,
  SimulatedComputeInstance,
  SimulatedGpu,
  SimulatedGpuInstance,
  SimulatedProcess,
} from "./state.ts";

export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: NvmlError };

/** One line of `-L`: a compute instance that programs can use. */
export interface MigDevice {
  readonly index: number;
  readonly uuid: string;
  readonly profileName: string;
  readonly instance: SimulatedGpuInstance;
  readonly profile: GpuInstanceProfile;
  readonly computeInstance: SimulatedComputeInstance;
}

function done<T>(value: T): Outcome<T> {
  return { ok: true, value };
}
function refused(error: NvmlError): { readonly ok: false; readonly error: NvmlError } {
  return { ok: false, error };
}

/** A UUID made from words, the same for the same words. */
export function uuidOf(...words: readonly (string | number)[]): string {
  const hex = createHash("sha1").update(words.join("\n")).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

export class SimulatedMachine {
  readonly state: MachineState;

  constructor(state: MachineState) {
    this.state = state;
  }

  now(): Date {
    return new Date(this.state.clockMs ?? Date.now());
  }

  gpu(index: number): SimulatedGpu {
    const gpu = this.state.gpus[index];
    if (gpu === undefined) throw new RangeError(`${this.state.hostName} has no GPU ${index}`);
    return gpu;
  }

  model(index: number): SimulatedModel {
    return simulatedModel(this.gpu(index).productName);
  }

  /** Null where the GPU cannot be divided. */
  geometry(index: number): GpuGeometry | null {
    return geometryOf(this.model(index));
  }

  /** As the driver prints it, `00000000:1B:00.0`. */
  busId(index: number): string {
    return `00000000:${this.gpu(index).bus}`;
  }

  profileOf(index: number, instance: SimulatedGpuInstance): GpuInstanceProfile {
    const geometry = this.geometry(index);
    if (geometry === null) throw new RangeError(`GPU ${index} cannot be divided`);
    return profileById(geometry, instance.profileId);
  }

  /**
   * Instances in the order of the tool's listings. It asks for them profile by profile in NVML's numbering:
   * the plain profiles from small to large, then those with media engines, then the wide `1g`; within one, by ID.
   */
  instancesOf(index: number): SimulatedGpuInstance[] {
    const profiles = this.geometry(index)?.profiles ?? [];
    const rank = (id: number): number => {
      const at = profiles.findIndex((profile) => profile.id === id);
      return at + (id === 15 ? 200 : profiles[at]?.media === "extended" ? 100 : 0);
    };
    return this.gpu(index).instances.toSorted((a, b) => rank(a.profileId) - rank(b.profileId) || a.id - b.id);
  }

  /** Compute instances as `-L` and the table number them: by GPU instance ID, then by their own. */
  devicesOf(index: number): MigDevice[] {
    const gpu = this.gpu(index);
    const devices: MigDevice[] = [];
    for (const instance of gpu.instances.toSorted((a, b) => a.id - b.id)) {
      const profile = this.profileOf(index, instance);
      for (const computeInstance of instance.computeInstances.toSorted((a, b) => a.id - b.id)) {
        devices.push({
          index: devices.length,
          uuid: `MIG-${uuidOf(gpu.uuid, instance.id, computeInstance.id)}`,
          profileName: computeProfileById(profile, computeInstance.profileId).name,
          instance,
          profile,
          computeInstance,
        });
      }
    }
    return devices;
  }

  processesOf(index: number, gpuInstanceId?: number, computeInstanceId?: number): SimulatedProcess[] {
    const { uuid } = this.gpu(index);
    return this.state.processes.filter(
      ({ gpu }) =>
        gpu !== null &&
        gpu.uuid === uuid &&
        (gpuInstanceId === undefined || gpu.gpuInstanceId === gpuInstanceId) &&
        (computeInstanceId === undefined || gpu.computeInstanceId === computeInstanceId),
    );
  }

  usedMemoryMiB(index: number): number {
    const held = this.processesOf(index).reduce((sum, process) => sum + (process.gpu?.usedMemoryMiB ?? 0), 0);
    return held;
  }

  /** What the driver was told to answer instead of working, once. */
  private planned(operation: PlannedOperation, gpuIndex: number): { error: NvmlError; pending: boolean } | null {
    const at = this.state.plannedErrors.findIndex(
      (planned) => planned.operation === operation && planned.gpuIndex === gpuIndex,
    );
    const [planned] = at === -1 ? [] : this.state.plannedErrors.splice(at, 1);
    return planned === undefined ? null : { error: planned.error, pending: planned.pending ?? false };
  }

  /** `pending` says why the mode did not take effect; the command counts as done all the same. */
  setMigMode(index: number, enabled: boolean, asRoot: boolean): Outcome<{ pending: NvmlError | null }> {
    const gpu = this.gpu(index);
    const planned = this.planned("set-mig-mode", index);
    if (planned !== null && !planned.pending) return refused(planned.error);
    if (this.geometry(index) === null) return refused("not-supported");
    if (!asRoot) return refused("no-permission");
    if (!enabled && gpu.instances.length > 0) return refused("in-use");
    gpu.migPending = enabled;
    if (planned !== null) return done({ pending: planned.error });
    if (gpu.migEnabled === enabled) return done({ pending: null });
    if (this.processesOf(index).length > 0) return done({ pending: "in-use" });
    if (this.model(index).migModeNeedsReset) return done({ pending: "reset-required" });
    gpu.migEnabled = enabled;
    return done({ pending: null });
  }

  createGpuInstance(
    index: number,
    profile: GpuInstanceProfile,
    start: number | null,
    asRoot: boolean,
  ): Outcome<SimulatedGpuInstance> {
    const gpu = this.gpu(index);
    const geometry = this.geometry(index);
    if (geometry === null || !gpu.migEnabled) return refused("not-supported");
    if (start !== null && !profile.starts.includes(start)) return refused("invalid-argument");
    if (!asRoot) return refused("no-permission");
    const planned = this.planned("create-gpu-instance", index);
    if (planned !== null) return refused(planned.error);
    const at = start ?? firstStart(geometry, gpu.instances, profile);
    if (at === null || !fits(geometry, gpu.instances, profile, at)) return refused("insufficient-resources");
    const instance: SimulatedGpuInstance = {
      id: instanceId(geometry, gpu.instances, profile, at),
      profileId: profile.id,
      start: at,
      computeInstances: [],
      activityPercent: 0,
    };
    gpu.instances.push(instance);
    return done(instance);
  }

  /** `profileId` null makes the one that fills the GPU instance. */
  createComputeInstance(
    index: number,
    instance: SimulatedGpuInstance,
    profileId: number | null,
    start: number | null,
    asRoot: boolean,
  ): Outcome<SimulatedComputeInstance> {
    const profile = this.profileOf(index, instance);
    const wanted =
      profileId === null
        ? fillingProfile(profile)
        : profile.computeInstanceProfiles.find((candidate) => candidate.id === profileId);
    if (wanted === undefined || (start !== null && !wanted.starts.includes(start))) return refused("invalid-argument");
    if (!asRoot) return refused("no-permission");
    const planned = this.planned("create-compute-instance", index);
    if (planned !== null) return refused(planned.error);
    const at = start ?? firstComputeStart(profile, instance.computeInstances, wanted);
    if (at === null || !computeFits(profile, instance.computeInstances, wanted, at)) {
      return refused("insufficient-resources");
    }
    const made: SimulatedComputeInstance = {
      id: computeInstanceId(instance.computeInstances),
      profileId: wanted.id,
      start: at,
    };
    instance.computeInstances.push(made);
    return done(made);
  }

  destroyComputeInstance(index: number, instance: SimulatedGpuInstance, id: number, asRoot: boolean): Outcome<null> {
    if (!asRoot) return refused("no-permission");
    const planned = this.planned("destroy-compute-instance", index);
    if (planned !== null) return refused(planned.error);
    const at = instance.computeInstances.findIndex((candidate) => candidate.id === id);
    if (at === -1) return refused("not-found");
    if (this.processesOf(index, instance.id, id).length > 0) return refused("in-use");
    instance.computeInstances.splice(at, 1);
    return done(null);
  }

  destroyGpuInstance(index: number, id: number, asRoot: boolean): Outcome<null> {
    const gpu = this.gpu(index);
    if (!asRoot) return refused("no-permission");
    const planned = this.planned("destroy-gpu-instance", index);
    if (planned !== null) return refused(planned.error);
    const at = gpu.instances.findIndex((candidate) => candidate.id === id);
    const instance = gpu.instances[at];
    if (instance === undefined) return refused("not-found");
    if (instance.computeInstances.length > 0) return refused("in-use");
    gpu.instances.splice(at, 1);
    return done(null);
  }

  resetGpu(index: number, asRoot: boolean): Outcome<null> {
    const gpu = this.gpu(index);
    if (!asRoot) return refused("no-permission");
    if (gpu.broken === "gpu-lost") return refused("gpu-lost");
    if (this.processesOf(index).length > 0) return refused("in-use");
    gpu.instances = [];
    gpu.migEnabled = gpu.migPending;
    gpu.volatileUncorrected = 0;
    gpu.remappedRowsPending = false;
    if (gpu.broken === "reset-required") gpu.broken = null;
    return done(null);
  }

  /** Starts a process; its pid is chosen when it has none. */
  startProcess(process: Omit<SimulatedProcess, "pid"> & { pid?: number }): SimulatedProcess {
    const pid = process.pid ?? Math.max(2000, ...this.state.processes.map((other) => other.pid)) + 1;
    const started = { ...process, pid };
    this.state.processes.push(started);
    return started;
  }

  endProcess(pid: number): void {
    const at = this.state.processes.findIndex((process) => process.pid === pid);
    if (at !== -1) this.state.processes.splice(at, 1);
  }

  /** Layouts are gone, Hopper and newer forget MIG mode too, lost GPUs come back. */
  reboot(): void {
    const { state } = this;
    state.boots += 1;
    state.bootId = uuidOf(state.hostName, "boot", state.boots);
    state.bootedAtMs = this.now().getTime();
    state.kernelLog = [];
    state.plannedErrors = [];
    state.processes = state.processes.filter((process) => process.gpu === null);
    for (const [index, gpu] of state.gpus.entries()) {
      gpu.instances = [];
      if (this.model(index).forgetsMigModeAtReboot) gpu.migPending = false;
      gpu.migEnabled = gpu.migPending;
      gpu.volatileUncorrected = 0;
      gpu.remappedRowsPending = false;
      if (gpu.broken === "gpu-lost" || gpu.broken === "reset-required") gpu.broken = null;
    }
  }
}

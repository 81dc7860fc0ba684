/** A machine from a short description: what tests and the demo cluster write down. */
import { SimulatedMachine, uuidOf } from "./machine.ts";
import { geometryOf, simulatedModel } from "./models.ts";
import { computeInstanceId, fillingProfile, firstComputeStart, firstStart, fits, instanceId } from "./placement.ts";
import type { MachineState, SimulatedGpu, SimulatedGpuInstance } from "./state.ts";

export interface InstanceDescription {
  /** Profile name or id, `3g.40gb` or 9. */
  readonly profile: string | number;
  /** First memory slice; the first free one when absent. */
  readonly start?: number;
  /** Profile ids of its compute instances; one that fills it when absent, none when empty. */
  readonly computeInstances?: readonly number[];
}

export interface GpuDescription {
  /** Product name, `NVIDIA H100 80GB HBM3` when absent. */
  readonly model?: string;
  readonly uuid?: string;
  /** MIG mode is on, with these instances; off when absent. */
  readonly instances?: readonly InstanceDescription[];
}

export interface MachineDescription {
  readonly hostName?: string;
  readonly gpus: readonly GpuDescription[];
  readonly users?: MachineState["users"];
  readonly groups?: MachineState["groups"];
  /** Milliseconds since the epoch; the real clock when absent. */
  readonly clockMs?: number | null;
}

const buses = ["1A", "1B", "4A", "4B", "8A", "8B", "CA", "CB", "DA", "DB", "EA", "EB", "F0", "F1", "F2", "F3"];

function instancesOf(gpu: SimulatedGpu, wanted: readonly InstanceDescription[]): SimulatedGpuInstance[] {
  const geometry = geometryOf(simulatedModel(gpu.productName));
  if (geometry === null) throw new RangeError(`${gpu.productName} knows no MIG`);
  const instances: SimulatedGpuInstance[] = [];
  for (const { profile: word, start, computeInstances } of wanted) {
    const profile = geometry.profiles.find((candidate) => candidate.id === word || candidate.name === word);
    if (profile === undefined) throw new RangeError(`${gpu.productName} has no profile ${word}`);
    const at = start ?? firstStart(geometry, instances, profile);
    if (at === null || !profile.starts.includes(at) || !fits(geometry, instances, profile, at)) {
      throw new RangeError(`${profile.name} does not fit at ${at ?? "any start"} of ${gpu.productName}`);
    }
    const instance: SimulatedGpuInstance = {
      id: instanceId(geometry, instances, profile, at),
      profileId: profile.id,
      start: at,
      computeInstances: [],
      activityPercent: 0,
    };
    for (const id of computeInstances ?? [fillingProfile(profile).id]) {
      const own = profile.computeInstanceProfiles.find((candidate) => candidate.id === id);
      const ownStart = own === undefined ? null : firstComputeStart(profile, instance.computeInstances, own);
      if (own === undefined || ownStart === null) throw new RangeError(`no room for ${id} in ${profile.name}`);
      instance.computeInstances.push({
        id: computeInstanceId(instance.computeInstances),
        profileId: own.id,
        start: ownStart,
      });
    }
    instances.push(instance);
  }
  return instances;
}

/** The state of a machine with these GPUs, eight to two NUMA nodes, idle. Throws RangeError for what no driver would allow. */
export function describeMachine(description: MachineDescription): MachineState {
  const hostName = description.hostName ?? "simulated";
  const count = description.gpus.length;
  const gpus = description.gpus.map((wanted, index): SimulatedGpu => {
    const model = simulatedModel(wanted.model ?? "NVIDIA H100 80GB HBM3");
    const gpu: SimulatedGpu = {
      uuid: wanted.uuid ?? `GPU-${uuidOf(hostName, "gpu", index)}`,
      productName: model.productName,
      bus: `${buses[index] ?? index.toString(16).padStart(2, "0").toUpperCase()}:00.0`,
      serial: String(1562821083900 + index),
      numaNode: index * 2 < count ? 0 : 1,
      migEnabled: wanted.instances !== undefined,
      migPending: wanted.instances !== undefined,
      instances: [],
      persistenceMode: true,
      utilisationPercent: 0,
      memoryUtilisationPercent: 0,
      powerWatts: model.idleWatts,
      temperatureCelsius: 34,
      volatileUncorrected: 0,
      aggregateUncorrected: 0,
      remappedRowsPending: false,
      remappedRowsFailed: false,
      broken: null,
      inactiveLinks: [],
    };
    if (wanted.instances !== undefined) gpu.instances = instancesOf(gpu, wanted.instances);
    return gpu;
  });
  return {
    hostName,
    bootId: uuidOf(hostName, "boot", 0),
    bootedAtMs: (description.clockMs ?? Date.now()) - 19 * 86_400_000,
    clockMs: description.clockMs ?? null,
    driverVersion: "550.163.01",
    cudaVersion: "12.4",
    initialisation: "ok",
    gpus,
    processes: [],
    users: [{ name: "root", uid: 0, gid: 0 }, ...(description.users ?? [])],
    groups: [{ name: "root", gid: 0, members: [] }, ...(description.groups ?? [])],
    numaNodes: [
      { id: 0, cpus: "0-63", memoryMiB: 1_031_744 },
      { id: 1, cpus: "64-127", memoryMiB: 1_032_160 },
    ],
    nics: [],
    memoryMiB: 2_063_904,
    kernel: "6.1.0-28-amd64",
    kernelLog: [],
    plannedErrors: [],
    boots: 0,
    zeroUtilisationUnderMig: false,
  };
}

export function simulatedMachine(description: MachineDescription): SimulatedMachine {
  return new SimulatedMachine(describeMachine(description));
}

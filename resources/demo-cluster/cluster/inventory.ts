/**
 * The inventory of a simulated machine straight from its state, without any tool in between: what the host module must
 * come to by reading, and the quick way to a thousand hosts' worth of data.
 */
import { geometryFor } from "../../../shared/mig/index.ts";
import type { GpuGeometry } from "../../../shared/mig/types.ts";
import {
  type ComputeInstance,
  type Gpu,
  type GpuInstance,
  type GpuProcess,
  type Holder,
  type HostInventory,
  inventorySchema,
  type TopologyLink,
} from "../../../shared/protocol/inventory.ts";
import { deviceMemory } from "../driver/device-facts.ts";
import type { MigDevice, SimulatedMachine } from "../driver/machine.ts";
import { computeProfileById } from "../driver/placement.ts";
import type { SimulatedGpuInstance, SimulatedProcess } from "../driver/state.ts";
import { cpuCountOf } from "../system/machine-files.ts";

const geometries = new Map<string, GpuGeometry | null>();

function geometryNamed(name: string): GpuGeometry | null {
  const known = geometries.get(name);
  if (known !== undefined) return known;
  const found = geometryFor({ name });
  geometries.set(name, found);
  return found;
}

export function inventoryOf(machine: SimulatedMachine): HostInventory {
  const { state } = machine;
  const byKey: Record<string, GpuGeometry> = {};
  for (const { productName } of state.gpus) {
    const geometry = geometryNamed(productName);
    if (geometry !== null) byKey[geometry.key] = geometry;
  }
  return {
    schema: inventorySchema,
    takenAt: machine.now().toISOString(),
    host: {
      name: state.hostName,
      bootId: state.bootId,
      kernel: state.kernel,
      architecture: "x86_64",
      cpuCount: cpuCountOf(machine),
      memoryMiB: state.memoryMiB,
      numaNodes: state.numaNodes,
      nics: state.nics.map(({ name, numaNode }) => ({ name, numaNode })),
      managers: state.processes
        .filter((process) => process.command[0]?.endsWith("/nvidia-persistenced") === true)
        .map(({ pid }) => ({ name: "nvidia-persistenced", pid })),
    },
    driver: { version: state.driverVersion, cudaVersion: state.cudaVersion },
    geometries: byKey,
    gpus: state.gpus.map((_, index) => gpuOf(machine, index)),
    links: linksOf(machine),
    unread: [],
  };
}

function gpuOf(machine: SimulatedMachine, index: number): Gpu {
  const gpu = machine.gpu(index);
  const model = machine.model(index);
  const lost = gpu.broken !== null;
  const capable = machine.geometry(index) !== null;
  const mode = (enabled: boolean) => (!capable ? "not-supported" : enabled ? "enabled" : "disabled");
  const divided = gpu.migEnabled;
  const devices = divided ? machine.devicesOf(index) : [];
  const known = <T>(value: T): T | null => (lost ? null : value);
  return {
    index,
    uuid: gpu.uuid,
    name: gpu.productName,
    pciBusId: machine.busId(index),
    numaNode: gpu.numaNode,
    cpuAffinity: machine.state.numaNodes.find(({ id }) => id === gpu.numaNode)?.cpus ?? null,
    state: lost
      ? { kind: "failed", reason: "lost", words: "GPU is lost.  Reboot the system to recover this GPU" }
      : { kind: "ok" },
    mig: { current: known(mode(gpu.migEnabled)), pending: known(mode(gpu.migPending)) },
    geometry: known(geometryNamed(gpu.productName)?.key ?? null),
    holder: divided ? null : holderOf(machine, machine.processesOf(index)),
    instances: lost
      ? []
      : gpu.instances
          .toSorted((a, b) => a.start - b.start)
          .map((instance) => instanceOf(machine, index, instance, devices)),
    memory: { totalMiB: known(model.memoryMiB), usedMiB: known(machine.usedMemoryMiB(index)) },
    utilisationPercent: divided ? null : known(gpu.utilisationPercent),
    memoryUtilisationPercent: divided ? null : known(gpu.memoryUtilisationPercent),
    power: { drawWatts: known(gpu.powerWatts), limitWatts: known(model.powerLimitWatts) },
    temperatureCelsius: known(gpu.temperatureCelsius),
    fanPercent: null,
    ecc: {
      enabled: known(true),
      volatileUncorrected: known(gpu.volatileUncorrected),
      aggregateUncorrected: known(gpu.aggregateUncorrected),
    },
    memoryRepair: known(gpu.remappedRowsFailed ? "failed" : gpu.remappedRowsPending ? "pending" : "none"),
    xids: machine.state.kernelLog.flatMap(({ atMs, text }) => {
      const found = /Xid \(PCI:0000:([0-9A-F]{2}:00)\): (\d+), (.*)$/.exec(text);
      if (found === null || `${found[1]}.0` !== gpu.bus) return [];
      return [{ code: Number(found[2]), at: new Date(atMs).toISOString(), text: found[3] ?? "" }];
    }),
    nvlinks:
      lost || model.nvlinkCount === 0
        ? { active: null, total: null }
        : { active: model.nvlinkCount - gpu.inactiveLinks.length, total: model.nvlinkCount },
    persistenceMode: known(gpu.persistenceMode),
    computeMode: known("Default"),
    processes: machine.processesOf(index).map((process) => processOf(machine, process)),
  };
}

function instanceOf(
  machine: SimulatedMachine,
  index: number,
  instance: SimulatedGpuInstance,
  all: readonly MigDevice[],
): GpuInstance {
  const profile = machine.profileOf(index, instance);
  const devices = all.filter((device) => device.instance === instance);
  const [first] = devices;
  const memory = first === undefined ? null : deviceMemory(machine, index, first);
  return {
    id: instance.id,
    profileId: profile.id,
    profile: profile.name,
    placement: { start: instance.start, size: profile.memorySlices },
    computeInstances: devices.map((device): ComputeInstance => {
      const own = computeProfileById(profile, device.computeInstance.profileId);
      return {
        id: device.computeInstance.id,
        profileId: own.id,
        profile: own.name,
        placement: { start: device.computeInstance.start, size: own.computeSlices },
        uuid: device.uuid,
        deviceIndex: device.index,
      };
    }),
    memory: { totalMiB: memory?.totalMiB ?? null, usedMiB: memory?.usedMiB ?? null },
    utilisationPercent: null,
    holder: holderOf(machine, machine.processesOf(index, instance.id)),
  };
}

function processOf(machine: SimulatedMachine, process: SimulatedProcess): GpuProcess {
  return {
    pid: process.pid,
    name: process.command[0] ?? "",
    user: machine.state.users.find(({ uid }) => uid === process.uid)?.name ?? null,
    gpuInstanceId: process.gpu?.gpuInstanceId ?? null,
    computeInstanceId: process.gpu?.computeInstanceId ?? null,
    usedMemoryMiB: process.gpu?.usedMemoryMiB ?? null,
    kind: "compute",
    startedAt: startOf(machine, process),
  };
}

/** To the second, as the kernel's clock ticks and the boot time in whole seconds give it. */
function startOf(machine: SimulatedMachine, process: SimulatedProcess): string {
  const bootSeconds = Math.floor(machine.state.bootedAtMs / 1000);
  const ticks = Math.round((process.startedAtMs - machine.state.bootedAtMs) / 10);
  return new Date((bootSeconds + Math.floor(ticks / 100)) * 1000).toISOString();
}

/** The demo's people each have one tenant and one project. */
function holderOf(machine: SimulatedMachine, processes: readonly SimulatedProcess[]): Holder | null {
  const [process] = processes;
  if (process === undefined) return null;
  const user = machine.state.users.find(({ uid }) => uid === process.uid);
  const tenant = machine.state.groups.find(({ gid }) => gid === user?.gid)?.name ?? null;
  const project = machine.state.groups.find(
    ({ name, members }) => members.includes(user?.name ?? "") && name !== tenant,
  );
  return {
    tenant,
    project: project === undefined || tenant === null ? null : project.name.slice(tenant.length + 1),
    user: user?.name ?? null,
    by: "process",
    allocation: null,
    since: startOf(machine, process),
  };
}

function linksOf(machine: SimulatedMachine): TopologyLink[] {
  const { gpus, nics } = machine.state;
  const ends = [
    ...gpus.map((gpu, index) => ({ name: `GPU${index}`, node: gpu.numaNode, gpu: index, nearGpu: -1 })),
    ...nics.map((nic) => ({ name: nic.name, node: nic.numaNode, gpu: -1, nearGpu: nic.nearGpu })),
  ];
  return ends.flatMap((a, at) =>
    ends.slice(at + 1).map((b): TopologyLink => {
      const nvlinkCount =
        a.gpu < 0 || b.gpu < 0 ? 0 : Math.min(machine.model(a.gpu).nvlinkCount, machine.model(b.gpu).nvlinkCount);
      if (nvlinkCount > 0) return { a: a.name, b: b.name, kind: "NVLINK", nvlinkCount };
      const near = a.gpu >= 0 && b.nearGpu === a.gpu;
      const kind = near ? "PIX" : a.node === b.node ? "NODE" : "SYS";
      return { a: a.name, b: b.name, kind, nvlinkCount: null };
    }),
  );
}

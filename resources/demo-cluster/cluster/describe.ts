/**
 * The demo cluster as data: hosts in racks, who holds what, what is broken. The same seed gives the same cluster, so
 * that tests and pictures repeat; any number of hosts, so that it serves for measuring too.
 */
import { describeMachine, type GpuDescription } from "../driver/describe.ts";
import { SimulatedMachine } from "../driver/machine.ts";
import { geometryOf, simulatedModel } from "../driver/models.ts";
import type { MachineState, SimulatedGpuInstance } from "../driver/state.ts";
import { cutsFor } from "./layouts.ts";
import { groups, type Person, people, tenantNames, users } from "./people.ts";
import { Chance } from "./random.ts";
import { settle, startWork } from "./work.ts";

export interface DescribedHost {
  readonly name: string;
  readonly rack: string;
  readonly machine: SimulatedMachine;
  /** Goes away for a few minutes from time to time. */
  readonly flaky: boolean;
}

export interface DescribedCluster {
  readonly name: string;
  readonly racks: readonly string[];
  readonly tenants: readonly string[];
  readonly hosts: readonly DescribedHost[];
}

export interface ClusterSummary {
  readonly hosts: number;
  readonly gpus: number;
  readonly gpuInstances: number;
  /** Nothing runs on them and nothing divides them. */
  readonly freeGpus: number;
  /** Divided, but nobody is in any of the instances. */
  readonly recoverableGpus: number;
  readonly heldWholeGpus: number;
  readonly brokenGpus: number;
  readonly tenants: number;
}

const hostsPerRack = 8;
const h100 = "NVIDIA H100 80GB HBM3";
const a100 = "NVIDIA A100-SXM4-80GB";
const rtx = "NVIDIA RTX PRO 6000 Blackwell Server Edition";

/** `A1` to `A8`, then `B1`. */
function rackName(rack: number): string {
  const letter = Math.floor(rack / 8);
  const prefix = letter < 26 ? "" : String.fromCharCode(64 + Math.floor(letter / 26));
  return `${prefix}${String.fromCharCode(65 + (letter % 26))}${(rack % 8) + 1}`;
}

function modelOf(at: number): string {
  if (at % 24 === 23) return rtx;
  return Math.floor(at / hostsPerRack) % 3 === 2 ? a100 : h100;
}

type Use = "idle" | "whole" | "divided" | "empty";

function useOf(chance: Chance): Use {
  const number = chance.next();
  if (number < 0.16) return "idle";
  if (number < 0.38) return "whole";
  return number < 0.42 ? "empty" : "divided";
}

/** `nowMs` is the time that "since" counts back from. */
export function describeCluster(hostCount: number, seed: number, nowMs: number = Date.now()): DescribedCluster {
  const width = Math.max(2, String(hostCount).length);
  const hosts = Array.from({ length: hostCount }, (_, at): DescribedHost => {
    const name = `gpu-${String(at + 1).padStart(width, "0")}`;
    const machine = new SimulatedMachine(describeHost(name, at, new Chance(seed * 7919 + at), nowMs));
    return { name, rack: rackName(Math.floor(at / hostsPerRack)), machine, flaky: at % 24 === 12 };
  });
  return {
    name: "hangzhou-a",
    racks: [...new Set(hosts.map((host) => host.rack))],
    tenants: tenantNames,
    hosts,
  };
}

function describeHost(name: string, at: number, chance: Chance, nowMs: number): MachineState {
  const model = modelOf(at);
  const slices = geometryOf(simulatedModel(model))?.memorySlices ?? 8;
  const uses = Array.from({ length: 8 }, () => useOf(chance));
  const gpus = uses.map((use): GpuDescription => {
    const divided = use === "divided" || use === "empty";
    return divided ? { model, instances: chance.pick(cutsFor(slices)) } : { model };
  });
  const state = describeMachine({ hostName: name, gpus, users, groups });
  state.bootedAtMs = nowMs - chance.between(6, 90) * 86_400_000;
  if (model !== rtx) {
    state.nics = Array.from({ length: 8 }, (_, nic) => ({
      name: `mlx5_${nic}`,
      numaNode: nic < 4 ? 0 : 1,
      nearGpu: nic,
    }));
  }
  const machine = new SimulatedMachine(state);
  machine.startProcess({
    pid: 1187,
    uid: 110,
    command: ["/usr/bin/nvidia-persistenced"],
    startedAtMs: state.bootedAtMs + 20_000,
    gpu: null,
  });

  // Each host mostly serves three teams: that is how queues and habits fall out.
  const favourites = [chance.pick(tenantNames), chance.pick(tenantNames), chance.pick(tenantNames)];
  const someone = (): Person => {
    const tenant = chance.happens(0.8) ? chance.pick(favourites) : chance.pick(tenantNames);
    return chance.pick(people.filter((person) => person.tenant === tenant));
  };
  for (const [index, use] of uses.entries()) {
    if (use === "whole") startWork(machine, chance, index, null, someone(), nowMs);
    if (use !== "divided") continue;
    const { instances } = machine.gpu(index);
    const held = instances.filter(() => chance.happens(0.82));
    const first = instances[0];
    if (held.length === 0 && first !== undefined) held.push(first);
    for (const instance of held) startWork(machine, chance, index, instance, someone(), nowMs);
  }
  if (at % 24 === 6) special(machine, chance, nowMs, people);
  if (at % 24 === 19) loseGpu(machine, 5, nowMs);
  if (at % 24 === 17) orphan(machine);
  if (at % 24 === 14) machine.gpu(2).remappedRowsPending = true;
  for (const index of machine.state.gpus.keys()) settle(machine, index);
  return machine.state;
}

/** The GPU of the drawings: `1g.10gb` at 0 and `2g.20gb` at 2 in use, two empty `1g.10gb` in the way of a `3g.40gb`. */
function special(machine: SimulatedMachine, chance: Chance, nowMs: number, all: readonly Person[]): void {
  const gpu = machine.gpu(3);
  for (const process of machine.processesOf(3)) machine.endProcess(process.pid);
  const made = describeMachine({
    gpus: [
      {
        model: gpu.productName,
        instances: [
          { profile: 19, start: 0 },
          { profile: 14, start: 2 },
          { profile: 19, start: 4 },
          { profile: 19, start: 6 },
        ],
      },
    ],
  }).gpus[0];
  gpu.instances = made?.instances ?? [];
  gpu.migEnabled = true;
  gpu.migPending = true;
  const holders: readonly (readonly [number, string])[] = [
    [0, "li.wei"],
    [2, "zhao.min"],
  ];
  for (const [start, user] of holders) {
    const instance = gpu.instances.find((candidate) => candidate.start === start);
    const person = all.find((candidate) => candidate.user === user);
    if (instance !== undefined && person !== undefined) startWork(machine, chance, 3, instance, person, nowMs);
  }
}

/** Xid 79: the GPU has fallen off the bus. What ran there is gone. */
export function loseGpu(machine: SimulatedMachine, index: number, nowMs: number): void {
  const gpu = machine.gpu(index);
  for (const process of machine.processesOf(index)) machine.endProcess(process.pid);
  gpu.broken = "gpu-lost";
  machine.state.kernelLog.push({
    atMs: nowMs - 47 * 60_000,
    text:
      `NVRM: Xid (PCI:0000:${gpu.bus.slice(0, 5)}): 79, pid='<unknown>', name=<unknown>, ` +
      "GPU has fallen off the bus.",
  });
}

/** A GPU instance whose compute instance was never made: it takes up its slices and nothing can use it. */
function orphan(machine: SimulatedMachine): void {
  for (const gpu of machine.state.gpus) {
    const unused = gpu.instances.find((instance: SimulatedGpuInstance) =>
      machine.state.processes.every(
        (process) => process.gpu?.uuid !== gpu.uuid || process.gpu.gpuInstanceId !== instance.id,
      ),
    );
    if (unused === undefined) continue;
    unused.computeInstances = [];
    return;
  }
}

export function summaryOf(cluster: DescribedCluster): ClusterSummary {
  const summary = {
    hosts: cluster.hosts.length,
    gpus: 0,
    gpuInstances: 0,
    freeGpus: 0,
    recoverableGpus: 0,
    heldWholeGpus: 0,
    brokenGpus: 0,
    tenants: cluster.tenants.length,
  };
  for (const { machine } of cluster.hosts) {
    for (const [index, gpu] of machine.state.gpus.entries()) {
      summary.gpus += 1;
      const busy = machine.processesOf(index).length > 0;
      if (gpu.broken !== null) summary.brokenGpus += 1;
      else if (gpu.instances.length > 0) {
        summary.gpuInstances += gpu.instances.length;
        if (!busy) summary.recoverableGpus += 1;
      } else if (busy) summary.heldWholeGpus += 1;
      else summary.freeGpus += 1;
    }
  }
  return summary;
}

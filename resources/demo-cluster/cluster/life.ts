/** The demo cluster lives: loads drift, work ends and begins, one host goes away now and then. */
import type { SimulatedGpuInstance } from "../driver/state.ts";
import type { HostServer } from "./host-server.ts";
import { people } from "./people.ts";
import { Chance } from "./random.ts";
import { settle, startWork } from "./work.ts";

const tickMs = 2_000;
/** Nothing starts or ends on a host for so long after somebody changed it. */
const quietMs = 120_000;
const flakyUpMs = 150_000;
const flakyDownMs = 240_000;

export class ClusterLife {
  readonly #hosts: readonly HostServer[];
  readonly #chance: Chance;
  readonly #still = new Set<string>();
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(hosts: readonly HostServer[], seed: number) {
    this.#hosts = hosts;
    this.#chance = new Chance(seed);
  }

  start(): void {
    const tick = setInterval(() => this.tick(), tickMs);
    tick.unref();
    this.#timers.add(tick);
    for (const host of this.#hosts) if (host.described.flaky) this.#later(flakyUpMs, () => this.#goAway(host));
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  /** Keeps the work on a host as it is, whatever happens elsewhere. */
  holdStill(name: string): void {
    this.#still.add(name);
  }

  /** One step of everybody's life; the timer calls it, and so may a test. */
  tick(): void {
    for (const host of this.#hosts) {
      const { machine } = host.described;
      for (const index of machine.state.gpus.keys()) this.#drift(host, index);
    }
    // About one event in the whole cluster every ten seconds.
    if (!this.#chance.happens(0.2)) return;
    const host = this.#chance.pick(this.#hosts);
    if (this.#still.has(host.described.name) || host.changedWithin(quietMs)) return;
    this.#event(host);
  }

  #drift(host: HostServer, index: number): void {
    const { machine } = host.described;
    const gpu = machine.gpu(index);
    if (gpu.broken !== null || !this.#chance.happens(0.15)) return;
    const step = (value: number): number => Math.max(3, Math.min(99, value + this.#chance.between(-6, 6)));
    if (gpu.migEnabled) {
      for (const instance of gpu.instances) {
        const busy = machine.processesOf(index, instance.id).length > 0;
        instance.activityPercent = busy && instance.activityPercent > 0 ? step(instance.activityPercent) : 0;
      }
    } else if (machine.processesOf(index).length === 0) gpu.utilisationPercent = 0;
    else if (gpu.utilisationPercent > 0) gpu.utilisationPercent = step(gpu.utilisationPercent);
    gpu.memoryUtilisationPercent = Math.round(gpu.utilisationPercent * 0.6);
    settle(machine, index);
  }

  /** Somebody's program ends, or somebody starts one in an instance that stood empty. */
  #event(host: HostServer): void {
    const { machine } = host.described;
    const index = this.#chance.between(0, machine.state.gpus.length - 1);
    const gpu = machine.gpu(index);
    if (gpu.broken !== null || !gpu.migEnabled || gpu.instances.length === 0) return;
    const instance: SimulatedGpuInstance = this.#chance.pick(gpu.instances);
    const [running] = machine.processesOf(index, instance.id);
    if (running === undefined) {
      startWork(machine, this.#chance, index, instance, this.#chance.pick(people), machine.now().getTime());
    } else machine.endProcess(running.pid);
    settle(machine, index);
  }

  #goAway(host: HostServer): void {
    if (host.changedWithin(quietMs)) {
      this.#later(flakyUpMs, () => this.#goAway(host));
      return;
    }
    host.refusing = true;
    this.#later(flakyDownMs, () => {
      host.refusing = false;
      this.#later(flakyUpMs, () => this.#goAway(host));
    });
  }

  #later(milliseconds: number, action: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      action();
    }, milliseconds);
    timer.unref();
    this.#timers.add(timer);
  }
}

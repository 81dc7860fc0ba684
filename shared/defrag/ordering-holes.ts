/** Room that nothing is planned for, where a mover that others wait for can go. */
import type { GpuStates } from "./gpu-states.ts";
import { needsDivision, type OrderedGpu, placeKey } from "./ordering-group.ts";
import type { ExecutionMode } from "./types.ts";

export interface Hole {
  readonly gpu: OrderedGpu;
  readonly start: number;
}

const standsThere = (gpu: OrderedGpu, profile: number, start: number) =>
  [gpu.settled, gpu.movers, gpu.places].some((list) =>
    list.some((one) => one.profile === profile && one.start === start),
  );

export const isBare = (gpu: OrderedGpu) => gpu.settled.length + gpu.movers.length === 0;

/** Holes by profile, on GPUs of one role, the tightest first. What it lists is checked again before it is given out. */
export class Holes {
  readonly #states: GpuStates;
  readonly #mode: ExecutionMode;
  readonly #mayBorrow: (gpu: OrderedGpu) => boolean;
  readonly #lists = new Map<string, OrderedGpu[]>();
  readonly #known = new Map<number, Int8Array>();

  constructor(states: GpuStates, mode: ExecutionMode, mayBorrow: (gpu: OrderedGpu) => boolean) {
    this.#states = states;
    this.#mode = mode;
    this.#mayBorrow = mayBorrow;
  }

  /** To be called after every change of the GPU. */
  list(gpu: OrderedGpu): void {
    const tightness = this.#tightness(gpu);
    for (const profile of this.#states.geometry.profiles.keys()) {
      if (this.#startOn(gpu, profile) < 0) continue;
      const key = `${gpu.role} ${profile} ${tightness}`;
      const list = this.#lists.get(key);
      if (list === undefined) this.#lists.set(key, [gpu]);
      else list.push(gpu);
    }
  }

  find(role: OrderedGpu["role"], profile: number): Hole | null {
    for (let tightness = 0; tightness <= this.#states.geometry.memorySlices; tightness++) {
      const list = this.#lists.get(`${role} ${profile} ${tightness}`) ?? [];
      for (let gpu = list.at(-1); gpu !== undefined; gpu = list.at(-1)) {
        const start = this.#tightness(gpu) === tightness ? this.#startOn(gpu, profile) : -1;
        if (start >= 0 && (role !== "free" || this.#mayBorrow(gpu))) return { gpu, start };
        list.pop();
      }
    }
    return null;
  }

  #tightness(gpu: OrderedGpu): number {
    let free = this.#states.geometry.memorySlices;
    for (let taken = this.#states.memory(gpu.now); taken > 0; taken &= taken - 1) free -= 1;
    return free;
  }

  #startOn(gpu: OrderedGpu, profile: number): number {
    if (gpu.now < 0 || gpu.final < 0) return -1;
    if (this.#mode === "empty" && !(isBare(gpu) && gpu.role !== "stays")) return this.#existingOn(gpu, profile);
    return this.#startsIn(gpu.now, gpu.role === "stays" ? gpu.final : this.#states.empty)[profile] ?? -1;
  }

  #existingOn(gpu: OrderedGpu, profile: number): number {
    if (gpu.role === "stays" && needsDivision(gpu)) return -1;
    const starts = this.#states.geometry.profiles[profile]?.starts ?? [];
    const isOpen = (start: number) => gpu.existing.has(placeKey(profile, start)) && !standsThere(gpu, profile, start);
    return starts.find(isOpen) ?? -1;
  }

  /** By profile, a start that is legal beside both; -1 for none. */
  #startsIn(now: number, final: number): Int8Array {
    const key = now * 65_536 + final;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const fits = (profile: number) => (start: number) =>
      this.#states.add(now, profile, start) >= 0 && this.#states.add(final, profile, start) >= 0;
    const starts = this.#states.geometry.profiles.map((profile, at) => profile.starts.find(fits(at)) ?? -1);
    const found = Int8Array.from(starts);
    this.#known.set(key, found);
    return found;
  }
}

/**
 * The greedy drain: the cheapest GPU that can be emptied into free room of the others is emptied, and so on. It gives an
 * answer at once, and is what better plans are measured against.
 */
import { geometryFor, profileNamed } from "../mig/index.ts";
import { GpuStates } from "./gpu-states.ts";
import { isTouchable, type MovingLimits, mayMove } from "./movable.ts";
import type { ClusterGpu, ClusterLayout, Move } from "./types.ts";

export interface DrainLimits extends MovingLimits {
  /** No GPU is emptied that costs more than this; null for any price. */
  readonly price: number | null;
  readonly maxMoves: number | null;
  readonly maxCost: number | null;
}

interface Mover {
  readonly profile: number;
  readonly profileName: string;
  readonly instance: number;
  readonly start: number;
  readonly cost: number;
}

interface WorkGpu {
  readonly host: string;
  readonly index: number;
  /** Price of emptying it; null where that is not possible or there is nothing to empty. */
  readonly price: number | null;
  readonly movers: readonly Mover[];
  state: number;
  /** What others were promised to stay: it takes instances or is emptied, never both. */
  role: "open" | "takes" | "emptied";
}

interface Placing {
  readonly mover: Mover;
  readonly target: WorkGpu;
  readonly start: number;
  readonly before: WorkGpu["state"];
  readonly role: WorkGpu["role"];
}

class Group {
  readonly states: GpuStates;
  readonly gpus: WorkGpu[] = [];
  readonly #room = new Map<number, number>();
  /** Held GPUs that may take instances, by state. */
  readonly #takers = new Map<number, Set<WorkGpu>>();

  constructor(states: GpuStates) {
    this.states = states;
  }

  /** How much may still come: legal starts, each by the compute slices that it would bring. */
  #roomOf(state: number): number {
    const known = this.#room.get(state);
    if (known !== undefined) return known;
    let room = 0;
    for (const [position, { starts, computeSlices }] of this.states.geometry.profiles.entries()) {
      for (const start of starts) if (this.states.add(state, position, start) >= 0) room += computeSlices;
    }
    this.#room.set(state, room);
    return room;
  }

  /** The start of a profile that leaves the most room; null where it does not fit. */
  #bestStart(state: number, profile: number): { readonly start: number; readonly room: number } | null {
    let best: { readonly start: number; readonly room: number } | null = null;
    for (const start of this.states.geometry.profiles[profile]?.starts ?? []) {
      const next = this.states.add(state, profile, start);
      if (next >= 0 && this.#roomOf(next) > (best?.room ?? -1)) best = { start, room: this.#roomOf(next) };
    }
    return best;
  }

  add(gpu: WorkGpu): void {
    this.gpus.push(gpu);
    this.#list(gpu);
  }

  /** From now on the GPU takes nothing. */
  close(gpu: WorkGpu): void {
    this.#takers.get(gpu.state)?.delete(gpu);
  }

  /** Puts a GPU back to what it was. */
  restore(gpu: WorkGpu, state: number, role: WorkGpu["role"]): void {
    this.close(gpu);
    gpu.state = state;
    gpu.role = role;
    this.#list(gpu);
  }

  /** Best fit: a held GPU with the least room that takes it. Asked by states, which are few, not by GPUs. */
  place(mover: Mover): Placing | null {
    let best: { readonly target: WorkGpu; readonly start: number; readonly room: number } | null = null;
    for (const [state, takers] of this.#takers) {
      const [target] = takers;
      if (target === undefined || (best !== null && this.#roomOf(state) >= best.room)) continue;
      const found = this.#bestStart(state, mover.profile);
      if (found !== null) best = { target, start: found.start, room: this.#roomOf(state) };
    }
    if (best === null) return null;
    const { target, start } = best;
    const placing = { mover, target, start, before: target.state, role: target.role };
    this.restore(target, this.states.add(target.state, mover.profile, start), "takes");
    return placing;
  }

  /** A GPU that is free stays free. */
  #list(gpu: WorkGpu): void {
    if (gpu.state === this.states.empty) return;
    const takers = this.#takers.get(gpu.state) ?? new Set();
    this.#takers.set(gpu.state, takers.add(gpu));
  }
}

function workGpu(gpu: ClusterGpu, host: string, states: GpuStates, limits: MovingLimits): WorkGpu {
  const movers: Mover[] = [];
  let state = states.empty;
  let isHeldFast = false;
  for (const { id, profile: profileName, start, allocation } of gpu.instances) {
    if (allocation === null) continue;
    const profileId = profileNamed(states.geometry, profileName)?.id;
    const profile = states.geometry.profiles.findIndex((one) => one.id === profileId);
    state = states.add(state, profile, start);
    if (mayMove(allocation, limits)) movers.push({ profile, profileName, instance: id, start, cost: allocation.cost });
    else isHeldFast = true;
  }
  // The largest first: what is hard to place fails early.
  const slices = ({ profile }: Mover) => states.geometry.profiles[profile]?.memorySlices ?? 0;
  movers.sort((a, b) => slices(b) - slices(a) || a.start - b.start);
  const price = isHeldFast || movers.length === 0 ? null : movers.reduce((sum, { cost }) => sum + cost, 0);
  return { host, index: gpu.index, price, movers, state, role: "open" };
}

function groupsOf(layout: ClusterLayout, limits: MovingLimits): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const host of layout.hosts.filter((one) => isTouchable(one, limits))) {
    for (const gpu of host.gpus) {
      const geometry = geometryFor({ name: gpu.model });
      if (geometry === null || gpu.allocation !== null) continue;
      const key = JSON.stringify([host.pool, geometry.key]);
      const group = groups.get(key) ?? new Group(new GpuStates(geometry));
      groups.set(key, group);
      group.add(workGpu(gpu, host.name, group.states, limits));
    }
  }
  return [...groups.values()];
}

/** Everything on the GPU placed elsewhere, or nothing changed and null. */
function emptied(group: Group, donor: WorkGpu): readonly Placing[] | null {
  const placings: Placing[] = [];
  group.close(donor);
  for (const mover of donor.movers) {
    const placing = group.place(mover);
    if (placing === null) {
      for (const { target, before, role } of placings.toReversed()) group.restore(target, before, role);
      group.restore(donor, donor.state, donor.role);
      return null;
    }
    placings.push(placing);
  }
  donor.role = "emptied";
  return placings;
}

function moveOf(donor: WorkGpu, { mover, target, start }: Placing): Move {
  return {
    order: 1,
    profile: mover.profileName,
    cost: mover.cost,
    from: { host: donor.host, gpu: donor.index, instance: mover.instance, start: mover.start },
    to: { host: target.host, gpu: target.index, start },
  };
}

/**
 * The moves of a greedy drain, best fit, donors by ascending price. All go into room that is free at the start, and no GPU
 * that takes an instance is emptied later, so all of them may run together and their order is 1. GPUs that are free stay free.
 */
export function greedyDrain(layout: ClusterLayout, limits: DrainLimits): readonly Move[] {
  const donors = groupsOf(layout, limits)
    .flatMap((group) => group.gpus.map((donor) => ({ group, donor, price: donor.price ?? Number.POSITIVE_INFINITY })))
    .filter(({ price }) => price <= (limits.price ?? Number.MAX_VALUE))
    .sort((a, b) => a.price - b.price);
  const moves: Move[] = [];
  let cost = 0;
  for (const { group, donor, price } of donors) {
    if (donor.role !== "open") continue;
    if (moves.length + donor.movers.length > (limits.maxMoves ?? Number.POSITIVE_INFINITY)) continue;
    if (cost + price > (limits.maxCost ?? Number.POSITIVE_INFINITY)) continue;
    const placings = emptied(group, donor);
    if (placings === null) continue;
    cost += price;
    moves.push(...placings.map((placing) => moveOf(donor, placing)));
  }
  return moves;
}

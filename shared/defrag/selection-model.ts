/**
 * What the selection chooses from. GPUs on which the same instances stand at the same prices are one class. A column of a
 * class says what is kept of the movable instances and how the rest is filled with places for others, or that the GPU is left
 * free. Instances of one profile are as good as each other in a place, so columns and counts say all about the cost of a plan.
 */
import { type GpuGeometry, geometryFor, profileNamed } from "../mig/index.ts";
import { type Completion, Completions, GpuStates } from "./gpu-states.ts";
import { isTouchable, type MovingLimits, mayMove } from "./movable.ts";
import type { ClusterGpu, ClusterHost, ClusterLayout } from "./types.ts";

/** A movable instance. */
export interface Mover {
  /** GPU instance ID. */
  readonly instance: number;
  /** Position in the profiles of the geometry. */
  readonly profile: number;
  readonly profileName: string;
  readonly start: number;
  readonly cost: number;
}

export interface ModelGpu {
  readonly host: string;
  readonly rack: string | null;
  readonly index: number;
  /** In the order of the class. */
  readonly movers: readonly Mover[];
}

/** GPUs among which instances may be exchanged: one model, one pool. */
export interface ModelGroup {
  readonly states: GpuStates;
  /** Row of the selection by position of the profile; only of profiles of which something moves. */
  readonly rows: Map<number, number>;
  fillings: Completions;
}

export interface GpuClass {
  readonly group: ModelGroup;
  readonly gpus: ModelGpu[];
  /** Of every GPU of the class: profile, start and cost in this order. */
  readonly movers: readonly Mover[];
  /** State with the unmovable instances and those of the mask. */
  readonly states: Int32Array;
}

/** Of one group. A row for every profile of which something moves; the last row counts free GPUs. */
export interface SelectionModel {
  readonly classes: readonly GpuClass[];
  readonly rows: number;
  /** How many places each row needs; 0 in the last. */
  readonly needs: readonly number[];
  /** Of all movable instances together. */
  readonly totalCost: number;
  /** Every cost is a multiple of this; 0 where there is no such number that is worth it. */
  readonly costStep: number;
}

/** GPUs of different parts have nothing to do with each other but that the free ones are counted together. */
export interface SelectionParts {
  /** By `groupKeyOf`. */
  readonly models: ReadonlyMap<string, SelectionModel>;
  /** Free GPUs that the plan may not touch. */
  readonly freeElsewhere: number;
}

/** Instances may be exchanged among GPUs of one pool and one model. */
export function groupKeyOf(host: ClusterHost, geometry: GpuGeometry): string {
  return JSON.stringify([host.pool, geometry.key]);
}

export const freed = -1;

/** The ways to fill what is left beside the instances of a mask. */
export function fillingsOf(one: GpuClass, mask: number): readonly Completion[] {
  return one.group.fillings.of(one.states[mask] ?? 0, 0);
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

function stepOf(costs: Iterable<number>): number {
  let thousandths = 0;
  for (const cost of costs) {
    const rounded = Math.round(cost * 1000);
    if (Math.abs(rounded - cost * 1000) > 1e-6) return 0;
    thousandths = greatestCommonDivisor(thousandths, rounded);
  }
  return thousandths / 1000;
}

function readGpu(gpu: ClusterGpu, states: GpuStates, limits: MovingLimits) {
  const { geometry } = states;
  const movers: Mover[] = [];
  let pinned = states.empty;
  for (const { id, profile: profileName, start, allocation } of gpu.instances) {
    if (allocation === null) continue;
    const profileId = profileNamed(geometry, profileName)?.id;
    const profile = geometry.profiles.findIndex((one) => one.id === profileId);
    if (mayMove(allocation, limits)) movers.push({ instance: id, profile, profileName, start, cost: allocation.cost });
    else pinned = states.add(pinned, profile, start);
  }
  return { pinned, movers: movers.sort((a, b) => a.profile - b.profile || a.cost - b.cost || a.start - b.start) };
}

function statesOf(states: GpuStates, pinned: number, movers: readonly Mover[]): Int32Array {
  const found = new Int32Array(2 ** movers.length);
  found[0] = pinned;
  for (let mask = 1; mask < found.length; mask++) {
    const mover = movers[31 - Math.clz32(mask & -mask)];
    if (mover !== undefined) found[mask] = states.add(found[mask & (mask - 1)] ?? 0, mover.profile, mover.start);
  }
  return found;
}

class ModelMaker {
  readonly #states: GpuStates;
  readonly #group: ModelGroup;
  readonly #classes = new Map<string, GpuClass>();

  constructor(geometry: GpuGeometry) {
    this.#states = new GpuStates(geometry);
    this.#group = { states: this.#states, rows: new Map(), fillings: new Completions(this.#states, []) };
  }

  add(host: ClusterHost, gpu: ClusterGpu, limits: MovingLimits): void {
    const { pinned, movers } = readGpu(gpu, this.#states, limits);
    for (const { profile } of movers) this.#group.rows.set(profile, 0);
    const key = JSON.stringify([pinned, movers.map(({ profile, start, cost }) => [profile, start, cost])]);
    const one = this.#classes.get(key) ?? this.#newClass(pinned, movers);
    this.#classes.set(key, one);
    one.gpus.push({ host: host.name, rack: host.rack, index: gpu.index, movers });
  }

  #newClass(pinned: number, movers: readonly Mover[]): GpuClass {
    return { group: this.#group, gpus: [], movers, states: statesOf(this.#states, pinned, movers) };
  }

  /** Gives every profile its row, and returns how many there are with the one of free GPUs. */
  #numberRows(): number {
    const kinds = [...this.#group.rows.keys()]
      .toSorted((a, b) => a - b)
      .map((profile, row) => ({ row, profile, anywhere: true }));
    for (const kind of kinds) this.#group.rows.set(kind.profile, kind.row);
    this.#group.fillings = new Completions(this.#states, kinds);
    return kinds.length + 1;
  }

  model(): SelectionModel {
    const rows = this.#numberRows();
    const classes = [...this.#classes.values()];
    const needs = Array.from({ length: rows }, () => 0);
    let totalCost = 0;
    const costs = new Set<number>();
    for (const { group, gpus, movers } of classes) {
      for (const { profile, cost } of movers) {
        const row = group.rows.get(profile) ?? 0;
        needs[row] = (needs[row] ?? 0) + gpus.length;
        totalCost += cost * gpus.length;
        costs.add(cost);
      }
    }
    return { classes, rows, needs, totalCost, costStep: stepOf(costs) };
  }
}

/** A model for every pool and GPU model of which the plan may touch something. */
export function selectionParts(layout: ClusterLayout, limits: MovingLimits): SelectionParts {
  const makers = new Map<string, ModelMaker>();
  let freeElsewhere = 0;
  for (const host of layout.hosts) {
    for (const gpu of host.gpus) {
      const geometry = geometryFor({ name: gpu.model });
      const isHeld = gpu.allocation !== null || gpu.instances.some(({ allocation }) => allocation !== null);
      if (geometry === null || gpu.allocation !== null || !isTouchable(host, limits)) {
        freeElsewhere += isHeld ? 0 : 1;
        continue;
      }
      const key = groupKeyOf(host, geometry);
      const maker = makers.get(key) ?? new ModelMaker(geometry);
      makers.set(key, maker);
      maker.add(host, gpu, limits);
    }
  }
  return { models: new Map([...makers].map(([key, maker]) => [key, maker.model()])), freeElsewhere };
}

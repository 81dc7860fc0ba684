/** What the ordering of moves knows of one group of GPUs, those of one model and pool, between which instances may move. */
import { type GpuGeometry, geometryFor, profileNamed } from "../mig/index.ts";
import { GpuStates } from "./gpu-states.ts";
import type { UnorderedMove } from "./matching.ts";
import { isTouchable, type MovingLimits, mayMove } from "./movable.ts";
import type { ClusterGpu, ClusterHost, ClusterLayout } from "./types.ts";

/** Something on a GPU that the rest of the plan leaves alone. */
export interface Settled {
  /** Position in the profiles of the geometry. */
  readonly profile: number;
  readonly start: number;
}

export interface WaitingMover {
  readonly move: UnorderedMove;
  readonly profile: number;
  /** Whether it may make a stop on the way. */
  readonly mayBounce: boolean;
  /** Where it stands. */
  gpu: OrderedGpu;
  start: number;
  isBounced: boolean;
  /** It has a new place and still stands in its old one. */
  isLeaving: boolean;
  isDone: boolean;
  /** How many must leave, itself included, until a place opens that it is in the way of; `inNobodysWay` for none. */
  rank: number;
}

export const inNobodysWay = 9;

/** A place that the selection wants to be held in the end, by whichever mover of its profile. */
export interface WantedPlace extends Settled {
  readonly gpu: OrderedGpu;
  /** It can be made now, and room is kept for it. */
  isOpen: boolean;
  /** Movers in its way; null where something is that never leaves. */
  blockers: readonly WaitingMover[] | null;
}

export interface OrderedGpu {
  readonly host: string;
  readonly rack: string | null;
  readonly index: number;
  readonly settled: Settled[];
  readonly movers: WaitingMover[];
  /** Not taken yet. */
  readonly places: WantedPlace[];
  /** `stays`: held in the end; `emptied`: held at first only; `free`: neither. */
  role: "stays" | "emptied" | "free";
  /** State with all that stands and all open places. */
  now: number;
  /** State with what is settled and all places that are wanted. */
  final: number;
  /** Instances that exist, held or not, as `placeKey`. */
  existing: Set<number>;
}

export const placeKey = (profile: number, start: number) => profile * 32 + start;

export interface OrderedGroup {
  readonly states: GpuStates;
  readonly gpus: OrderedGpu[];
  readonly movers: WaitingMover[];
}

export const gpuKey = (host: string, gpu: number) => JSON.stringify([host, gpu]);

export function emptyGpu(host: string, rack: string | null, index: number): OrderedGpu {
  return {
    host,
    rack,
    index,
    settled: [],
    movers: [],
    places: [],
    role: "free",
    now: 0,
    final: 0,
    existing: new Set(),
  };
}

function positionOf(geometry: GpuGeometry, name: string): number {
  const id = profileNamed(geometry, name)?.id;
  return geometry.profiles.findIndex((profile) => profile.id === id);
}

/** The final state; -1 where the moves together would break a rule of MIG. */
export function stateOf(states: GpuStates, ...all: readonly (readonly Settled[])[]): number {
  let state = states.empty;
  for (const list of all) {
    for (const { profile, start } of list) if (state >= 0) state = states.add(state, profile, start);
  }
  return state;
}

class GroupMaker {
  readonly groups = new Map<string, OrderedGroup>();
  readonly #gpus = new Map<string, { readonly group: OrderedGroup; readonly gpu: OrderedGpu }>();
  readonly #moves: ReadonlyMap<string, UnorderedMove>;
  readonly #limits: MovingLimits;

  constructor(moves: readonly UnorderedMove[], limits: MovingLimits) {
    this.#moves = new Map(
      moves.map((move) => [JSON.stringify([move.from.host, move.from.gpu, move.from.instance]), move]),
    );
    this.#limits = limits;
  }

  add(host: ClusterHost, gpu: ClusterGpu): void {
    const geometry = geometryFor({ name: gpu.model });
    if (geometry === null || gpu.allocation !== null || !isTouchable(host, this.#limits)) return;
    const key = JSON.stringify([host.pool, geometry.key]);
    const group = this.groups.get(key) ?? { states: new GpuStates(geometry), gpus: [], movers: [] };
    this.groups.set(key, group);
    const ordered = emptyGpu(host.name, host.rack, gpu.index);
    group.gpus.push(ordered);
    this.#gpus.set(gpuKey(host.name, gpu.index), { group, gpu: ordered });
    for (const { id, profile: name, start, allocation } of gpu.instances) {
      const profile = positionOf(geometry, name);
      ordered.existing.add(placeKey(profile, start));
      if (allocation === null) continue;
      ordered.role = "emptied";
      const move = this.#moves.get(JSON.stringify([host.name, gpu.index, id]));
      if (move === undefined) ordered.settled.push({ profile, start });
      else {
        const mover: WaitingMover = {
          move,
          profile,
          mayBounce: mayMove(allocation, this.#limits),
          gpu: ordered,
          start,
          isBounced: false,
          isLeaving: false,
          isDone: false,
          rank: inNobodysWay,
        };
        ordered.movers.push(mover);
        group.movers.push(mover);
      }
    }
  }

  /** Every place that a move wants. Moves that name something which is not there are an error of the caller. */
  addPlaces(): void {
    for (const { from, to, profile: name } of this.#moves.values()) {
      const source = this.#gpus.get(gpuKey(from.host, from.gpu));
      const target = this.#gpus.get(gpuKey(to.host, to.gpu));
      if (source === undefined || target === undefined || source.group !== target.group) {
        throw new Error(`no ${name} can move from ${from.host}:${from.gpu} to ${to.host}:${to.gpu}`);
      }
      const profile = positionOf(target.group.states.geometry, name);
      target.gpu.places.push({ gpu: target.gpu, profile, start: to.start, isOpen: false, blockers: [] });
    }
  }
}

/**
 * Who would leave a place to which another of its profile comes stays instead, and the other takes the place it would have
 * gone to: fewer moves, the same layout in the end.
 */
function relabel(group: OrderedGroup): void {
  const staying = new Set<WaitingMover>();
  for (const gpu of group.gpus) {
    for (const mover of gpu.movers) {
      const place = gpu.places.findIndex(({ profile, start }) => profile === mover.profile && start === mover.start);
      if (place < 0) continue;
      gpu.places.splice(place, 1);
      gpu.settled.push({ profile: mover.profile, start: mover.start });
      staying.add(mover);
    }
    if (staying.size > 0) gpu.movers.splice(0, gpu.movers.length, ...gpu.movers.filter((one) => !staying.has(one)));
  }
  if (staying.size > 0) group.movers.splice(0, group.movers.length, ...group.movers.filter((one) => !staying.has(one)));
}

/** The groups in which something moves. Only GPUs that a plan within the limits may touch are in them. */
export function orderedGroups(
  layout: ClusterLayout,
  moves: readonly UnorderedMove[],
  limits: MovingLimits,
): readonly OrderedGroup[] {
  const maker = new GroupMaker(moves, limits);
  for (const host of layout.hosts) for (const gpu of host.gpus) maker.add(host, gpu);
  maker.addPlaces();
  const groups = [...maker.groups.values()];
  for (const group of groups) {
    relabel(group);
    for (const gpu of group.gpus) {
      if (gpu.settled.length + gpu.places.length > 0) gpu.role = "stays";
      gpu.final = stateOf(group.states, gpu.settled, gpu.places);
    }
  }
  return groups.filter(({ movers }) => movers.length > 0);
}

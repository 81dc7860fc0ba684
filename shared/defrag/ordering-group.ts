/** What the ordering of moves knows of one group of GPUs: those of one model and pool, among which instances may move. */
import { type GpuGeometry, geometryFor, profileNamed } from "../mig/index.ts";
import { GpuStates } from "./gpu-states.ts";
import type { UnorderedMove } from "./matching.ts";
import { isTouchable, type MovingLimits, mayMove } from "./movable.ts";
import type { ClusterGpu, ClusterHost, ClusterLayout, ExecutionMode } from "./types.ts";

/** Something on a GPU that the rest of the plan leaves alone. */
export interface Settled {
  /** Position in the profiles of the geometry. */
  readonly profile: number;
  readonly start: number;
}

export interface WaitingMover {
  readonly move: UnorderedMove;
  readonly profile: number;
  /** The place that was meant for it. */
  wants: WantedPlace | null;
  /** It may take the places of this lot. */
  lot: number;
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
  wantedBy: WaitingMover;
  lot: number;
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
  movers: WaitingMover[];
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

/** Whether places are wanted for which the GPU has to be divided anew. */
export function needsDivision(gpu: OrderedGpu): boolean {
  return gpu.places.some(({ profile, start }) => !gpu.existing.has(placeKey(profile, start)));
}

export interface OrderedGroup {
  readonly states: GpuStates;
  /** Of profiles in the geometry, by name. */
  readonly positions: Map<string, number>;
  readonly gpus: OrderedGpu[];
  movers: WaitingMover[];
  /** Movers and places of one lot are as good as each other: one lot for each profile, or for each move. */
  lots: number;
}

/** Whether movers of one profile may exchange their places. */
export type Exchange = "by-profile" | "none";

const gpuKey = (host: string, gpu: number) => `${gpu} ${host}`;

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

/** Names of another driver are looked up once. */
function positionOf({ states, positions }: OrderedGroup, name: string): number {
  const known = positions.get(name);
  if (known !== undefined) return known;
  const { geometry } = states;
  const id = profileNamed(geometry, name)?.id;
  const position = geometry.profiles.findIndex((profile) => profile.id === id);
  positions.set(name, position);
  return position;
}

/** The state of a GPU with all of these; -1 where together they would break a rule of MIG. */
export function stateOf(states: GpuStates, ...all: readonly (readonly Settled[])[]): number {
  let state = states.empty;
  for (const list of all) {
    for (const { profile, start } of list) if (state >= 0) state = states.add(state, profile, start);
  }
  return state;
}

class GroupMaker {
  readonly groups: OrderedGroup[] = [];
  readonly #byPool = new Map<string | null, Map<string, OrderedGroup>>();
  readonly #gpus = new Map<string, { readonly group: OrderedGroup; readonly gpu: OrderedGpu }>();
  readonly #moves: readonly UnorderedMove[];
  /** By GPU and ID of the instance. */
  readonly #leaving = new Map<string, Map<number, UnorderedMove>>();
  readonly #movers = new Map<UnorderedMove, WaitingMover>();
  readonly #limits: MovingLimits;
  readonly #geometries = new Map<string, GpuGeometry | null>();

  constructor(moves: readonly UnorderedMove[], limits: MovingLimits) {
    this.#moves = moves;
    for (const move of moves) {
      const key = gpuKey(move.from.host, move.from.gpu);
      const leaving = this.#leaving.get(key) ?? new Map<number, UnorderedMove>();
      this.#leaving.set(key, leaving.set(move.from.instance, move));
    }
    this.#limits = limits;
  }

  #geometryOf(model: string): GpuGeometry | null {
    const known = this.#geometries.get(model);
    if (known !== undefined) return known;
    const geometry = geometryFor({ name: model });
    this.#geometries.set(model, geometry);
    return geometry;
  }

  #groupOf(pool: string | null, geometry: GpuGeometry): OrderedGroup {
    const byModel = this.#byPool.get(pool) ?? new Map<string, OrderedGroup>();
    this.#byPool.set(pool, byModel);
    const known = byModel.get(geometry.key);
    if (known !== undefined) return known;
    const positions = new Map(geometry.profiles.map(({ name }, position) => [name, position]));
    const group: OrderedGroup = { states: new GpuStates(geometry), positions, gpus: [], movers: [], lots: 0 };
    byModel.set(geometry.key, group);
    this.groups.push(group);
    return group;
  }

  add(host: ClusterHost, gpu: ClusterGpu): void {
    const geometry = this.#geometryOf(gpu.model);
    if (geometry === null || gpu.allocation !== null) return;
    const group = this.#groupOf(host.pool, geometry);
    const ordered = emptyGpu(host.name, host.rack, gpu.index);
    group.gpus.push(ordered);
    this.#gpus.set(gpuKey(host.name, gpu.index), { group, gpu: ordered });
    const leaving = this.#leaving.get(gpuKey(host.name, gpu.index));
    for (const { id, profile: name, start, allocation } of gpu.instances) {
      const profile = positionOf(group, name);
      ordered.existing.add(placeKey(profile, start));
      if (allocation === null) continue;
      ordered.role = "emptied";
      const move = leaving?.get(id);
      if (move === undefined) ordered.settled.push({ profile, start });
      else group.movers.push(this.#waiting(move, ordered, profile, mayMove(allocation, this.#limits)));
    }
  }

  #waiting(move: UnorderedMove, gpu: OrderedGpu, profile: number, mayBounce: boolean): WaitingMover {
    const { start } = move.from;
    const mover = { move, profile, mayBounce, gpu, start, isBounced: false, isLeaving: false, isDone: false };
    const waiting: WaitingMover = { ...mover, wants: null, lot: 0, rank: inNobodysWay };
    this.#movers.set(move, waiting);
    gpu.movers.push(waiting);
    return waiting;
  }

  /** Every place that a move wants. */
  addPlaces(): void {
    for (const move of this.#moves) {
      const { from, to } = move;
      const source = this.#gpus.get(gpuKey(from.host, from.gpu));
      const target = this.#gpus.get(gpuKey(to.host, to.gpu));
      const mover = this.#movers.get(move);
      if (mover === undefined || target === undefined || source?.group !== target.group) {
        throw new Error(`no ${move.profile} can move from ${from.host}:${from.gpu} to ${to.host}:${to.gpu}`);
      }
      const { gpu } = target;
      const { profile } = mover;
      const place = { gpu, profile, start: to.start, isOpen: false, blockers: [], wantedBy: mover, lot: 0 };
      mover.wants = place;
      gpu.places.push(place);
    }
  }
}

/**
 * Who would leave a place to which another of its profile comes stays instead, and the other takes the place to which it
 * would have gone: fewer moves, the same layout in the end. A GPU that must be empty before it is divided keeps nobody.
 */
function relabel(group: OrderedGroup, mode: ExecutionMode): void {
  const staying = new Set<WaitingMover>();
  for (const gpu of group.gpus) {
    if (mode === "empty" && needsDivision(gpu)) continue;
    for (const mover of gpu.movers) {
      const at = gpu.places.findIndex(({ profile, start }) => profile === mover.profile && start === mover.start);
      const [place] = at < 0 ? [] : gpu.places.splice(at, 1);
      if (place === undefined) continue;
      place.wantedBy.wants = mover.wants;
      if (mover.wants !== null) mover.wants.wantedBy = place.wantedBy;
      gpu.settled.push({ profile: mover.profile, start: mover.start });
      staying.add(mover);
    }
    gpu.movers = gpu.movers.filter((one) => !staying.has(one));
  }
  if (staying.size > 0) group.movers = group.movers.filter((one) => !staying.has(one));
}

function dealLots(group: OrderedGroup, exchange: Exchange): void {
  group.lots = exchange === "none" ? group.movers.length : group.states.geometry.profiles.length;
  for (const [at, mover] of group.movers.entries()) {
    mover.lot = exchange === "none" ? at : mover.profile;
    if (mover.wants !== null) mover.wants.lot = mover.lot;
  }
}

/** The groups in which something moves. Only GPUs that a plan within the limits may touch are in them. */
export function orderedGroups(
  layout: ClusterLayout,
  moves: readonly UnorderedMove[],
  limits: MovingLimits,
  mode: ExecutionMode,
  exchange: Exchange,
): readonly OrderedGroup[] {
  const maker = new GroupMaker(moves, limits);
  for (const host of layout.hosts.filter((one) => isTouchable(one, limits))) {
    for (const gpu of host.gpus) maker.add(host, gpu);
  }
  maker.addPlaces();
  for (const group of maker.groups) {
    relabel(group, mode);
    dealLots(group, exchange);
    for (const gpu of group.gpus) {
      if (gpu.settled.length + gpu.places.length > 0) gpu.role = "stays";
      gpu.final = stateOf(group.states, gpu.settled, gpu.places);
    }
  }
  return maker.groups.filter(({ movers }) => movers.length > 0);
}

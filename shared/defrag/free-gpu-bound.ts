/** How many GPUs could be free at most, whatever is moved: a bound that holds for every plan. */
import { type GpuGeometry, geometryFor, profileNamed } from "../mig/index.ts";
import { Completions, GpuStates, type SlotKind } from "./gpu-states.ts";
import { type Entering, GroupedLp } from "./lp.ts";
import { isTouchable, type MovingLimits, mayMove } from "./movable.ts";
import { groupKeyOf } from "./selection-model.ts";
import type { ClusterGpu, ClusterLayout } from "./types.ts";

/** GPUs among which instances may be exchanged: one model, one pool. */
interface Group {
  readonly states: GpuStates;
  /** Number of GPUs by the state that their unmovable instances make. */
  readonly gpus: Map<number, number>;
  /** Number of movable instances by position of the profile. */
  readonly movers: Map<number, number>;
}

const shortagePrice = 1000;

function addTo(counts: Map<number, number>, key: number): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function addGpu(group: Group, gpu: ClusterGpu, limits: MovingLimits): void {
  const { geometry } = group.states;
  let pinned = group.states.empty;
  for (const { profile: name, start, allocation } of gpu.instances) {
    if (allocation === null) continue;
    const id = profileNamed(geometry, name)?.id;
    const position = geometry.profiles.findIndex((profile) => profile.id === id);
    if (mayMove(allocation, limits)) addTo(group.movers, position);
    else pinned = group.states.add(pinned, position, start);
  }
  addTo(group.gpus, pinned);
}

interface Columns {
  readonly objectives: number[];
  readonly vectors: number[];
  readonly owners: number[];
  readonly keys: number[];
}

function columnsOf(group: Group, kinds: readonly SlotKind[]): Columns {
  const fillings = new Completions(group.states, kinds);
  const columns: Columns = { objectives: [], vectors: [], owners: [], keys: [] };
  for (const [owner, state] of [...group.gpus.keys()].entries()) {
    columns.keys.push(columns.owners.length);
    for (const { counts } of fillings.of(state, 0)) {
      columns.objectives.push(0);
      columns.owners.push(owner);
      for (const kind of kinds.keys()) columns.vectors.push(counts[kind] ?? 0);
    }
    if (state !== group.states.empty) continue;
    columns.objectives.push(-1);
    columns.owners.push(owner);
    for (const _ of kinds) columns.vectors.push(0);
  }
  return columns;
}

function bestEntering(lp: GroupedLp, columns: Columns): Entering | null {
  const row = lp.bestRowVariable();
  let best = row?.entering ?? null;
  let gain = row?.gain ?? 1e-7;
  for (const [index, owner] of columns.owners.entries()) {
    const gained = lp.reduced(lp.keys[owner] ?? 0) - lp.reduced(index);
    if (gained <= gain) continue;
    gain = gained;
    best = { kind: "column", index, owner };
  }
  return best;
}

/** What the prices prove about the objective, whether or not the simplex came to its end. */
function provenBound(lp: GroupedLp, columns: Columns, needs: readonly number[]): number {
  for (const [row, price] of lp.prices.entries()) lp.prices[row] = Math.max(0, price);
  const least = Array.from(lp.counts, () => Number.POSITIVE_INFINITY);
  for (const [index, owner] of columns.owners.entries()) {
    least[owner] = Math.min(least[owner] ?? 0, lp.reduced(index));
  }
  const worth = needs.reduce((sum, need, row) => sum + need * (lp.prices[row] ?? 0), 0);
  return least.reduce((sum, value, owner) => sum + value * (lp.counts[owner] ?? 0), worth);
}

function boundOf(group: Group): number {
  const rows = [...group.movers.keys()].toSorted((a, b) => a - b);
  if (rows.length === 0) return group.gpus.get(group.states.empty) ?? 0;
  const kinds = rows.map((profile, row) => ({ row, profile, anywhere: true }));
  const needs = rows.map((profile) => group.movers.get(profile) ?? 0);
  const columns = columnsOf(group, kinds);
  const store = { rows: rows.length, objectives: columns.objectives, vectors: columns.vectors };
  const lp = new GroupedLp(store, needs, [...group.gpus.values()], columns.keys, shortagePrice);
  const most = 50 * (rows.length + group.gpus.size) + 1000;
  while (lp.pivots < most) {
    const entering = bestEntering(lp, columns);
    if (entering === null) break;
    lp.enter(entering);
  }
  return Math.floor(1e-6 - provenBound(lp, columns, needs));
}

/** Bounds on free GPUs, one for each pool and model. */
export interface FreeGpuBounds {
  /** By `groupKeyOf`. */
  readonly byGroup: ReadonlyMap<string, number>;
  /** Free GPUs that the plan may not touch. */
  readonly elsewhere: number;
}

export function freeGpuBounds(layout: ClusterLayout, limits: MovingLimits): FreeGpuBounds {
  const groups = new Map<string, Group>();
  let elsewhere = 0;
  for (const host of layout.hosts) {
    for (const gpu of host.gpus) {
      const geometry: GpuGeometry | null = geometryFor({ name: gpu.model });
      const isHeld = gpu.allocation !== null || gpu.instances.some(({ allocation }) => allocation !== null);
      if (geometry === null || gpu.allocation !== null || !isTouchable(host, limits)) {
        elsewhere += isHeld ? 0 : 1;
        continue;
      }
      const key = groupKeyOf(host, geometry);
      const group = groups.get(key) ?? { states: new GpuStates(geometry), gpus: new Map(), movers: new Map() };
      groups.set(key, group);
      addGpu(group, gpu, limits);
    }
  }
  return { byGroup: new Map([...groups].map(([key, group]) => [key, boundOf(group)])), elsewhere };
}

/**
 * No plan within the limits leaves more GPUs free than this, of those that it may touch and the others together. GPUs of one
 * model and pool are counted by what must stay on them; each count chooses fillings for what moves. The bound is the
 * linear relaxation of that choice rounded down, proven by its prices. Instances may leave a GPU that stays in use; the other
 * ways to execute can only reach less.
 */
export function freeGpuBound(layout: ClusterLayout, limits: MovingLimits): number {
  const { byGroup, elsewhere } = freeGpuBounds(layout, limits);
  return [...byGroup.values()].reduce((sum, bound) => sum + bound, elsewhere);
}

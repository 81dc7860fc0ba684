/** The selection for the goals `free-gpus` and `free-gpus:N`: what moves where, so that GPUs come free at the least cost. */
import { greedyDrain } from "./drain.ts";
import { freeGpuBound } from "./free-gpu-bound.ts";
import { matchMoves, type UnorderedMove } from "./matching.ts";
import type { MovingLimits } from "./movable.ts";
import { SelectionColumns } from "./selection-columns.ts";
import { selectionModel } from "./selection-model.ts";
import { searchSelection } from "./selection-search.ts";
import type { ClusterLayout } from "./types.ts";

export interface SelectionOptions extends MovingLimits {
  /** So many free GPUs in all, those included that are free already; null for as many as possible. */
  readonly count: number | null;
  /** How many relaxations may be solved in the search. */
  readonly nodeLimit: number;
}

export interface Selection {
  /** Free GPUs afterwards. */
  readonly freeGpus: number;
  /** No plan leaves more free. */
  readonly freeGpuBound: number;
  readonly cost: number;
  /** No plan with as many free GPUs costs less; proven by the prices of a relaxation. */
  readonly costBound: number;
  /** In no order that could be carried out. */
  readonly moves: readonly UnorderedMove[];
  readonly foundBy: "search" | "drain";
  /** Relaxations solved in the search. */
  readonly nodes: number;
}

const gpuKey = (host: string, gpu: number) => JSON.stringify([host, gpu]);

/** Free GPUs after all the moves. */
function freeAfter(layout: ClusterLayout, moves: readonly UnorderedMove[]): number {
  const held = new Map<string, number>();
  for (const { name, gpus } of layout.hosts) {
    for (const { index, allocation, instances } of gpus) {
      const holders = instances.filter((one) => one.allocation !== null).length;
      held.set(gpuKey(name, index), holders + (allocation === null ? 0 : 1));
    }
  }
  const add = (key: string, count: number) => held.set(key, (held.get(key) ?? 0) + count);
  for (const { from, to } of moves) {
    add(gpuKey(from.host, from.gpu), -1);
    add(gpuKey(to.host, to.gpu), 1);
  }
  return [...held.values()].filter((count) => count === 0).length;
}

const costOf = (moves: readonly UnorderedMove[]) => moves.reduce((sum, { cost }) => sum + cost, 0);

/** The greedy drain, stopped once enough is free. */
function drained(layout: ClusterLayout, options: SelectionOptions, freeNow: number, wanted: number) {
  const moves = greedyDrain(layout, { ...options, price: null, maxMoves: null, maxCost: null });
  const sources = new Set<string>();
  const needed = moves.filter(({ from }) => {
    const key = gpuKey(from.host, from.gpu);
    if (!sources.has(key) && freeNow + sources.size >= wanted) return false;
    sources.add(key);
    return true;
  });
  return { moves: needed.map(({ order: _, ...move }): UnorderedMove => move), freeGpus: freeNow + sources.size };
}

/**
 * The cheapest set of moves that was found within `nodeLimit`, for as many free GPUs as are asked for and possible. Where the
 * search finds nothing for so many it tries one GPU fewer, down to what the greedy drain reaches, at once where no nodes are
 * left. It is never dearer than the drain at the same number. Instances may leave GPUs that stay in use. The moves say where from and where to; they are
 * not ordered, and whether an order exists is not looked at. Deterministic.
 */
export function selectFreeGpus(layout: ClusterLayout, options: SelectionOptions): Selection {
  const bound = freeGpuBound(layout, options);
  const freeNow = freeAfter(layout, []);
  const most = Math.min(bound, options.count ?? bound);
  const none: Selection = {
    freeGpus: freeNow,
    freeGpuBound: bound,
    cost: 0,
    costBound: 0,
    moves: [],
    foundBy: "search",
    nodes: 0,
  };
  if (most <= freeNow) return none;
  const model = selectionModel(layout, options);
  const columns = new SelectionColumns(model);
  const drain = drained(layout, options, freeNow, most);
  const drainCost = costOf(drain.moves);
  let nodes = 0;
  for (let wanted = most; wanted > freeNow; wanted--) {
    const isDrained = drain.freeGpus >= wanted;
    const left = isDrained ? options.nodeLimit - nodes : Math.ceil((options.nodeLimit - nodes) / 2);
    const below = isDrained ? drainCost : model.totalCost + 1;
    const found = searchSelection(columns, wanted - model.freeElsewhere, below / columns.unit, left);
    nodes += found.nodes;
    const costBound = found.bound * columns.unit;
    if (found.chosen !== null) {
      const moves = matchMoves(columns, found.chosen);
      const cost = costOf(moves);
      const freeGpus = freeAfter(layout, moves);
      return { ...none, freeGpus, cost, costBound: withoutRounding(costBound, cost), moves, nodes };
    }
    // Without a search only the drain is left.
    if (nodes >= options.nodeLimit) wanted = Math.min(wanted, drain.freeGpus + 1);
    if (!isDrained) continue;
    return {
      ...none,
      ...drain,
      cost: drainCost,
      costBound: withoutRounding(costBound, drainCost),
      foundBy: "drain",
      nodes,
    };
  }
  return { ...none, nodes };
}

/** A bound that floating point lifted a hair above the cost it was reached at is that cost. One above that is wrong, and seen. */
function withoutRounding(costBound: number, cost: number): number {
  return costBound > cost && costBound - cost <= 1e-6 * Math.max(1, cost) ? cost : costBound;
}

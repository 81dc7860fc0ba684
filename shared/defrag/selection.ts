/** The selection: what moves where, so that GPUs come free at the least cost. */
import { geometryFor } from "../mig/index.ts";
import { greedyDrain } from "./drain.ts";
import { freeGpuBounds } from "./free-gpu-bound.ts";
import type { UnorderedMove } from "./matching.ts";
import type { MovingLimits } from "./movable.ts";
import { groupKeyOf, selectionParts } from "./selection-model.ts";
import { type DrainStep, type PartPlan, SelectionPart, withoutRounding } from "./selection-part.ts";
import { exchanged, leastOf, mostOf, splitBound, splitByPrices } from "./selection-split.ts";
import type { ClusterLayout } from "./types.ts";

export interface SelectionOptions extends MovingLimits {
  /** So many free GPUs in all, those included that are free already; null for as many as possible. */
  readonly count: number | null;
  /** How many relaxations may be solved in each search: one for a number of free GPUs in one pool and model. */
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
  /** What one more free GPU costs at least beyond `costBound`, by the relaxation; null where there is none more. */
  readonly nextGpuPrice: number | null;
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

/** The greedy drain GPU by GPU, by pool and model. */
function drainSteps(layout: ClusterLayout, limits: MovingLimits): ReadonlyMap<string, readonly DrainStep[]> {
  const groups = new Map(
    layout.hosts.flatMap((host) =>
      host.gpus.flatMap(({ model, index }): (readonly [string, string])[] => {
        const geometry = geometryFor({ name: model });
        return geometry === null ? [] : [[gpuKey(host.name, index), groupKeyOf(host, geometry)]];
      }),
    ),
  );
  const moves = greedyDrain(layout, { ...limits, price: null, maxMoves: null, maxCost: null });
  const byGpu = Map.groupBy(moves, ({ from }) => gpuKey(from.host, from.gpu));
  const steps = [...byGpu].map(([gpu, own]) => ({
    group: groups.get(gpu) ?? "",
    cost: own.reduce((sum, { cost }) => sum + cost, 0),
    moves: own.map(({ order: _, ...move }): UnorderedMove => move),
  }));
  return Map.groupBy(steps, ({ group }) => group);
}

/** The parts of a layout, and the free GPUs outside them. */
export function partsOf(layout: ClusterLayout, limits: MovingLimits, nodeLimit: number) {
  const { models, freeElsewhere } = selectionParts(layout, limits);
  const { byGroup } = freeGpuBounds(layout, limits);
  const drain = drainSteps(layout, limits);
  const parts = [...models].map(
    ([key, model]) => new SelectionPart(model, byGroup.get(key) ?? 0, drain.get(key) ?? [], nodeLimit),
  );
  return { parts, freeElsewhere };
}

interface CountPlan {
  readonly plans: readonly PartPlan[];
  readonly wanted: number;
}

/** The cheapest plan for so many free GPUs in the parts; for fewer where the search finds none. */
function planFor(parts: readonly SelectionPart[], most: number): CountPlan {
  for (;;) {
    const wanted = Math.min(most, mostOf(parts));
    const counts = exchanged(parts, splitByPrices(parts, wanted));
    if (counts === null) continue;
    return { wanted, plans: parts.flatMap((part, at) => part.plan(counts[at] ?? 0) ?? []) };
  }
}

/** The drain alone, where it reaches so many: GPU by GPU, the cheapest first. */
function drainedFor(parts: readonly SelectionPart[], wanted: number): readonly PartPlan[] | null {
  const steps = parts.flatMap((part) => part.drainSteps).toSorted((a, b) => a.cost - b.cost);
  const needed = wanted - leastOf(parts);
  return needed > steps.length ? null : steps.slice(0, needed).map((step) => ({ ...step, foundBy: "drain" }));
}

const costOf = (plans: readonly { readonly cost: number }[]) => plans.reduce((sum, { cost }) => sum + cost, 0);

/** What one more than so many costs by the relaxations of the parts; null where there is none more. */
function nextPrice(parts: readonly SelectionPart[], count: number): number | null {
  if (count >= parts.reduce((sum, { bound }) => sum + bound, 0)) return null;
  const costAt = (wanted: number) => {
    const counts = splitByPrices(parts, wanted);
    return parts.reduce((sum, part, at) => sum + part.lowerBound(counts[at] ?? 0), 0);
  };
  const now = costAt(count);
  return Math.max(0, costAt(count + 1) - now);
}

/**
 * The cheapest set of moves that was found within `nodeLimit`, for as many free GPUs as are asked for and possible. Where the
 * search finds nothing for so many it tries one GPU fewer, down to what the greedy drain reaches. It is never dearer than the
 * drain at the same number. Instances may leave GPUs that stay in use. The moves say where from and where to; they are not
 * ordered, and whether an order exists is not looked at. Deterministic.
 */
export function selectFreeGpus(layout: ClusterLayout, options: SelectionOptions): Selection {
  const { parts, freeElsewhere } = partsOf(layout, options, options.nodeLimit);
  const bound = parts.reduce((sum, part) => sum + part.bound, 0);
  const most = Math.max(leastOf(parts), Math.min(bound, (options.count ?? bound + freeElsewhere) - freeElsewhere));
  const { plans: found, wanted } = planFor(parts, most);
  const drained = drainedFor(parts, wanted);
  const plans = drained !== null && costOf(drained) < costOf(found) - 1e-9 ? drained : found;
  const cost = costOf(plans);
  const moves = plans.flatMap((plan) => plan.moves);
  return {
    freeGpus: freeAfter(layout, moves),
    freeGpuBound: bound + freeElsewhere,
    cost,
    costBound: withoutRounding(splitBound(parts, wanted), cost),
    nextGpuPrice: nextPrice(parts, wanted),
    moves,
    foundBy: plans.some(({ foundBy }) => foundBy === "drain") ? "drain" : "search",
    nodes: parts.reduce((sum, part) => sum + part.nodes, 0),
  };
}

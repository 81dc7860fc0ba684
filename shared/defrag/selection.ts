/** The selection: what moves where, so that GPUs come free at the least cost. */
import { AppError } from "../errors.ts";
import type { UnorderedMove } from "./matching.ts";
import type { MovingLimits } from "./movable.ts";
import { type PartPlan, type SelectionPart, withoutRounding } from "./selection-part.ts";
import { drainedFor, gpuKey, partsOf } from "./selection-parts.ts";
import { countForPrice } from "./selection-price.ts";
import { exchanged, leastOf, mostOf, splitBound, splitByPrices } from "./selection-split.ts";
import { type Bound, type ClusterLayout, defaultOptions, type PlanOptions } from "./types.ts";

export interface MoveOptions extends PlanOptions {
  /** How many relaxations may be solved in each search: one for a number of free GPUs in one pool and model. */
  readonly nodeLimit: number;
  /**
   * Called with the plan of the greedy drain, where it does anything, before the search begins, and with what the search found.
   * `"stop"` ends it with the plan that was shown.
   */
  readonly onImprovement?: (found: Selection) => "stop" | undefined;
}

export interface SelectionOptions extends MovingLimits {
  /** So many free GPUs in all, those included that are free already; null for as many as possible. */
  readonly count: number | null;
  readonly nodeLimit: number;
}

export interface Selection {
  /** Free GPUs afterwards. */
  readonly freeGpus: number;
  /** No plan in this mode leaves more free. */
  readonly freeGpuBound: number;
  /** `exact` where this plan reaches the bound. */
  readonly boundKind: Bound["kind"];
  readonly cost: number;
  /** No plan with as many free GPUs costs less; proven by the prices of a relaxation. */
  readonly costBound: number;
  /** What one more free GPU costs by the relaxation; null where there is none more. */
  readonly nextGpuPrice: number | null;
  /** In no order that could be carried out. */
  readonly moves: readonly UnorderedMove[];
  readonly foundBy: "search" | "drain";
  /** Relaxations solved in searches. */
  readonly nodes: number;
  /** Where fewer GPUs come free than was asked for: why. */
  readonly shortfall: string | null;
}

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

interface CountPlan {
  readonly plans: readonly PartPlan[];
  readonly wanted: number;
}

const costOf = (plans: readonly { readonly cost: number }[]) => plans.reduce((sum, { cost }) => sum + cost, 0);
const movesOf = (plans: readonly PartPlan[]) => plans.flatMap(({ moves }) => moves);
const boundOf = (parts: readonly SelectionPart[]) => parts.reduce((sum, { bound }) => sum + bound, 0);

/** The plans, or those of the drain at the same number where these are cheaper. */
function noDearerThanDrain(parts: readonly SelectionPart[], found: CountPlan): CountPlan {
  const drained = drainedFor(parts, found.wanted);
  const isCheaper = drained !== null && costOf(drained) < costOf(found.plans) - 1e-9;
  return isCheaper ? { ...found, plans: drained } : found;
}

/** The cheapest plan for so many free GPUs in the parts; for fewer where the search finds none. */
function planFor(parts: readonly SelectionPart[], most: number): CountPlan {
  for (;;) {
    const wanted = Math.min(most, mostOf(parts));
    const counts = exchanged(parts, splitByPrices(parts, wanted));
    if (counts === null) continue;
    const plans = parts.flatMap((part, at) => part.plan(counts[at] ?? 0) ?? []);
    return noDearerThanDrain(parts, { wanted, plans });
  }
}

function planForPrice(parts: readonly SelectionPart[], price: number): CountPlan {
  const counts = parts.map((part) => countForPrice(part, price));
  const plans = parts.flatMap((part, at) => part.plan(counts[at] ?? 0) ?? []);
  return { wanted: counts.reduce((sum, count) => sum + count, 0), plans };
}

/** What one more than so many costs by the relaxations of the parts; null where there is none more. */
function nextPrice(parts: readonly SelectionPart[], count: number): number | null {
  if (count >= boundOf(parts)) return null;
  return Math.max(0, splitCost(parts, count + 1) - splitCost(parts, count));
}

function isWithin({ plans }: CountPlan, { maxMoves, maxCost }: MoveOptions): boolean {
  const isCheap = maxCost === null || costOf(plans) <= maxCost + 1e-9;
  return isCheap && (maxMoves === null || movesOf(plans).length <= maxMoves);
}

/**
 * As many free GPUs as the limits allow. Fewer GPUs cost less, so their number is what gives way, found by halving: a row for
 * moves would tie all pools together again. Of plans for one number the cheapest is taken, even where one with fewer moves
 * would keep within the limit.
 */
function limited(parts: readonly SelectionPart[], found: CountPlan, options: MoveOptions): CountPlan {
  if (isWithin(found, options)) return found;
  let best: CountPlan = { wanted: leastOf(parts), plans: [] };
  let above = found.wanted;
  while (above - best.wanted > 1) {
    const middle = Math.floor((above + best.wanted) / 2);
    const isTooDear = options.maxCost !== null && splitCost(parts, middle) > options.maxCost + 1e-6;
    const plan = isTooDear ? null : planFor(parts, middle);
    if (plan !== null && plan.wanted > best.wanted && isWithin(plan, options)) best = plan;
    else above = middle;
  }
  return best;
}

/** What so many cost at least, by the relaxations. */
function splitCost(parts: readonly SelectionPart[], wanted: number): number {
  const counts = splitByPrices(parts, wanted);
  return parts.reduce((sum, part, at) => sum + part.lowerBound(counts[at] ?? 0), 0);
}

/** How many free GPUs a goal asks for in the parts. */
function askedFor(parts: readonly SelectionPart[], freeElsewhere: number, { goal }: MoveOptions): number {
  const bound = boundOf(parts);
  if (goal.kind !== "free-gpus" || goal.count === null) return bound;
  return Math.max(leastOf(parts), Math.min(bound, goal.count - freeElsewhere));
}

/** The drain, as far as the goal and its limits go. */
function firstPlan(parts: readonly SelectionPart[], asked: number, options: MoveOptions): CountPlan {
  const least = leastOf(parts);
  const price = options.goal.kind === "price" ? options.goal.price : Number.POSITIVE_INFINITY;
  const cheap = parts.flatMap(({ drainSteps }) => drainSteps).filter(({ cost }) => cost <= price);
  let wanted = Math.min(asked, least + cheap.length);
  while (wanted > least && !isWithin({ wanted, plans: drainedFor(parts, wanted) ?? [] }, options)) wanted -= 1;
  return { wanted, plans: drainedFor(parts, wanted) ?? [] };
}

function shortfallOf(selection: Selection, isLimited: boolean, goal: PlanOptions["goal"]): string | null {
  const { freeGpus, freeGpuBound } = selection;
  if (isLimited) return `${freeGpuBound} GPUs could be free at most, but the limit on moves or cost ends it before.`;
  if (goal.kind !== "free-gpus") return null;
  if (goal.count !== null && goal.count > freeGpuBound && freeGpus >= freeGpuBound) {
    return `No plan leaves more than ${freeGpuBound} GPUs free.`;
  }
  if (freeGpus >= (goal.count ?? freeGpuBound)) return null;
  return `No plan was found for more than ${freeGpus}; none leaves more than ${freeGpuBound} GPUs free.`;
}

function planOf(parts: readonly SelectionPart[], asked: number, { goal }: MoveOptions): CountPlan {
  return goal.kind === "price" ? planForPrice(parts, goal.price) : planFor(parts, asked);
}

function refuseUnknown({ goal }: MoveOptions): void {
  if (goal.kind === "free-gpus" || goal.kind === "price") return;
  throw new AppError({
    code: "bad-request",
    message: "Only free GPUs, by number or price, can be planned yet.",
    remedy: "Ask for free-gpus, free-gpus:12 or price:3.",
  });
}

/**
 * The cheapest set of moves that was found within `nodeLimit` for what is asked: a number of free GPUs, as many as possible,
 * or as long as one more costs no more than a price. Where the search finds nothing for a number it tries one GPU fewer, down
 * to what the greedy drain reaches. Without limits it is never dearer than the drain at the same number. What may be done to
 * GPUs that stay in use is for the mode to say. The moves say where from and where to; they are not ordered, and whether an
 * order exists is not looked at, so bounces are not in `maxMoves` and `maxCost` either. Deterministic where nothing stops it.
 *
 * Throws AppError `bad-request` for a goal that cannot be planned yet.
 */
export function selectMoves(layout: ClusterLayout, options: MoveOptions): Selection {
  refuseUnknown(options);
  const { parts, freeElsewhere } = partsOf(layout, options);
  const asked = askedFor(parts, freeElsewhere, options);
  const selectionOf = ({ plans, wanted }: CountPlan, isSearched: boolean): Selection => {
    const cost = costOf(plans);
    const moves = movesOf(plans);
    const freeGpus = freeAfter(layout, moves);
    const freeGpuBound = boundOf(parts) + freeElsewhere;
    return {
      freeGpus,
      freeGpuBound,
      boundKind: freeGpus >= freeGpuBound ? "exact" : "upper",
      cost,
      costBound: isSearched ? withoutRounding(splitBound(parts, wanted), cost) : 0,
      nextGpuPrice: isSearched ? nextPrice(parts, wanted) : null,
      moves,
      foundBy: plans.some(({ foundBy }) => foundBy === "drain") ? "drain" : "search",
      nodes: parts.reduce((sum, part) => sum + part.nodes, 0),
      shortfall: null,
    };
  };
  const first = options.onImprovement === undefined ? null : firstPlan(parts, asked, options);
  if (first !== null && first.plans.length > 0) {
    const shown = selectionOf(first, false);
    if (options.onImprovement?.(shown) === "stop") return shown;
  }
  const found = planOf(parts, asked, options);
  const best = limited(parts, found, options);
  const selection = selectionOf(best, true);
  const answer = { ...selection, shortfall: shortfallOf(selection, best !== found, options.goal) };
  options.onImprovement?.(answer);
  return answer;
}

/** `selectMoves` for a number of free GPUs. */
export function selectFreeGpus(layout: ClusterLayout, { count, ...limits }: SelectionOptions): Selection {
  return selectMoves(layout, { ...defaultOptions, ...limits, goal: { kind: "free-gpus", count } });
}

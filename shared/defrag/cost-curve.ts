/** What free GPUs cost, from those that are free now to the most that can be: what to show before a number is chosen. */
import type { MovingLimits } from "./movable.ts";
import { drainedFor, partsOf } from "./selection-parts.ts";
import { leastOf, splitByPrices } from "./selection-split.ts";
import type { ClusterLayout } from "./types.ts";

export interface CostPoint {
  readonly freeGpus: number;
  /** Of the cheapest plan that is known without a search; null where none is. */
  readonly cost: number | null;
  /** No plan with as many free GPUs costs less. */
  readonly costBound: number;
  /** Of one more free GPU, by the relaxation; null at the bound. */
  readonly price: number | null;
  /** Whether `cost` is the least. */
  readonly isProven: boolean;
}

const hair = 1e-6;

/** At most `points` numbers, the first and the last among them. */
function spacedNumbers(from: number, to: number, points: number): readonly number[] {
  const steps = Math.max(1, points - 1);
  const all = Array.from({ length: steps + 1 }, (_, at) => Math.round(from + ((to - from) * at) / steps));
  return [...new Set(all)];
}

/** Ascending by `freeGpus`, `points` in number or as many as there are. Solves relaxations, warm-started, and searches nothing. */
export function costCurve(layout: ClusterLayout, limits: MovingLimits, points: number): readonly CostPoint[] {
  const { parts, freeElsewhere } = partsOf(layout, limits, 0);
  const most = parts.reduce((sum, { bound }) => sum + bound, 0);
  const splits = spacedNumbers(leastOf(parts), most, points).map((wanted) => ({
    wanted,
    counts: splitByPrices(parts, wanted),
  }));
  // Only now every relaxation is known, and each of them may lift the bounds of the other points.
  return splits.map(({ wanted, counts }): CostPoint => {
    const bounds = parts.map((part, at) => part.lowerBound(counts[at] ?? 0));
    const single = parts.length === 1 ? parts[0]?.costBound(wanted) : undefined;
    const costBound = single ?? bounds.reduce((sum, bound) => sum + bound, 0);
    const prices = parts.flatMap((part, at) => {
      const count = counts[at] ?? 0;
      return count < part.bound ? [part.lowerBound(count + 1) - (bounds[at] ?? 0)] : [];
    });
    const drained = wanted <= leastOf(parts) ? [] : drainedFor(parts, wanted);
    const cost = drained === null ? null : drained.reduce((sum, plan) => sum + plan.cost, 0);
    return {
      freeGpus: wanted + freeElsewhere,
      cost,
      costBound: cost === null ? costBound : Math.min(costBound, cost),
      price: prices.length === 0 ? null : Math.max(0, Math.min(...prices)),
      isProven: cost !== null && cost <= costBound + hair,
    };
  });
}

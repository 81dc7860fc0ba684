/** How many GPUs come free in which pool and model, where only their number in all is asked for. */
import type { SelectionPart } from "./selection-part.ts";

const roundsOfPrices = 12;
const mostExchanges = 200;
/** Above so many steps the bounds of the parts are not combined number by number. */
const mostSteps = 5_000_000;
const hair = 1e-6;

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

export const leastOf = (parts: readonly SelectionPart[]) => sum(parts.map(({ least }) => least));
export const mostOf = (parts: readonly SelectionPart[]) => sum(parts.map(({ most }) => most));

/** The cheapest split by the convex lower bounds that are known. */
function allocated(parts: readonly SelectionPart[], wanted: number): readonly number[] {
  const counts = parts.map(({ least }) => least);
  const steps = parts.flatMap((part, at) =>
    Array.from({ length: Math.max(0, part.most - part.least) }, (_, step) => {
      const count = part.least + step;
      return { at, price: part.lowerBound(count + 1) - part.lowerBound(count) };
    }),
  );
  steps.sort((a, b) => a.price - b.price);
  for (const { at } of steps.slice(0, Math.max(0, wanted - sum(counts)))) counts[at] = (counts[at] ?? 0) + 1;
  return counts;
}

/**
 * The split that costs least by the relaxations of the parts, which are solved where it would use them (Kelley's cutting
 * planes: each relaxation bounds the cost of every other number by its price).
 */
export function splitByPrices(parts: readonly SelectionPart[], wanted: number): readonly number[] {
  let counts = allocated(parts, wanted);
  for (let round = 0; round < roundsOfPrices; round++) {
    if (counts.every((count, at) => parts[at]?.isRelaxedAt(count) ?? true)) break;
    for (const [at, part] of parts.entries()) part.relaxAt(counts[at] ?? 0);
    counts = allocated(parts, wanted);
  }
  return counts;
}

interface Exchange {
  readonly more: number;
  readonly fewer: number;
  readonly gain: number;
}

/** One GPU more in one part and one fewer in another, by what is known of their costs. */
function bestExchange(parts: readonly SelectionPart[], counts: readonly number[]): Exchange | null {
  let best: Exchange | null = null;
  const up = parts.map((part, at) => {
    const count = counts[at] ?? 0;
    return count < part.most ? part.estimate(count + 1) - part.estimate(count) : Number.POSITIVE_INFINITY;
  });
  const down = parts.map((part, at) => {
    const count = counts[at] ?? 0;
    return count > part.least ? part.estimate(count) - part.estimate(count - 1) : Number.NEGATIVE_INFINITY;
  });
  for (const [more, dearer] of up.entries()) {
    for (const [fewer, cheaper] of down.entries()) {
      const gain = cheaper - dearer;
      if (more !== fewer && gain > Math.max(hair, best?.gain ?? 0)) best = { more, fewer, gain };
    }
  }
  return best;
}

/** Learns more about one cost; false where all is known. */
export function refine(part: SelectionPart | undefined, count: number): boolean {
  if (part === undefined || part.isSolvedAt(count)) return false;
  if (part.isRelaxedAt(count)) part.plan(count);
  else part.relaxAt(count);
  return true;
}

/** Exchanges GPUs between parts as long as the plans found become cheaper by it. Null where a part has no plan for its number. */
export function exchanged(parts: readonly SelectionPart[], start: readonly number[]): readonly number[] | null {
  const counts = [...start];
  for (let tries = 0; tries < mostExchanges; tries++) {
    if (parts.some((part, at) => part.plan(counts[at] ?? 0) === null)) return null;
    const exchange = bestExchange(parts, counts);
    if (exchange === null) break;
    const { more, fewer } = exchange;
    const [above, below] = [(counts[more] ?? 0) + 1, (counts[fewer] ?? 0) - 1];
    if (refine(parts[more], above) || refine(parts[fewer], below)) continue;
    counts[more] = above;
    counts[fewer] = below;
  }
  return counts;
}

/** No split of so many costs less: the bounds of the parts, combined over every split. */
export function splitBound(parts: readonly SelectionPart[], wanted: number): number {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only.costBound(wanted);
  const ranges = parts.map((part) => part.bound - part.least + 1);
  const room = Math.max(0, wanted - leastOf(parts));
  if (sum(ranges) * room > mostSteps) {
    const counts = allocated(parts, wanted);
    return sum(parts.map((part, at) => part.lowerBound(counts[at] ?? 0)));
  }
  let best = new Float64Array(room + 1).fill(Number.POSITIVE_INFINITY);
  best[0] = 0;
  for (const [at, part] of parts.entries()) {
    const bounds = Array.from({ length: ranges[at] ?? 0 }, (_, step) => part.costBound(part.least + step));
    const next = new Float64Array(room + 1).fill(Number.POSITIVE_INFINITY);
    for (let before = 0; before <= room; before++) {
      const paid = best[before] ?? Number.POSITIVE_INFINITY;
      if (paid === Number.POSITIVE_INFINITY) continue;
      for (let step = 0; step < bounds.length && before + step <= room; step++) {
        next[before + step] = Math.min(next[before + step] ?? 0, paid + (bounds[step] ?? 0));
      }
    }
    best = next;
  }
  const bound = best[room] ?? 0;
  return Number.isFinite(bound) ? bound : 0;
}

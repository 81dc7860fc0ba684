/** How many GPUs are worth freeing at a price. */
import type { SelectionPart } from "./selection-part.ts";
import { refine } from "./selection-split.ts";

const hair = 1e-9;

/** The number at which cost minus worth is least by what is known, the largest of several. */
function bestCount(part: SelectionPart, price: number): number {
  let best = part.least;
  let least = Number.POSITIVE_INFINITY;
  for (let count = part.least; count <= part.most; count++) {
    const value = part.estimate(count) - price * count;
    if (value > least + hair * Math.max(1, Math.abs(least))) continue;
    least = Math.min(least, value);
    best = count;
  }
  return best;
}

/**
 * The number of free GPUs of a part at which cost minus `price` for each is least. There the last one cost no more than
 * `price` and the next would cost more, and so for any number of them together. Numbers that only have a bound are looked at
 * closer until the best has a plan: where plans are proven cheapest, so is the answer.
 */
export function countForPrice(part: SelectionPart, price: number): number {
  for (;;) {
    const count = bestCount(part, price);
    if (!refine(part, count)) return count;
  }
}

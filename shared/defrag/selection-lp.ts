/** The linear relaxation of a selection, and what its prices prove. */
import { type Entering, GroupedLp } from "./lp.ts";
import type { SelectionColumns } from "./selection-columns.ts";

/** Some GPUs that are still to be decided. */
export interface SelectionProblem {
  /** Classes. */
  readonly owners: readonly number[];
  /** GPUs of each. */
  readonly counts: readonly number[];
  /** A column of each to begin with, by its number. */
  readonly keys: readonly number[];
  /** By row. */
  readonly needs: readonly number[];
}

export interface Relaxation {
  /** No choice costs less, in units of `SelectionColumns.unit`. Holds whether or not the simplex came to its end. */
  readonly bound: number;
  /** By row, none below 0. */
  readonly prices: Float64Array;
  /** Columns in use; `at` is the position in `owners`. */
  readonly values: readonly { readonly at: number; readonly column: number; readonly value: number }[];
  readonly keys: readonly number[];
}

const shortagePrice = 1000;
const leastGain = 1e-7;
/** Classes that are looked at for one pivot, once some column was found. */
const atOnce = 64;

/** Goes round the classes and takes the best column of some of them; the search goes on where it ended. */
class Pricing {
  readonly #columns: SelectionColumns;
  readonly #owners: readonly number[];
  #next = 0;

  constructor(columns: SelectionColumns, owners: readonly number[]) {
    this.#columns = columns;
    this.#owners = owners;
  }

  entering(lp: GroupedLp): Entering | null {
    const row = lp.bestRowVariable();
    let best = row?.entering ?? null;
    let gain = row?.gain ?? leastGain;
    this.#columns.setPrices(lp.prices);
    for (let seen = 0; seen < this.#owners.length; seen++) {
      if (best !== null && seen >= atOnce) break;
      const at = this.#next;
      this.#next = (at + 1) % this.#owners.length;
      const column = this.#columns.best(this.#owners[at] ?? 0);
      const gained = lp.reduced(lp.keys[at] ?? 0) - column.reduced;
      if (gained <= gain) continue;
      gain = gained;
      best = { kind: "column", index: this.#columns.numberOf(column), owner: at };
    }
    return best;
  }
}

function provenBound(columns: SelectionColumns, problem: SelectionProblem, prices: Float64Array): number {
  columns.setPrices(prices);
  const worth = problem.needs.reduce((sum, need, row) => sum + need * (prices[row] ?? 0), 0);
  return problem.owners.reduce(
    (sum, owner, at) => sum + (problem.counts[at] ?? 0) * columns.best(owner).reduced,
    worth,
  );
}

/** Solves the relaxation by column generation; deterministic, and ends after a number of pivots that its size gives. */
export function relax(columns: SelectionColumns, problem: SelectionProblem): Relaxation {
  const { owners, counts, needs } = problem;
  const lp = new GroupedLp(columns, needs, counts, problem.keys, shortagePrice);
  const pricing = new Pricing(columns, owners);
  const most = 40 * (lp.rows + owners.length) + 1000;
  while (lp.pivots < most) {
    const entering = pricing.entering(lp);
    if (entering === null) break;
    lp.enter(entering);
  }
  const prices = lp.prices.map((price) => Math.max(0, price));
  const values = owners.map((_, at) => ({ at, column: lp.keys[at] ?? 0, value: lp.keyValue(at) }));
  for (const [row, { kind, index, owner }] of lp.basis.entries()) {
    if (kind === "column") values.push({ at: owner, column: index, value: lp.values[row] ?? 0 });
  }
  return { bound: provenBound(columns, problem, prices), prices, values, keys: [...lp.keys] };
}

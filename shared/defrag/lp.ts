/**
 * A linear programme in which each class of GPUs chooses columns: minimise the sum of objective times x, where the x of a
 * class add up to its count and every coupling row gets at least its need.
 *
 * Primal simplex with generalised upper bounds (Dantzig and Van Slyke, 1967): one column of each class is its key and is
 * eliminated, so the basis has only as many rows as there are coupling rows, whatever the number of GPUs. A row may stay
 * short at a high price, so there is always a start; a shortage that remains at the end says that there is no solution.
 */

import { DenseInverse } from "./dense-inverse.ts";

/** Columns, row by row in flat arrays: `vectors[column * rows + row]`. */
export interface ColumnStore {
  readonly rows: number;
  readonly objectives: ArrayLike<number>;
  readonly vectors: ArrayLike<number>;
}

/** A variable that stands in the basis: a column of a class, or what a row has too much or too little of. */
export interface Entering {
  readonly kind: "column" | "surplus" | "shortage";
  /** Column, or row. */
  readonly index: number;
  /** Class of the column; -1 for a row. */
  readonly owner: number;
}

const tolerance = 1e-9;
/** After so many changes the inverse is made anew. */
const refactorAfter = 60;

export class GroupedLp {
  readonly rows: number;
  readonly counts: Float64Array;
  /** Key column of each class. */
  readonly keys: Int32Array;
  /** Price of one more unit of each row. */
  readonly prices: Float64Array;
  readonly basis: Entering[];
  /** Value of each variable of the basis. */
  readonly values: Float64Array;
  pivots = 0;
  readonly #store: ColumnStore;
  readonly #rest: Float64Array;
  readonly #needs: Float64Array;
  readonly #shortagePrice: number;
  readonly #inverse: DenseInverse;
  readonly #direction: Float64Array;
  #sinceRefactor = 0;

  /** Begins with every class in its key. A shortage of one unit in any row costs `shortagePrice`. */
  constructor(
    store: ColumnStore,
    needs: ArrayLike<number>,
    counts: ArrayLike<number>,
    keys: ArrayLike<number>,
    shortagePrice: number,
  ) {
    this.#store = store;
    this.rows = store.rows;
    this.counts = Float64Array.from(counts);
    this.keys = Int32Array.from(keys);
    this.#shortagePrice = shortagePrice;
    // A hair less than is needed, another one in every row: ties would make the simplex run in circles.
    this.#needs = Float64Array.from(needs, (need, row) => need - 1e-5 * (1 + ((row * 7) % 11) / 11));
    this.#rest = new Float64Array(this.rows);
    this.#inverse = new DenseInverse(this.rows);
    this.#direction = new Float64Array(this.rows);
    this.prices = new Float64Array(this.rows);
    this.values = new Float64Array(this.rows);
    this.#sumRest();
    this.basis = Array.from(this.#rest, (rest, row) => ({
      kind: rest > 0 ? "shortage" : "surplus",
      index: row,
      owner: -1,
    }));
    this.#refactor();
  }

  /** Objective minus what its rows are worth: compare with that of the key. */
  reduced(column: number): number {
    const { vectors, objectives } = this.#store;
    const at = column * this.rows;
    let value = objectives[column] ?? 0;
    for (let row = 0; row < this.rows; row++) value -= (this.prices[row] ?? 0) * (vectors[at + row] ?? 0);
    return value;
  }

  /** Units that the rows lack in all. */
  shortage(): number {
    let sum = 0;
    for (const [row, variable] of this.basis.entries()) {
      if (variable.kind === "shortage") sum += Math.max(0, this.values[row] ?? 0);
    }
    return sum;
  }

  /** How much of its key a class uses. */
  keyValue(owner: number): number {
    let value = this.counts[owner] ?? 0;
    for (let row = 0; row < this.rows; row++) {
      if (this.basis[row]?.owner === owner) value -= this.values[row] ?? 0;
    }
    return value;
  }

  /** The best surplus or shortage to bring in, and by how much a unit of it helps; null where none does. */
  bestRowVariable(): { readonly entering: Entering; readonly gain: number } | null {
    let best: { readonly entering: Entering; readonly gain: number } | null = null;
    for (let row = 0; row < this.rows; row++) {
      const price = this.prices[row] ?? 0;
      const surplus = -price;
      const shortage = price - this.#shortagePrice;
      const gain = Math.max(surplus, shortage);
      if (gain > 1e-7 && gain > (best?.gain ?? 0)) {
        const kind = surplus >= shortage ? "surplus" : "shortage";
        best = { entering: { kind, index: row, owner: -1 }, gain };
      }
    }
    return best;
  }

  /** Brings a variable in and puts out the one that reaches zero first. */
  enter(entering: Entering): void {
    this.pivots += 1;
    this.#directionOf(entering);
    const { leavingRow, leavingKey, step } = this.#ratios(entering.owner);
    if (leavingKey >= 0) {
      const row = this.#anyBasicOf(leavingKey);
      if (row < 0) {
        // The class has only its key: the column that comes in takes its place.
        this.#advance(step);
        this.#setKey(leavingKey, entering.index);
        this.#afterChange();
        return;
      }
      this.#exchangeKey(leavingKey, row);
      this.#directionOf(entering);
      this.#pivot(row, entering, step);
    } else if (leavingRow >= 0) {
      this.#pivot(leavingRow, entering, step);
    } else {
      throw new Error("a class has no upper bound");
    }
    this.#afterChange();
  }

  #sumRest(): void {
    const { vectors } = this.#store;
    this.#rest.set(this.#needs);
    for (let owner = 0; owner < this.keys.length; owner++) {
      const at = (this.keys[owner] ?? 0) * this.rows;
      const count = this.counts[owner] ?? 0;
      for (let row = 0; row < this.rows; row++) {
        this.#rest[row] = (this.#rest[row] ?? 0) - count * (vectors[at + row] ?? 0);
      }
    }
  }

  /** Entry of a variable in a row, its key being eliminated. */
  #entry(variable: Entering, row: number): number {
    if (variable.kind === "column") {
      const { vectors } = this.#store;
      const key = this.keys[variable.owner] ?? 0;
      return (vectors[variable.index * this.rows + row] ?? 0) - (vectors[key * this.rows + row] ?? 0);
    }
    if (variable.index !== row) return 0;
    return variable.kind === "surplus" ? -1 : 1;
  }

  #costOf(variable: Entering): number {
    if (variable.kind === "surplus") return 0;
    if (variable.kind === "shortage") return this.#shortagePrice;
    const { objectives } = this.#store;
    return (objectives[variable.index] ?? 0) - (objectives[this.keys[variable.owner] ?? 0] ?? 0);
  }

  #directionOf(entering: Entering): void {
    this.#direction.fill(0);
    for (let column = 0; column < this.rows; column++) {
      const entry = this.#entry(entering, column);
      if (entry !== 0) this.#inverse.addColumn(column, entry, this.#direction);
    }
  }

  #anyBasicOf(owner: number): number {
    let best = -1;
    for (let row = 0; row < this.rows; row++) {
      if (this.basis[row]?.owner !== owner) continue;
      if (best < 0 || (this.values[row] ?? 0) > (this.values[best] ?? 0)) best = row;
    }
    return best;
  }

  #ratios(enteringOwner: number): { leavingRow: number; leavingKey: number; step: number } {
    let step = Number.POSITIVE_INFINITY;
    let leavingRow = -1;
    let leavingKey = -1;
    let size = 0;
    const consider = (value: number, rate: number, row: number, key: number) => {
      if (rate <= tolerance) return;
      const ratio = Math.max(0, value) / rate;
      // Of equal ones the larger pivot, which keeps the inverse accurate.
      if (ratio < step - tolerance || (ratio < step + tolerance && rate > size)) {
        step = Math.min(step, ratio);
        leavingRow = row;
        leavingKey = key;
        size = rate;
      }
    };
    for (let row = 0; row < this.rows; row++) {
      consider(this.values[row] ?? 0, this.#direction[row] ?? 0, row, -1);
    }
    const keyOf = (owner: number) => {
      let rate = owner === enteringOwner ? 1 : 0;
      for (let row = 0; row < this.rows; row++) {
        if (this.basis[row]?.owner === owner) rate -= this.#direction[row] ?? 0;
      }
      consider(this.keyValue(owner), rate, -1, owner);
    };
    if (enteringOwner >= 0) keyOf(enteringOwner);
    for (let row = 0; row < this.rows; row++) {
      const owner = this.basis[row]?.owner ?? -1;
      if (owner >= 0 && owner !== enteringOwner && this.#isFirstOf(owner, row)) keyOf(owner);
    }
    return { leavingRow, leavingKey, step };
  }

  #isFirstOf(owner: number, row: number): boolean {
    for (let before = 0; before < row; before++) if (this.basis[before]?.owner === owner) return false;
    return true;
  }

  #advance(step: number): void {
    for (let row = 0; row < this.rows; row++) {
      this.values[row] = (this.values[row] ?? 0) - step * (this.#direction[row] ?? 0);
    }
  }

  #setKey(owner: number, column: number): void {
    const { vectors } = this.#store;
    const old = (this.keys[owner] ?? 0) * this.rows;
    const at = column * this.rows;
    const count = this.counts[owner] ?? 0;
    for (let row = 0; row < this.rows; row++) {
      this.#rest[row] = (this.#rest[row] ?? 0) + count * ((vectors[old + row] ?? 0) - (vectors[at + row] ?? 0));
    }
    this.keys[owner] = column;
  }

  /** The variable of `row` becomes the key of its class, and the old key takes its place in the basis. */
  #exchangeKey(owner: number, row: number): void {
    const column = this.basis[row]?.index ?? 0;
    const oldKey = this.keys[owner] ?? 0;
    const oldValue = this.keyValue(owner);
    // New columns are the old ones minus that of `row`, and `row` changes its sign: the inverse changes in one row.
    const ownRows: number[] = [];
    for (let other = 0; other < this.rows; other++) if (this.basis[other]?.owner === owner) ownRows.push(other);
    this.#inverse.replaceByNegativeSum(row, ownRows);
    this.#setKey(owner, column);
    this.basis[row] = { kind: "column", index: oldKey, owner };
    this.values[row] = oldValue;
  }

  #pivot(row: number, entering: Entering, step: number): void {
    this.#advance(step);
    this.#inverse.pivot(row, this.#direction);
    this.basis[row] = entering;
    this.values[row] = step;
  }

  #afterChange(): void {
    this.#sinceRefactor += 1;
    if (this.#sinceRefactor >= refactorAfter) this.#refactor();
    else this.#price();
  }

  #price(): void {
    this.prices.fill(0);
    for (const [row, variable] of this.basis.entries()) {
      const cost = this.#costOf(variable);
      if (cost !== 0) this.#inverse.addRow(row, cost, this.prices);
    }
  }

  #refactor(): void {
    const { rows } = this;
    this.#sinceRefactor = 0;
    this.#sumRest();
    const matrix = new Float64Array(rows * rows);
    for (const [column, variable] of this.basis.entries()) {
      for (let row = 0; row < rows; row++) matrix[row * rows + column] = this.#entry(variable, row);
    }
    this.#inverse.invert(matrix);
    this.values.fill(0);
    for (let column = 0; column < rows; column++) {
      this.#inverse.addColumn(column, this.#rest[column] ?? 0, this.values);
    }
    this.#price();
  }
}

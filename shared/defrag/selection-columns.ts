/** The columns of a selection, made when they are asked for: there are far too many to write all of them down. */
import { fillingsOf, freed, type GpuClass, isEmptied, type SelectionModel } from "./selection-model.ts";

export interface SelectionColumn {
  /** Position of the class. */
  readonly owner: number;
  /** Bit by bit, which movable instances stay. */
  readonly kept: number;
  /** Which filling beside them, or `freed`. */
  readonly filling: number;
}

export interface PricedColumn extends SelectionColumn {
  /** Cost, in units of the dearest move, minus what its rows are worth. */
  readonly reduced: number;
}

interface FillingValue {
  stamp: number;
  value: number;
  filling: number;
}

/**
 * Finds the best column of a class at given prices, and numbers the columns that were used. Costs are divided by `unit`, the
 * dearest move, so that the tolerances of the linear programme fit.
 */
export class SelectionColumns {
  readonly model: SelectionModel;
  readonly unit: number;
  readonly rows: number;
  /** For `GroupedLp`: grow with the columns. */
  readonly objectives: number[] = [];
  readonly vectors: number[] = [];
  readonly columns: SelectionColumn[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #rowsOf: readonly (readonly number[])[];
  readonly #firstRows: readonly number[];
  /** By class, and there by state; shared by classes whose places are bound alike. */
  readonly #values: readonly FillingValue[][];
  readonly #counted: "cost" | "free-gpus";
  #prices: ArrayLike<number> = [];
  #stamp = 0;
  readonly #gains = new Float64Array(65_536);

  /** `counted`: what the objective is, the cost of the moves or the number of GPUs that are not free. */
  constructor(model: SelectionModel, counted: "cost" | "free-gpus" = "cost") {
    this.model = model;
    this.#counted = counted;
    this.rows = model.rows;
    this.unit = model.classes.reduce(
      (most, { movers }) => movers.reduce((m, { cost }) => Math.max(m, cost), most),
      1e-300,
    );
    this.#rowsOf = model.classes.map(({ group, movers }) => movers.map(({ profile }) => group.rows.get(profile) ?? 0));
    this.#firstRows = model.classes.map(({ group }) => Math.min(model.rows - 1, ...group.rows.values()));
    const shared = new Map<number, FillingValue[]>();
    this.#values = model.classes.map(({ openMask }) => {
      const values = shared.get(openMask) ?? [];
      shared.set(openMask, values);
      return values;
    });
  }

  setPrices(prices: ArrayLike<number>): void {
    this.#prices = prices;
    this.#stamp += 1;
  }

  /** What is kept, by mask: its rows, and its costs that are not paid. */
  #keptGains(owner: number): Float64Array {
    const movers = this.model.classes[owner]?.movers ?? [];
    const rows = this.#rowsOf[owner] ?? [];
    const gains = this.#gains;
    gains[0] = 0;
    for (let mask = 1; mask < 2 ** movers.length; mask++) {
      const low = 31 - Math.clz32(mask & -mask);
      const worth = this.#costOf(movers[low]) + (this.#prices[rows[low] ?? 0] ?? 0);
      gains[mask] = (gains[mask & (mask - 1)] ?? 0) + worth;
    }
    return gains;
  }

  #worthOf(counts: readonly number[], firstRow: number): number {
    let sum = 0;
    for (let kind = 0; kind < counts.length; kind++) {
      sum += (counts[kind] ?? 0) * (this.#prices[firstRow + kind] ?? 0);
    }
    return sum;
  }

  #bestFilling(owner: number, one: GpuClass, mask: number): FillingValue {
    const firstRow = this.#firstRows[owner] ?? 0;
    const isOwn = one.unheld !== null && !isEmptied(one, mask);
    const state = one.states[mask] ?? 0;
    const values = isOwn ? [] : (this.#values[owner] ?? []);
    const found = values[state] ?? { stamp: -1, value: 0, filling: 0 };
    values[state] = found;
    if (found.stamp === this.#stamp) return found;
    found.stamp = this.#stamp;
    found.value = Number.NEGATIVE_INFINITY;
    const fillings = fillingsOf(one, mask);
    for (let filling = 0; filling < fillings.length; filling++) {
      const value = this.#worthOf(fillings[filling]?.counts ?? [], firstRow);
      if (value <= found.value) continue;
      found.value = value;
      found.filling = filling;
    }
    return found;
  }

  #totalOf(one: GpuClass): number {
    let total = 0;
    for (const mover of one.movers) total += this.#costOf(mover);
    return total;
  }

  #costOf(mover: { readonly cost: number } | undefined): number {
    return this.#counted === "cost" ? (mover?.cost ?? 0) / this.unit : 0;
  }

  #mayBeFreed(one: GpuClass): boolean {
    return isEmptied(one, 0);
  }

  #freedReduced(one: GpuClass): number {
    const worth = this.#counted === "cost" ? 0 : 1;
    return this.#totalOf(one) - worth - (this.#prices[this.rows - 1] ?? 0);
  }

  /** The column of the class with the least reduced cost at the prices set. */
  best(owner: number): PricedColumn {
    const one = this.#classOf(owner);
    const gains = this.#keptGains(owner);
    let most = Number.NEGATIVE_INFINITY;
    let kept = 0;
    let filling = 0;
    for (let mask = 0; mask < one.states.length; mask++) {
      const found = this.#bestFilling(owner, one, mask);
      const gain = (gains[mask] ?? 0) + found.value;
      if (gain <= most) continue;
      most = gain;
      kept = mask;
      filling = found.filling;
    }
    const reduced = this.#totalOf(one) - most;
    if (!this.#mayBeFreed(one)) return { owner, kept, filling, reduced };
    const free = this.#freedReduced(one);
    return free <= reduced ? { owner, kept: 0, filling: freed, reduced: free } : { owner, kept, filling, reduced };
  }

  /** Columns of a class with a reduced cost up to `most`, the least first; of those with equal rows only the cheapest. */
  within(owner: number, most: number): readonly PricedColumn[] {
    const one = this.#classOf(owner);
    const gains = this.#keptGains(owner);
    const total = this.#totalOf(one);
    const firstRow = this.#firstRows[owner] ?? 0;
    const found = new Map<string, PricedColumn>();
    const offer = (column: PricedColumn) => {
      if (column.reduced > most) return;
      const text = this.vectorOf(column).join();
      if (column.reduced < (found.get(text)?.reduced ?? Number.POSITIVE_INFINITY)) found.set(text, column);
    };
    if (this.#mayBeFreed(one)) offer({ owner, kept: 0, filling: freed, reduced: this.#freedReduced(one) });
    for (let kept = 0; kept < one.states.length; kept++) {
      for (const [filling, { counts }] of fillingsOf(one, kept).entries()) {
        offer({ owner, kept, filling, reduced: total - (gains[kept] ?? 0) - this.#worthOf(counts, firstRow) });
      }
    }
    return [...found.values()].sort((a, b) => a.reduced - b.reduced);
  }

  /** The column in which everything stays where it is. */
  staying(owner: number): SelectionColumn {
    const one = this.#classOf(owner);
    const isFree = one.movers.length === 0 && this.#mayBeFreed(one);
    return { owner, kept: one.states.length - 1, filling: isFree ? freed : 0 };
  }

  /** Its number in the arrays, where it is added if it was not there. */
  numberOf(column: SelectionColumn): number {
    const key = `${column.owner},${column.kept},${column.filling}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.columns.length);
    this.objectives.push(this.#objectiveOf(column));
    this.vectors.push(...this.vectorOf(column));
    return this.columns.push({ owner: column.owner, kept: column.kept, filling: column.filling }) - 1;
  }

  #objectiveOf({ owner, kept, filling }: SelectionColumn): number {
    const moved = this.#classOf(owner).movers.filter((_, at) => (kept & (1 << at)) === 0);
    const worth = this.#counted === "free-gpus" && filling === freed ? 1 : 0;
    return moved.reduce((sum, mover) => sum + this.#costOf(mover), -worth);
  }

  /** How much a GPU in this column gives to each row. */
  vectorOf({ owner, kept, filling }: SelectionColumn): readonly number[] {
    const vector = Array.from({ length: this.rows }, () => 0);
    const add = (row: number, count: number) => {
      vector[row] = (vector[row] ?? 0) + count;
    };
    if (filling === freed) {
      add(this.rows - 1, 1);
      return vector;
    }
    for (const [at, row] of (this.#rowsOf[owner] ?? []).entries()) if ((kept & (1 << at)) !== 0) add(row, 1);
    const { counts } = fillingsOf(this.#classOf(owner), kept)[filling] ?? { counts: [] };
    for (const [kind, count] of counts.entries()) add((this.#firstRows[owner] ?? 0) + kind, count);
    return vector;
  }

  /** The same for columns of one class that give the same to every row. */
  vectorKey(number: number): string {
    const { owner } = this.columns[number] ?? { owner: -1 };
    return `${owner}:${this.vectors.slice(number * this.rows, (number + 1) * this.rows).join()}`;
  }

  #classOf(owner: number): GpuClass {
    const one = this.model.classes[owner];
    if (one === undefined) throw new RangeError(`there is no class ${owner}`);
    return one;
  }
}

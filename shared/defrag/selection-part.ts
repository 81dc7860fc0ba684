/** One pool and model of a selection: what so many free GPUs cost there at least, and the plans for them. */
import { matchMoves, type UnorderedMove } from "./matching.ts";
import { SelectionColumns } from "./selection-columns.ts";
import { type Relaxation, relax, type SelectionProblem } from "./selection-lp.ts";
import { freed, type SelectionModel } from "./selection-model.ts";
import { roundedUp, searchSelection, wholeProblem } from "./selection-search.ts";

export interface PartPlan {
  readonly cost: number;
  readonly moves: readonly UnorderedMove[];
  readonly foundBy: "search" | "drain";
}

/** What the greedy drain does to one GPU. */
export interface DrainStep {
  readonly cost: number;
  readonly moves: readonly UnorderedMove[];
}

const noMoves: PartPlan = { cost: 0, moves: [], foundBy: "search" };

const costOf = (moves: readonly UnorderedMove[]) => moves.reduce((sum, { cost }) => sum + cost, 0);

/** Asked for a number of free GPUs of its own, it remembers every answer. Deterministic. */
export class SelectionPart {
  /** Free GPUs as things stand. */
  readonly least: number;
  /** No plan leaves more free. */
  readonly bound: number;
  /** Relaxations solved in searches. */
  nodes = 0;
  readonly #columns: SelectionColumns;
  readonly drainSteps: readonly DrainStep[];
  readonly #nodeLimit: number;
  readonly #relaxations = new Map<number, Relaxation>();
  readonly #plans = new Map<number, PartPlan | null>();
  /** Bounds that a search proved, which are above those of the relaxation. */
  readonly #proven = new Map<number, number>();
  #most: number;

  constructor(model: SelectionModel, bound: number, drain: readonly DrainStep[], nodeLimit: number) {
    this.#columns = new SelectionColumns(model);
    this.least = model.classes.reduce((sum, { gpus }, owner) => {
      return sum + (this.#columns.staying(owner).filling === freed ? gpus.length : 0);
    }, 0);
    this.bound = Math.max(bound, this.least);
    this.#most = this.bound;
    this.drainSteps = drain;
    this.#nodeLimit = nodeLimit;
  }

  /** So many are still thought possible: the bound, until a search found nothing. */
  get most(): number {
    return this.#most;
  }

  isRelaxedAt(count: number): boolean {
    return count <= this.least || this.#relaxations.has(count);
  }

  isSolvedAt(count: number): boolean {
    return count <= this.least || this.#plans.has(count);
  }

  /** Solves the relaxation for so many, which makes `lowerBound` as good as it gets there. */
  relaxAt(count: number): void {
    if (count > this.least) this.#relaxationFor(count);
  }

  /** So many cost at least this, by every relaxation solved until now: convex, and not rounded. */
  lowerBound(count: number): number {
    let most = 0;
    for (const [solved, { bound, prices }] of this.#relaxations) {
      most = Math.max(most, bound + (prices[this.#columns.rows - 1] ?? 0) * (count - solved));
    }
    return count <= this.least ? 0 : most * this.#columns.unit;
  }

  /** The same where what is known of the costs is used to round it, and what searches proved. */
  costBound(count: number): number {
    if (count <= this.least) return 0;
    const { unit } = this.#columns;
    return Math.max(roundedUp(this.#columns, this.lowerBound(count) / unit) * unit, this.#proven.get(count) ?? 0);
  }

  /** What so many cost where a plan is known, else what they cost at least. */
  estimate(count: number): number {
    return this.#plans.get(count)?.cost ?? this.costBound(count);
  }

  /** The cheapest plan that the search finds for so many; null where it finds none. */
  plan(count: number): PartPlan | null {
    if (count <= this.least) return noMoves;
    const known = this.#plans.get(count);
    if (known !== undefined) return known;
    const found = this.#search(count);
    this.#plans.set(count, found);
    if (found === null) this.#most = Math.min(this.#most, count - 1);
    return found;
  }

  /** What the drain does for so many; null where it does not come so far. */
  drained(count: number): PartPlan | null {
    const steps = this.drainSteps.slice(0, Math.max(0, count - this.least));
    if (this.least + steps.length < count) return null;
    return {
      cost: steps.reduce((sum, { cost }) => sum + cost, 0),
      moves: steps.flatMap(({ moves }) => moves),
      foundBy: "drain",
    };
  }

  #search(count: number): PartPlan | null {
    const { unit, model } = this.#columns;
    const drained = this.drained(count);
    const limits = { below: (drained?.cost ?? model.totalCost + 1) / unit, nodeLimit: this.#nodeLimit };
    const relaxation = this.#relaxationFor(count);
    const problem: SelectionProblem = { ...wholeProblem(this.#columns, count), keys: relaxation.keys };
    const found = searchSelection(this.#columns, problem, relaxation, limits);
    this.nodes += found.nodes;
    if (found.chosen === null && drained === null) return null;
    const moves = found.chosen === null ? [] : matchMoves(this.#columns, found.chosen);
    const plan: PartPlan =
      found.chosen === null ? (drained ?? noMoves) : { cost: costOf(moves), moves, foundBy: "search" };
    this.#proven.set(count, withoutRounding(found.bound * unit, plan.cost));
    return plan;
  }

  #relaxationFor(count: number): Relaxation {
    const known = this.#relaxations.get(count);
    if (known !== undefined) return known;
    const keys = this.#nearestKeys(count);
    const problem = wholeProblem(this.#columns, count);
    const relaxation = relax(this.#columns, keys === null ? problem : { ...problem, keys });
    this.#relaxations.set(count, relaxation);
    return relaxation;
  }

  #nearestKeys(count: number): readonly number[] | null {
    let nearest: readonly number[] | null = null;
    let distance = Number.POSITIVE_INFINITY;
    for (const [solved, { keys }] of this.#relaxations) {
      if (Math.abs(solved - count) >= distance) continue;
      distance = Math.abs(solved - count);
      nearest = keys;
    }
    return nearest;
  }
}

/** A bound that floating point lifted a hair above the cost it was reached at is that cost. One above that is wrong, and seen. */
export function withoutRounding(costBound: number, cost: number): number {
  return costBound > cost && costBound - cost <= 1e-6 * Math.max(1, cost) ? cost : costBound;
}

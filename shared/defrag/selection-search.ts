/** Whole numbers for the relaxation of a selection: branch and bound over the GPUs that it leaves undecided. */
import type { PricedColumn, SelectionColumns } from "./selection-columns.ts";
import { type Relaxation, relax, type SelectionProblem } from "./selection-lp.ts";

export interface Chosen {
  /** In the units of the columns. */
  readonly cost: number;
  /** A column for each GPU, by its number. */
  readonly columns: readonly number[];
}

export interface SearchResult {
  /** Null where none was found below the limit. */
  readonly chosen: Chosen | null;
  /** In the units of the columns; above every possible cost where there is no solution. */
  readonly bound: number;
  /** Relaxations solved. */
  readonly nodes: number;
}

const tolerance = 1e-6;
/** Up to so many GPUs all are searched at once, and an end of the search is a proof. */
const smallCluster = 40;
/** GPUs that are searched beside those which the relaxation splits, one try after the other. */
const released: readonly number[] = [0, 12, 40, 120];

function covers(columns: SelectionColumns, chosen: readonly number[], needs: readonly number[]): boolean {
  const sums = needs.map(() => 0);
  for (const column of chosen) {
    for (let row = 0; row < sums.length; row++) {
      sums[row] = (sums[row] ?? 0) + (columns.vectors[column * columns.rows + row] ?? 0);
    }
  }
  return needs.every((need, row) => (sums[row] ?? 0) >= need);
}

function times(value: number, column: number): readonly number[] {
  return Array.from({ length: Math.max(0, value) }, () => column);
}

/** The columns of a relaxation, where all its values are whole and it covers what is needed. */
function wholeOf(columns: SelectionColumns, problem: SelectionProblem, { values }: Relaxation) {
  if (values.some(({ value }) => Math.abs(value - Math.round(value)) > 1e-3)) return null;
  const chosen = values.flatMap(({ value, column }) => times(Math.round(value), column));
  const isAll = chosen.length === problem.counts.reduce((sum, count) => sum + count, 0);
  return isAll && covers(columns, chosen, problem.needs) ? chosen : null;
}

/** The class that is split most evenly; any that is undecided where none is split; -1 where nothing is left. */
function branchingClass(problem: SelectionProblem, { values }: Relaxation): number {
  let best = problem.counts.findIndex((count) => count > 0);
  let most = 1e-3;
  for (const { at, value } of values) {
    const split = Math.abs(value - Math.round(value));
    if (split <= most) continue;
    most = split;
    best = at;
  }
  return best;
}

/** What is left of a problem once columns were given to some GPUs, one position in `owners` for each. */
function without(
  columns: SelectionColumns,
  problem: SelectionProblem,
  decided: readonly { readonly at: number; readonly column: number }[],
): SelectionProblem {
  const counts = [...problem.counts];
  const needs = [...problem.needs];
  for (const { at, column } of decided) {
    counts[at] = (counts[at] ?? 0) - 1;
    for (let row = 0; row < needs.length; row++) {
      needs[row] = (needs[row] ?? 0) - (columns.vectors[column * columns.rows + row] ?? 0);
    }
  }
  const left = [...counts.keys()].filter((at) => (counts[at] ?? 0) > 0);
  const pick = (list: readonly number[]) => left.map((at) => list[at] ?? 0);
  return { owners: pick(problem.owners), counts: pick(counts), keys: pick(problem.keys), needs };
}

/** What the relaxation uses most comes first, then what is cheapest at its prices. */
function inDivingOrder(
  columns: SelectionColumns,
  choices: readonly PricedColumn[],
  { values }: Relaxation,
): readonly PricedColumn[] {
  const used = new Map(values.map(({ column, value }) => [columns.vectorKey(column), value]));
  return choices
    .map((choice) => ({ choice, value: used.get(`${choice.owner}:${columns.vectorOf(choice).join()}`) ?? 0 }))
    .sort((a, b) => b.value - a.value || a.choice.reduced - b.choice.reduced)
    .map(({ choice }) => choice);
}

class Branching {
  readonly #columns: SelectionColumns;
  readonly #step: number;
  #nodesLeft: number;
  #most: number;
  best: Chosen | null = null;
  nodes = 0;

  /** Looks for what costs less than `below`; `step` divides every cost, or is 0. */
  constructor(columns: SelectionColumns, step: number, nodeLimit: number, below: number) {
    this.#columns = columns;
    this.#step = step;
    this.#nodesLeft = nodeLimit;
    this.#most = this.#under(below);
  }

  #under(cost: number): number {
    return this.#step > 0 ? cost - this.#step + tolerance : cost - tolerance * Math.max(1, cost);
  }

  #take(columns: readonly number[]): void {
    const cost = columns.reduce((sum, column) => sum + (this.#columns.objectives[column] ?? 0), 0);
    if (cost > this.#most) return;
    this.best = { cost, columns };
    this.#most = this.#under(cost);
  }

  /** Whether everything below was looked at or ruled out. */
  visit(problem: SelectionProblem, decided: readonly number[], cost: number): boolean {
    if (problem.owners.length === 0) {
      if (covers(this.#columns, [], problem.needs)) this.#take(decided);
      return true;
    }
    if (this.#nodesLeft <= 0) return false;
    this.#nodesLeft -= 1;
    this.nodes += 1;
    const relaxation = relax(this.#columns, problem);
    const bound = cost + relaxation.bound;
    if (bound > this.#most) return true;
    const whole = wholeOf(this.#columns, problem, relaxation);
    if (whole !== null) this.#take([...decided, ...whole]);
    return bound > this.#most || this.#branch({ ...problem, keys: relaxation.keys }, relaxation, decided, cost);
  }

  #branch(problem: SelectionProblem, relaxation: Relaxation, decided: readonly number[], cost: number): boolean {
    const at = branchingClass(problem, relaxation);
    const bound = cost + relaxation.bound;
    this.#columns.setPrices(relaxation.prices);
    const owner = problem.owners[at] ?? 0;
    const least = this.#columns.best(owner).reduced;
    let isAll = true;
    const choices = inDivingOrder(this.#columns, this.#columns.within(owner, least + this.#most - bound), relaxation);
    for (const choice of choices) {
      if (bound + choice.reduced - least > this.#most) continue;
      if (this.#nodesLeft <= 0) return false;
      const column = this.#columns.numberOf(choice);
      const rest = without(this.#columns, problem, [{ at, column }]);
      const paid = cost + (this.#columns.objectives[column] ?? 0);
      isAll = this.visit(rest, [...decided, column], paid) && isAll;
    }
    return isAll;
  }
}

/** GPUs that have whole columns in the relaxation, spread so that neighbours in the list are not alike. */
function wholeGpus(relaxation: Relaxation): readonly { readonly at: number; readonly column: number }[] {
  const all = relaxation.values.flatMap(({ at, column, value }) =>
    times(Math.floor(value + 1e-3), column).map(() => ({ at, column })),
  );
  const order = (position: number) => (position * 7919) % 10_007;
  return all
    .map((gpu, position) => ({ gpu, order: order(position) }))
    .sort((a, b) => a.order - b.order)
    .map(({ gpu }) => gpu);
}

function costOf(columns: SelectionColumns, decided: readonly { readonly column: number }[]): number {
  return decided.reduce((sum, { column }) => sum + (columns.objectives[column] ?? 0), 0);
}

/** The whole of a model, with `wanted` free GPUs. */
export function wholeProblem(columns: SelectionColumns, wanted: number): SelectionProblem {
  const { model } = columns;
  return {
    owners: [...model.classes.keys()],
    counts: model.classes.map(({ gpus }) => gpus.length),
    keys: [...model.classes.keys()].map((owner) => columns.numberOf(columns.staying(owner))),
    needs: model.needs.map((need, row) => (row === model.rows - 1 ? wanted : need)),
  };
}

/** The least cost at or above a bound, where every cost is a multiple of one step. */
export function roundedUp({ model, unit }: SelectionColumns, bound: number): number {
  const step = model.costStep / unit;
  return Math.max(0, step > 0 ? Math.ceil((bound - tolerance) / step) * step : bound - tolerance);
}

/**
 * Looks for the cheapest columns that solve `problem`, of which `relaxation` is the relaxation, and that cost less than
 * `below`; solves at most `nodeLimit` relaxations. Where most of the relaxation is whole that part is taken as it is, and only
 * the rest is searched, then once more together with some of the others. Costs in the units of the columns.
 */
export function searchSelection(
  columns: SelectionColumns,
  problem: SelectionProblem,
  relaxation: Relaxation,
  limits: { readonly below: number; readonly nodeLimit: number },
): SearchResult {
  const { below, nodeLimit } = limits;
  const step = columns.model.costStep / columns.unit;
  const bound = roundedUp(columns, relaxation.bound);
  const isSmall = problem.counts.reduce((sum, count) => sum + count, 0) <= smallCluster;
  const whole = wholeGpus(relaxation);
  let chosen: Chosen | null = null;
  let nodes = 0;
  for (const [round, more] of (isSmall ? [whole.length] : released).entries()) {
    const isDone = chosen !== null && chosen.cost <= bound + tolerance;
    if (isDone || nodes >= nodeLimit || bound >= below) break;
    const decided = whole.slice(more);
    const left = isSmall ? nodeLimit : Math.ceil((nodeLimit - nodes) / (released.length - round));
    const branching = new Branching(columns, step, left, chosen?.cost ?? below);
    const core = without(columns, { ...problem, keys: relaxation.keys }, decided);
    const taken = decided.map(({ column }) => column);
    const isAll = branching.visit(core, taken, costOf(columns, decided));
    nodes += branching.nodes;
    chosen = branching.best ?? chosen;
    if (isAll && decided.length === 0) return { chosen, bound: Math.max(bound, chosen?.cost ?? below), nodes };
  }
  return { chosen, bound, nodes };
}

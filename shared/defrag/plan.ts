/** A whole plan: what is moved, in which order, what it is worth, and what no plan could do better. */
import { AppError } from "../errors.ts";
import { greedyDrain } from "./drain.ts";
import { goalText } from "./goal.ts";
import { capacityOf, type DemandMix, fragmentation, freeGpus, freeHosts } from "./measures.ts";
import { type Ordering, orderMoves } from "./ordering.ts";
import { isFreeGpu, replay } from "./replay.ts";
import { type Selection, selectMoves } from "./selection.ts";
import { gpuKey } from "./selection-parts.ts";
import type { ClusterLayout, DefragPlan, LayoutMeasures, Move, PlanOptions } from "./types.ts";
import { planSchema } from "./types.ts";

export interface DefragOptions extends PlanOptions {
  /** How many relaxations may be solved in each search: one for a number of free GPUs in one pool and model. */
  readonly nodeLimit: number;
}

/** Moves that can be carried out. */
interface Executable {
  readonly moves: readonly Move[];
  readonly bounces: number;
  readonly cost: number;
  readonly costBound: number;
  readonly freeGpus: number;
}

/** A selection and whether it can be carried out within the limits. */
interface Attempt {
  readonly selection: Selection;
  readonly executable: Executable | null;
  readonly reason: string | null;
}

function planMeasures(layout: ClusterLayout, mix: DemandMix): LayoutMeasures {
  return {
    freeGpus: freeGpus(layout),
    freeHosts: freeHosts(layout),
    fragmentation: fragmentation(layout, mix),
    capacity: capacityOf(layout),
  };
}

/** What is held now, as a guess at what will be asked for: each profile by how often it stands. */
function mixOfHeld(layout: ClusterLayout): DemandMix {
  const counts = new Map<string, { readonly model: string; readonly profile: string; weight: number }>();
  for (const gpu of layout.hosts.flatMap(({ gpus }) => gpus)) {
    for (const { profile, allocation } of gpu.instances) {
      if (allocation === null) continue;
      const key = JSON.stringify([gpu.model, profile]);
      const entry = counts.get(key) ?? { model: gpu.model, profile, weight: 0 };
      entry.weight += 1;
      counts.set(key, entry);
    }
  }
  return [...counts.values()];
}

function overLimits(ordering: Ordering & { readonly ok: true }, options: DefragOptions): string | null {
  if (ordering.moves.length > (options.maxMoves ?? Number.POSITIVE_INFINITY)) {
    return `More would take more than ${options.maxMoves} moves.`;
  }
  return ordering.cost > (options.maxCost ?? Number.POSITIVE_INFINITY)
    ? `More would cost more than ${options.maxCost}.`
    : null;
}

function stuckReason(ordering: Ordering & { readonly ok: false }): string {
  const remedy = ordering.spareWouldHelp
    ? "One more GPU to stop on would make it possible: allow one with --spare."
    : "A GPU to stop on would not help: wait until something ends, or let more of it move.";
  return `For more, ${ordering.stuck.length} moves would wait for each other. ${remedy}`;
}

function attempt(layout: ClusterLayout, options: DefragOptions, selection: Selection): Attempt {
  const ordering = orderMoves(layout, selection.moves, options);
  if (!ordering.ok) return { selection, executable: null, reason: stuckReason(ordering) };
  const reason = overLimits(ordering, options);
  if (reason !== null) return { selection, executable: null, reason };
  const { moves, bounces, cost } = ordering;
  const { freeGpus: free, costBound } = selection;
  // Exchanged places can make it cheaper than the selection, never cheaper than the bound.
  return { selection, executable: { moves, bounces, cost, costBound, freeGpus: free }, reason: selection.shortfall };
}

/** The greedy drain within the limits and the price: all of it runs at once into room that is free, so nothing waits. */
function drained(layout: ClusterLayout, options: DefragOptions, freeNow: number, most: number): Executable {
  const moves: Move[] = [];
  const sources = new Set<string>();
  const price = options.goal.kind === "price" ? options.goal.price : null;
  for (const move of greedyDrain(layout, { ...options, price })) {
    const key = gpuKey(move.from.host, move.from.gpu);
    if (!sources.has(key) && freeNow + sources.size >= most) continue;
    sources.add(key);
    moves.push(move);
  }
  const cost = moves.reduce((sum, move) => sum + move.cost, 0);
  return { moves, bounces: 0, cost, costBound: 0, freeGpus: freeNow + sources.size };
}

function selectedFor(layout: ClusterLayout, options: DefragOptions, count: number): Selection {
  return selectMoves(layout, { ...options, goal: { kind: "free-gpus", count } });
}

/** Fewer GPUs, by halves, until the moves can be carried out within the limits; never less than the drain reaches. */
function fewer(layout: ClusterLayout, options: DefragOptions, freeNow: number, first: Selection): Executable {
  let best = drained(layout, options, freeNow, first.freeGpus);
  let most = first.freeGpus - 1;
  while (best.freeGpus < most) {
    const wanted = Math.ceil((best.freeGpus + most) / 2);
    const { executable } = attempt(layout, options, selectedFor(layout, options, wanted));
    if (executable !== null && executable.freeGpus > best.freeGpus) best = executable;
    else most = wanted - 1;
  }
  return best;
}

/**
 * Where limits count, at least what the drain frees within them: the cheapest selection may take more moves, or in one step more
 * cost, than is left.
 */
function noLessThanDrained(layout: ClusterLayout, options: DefragOptions, freeNow: number, found: Executable) {
  const { goal, maxMoves, maxCost } = options;
  if (maxMoves === null && maxCost === null) return found;
  const most = goal.kind === "free-gpus" ? goal.count : null;
  const drain = drained(layout, options, freeNow, most ?? Number.POSITIVE_INFINITY);
  return drain.freeGpus > found.freeGpus ? drain : found;
}

/** With a bound on its cost where the drain made it, which proves none itself. */
function bounded(layout: ClusterLayout, options: DefragOptions, found: Executable): Executable {
  if (found.costBound > 0 || found.moves.length === 0) return found;
  const { costBound } = selectedFor(layout, { ...options, maxMoves: null, maxCost: null }, found.freeGpus);
  return { ...found, costBound };
}

function secondsOf(layout: ClusterLayout, moves: readonly Move[]): number | null {
  const seconds = new Map<string, number | null>();
  for (const { name, gpus } of layout.hosts) {
    for (const { index, instances } of gpus) {
      for (const { id, allocation } of instances) {
        seconds.set(JSON.stringify([name, index, id]), allocation?.moveSeconds ?? null);
      }
    }
  }
  // An instance keeps the name of where it stood first, whatever GPU it has been moved to.
  const first = new Map<string, string>();
  const longest = new Map<number, number>();
  for (const { order, from, to } of moves) {
    const here = JSON.stringify([from.host, from.gpu, from.start, from.instance]);
    const key = first.get(here) ?? JSON.stringify([from.host, from.gpu, from.instance]);
    first.set(JSON.stringify([to.host, to.gpu, to.start, from.instance]), key);
    const time = seconds.get(key) ?? null;
    if (time === null) return null;
    longest.set(order, Math.max(longest.get(order) ?? 0, time));
  }
  return [...longest.values()].reduce((sum, time) => sum + time, 0);
}

function freedBetween(before: ClusterLayout, after: ClusterLayout): DefragPlan["freed"] {
  const held = new Set(
    before.hosts.flatMap(({ name, gpus }) =>
      gpus.filter((gpu) => !isFreeGpu(gpu)).map(({ index }) => gpuKey(name, index)),
    ),
  );
  return after.hosts.flatMap(({ name, gpus }) =>
    gpus
      .filter((gpu) => isFreeGpu(gpu) && held.has(gpuKey(name, gpu.index)))
      .map(({ index }) => ({ host: name, gpu: index })),
  );
}

/** What to move is selected in every mode, but what is selected in this one cannot be put into an order often enough. */
function notPlannedYet(mode: string): AppError {
  return new AppError({
    code: "bad-request",
    message: `The mode ${mode} is not planned yet.`,
    remedy: "Ask for the mode in-use or free-space.",
  });
}

/**
 * The cheapest plan that was found for the goal: a number of free GPUs, as many as possible, or as long as one more is worth
 * its price. Where its moves would wait for each other or pass `maxMoves` or `maxCost`, it is one for fewer GPUs, and
 * `shortfall` says why and what would help. Every plan has been carried out on a copy of the layout by `replay`, by the rules
 * of its mode, before it is given. `fragmentation` counts for the mix of what is held now.
 *
 * Throws AppError `bad-request` for goals and modes that are not planned yet, `internal` where the replay finds a fault.
 */
export function planDefragmentation(layout: ClusterLayout, options: DefragOptions): DefragPlan {
  const { goal, mode } = options;
  if (mode === "empty") throw notPlannedYet(mode);
  const freeNow = freeGpus(layout);
  const first = attempt(layout, options, selectMoves(layout, options));
  const { selection } = first;
  const found = first.executable ?? fewer(layout, options, freeNow, selection);
  const chosen = bounded(layout, options, noLessThanDrained(layout, options, freeNow, found));
  const carriedOut = replay(layout, chosen.moves, mode);
  if (!carriedOut.ok) {
    throw new AppError({
      code: "internal",
      message: `The plan made cannot be carried out: move ${carriedOut.fault.move + 1}: ${carriedOut.fault.reason}.`,
      remedy: "Nothing was changed. Report this with the layout.",
    });
  }
  const mix = mixOfHeld(layout);
  return {
    schema: planSchema,
    goal: goalText(goal),
    mode,
    before: planMeasures(layout, mix),
    after: planMeasures(carriedOut.after, mix),
    bound: { freeGpus: selection.freeGpuBound, kind: selection.boundKind, freeHosts: null },
    cost: chosen.cost,
    costBound: chosen.costBound,
    nextGpuPrice: chosen.freeGpus === selection.freeGpus ? selection.nextGpuPrice : null,
    moves: chosen.moves,
    bounces: chosen.bounces,
    freed: freedBetween(layout, carriedOut.after),
    length: { waves: new Set(chosen.moves.map(({ order }) => order)).size, seconds: secondsOf(layout, chosen.moves) },
    shortfall: first.reason,
    layoutAfter: carriedOut.after,
  };
}

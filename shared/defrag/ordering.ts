/** The order in which moves can be carried out: a new place is made before the old one is given up, at every moment. */
import type { UnorderedMove } from "./matching.ts";
import type { MovingLimits } from "./movable.ts";
import { type Exchange, emptyGpu, type OrderedGroup, orderedGroups } from "./ordering-group.ts";
import { type GroupWaves, WaveRunner } from "./ordering-waves.ts";
import type { ClusterLayout, ExecutionMode, Move } from "./types.ts";

export interface OrderingOptions extends MovingLimits {
  readonly mode: ExecutionMode;
  /** How many GPUs that are free before and after may be used as a stop on the way. */
  readonly spareGpus: number;
}

export interface OrderedMoves {
  readonly ok: true;
  /** Ascending by order; the orders are 1, 2, 3 and so on. */
  readonly moves: readonly Move[];
  /** Moves that end in a stop on the way. */
  readonly bounces: number;
  /** Of all moves, bounces included. */
  readonly cost: number;
}

export type Ordering =
  | OrderedMoves
  | {
      readonly ok: false;
      /** What cannot go on, as it came in. */
      readonly stuck: readonly UnorderedMove[];
      /** Whether one GPU more to stop on would do for each group that is stuck. */
      readonly spareWouldHelp: boolean;
    };

/** Among more moves the exchange was cheaper by far whenever it found an order. */
const fewMoves = 500;

/** Whether the group can be ordered with one more GPU that is free, whether there is one or not. */
function isHelpedBySpare(group: OrderedGroup, mode: ExecutionMode, spareGpus: number): boolean {
  if (mode === "free-space") return false;
  const gpus = [...group.gpus, emptyGpu("", null, -1)];
  return new WaveRunner({ ...group, gpus }, mode, spareGpus + 1).run().stuck.length === 0;
}

/**
 * Orders the moves of a selection. Movers of one model, pool and profile may exchange their places, and one that would leave
 * a place to which another of its profile comes stays: the layout in the end is the one asked for, at no higher cost. A mover
 * in the way of others goes where there is room for good, in place of what was asked for, or makes one paid stop on a GPU that
 * comes free or on one of `spareGpus`. Only what the limits allow to move, on hosts that they allow to touch, makes a stop.
 * Throws where a move names a GPU that is not there or may not be touched. Deterministic.
 */
export function orderMoves(layout: ClusterLayout, moves: readonly UnorderedMove[], options: OrderingOptions): Ordering {
  const exchanged = tried(layout, moves, options, "by-profile");
  const isOrdered = exchanged.every(({ stuck }) => stuck.length === 0);
  const hasStops = exchanged.some(({ bounces }) => bounces > 0);
  const isWorthASecondTry = hasStops && (options.mode === "empty" || moves.length <= fewMoves);
  if (isOrdered && !isWorthASecondTry) return orderingOf(exchanged);
  // An exchange can also spend a place on the wrong one: left as it came in, the plan may have a cheaper order.
  const asAsked = tried(layout, moves, options, "none");
  const [best] = [exchanged, asAsked]
    .filter((found) => found.every(({ stuck }) => stuck.length === 0))
    .map(orderingOf)
    .sort((a, b) => a.cost - b.cost);
  if (best !== undefined) return best;
  return {
    ok: false,
    stuck: exchanged.flatMap(({ stuck }) => stuck.map(({ move }) => move)),
    spareWouldHelp: wouldSpareHelp(layout, moves, options, exchanged),
  };
}

function tried(
  layout: ClusterLayout,
  moves: readonly UnorderedMove[],
  options: OrderingOptions,
  exchange: Exchange,
): readonly GroupWaves[] {
  let { spareGpus } = options;
  return orderedGroups(layout, moves, options, options.mode, exchange).map((group) => {
    const waves = new WaveRunner(group, options.mode, spareGpus).run();
    spareGpus -= waves.borrowed;
    return waves;
  });
}

function orderingOf(found: readonly GroupWaves[]): OrderedMoves {
  const moves = found.flatMap((waves) => waves.moves).sort((a, b) => a.order - b.order);
  return {
    ok: true,
    moves,
    bounces: found.reduce((sum, { bounces }) => sum + bounces, 0),
    cost: moves.reduce((sum, { cost }) => sum + cost, 0),
  };
}

function wouldSpareHelp(
  layout: ClusterLayout,
  moves: readonly UnorderedMove[],
  options: OrderingOptions,
  found: readonly GroupWaves[],
): boolean {
  const fresh = orderedGroups(layout, moves, options, options.mode, "by-profile");
  let { spareGpus } = options;
  return fresh.every((group, at) => {
    const left = spareGpus;
    spareGpus -= found[at]?.borrowed ?? 0;
    return found[at]?.stuck.length === 0 || isHelpedBySpare(group, options.mode, left);
  });
}

import { add, compare, type Fraction, subtract, zero } from "./fraction.ts";
import {
  type AmountEntry,
  amountsOf,
  cardHoursResource,
  type Limits,
  partsOfResource,
  type Resource,
  type ResourceParts,
} from "./limits.ts";
import { type BindingLimit, chainOf, nodeAt, positionOf, type QuotaTree } from "./tree.ts";

/** A Slurm job or a lease, with what it holds or asks for. */
export interface Allocation {
  readonly id: string;
  /** The node that it is charged to, mostly a person. */
  readonly nodeId: string;
  readonly state: "running" | "waiting";
  /** Ascending: when a running one started, where a waiting one stands in the queue. */
  readonly order: number;
  readonly amounts: Omit<Limits, "cardHours"> & {
    /** Card-hours that it may still use (cards by the rest of its time limit); absent where it has no time limit. */
    readonly cardHours?: Fraction;
  };
}

/** A limit that keeps an allocation waiting: `usage + asked` is more than `limit`, by `missing`. */
export interface Blocker extends BindingLimit {
  readonly usage: Fraction;
  /** Null where it is not known how many card-hours the allocation would use: it waits once they are used up. */
  readonly asked: Fraction | null;
  readonly missing: Fraction;
}

/** What is in use beyond the tree's own usage, by position: of allocations that were taken to have started. */
type Started = Map<number, Map<Resource, Fraction>>;

/** An allocation with what is asked of every level, worked out once for the many drafts that it is tried against. */
export interface Demand {
  readonly allocation: Allocation;
  /** From the node that it is charged to up to the cluster. */
  readonly chain: readonly number[];
  readonly amounts: readonly AmountEntry[];
  readonly usesCards: boolean;
}

function amountsAsked(allocation: Allocation): readonly AmountEntry[] {
  const { cardHours: _, ...amounts } = allocation.amounts;
  return amountsOf(amounts).filter(([, amount]) => amount.numerator > 0);
}

function usesCards({ amounts }: Allocation): boolean {
  return (amounts.cards ?? zero).numerator > 0 || (amounts.cardHours ?? zero).numerator > 0;
}

/** Throws AppError `not-found` where the allocation is charged to a node that the tree has not. */
export function demandOf(tree: QuotaTree, allocation: Allocation): Demand {
  return {
    allocation,
    chain: chainOf(tree, positionOf(tree, allocation.nodeId)),
    amounts: amountsAsked(allocation),
    usesCards: usesCards(allocation),
  };
}

type Ask = readonly [resource: Resource, asked: Fraction | null];

/** What is asked of one node: the amounts, and card-hours in the period in which the node counts them. */
function asksOf(tree: QuotaTree, position: number, demand: Demand): readonly Ask[] {
  const { cardHours } = nodeAt(tree, position).limits;
  if (cardHours === undefined || !demand.usesCards) return demand.amounts;
  return [...demand.amounts, [cardHoursResource(cardHours.period), demand.allocation.amounts.cardHours ?? null]];
}

function blockerAt(tree: QuotaTree, position: number, [resource, asked]: Ask, started: Started): Blocker | null {
  const limit = tree.limits[position]?.get(resource);
  if (limit === undefined) return null;
  const usage = add(tree.usage[position]?.get(resource) ?? zero, started.get(position)?.get(resource) ?? zero);
  const needed = asked === null ? usage : add(usage, asked);
  const order = compare(needed, limit);
  if (order < 0 || (order === 0 && asked !== null)) return null;
  const { id, level } = nodeAt(tree, position);
  return { resource, limit, nodeId: id, level, usage, asked, missing: subtract(needed, limit) };
}

const noBlockers: readonly Blocker[] = [];

function blockersWith(tree: QuotaTree, demand: Demand, started: Started): readonly Blocker[] {
  let blockers = noBlockers;
  for (const position of demand.chain) {
    if (tree.limits[position]?.size === 0) continue;
    for (const ask of asksOf(tree, position, demand)) {
      const blocker = blockerAt(tree, position, ask, started);
      if (blocker !== null) blockers = [...blockers, blocker];
    }
  }
  return blockers;
}

/**
 * Every limit that keeps a waiting allocation from starting now, from its own node upwards; empty where none does. A resource
 * that it does not ask for never blocks it, even where more than the limit is in use: so Slurm decides too. Throws
 * AppError `not-found` for a node that the tree has not.
 */
export function blockersOf(tree: QuotaTree, allocation: Allocation): readonly Blocker[] {
  return blockersWith(tree, demandOf(tree, allocation), new Map());
}

/** Only what is limited need be remembered. */
function markStarted(tree: QuotaTree, demand: Demand, started: Started): void {
  for (const position of demand.chain) {
    const limits = tree.limits[position];
    if (limits === undefined || limits.size === 0) continue;
    const amounts = started.get(position) ?? new Map<Resource, Fraction>();
    started.set(position, amounts);
    for (const [resource, asked] of asksOf(tree, position, demand)) {
      if (asked !== null && limits.has(resource)) amounts.set(resource, add(amounts.get(resource) ?? zero, asked));
    }
  }
}

/**
 * What the limits alone would do to the waiting ones, in the order of the queue: each that fits starts and takes its part,
 * each that does not is passed over, as Slurm does with jobs that wait for a limit. By id the blockers, empty for those that would
 * start. Whether there are free GPUs is another question.
 */
export function admit(tree: QuotaTree, waiting: readonly Demand[]): ReadonlyMap<string, readonly Blocker[]> {
  const started: Started = new Map();
  const outcome = new Map<string, readonly Blocker[]>();
  for (const demand of waiting) {
    const blockers = blockersWith(tree, demand, started);
    outcome.set(demand.allocation.id, blockers);
    if (blockers.length === 0) markStarted(tree, demand, started);
  }
  return outcome;
}

function amountHeld({ amounts }: Allocation, parts: ResourceParts): Fraction | undefined {
  if (parts.kind === "cardHours") return undefined;
  if (parts.kind !== "gpuType") return amounts[parts.kind];
  // A type may be called like something that every object has.
  const types = amounts.gpuTypes ?? {};
  return Object.hasOwn(types, parts.gpuType) ? types[parts.gpuType] : undefined;
}

/**
 * The running allocations of a node that are above a limit: the newest ones, as many as would have to end until the rest is
 * within it. `running` newest first, `excess` is what is in use beyond the limit. Of card-hours, all that use cards: each goes
 * on using them.
 */
export function runningAbove(running: readonly Allocation[], resource: Resource, excess: Fraction): readonly string[] {
  if (resource.startsWith("cardHours:")) return running.filter(usesCards).map(({ id }) => id);
  const parts = partsOfResource(resource);
  const above: string[] = [];
  let rest = excess;
  for (const allocation of running) {
    if (compare(rest, zero) <= 0) break;
    const held = parts === null ? undefined : amountHeld(allocation, parts);
    if (held === undefined || held.numerator <= 0) continue;
    above.push(allocation.id);
    rest = subtract(rest, held);
  }
  return above;
}

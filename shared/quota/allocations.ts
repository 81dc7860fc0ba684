import { add, compare, type Fraction, subtract, zero } from "./fraction.ts";
import { type AmountEntry, amountsOf, cardHoursResource, type Limits, type Resource } from "./limits.ts";
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

function demandsOf(allocation: Allocation): readonly AmountEntry[] {
  const { cardHours: _, ...amounts } = allocation.amounts;
  return amountsOf(amounts).filter(([, amount]) => amount.numerator > 0);
}

function usesCards({ amounts }: Allocation): boolean {
  return (amounts.cards ?? zero).numerator > 0 || (amounts.cardHours ?? zero).numerator > 0;
}

/** What an allocation asks of one node: its amounts, and card-hours in the period in which the node counts them. */
function asksOf(
  tree: QuotaTree,
  position: number,
  allocation: Allocation,
  demands: readonly AmountEntry[],
): readonly (readonly [Resource, Fraction | null])[] {
  const { cardHours } = nodeAt(tree, position).limits;
  if (cardHours === undefined || !usesCards(allocation)) return demands;
  return [...demands, [cardHoursResource(cardHours.period), allocation.amounts.cardHours ?? null]];
}

function blockerAt(
  tree: QuotaTree,
  position: number,
  [resource, asked]: readonly [Resource, Fraction | null],
  started: Started,
): Blocker | null {
  const limit = tree.limits[position]?.get(resource);
  if (limit === undefined) return null;
  const inTree = tree.usage[position]?.get(resource) ?? zero;
  const usage = add(inTree, started.get(position)?.get(resource) ?? zero);
  const missing = subtract(add(usage, asked ?? zero), limit);
  const order = compare(missing, zero);
  if (order < 0 || (order === 0 && asked !== null)) return null;
  const { id, level } = nodeAt(tree, position);
  return { resource, limit, nodeId: id, level, usage, asked, missing };
}

function blockersWith(tree: QuotaTree, allocation: Allocation, started: Started): readonly Blocker[] {
  const demands = demandsOf(allocation);
  return chainOf(tree, positionOf(tree, allocation.nodeId)).flatMap((position) =>
    asksOf(tree, position, allocation, demands).flatMap((ask) => blockerAt(tree, position, ask, started) ?? []),
  );
}

/**
 * Every limit that keeps a waiting allocation from starting now, from its own node upwards; empty where none does. A resource
 * that it does not ask for never blocks it, even where more than the limit is in use: so Slurm decides too. Throws
 * AppError `not-found` for a node that the tree has not.
 */
export function blockersOf(tree: QuotaTree, allocation: Allocation): readonly Blocker[] {
  return blockersWith(tree, allocation, new Map());
}

function markStarted(tree: QuotaTree, allocation: Allocation, started: Started): void {
  const demands = demandsOf(allocation);
  for (const position of chainOf(tree, positionOf(tree, allocation.nodeId))) {
    const amounts = started.get(position) ?? new Map<Resource, Fraction>();
    started.set(position, amounts);
    for (const [resource, asked] of asksOf(tree, position, allocation, demands)) {
      if (asked !== null) amounts.set(resource, add(amounts.get(resource) ?? zero, asked));
    }
  }
}

/**
 * What the limits alone would do to the waiting ones, in the order of the queue: each that fits starts and takes its part,
 * each that does not is passed over, as Slurm does with jobs that wait for a limit. By id the blockers, empty for those that would
 * start. Whether there are free GPUs is another question.
 */
export function admit(tree: QuotaTree, waiting: readonly Allocation[]): ReadonlyMap<string, readonly Blocker[]> {
  const started: Started = new Map();
  const outcome = new Map<string, readonly Blocker[]>();
  for (const allocation of waiting) {
    const blockers = blockersWith(tree, allocation, started);
    outcome.set(allocation.id, blockers);
    if (blockers.length === 0) markStarted(tree, allocation, started);
  }
  return outcome;
}

/**
 * The running allocations of a node that are above a limit: the newest ones, as many as would have to end until the rest is
 * within it. `running` newest first, `excess` is what is in use beyond the limit. Of card-hours, all that use cards: each goes
 * on using them.
 */
export function runningAbove(running: readonly Allocation[], resource: Resource, excess: Fraction): readonly string[] {
  if (resource.startsWith("cardHours:")) return running.filter(usesCards).map(({ id }) => id);
  const above: string[] = [];
  let rest = excess;
  for (const allocation of running) {
    if (compare(rest, zero) <= 0) break;
    const held = demandsOf(allocation).find(([held]) => held === resource)?.[1];
    if (held === undefined) continue;
    above.push(allocation.id);
    rest = subtract(rest, held);
  }
  return above;
}

import { AppError } from "../errors.ts";
import { type Allocation, admit, type Blocker, type Demand, demandOf, runningAbove } from "./allocations.ts";
import { compare, type Fraction, max, subtract, zero } from "./fraction.ts";
import { changesBetween, type LimitChange, type Resource } from "./limits.ts";
import {
  type AboveParent,
  aboveParent,
  type BindingLimit,
  type Commitment,
  chainOf,
  commitmentOf,
  type LimitEdit,
  nodeAt,
  positionOf,
  type QuotaLevel,
  type QuotaTree,
  usageOf,
  withLimits,
} from "./tree.ts";

/** Limits, usage and allocations as they stand, with what every draft is compared against worked out once. */
export interface Situation {
  readonly tree: QuotaTree;
  /** Newest first, by position of the node that they or something below it is charged to. */
  readonly running: ReadonlyMap<number, readonly Allocation[]>;
  /** In the order of the queue. */
  readonly waiting: readonly Demand[];
  /** What `admit` says of the waiting ones under the limits of now. */
  readonly admitted: ReadonlyMap<string, readonly Blocker[]>;
}

/** What changes at one node. */
export interface NodeChange {
  readonly nodeId: string;
  readonly level: QuotaLevel;
  readonly changes: readonly LimitChange[];
}

/** A node that uses more than a limit which is to change allows. Nothing is stopped: what runs goes on, new work waits. */
export interface OverLimit extends BindingLimit {
  readonly usage: Fraction;
  readonly over: Fraction;
  /** By how much it is over today; zero where it is not. */
  readonly overBefore: Fraction;
  /** Running allocations above the new limit, the newest first (`runningAbove`). */
  readonly runningAbove: readonly string[];
}

/** A parent that promises more than it has, or more than it did. */
export interface CommitmentChange {
  readonly after: Commitment;
  /** Null where it had no limit of its own to exceed. */
  readonly before: Commitment | null;
}

/** A limit that would be above what binds higher up, or further above it than before. */
export interface AboveParentChange {
  readonly after: AboveParent;
  readonly before: AboveParent | null;
}

/** What a batch of edits does before it is applied: facts for the console to put into words. */
export interface Impact {
  readonly changes: readonly NodeChange[];
  readonly overLimit: readonly OverLimit[];
  /** Waiting allocations that a limit holds back today and none would then. */
  readonly wouldStart: readonly string[];
  /** Waiting allocations that no limit holds back today and that one would then, with each that does. */
  readonly wouldWait: readonly { readonly allocationId: string; readonly blockers: readonly Blocker[] }[];
  readonly overCommitments: readonly CommitmentChange[];
  readonly aboveParent: readonly AboveParentChange[];
}

/** Throws AppError `not-found` where an allocation is charged to a node that the tree has not. */
export function situationOf(tree: QuotaTree, allocations: readonly Allocation[]): Situation {
  const newestFirst = allocations.filter(({ state }) => state === "running").toSorted((a, b) => b.order - a.order);
  const running = new Map<number, Allocation[]>();
  for (const allocation of newestFirst) {
    for (const position of chainOf(tree, positionOf(tree, allocation.nodeId))) {
      const list = running.get(position);
      if (list === undefined) running.set(position, [allocation]);
      else list.push(allocation);
    }
  }
  const queue = allocations.filter(({ state }) => state === "waiting").toSorted((a, b) => a.order - b.order);
  const waiting = queue.map((allocation) => demandOf(tree, allocation));
  return { tree, running, waiting, admitted: admit(tree, waiting) };
}

function nodeChanges(tree: QuotaTree, edits: readonly LimitEdit[]): readonly NodeChange[] {
  return edits.flatMap(({ nodeId, limits }) => {
    const node = nodeAt(tree, positionOf(tree, nodeId));
    const changes = changesBetween(node.limits, limits);
    return changes.length === 0 ? [] : { nodeId, level: node.level, changes };
  });
}

const excess = (usage: Fraction, limit: Fraction | null): Fraction =>
  limit === null ? zero : max(zero, subtract(usage, limit));

function overLimits(situation: Situation, changed: readonly NodeChange[]): readonly OverLimit[] {
  const { tree } = situation;
  return changed.flatMap(({ nodeId, level, changes }) => {
    const running = situation.running.get(positionOf(tree, nodeId)) ?? [];
    return changes.flatMap(({ resource, before, after }): readonly OverLimit[] => {
      const usage = usageOf(tree, nodeId, resource);
      const over = excess(usage, after);
      if (after === null || compare(over, zero) === 0) return [];
      return [
        {
          resource,
          limit: after,
          nodeId,
          level,
          usage,
          over,
          overBefore: excess(usage, before),
          runningAbove: runningAbove(running, resource, over),
        },
      ];
    });
  });
}

/** Each node and resource once, in the order met. */
function distinct(
  pairs: Iterable<readonly [nodeId: string, resource: Resource]>,
): readonly (readonly [string, Resource])[] {
  return [...new Map([...pairs].map((pair) => [JSON.stringify(pair), pair])).values()];
}

function* touchedParents(tree: QuotaTree, changed: readonly NodeChange[]): Generator<readonly [string, Resource]> {
  for (const { nodeId, changes } of changed) {
    const { parent } = nodeAt(tree, positionOf(tree, nodeId));
    for (const { resource } of changes) {
      yield [nodeId, resource];
      if (parent !== null) yield [nodeAt(tree, parent).id, resource];
    }
  }
}

function newCommitments(
  before: QuotaTree,
  after: QuotaTree,
  changed: readonly NodeChange[],
): readonly CommitmentChange[] {
  return distinct(touchedParents(before, changed)).flatMap(([nodeId, resource]) => {
    const [old, now] = [commitmentOf(before, nodeId, resource), commitmentOf(after, nodeId, resource)];
    if (now === null) return [];
    const grew = compare(now.over, old?.over ?? zero) > 0;
    const becameUnbounded = now.unlimitedChildren > 0 && (old === null || old.unlimitedChildren === 0);
    return grew || becameUnbounded ? { after: now, before: old } : [];
  });
}

/** The changed limits themselves, and all below one that became tighter. */
function* touchedLimits(tree: QuotaTree, changed: readonly NodeChange[]): Generator<readonly [string, Resource]> {
  for (const { nodeId, changes } of changed) {
    for (const { resource, kind } of changes) {
      yield [nodeId, resource];
      if (kind !== "lowered" && kind !== "set") continue;
      const open = [...nodeAt(tree, positionOf(tree, nodeId)).children];
      for (let position = open.pop(); position !== undefined; position = open.pop()) {
        const node = nodeAt(tree, position);
        open.push(...node.children);
        if (tree.limits[position]?.has(resource) === true) yield [node.id, resource];
      }
    }
  }
}

function newAboveParent(
  before: QuotaTree,
  after: QuotaTree,
  changed: readonly NodeChange[],
): readonly AboveParentChange[] {
  const gap = (each: AboveParent | null): Fraction => (each === null ? zero : subtract(each.limit, each.above.limit));
  return distinct(touchedLimits(after, changed)).flatMap(([nodeId, resource]) => {
    const [old, now] = [aboveParent(before, nodeId, resource), aboveParent(after, nodeId, resource)];
    return now !== null && compare(gap(now), gap(old)) > 0 ? { after: now, before: old } : [];
  });
}

function checkDistinct(edits: readonly LimitEdit[]): void {
  const ids = new Set(edits.map(({ nodeId }) => nodeId));
  if (ids.size === edits.length) return;
  throw new AppError({
    code: "bad-request",
    message: "The same node is edited twice in one batch.",
    remedy: "Keep one edit of each node.",
  });
}

/**
 * What these edits would do, all applied together. Throws AppError `not-found` for a node that the tree has not, `bad-request`
 * where a node is edited twice. An edit that changes nothing has no impact.
 */
export function impactOf(situation: Situation, edits: readonly LimitEdit[]): Impact {
  checkDistinct(edits);
  const before = situation.tree;
  const changed = nodeChanges(before, edits);
  const after = withLimits(before, edits);
  const admitted = changed.length === 0 ? situation.admitted : admit(after, situation.waiting);
  const blockers = situation.waiting.map(({ allocation: { id } }) => ({
    allocationId: id,
    wasHeld: (situation.admitted.get(id) ?? []).length > 0,
    blockers: admitted.get(id) ?? [],
  }));
  return {
    changes: changed,
    overLimit: overLimits(situation, changed),
    wouldStart: blockers.filter((each) => each.wasHeld && each.blockers.length === 0).map((each) => each.allocationId),
    wouldWait: blockers
      .filter((each) => !each.wasHeld && each.blockers.length > 0)
      .map(({ allocationId, blockers: held }) => ({ allocationId, blockers: held })),
    overCommitments: newCommitments(before, after, changed),
    aboveParent: newAboveParent(before, after, changed),
  };
}

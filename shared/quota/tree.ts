import { AppError } from "../errors.ts";
import { add, compare, type Fraction, subtract, sum, zero } from "./fraction.ts";
import { amountsOf, type Limits, type Resource, type Usage } from "./limits.ts";

export type QuotaLevel = "cluster" | "tenant" | "project" | "person";

/** From the top down: a node's parent is of the level before its own. */
export const quotaLevels: readonly QuotaLevel[] = ["cluster", "tenant", "project", "person"];

/** One node as the ledger gives it. */
export interface QuotaNode {
  /** Unique in the tree; a person in two projects is two nodes. */
  readonly id: string;
  readonly level: QuotaLevel;
  /** Null for the cluster alone. */
  readonly parentId: string | null;
  readonly limits: Limits;
  /** In use by the node itself, without its children: mostly of persons. */
  readonly usage?: Usage;
}

type AmountMap = ReadonlyMap<Resource, Fraction>;

/** A node in the tree, with what is asked for over and over worked out once. */
export interface TreeNode {
  readonly id: string;
  readonly level: QuotaLevel;
  readonly limits: Limits;
  readonly parent: number | null;
  readonly children: readonly number[];
}

/**
 * The quota tree. Made by `buildQuotaTree`; every question about one node walks its few levels up or its own children, never
 * the whole. Immutable: `withLimits` gives another one.
 */
export interface QuotaTree {
  /** By position; parents before children. Positions of `parent` and `children` are positions here. */
  readonly nodes: readonly TreeNode[];
  readonly positions: ReadonlyMap<string, number>;
  /** A node's own limits, by position. */
  readonly limits: readonly AmountMap[];
  /** Usage of a node with all below it, by position. */
  readonly usage: readonly AmountMap[];
}

function badTree(message: string, id: string): AppError {
  return new AppError({
    code: "bad-request",
    message,
    remedy: "Reload; where it stays, check the ledger.",
    evidence: { details: id },
  });
}

function sortedByLevel(nodes: readonly QuotaNode[]): readonly QuotaNode[] {
  return quotaLevels.flatMap((level) => nodes.filter((node) => node.level === level));
}

function parentOf(
  node: QuotaNode,
  sorted: readonly QuotaNode[],
  positions: ReadonlyMap<string, number>,
): number | null {
  const levelAbove = quotaLevels[quotaLevels.indexOf(node.level) - 1];
  if (levelAbove === undefined) {
    if (node.parentId !== null) throw badTree("The cluster has a parent in the quota tree.", node.id);
    return null;
  }
  const position = node.parentId === null ? undefined : positions.get(node.parentId);
  if (position === undefined || sorted[position]?.level !== levelAbove) {
    throw badTree(`A ${node.level} in the quota tree does not belong to a ${levelAbove}.`, node.id);
  }
  return position;
}

const noAmounts: AmountMap = new Map();
const noChildren: readonly number[] = [];

/** Most people have no limits of their own, many use nothing: they share one map. */
function amountMap(amounts: Limits | Usage): Map<Resource, Fraction> | null {
  const entries = amountsOf(amounts);
  return entries.length === 0 ? null : new Map(entries);
}

function limitMap(limits: Limits): AmountMap {
  return amountMap(limits) ?? noAmounts;
}

function rollUp(sorted: readonly QuotaNode[], parents: readonly (number | null)[]): readonly AmountMap[] {
  const usage = sorted.map((node) => (node.usage === undefined ? null : amountMap(node.usage)));
  // Children stand behind their parents, so that each is complete when it is added.
  for (let position = usage.length - 1; position > 0; position -= 1) {
    const parent = parents[position];
    const own = usage[position];
    if (parent === null || parent === undefined || own === null || own === undefined) continue;
    const above = usage[parent] ?? new Map<Resource, Fraction>();
    usage[parent] = above;
    for (const [resource, amount] of own) {
      const before = above.get(resource);
      above.set(resource, before === undefined ? amount : add(before, amount));
    }
  }
  return usage.map((amounts) => amounts ?? noAmounts);
}

/**
 * Builds the tree from its nodes in any order. Throws AppError `bad-request` where an id comes twice, there is not exactly one
 * cluster, or a parent is missing or of the wrong level.
 */
export function buildQuotaTree(nodes: readonly QuotaNode[]): QuotaTree {
  const sorted = sortedByLevel(nodes);
  const positions = new Map(sorted.map(({ id }, position) => [id, position]));
  if (positions.size !== nodes.length)
    throw badTree("The quota tree names a node twice, or one of an unknown level.", "");
  if (sorted[0]?.level !== "cluster" || sorted[1]?.level === "cluster") {
    throw badTree("The quota tree has not exactly one cluster.", sorted[1]?.id ?? "");
  }
  const parents = sorted.map((node) => parentOf(node, sorted, positions));
  const children = new Map<number, number[]>();
  for (const [position, parent] of parents.entries()) {
    if (parent === null) continue;
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [position]);
    else siblings.push(position);
  }
  const treeNodes = sorted.map(({ id, level, limits }, position) => ({
    id,
    level,
    limits,
    parent: parents[position] ?? null,
    children: children.get(position) ?? noChildren,
  }));
  return {
    nodes: treeNodes,
    positions,
    limits: sorted.map((node) => limitMap(node.limits)),
    usage: rollUp(sorted, parents),
  };
}

/** New limits of one node's own, all of them: what is absent has no limit afterwards. */
export interface LimitEdit {
  readonly nodeId: string;
  readonly limits: Limits;
}

/** The tree as it would be with other limits; usage and shape are shared. Throws AppError `not-found`. */
export function withLimits(tree: QuotaTree, edits: readonly LimitEdit[]): QuotaTree {
  const [nodes, limits] = [tree.nodes.slice(), tree.limits.slice()];
  for (const edit of edits) {
    const position = positionOf(tree, edit.nodeId);
    nodes[position] = { ...nodeAt(tree, position), limits: edit.limits };
    limits[position] = limitMap(edit.limits);
  }
  return { ...tree, nodes, limits };
}

/** Throws AppError `not-found`. */
export function positionOf(tree: QuotaTree, nodeId: string): number {
  const position = tree.positions.get(nodeId);
  if (position !== undefined) return position;
  throw new AppError({
    code: "not-found",
    message: `There is no ${JSON.stringify(nodeId)} in the quota tree.`,
    remedy: "Reload; it may have been removed.",
  });
}

/** The node at a position of this tree. */
export function nodeAt(tree: QuotaTree, position: number): TreeNode {
  const node = tree.nodes[position];
  if (node === undefined) throw new RangeError(`no node at ${position}`);
  return node;
}

/** Positions from the node up to the cluster. */
export function chainOf(tree: QuotaTree, position: number): readonly number[] {
  const chain: number[] = [];
  for (let at: number | null = position; at !== null; at = nodeAt(tree, at).parent) chain.push(at);
  return chain;
}

/** In use by a node and all below it. Throws AppError `not-found`. */
export function usageOf(tree: QuotaTree, nodeId: string, resource: Resource): Fraction {
  return tree.usage[positionOf(tree, nodeId)]?.get(resource) ?? zero;
}

/** A limit with the node that sets it. */
export interface BindingLimit {
  readonly resource: Resource;
  readonly limit: Fraction;
  readonly nodeId: string;
  readonly level: QuotaLevel;
}

/** How much more may be used, and who says so; below zero where more is in use than allowed. */
export interface Headroom extends BindingLimit {
  readonly usage: Fraction;
  readonly headroom: Fraction;
}

function bindingAt(tree: QuotaTree, position: number, resource: Resource, limit: Fraction): BindingLimit {
  const { id, level } = nodeAt(tree, position);
  return { resource, limit, nodeId: id, level };
}

/** The tightest limit from a position upwards; of equal ones the nearest. */
function tightest(tree: QuotaTree, from: number | null, resource: Resource): BindingLimit | null {
  let found: BindingLimit | null = null;
  for (const position of from === null ? [] : chainOf(tree, from)) {
    const limit = tree.limits[position]?.get(resource);
    if (limit === undefined || (found !== null && compare(limit, found.limit) >= 0)) continue;
    found = bindingAt(tree, position, resource, limit);
  }
  return found;
}

/**
 * The limit that counts for a node: the tightest of its own and all above it, with the node that sets it (of equal ones the
 * nearest). Null where nobody limits the resource. Throws AppError `not-found`.
 */
export function effectiveLimit(tree: QuotaTree, nodeId: string, resource: Resource): BindingLimit | null {
  return tightest(tree, positionOf(tree, nodeId), resource);
}

/**
 * How much more a node may use: the smallest difference of limit and usage on the way up, with the node where it is (of equal ones
 * the nearest). That need not be where the limit is tightest: a project of 4 of which 1 is used may be stopped by its
 * tenant of 8 of which 7 are. Null where nobody limits the resource. Throws AppError `not-found`.
 */
export function headroomOf(tree: QuotaTree, nodeId: string, resource: Resource): Headroom | null {
  let found: Headroom | null = null;
  for (const position of chainOf(tree, positionOf(tree, nodeId))) {
    const limit = tree.limits[position]?.get(resource);
    if (limit === undefined) continue;
    const usage = tree.usage[position]?.get(resource) ?? zero;
    const headroom = subtract(limit, usage);
    if (found !== null && compare(headroom, found.headroom) >= 0) continue;
    found = { ...bindingAt(tree, position, resource, limit), usage, headroom };
  }
  return found;
}

/** Every resource that is limited for a node, by itself or above it; its own first. Throws AppError `not-found`. */
export function limitedResources(tree: QuotaTree, nodeId: string): readonly Resource[] {
  const chain = chainOf(tree, positionOf(tree, nodeId));
  return [...new Set(chain.flatMap((position) => [...(tree.limits[position]?.keys() ?? [])]))];
}

/** A parent's own limit beside the sum of its children's. */
export interface Commitment {
  readonly resource: Resource;
  readonly nodeId: string;
  readonly level: QuotaLevel;
  readonly limit: Fraction;
  readonly childrenTotal: Fraction;
  /** By how much the children's limits together exceed the parent's; zero where they do not. */
  readonly over: Fraction;
  /**
   * Children with no limit on this resource: with any, what is promised has no bound, and `over` is of the others alone. A limit
   * on card-hours in another period counts as none.
   */
  readonly unlimitedChildren: number;
}

/**
 * What a node has promised to its children; null where it has no limit of its own or no children. Throws AppError
 * `not-found`.
 */
export function commitmentOf(tree: QuotaTree, nodeId: string, resource: Resource): Commitment | null {
  const position = positionOf(tree, nodeId);
  const { children } = nodeAt(tree, position);
  const limit = tree.limits[position]?.get(resource);
  if (limit === undefined || children.length === 0) return null;
  const limits = children.flatMap((child) => tree.limits[child]?.get(resource) ?? []);
  const childrenTotal = sum(limits);
  return {
    ...bindingAt(tree, position, resource, limit),
    childrenTotal,
    over: compare(childrenTotal, limit) > 0 ? subtract(childrenTotal, limit) : zero,
    unlimitedChildren: children.length - limits.length,
  };
}

/** Every parent whose children's limits together exceed its own, top down. */
export function overCommitments(tree: QuotaTree): readonly Commitment[] {
  return tree.nodes.flatMap(({ id }, position) =>
    [...(tree.limits[position]?.keys() ?? [])].flatMap((resource) => {
      const commitment = commitmentOf(tree, id, resource);
      return commitment === null || compare(commitment.over, zero) === 0 ? [] : commitment;
    }),
  );
}

/** A limit that promises more than the levels above allow. */
export interface AboveParent extends BindingLimit {
  /** The tightest limit above. */
  readonly above: BindingLimit;
}

/**
 * A node's own limit on one resource where it is higher than what binds above it, else null: Slurm accepts such limits in
 * silence. Throws AppError `not-found`.
 */
export function aboveParent(tree: QuotaTree, nodeId: string, resource: Resource): AboveParent | null {
  const position = positionOf(tree, nodeId);
  const limit = tree.limits[position]?.get(resource);
  const above = limit === undefined ? null : tightest(tree, nodeAt(tree, position).parent, resource);
  if (limit === undefined || above === null || compare(limit, above.limit) <= 0) return null;
  return { ...bindingAt(tree, position, resource, limit), above };
}

/** Every limit of a node that is higher than what binds above it. Throws AppError `not-found`. */
export function limitsAboveParent(tree: QuotaTree, nodeId: string): readonly AboveParent[] {
  const resources = tree.limits[positionOf(tree, nodeId)]?.keys() ?? [];
  return [...resources].flatMap((resource) => aboveParent(tree, nodeId, resource) ?? []);
}

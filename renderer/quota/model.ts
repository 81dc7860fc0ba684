/**
 * The answer about quotas as the view reads it: the tree with what grants add, its rows as they are expanded, searched
 * and filtered, and what one cell says. Built once for an answer; a draft shares all but the limits that it changes.
 */
import type { QuotaAnswer, QuotaNodeView } from "../../shared/protocol/control.ts";
import {
  type Allocation,
  amountsOf,
  type BindingLimit,
  buildQuotaTree,
  type Commitment,
  commitmentOf,
  compare,
  effectiveLimit,
  type Fraction,
  fraction,
  type Grant,
  type Limits,
  limitedResources,
  limitsAt,
  multiply,
  overCommitments,
  type QuotaLevel,
  type QuotaTree,
  quotaLevels,
  type Resource,
  type SimpleResource,
  type Situation,
  simpleResources,
  situationOf,
  subtract,
  usageOf,
  zero,
} from "../../shared/quota/index.ts";

export type QuotaColumn = SimpleResource | "cardHours";
export const quotaColumns: readonly QuotaColumn[] = ["cards", "gpuMemoryGiB", "cpuCores", "memoryGiB", "cardHours"];

export interface QuotaModel {
  /** With what grants add at `atMs`; a node's limits without them are those of `nodes`. */
  readonly tree: QuotaTree;
  readonly nodes: ReadonlyMap<string, QuotaNodeView>;
  /** Those that count at `atMs`, by subject. */
  readonly grants: ReadonlyMap<string, readonly Grant[]>;
  readonly atMs: number;
  /** Positions of a node's children as they are shown: by name. Sorted when somebody first looks below the node. */
  childrenOf(position: number): readonly number[];
  readonly answer: QuotaAnswer;
}

function grantsOf(answer: QuotaAnswer): ReadonlyMap<string, readonly Grant[]> {
  const bySubject = new Map<string, Grant[]>();
  for (const { id, subject, raise, state, startedAt, until } of answer.grants) {
    if (state !== "running" || startedAt === null) continue;
    const { cardHours, ...amounts } = raise;
    const grant: Grant = {
      id,
      nodeId: subject,
      raise: cardHours === undefined ? amounts : { ...amounts, cardHours: cardHours.hours },
      fromMs: Date.parse(startedAt),
      untilMs: Date.parse(until),
    };
    bySubject.set(subject, [...(bySubject.get(subject) ?? []), grant]);
  }
  return bySubject;
}

/** Card-hours that an allocation may still use are left out: the answer does not tell the time limit of what waits. */
function allocationsOf({ answer, nodes }: QuotaModel): readonly Allocation[] {
  return answer.allocations.flatMap((view, index): readonly Allocation[] => {
    if (view.subject === null || !nodes.has(view.subject)) return [];
    const { id, subject, state, startedAt, cards, gpuMemoryGiB, cpuCores, memoryGiB, gpuTypes } = view;
    const types = Object.entries(gpuTypes).map(([gpuType, count]) => [gpuType, fraction(count)] as const);
    return [
      {
        id,
        nodeId: subject,
        state,
        order: state === "running" && startedAt !== null ? Date.parse(startedAt) : index,
        amounts: { cards, gpuMemoryGiB, cpuCores, memoryGiB, gpuTypes: Object.fromEntries(types) },
      },
    ];
  });
}

const byName = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

function childrenByName(tree: QuotaTree, nodes: ReadonlyMap<string, QuotaNodeView>): QuotaModel["childrenOf"] {
  const sorted = new Map<number, readonly number[]>();
  const nameAt = (position: number): string => nodes.get(tree.nodes[position]?.id ?? "")?.name ?? "";
  return (position) => {
    const known = sorted.get(position);
    if (known !== undefined) return known;
    const children = tree.nodes[position]?.children ?? [];
    const named = children.map((child) => ({ child, name: nameAt(child) }));
    const inOrder = named.sort((a, b) => byName.compare(a.name, b.name)).map(({ child }) => child);
    sorted.set(position, inOrder);
    return inOrder;
  };
}

/** Positions as they are shown, each parent before its children; below those that are not `isOpen` none. */
function* walk(model: QuotaModel, isOpen: (position: number) => boolean): Generator<number> {
  const ahead = [0];
  for (let position = ahead.pop(); position !== undefined; position = ahead.pop()) {
    yield position;
    if (isOpen(position)) ahead.push(...model.childrenOf(position).toReversed());
  }
}

/** Every subject as it is shown when all is open. */
export function subjectsInOrder(model: QuotaModel): readonly string[] {
  return [...walk(model, () => true)].flatMap((position) => model.tree.nodes[position]?.id ?? []);
}

/** Throws AppError `bad-request` where the answer is no tree. `atMs` is the instant at which grants count. */
export function modelOf(answer: QuotaAnswer, atMs: number): QuotaModel {
  const nodes = new Map(answer.nodes.map((node) => [node.id, node]));
  const grants = grantsOf(answer);
  const tree = buildQuotaTree(
    answer.nodes.map((node) => {
      const own = grants.get(node.id);
      return own === undefined ? node : { ...node, limits: limitsAt(node.limits, own, atMs) };
    }),
  );
  return { tree, nodes, grants, atMs, answer, childrenOf: childrenByName(tree, nodes) };
}

const situations = new WeakMap<QuotaModel, Situation>();

/** What every draft is compared against, worked out when it is first asked for. */
export function situationIn(model: QuotaModel): Situation {
  const known = situations.get(model);
  if (known !== undefined) return known;
  const situation = situationOf(model.tree, allocationsOf(model));
  situations.set(model, situation);
  return situation;
}

export type QuotaFilter = "all" | "over-committed" | "near-limit" | "drafts";

export interface QuotaRow {
  readonly id: string;
  readonly level: QuotaLevel;
  readonly name: string;
  readonly depth: number;
  readonly hasChildren: boolean;
  readonly isExpanded: boolean;
  /** False for what is shown only because something below it is looked for. */
  readonly isMatch: boolean;
}

export interface RowQuery {
  readonly expanded: ReadonlySet<string>;
  readonly search: string;
  readonly filter: QuotaFilter;
  /** Subjects with drafted limits. */
  readonly drafted: ReadonlySet<string>;
}

/** From nine tenths of what may be used on, a node is near its limit. */
const nearShare: Fraction = fraction(1, 10);

type Tightest = ReadonlyMap<Resource, { readonly headroom: Fraction; readonly limit: Fraction }>;

/** The smallest headroom from a node upwards, of equal ones the nearest; shared with the parent where the node adds none. */
function tightestAt(tree: QuotaTree, position: number, above: Tightest): Tightest {
  const own = tree.limits[position];
  if (own === undefined || own.size === 0) return above;
  const next = new Map(above);
  for (const [resource, limit] of own) {
    const headroom = subtract(limit, tree.usage[position]?.get(resource) ?? zero);
    const higher = above.get(resource);
    if (higher === undefined || compare(headroom, higher.headroom) <= 0) next.set(resource, { headroom, limit });
  }
  return next;
}

/** Once through the tree, parents first: asking each node for its way up would walk the same levels over and over. */
function findNear(tree: QuotaTree): ReadonlySet<number> {
  const near = new Set<number>();
  const tightest: Tightest[] = [];
  for (const [position, { parent }] of tree.nodes.entries()) {
    const here = tightestAt(tree, position, (parent === null ? undefined : tightest[parent]) ?? new Map());
    tightest.push(here);
    for (const [resource, used] of tree.usage[position] ?? []) {
      const found = used.numerator > 0 ? here.get(resource) : undefined;
      if (found === undefined || compare(found.headroom, multiply(found.limit, nearShare)) > 0) continue;
      near.add(position);
      break;
    }
  }
  return near;
}

function findOverCommitted(tree: QuotaTree): ReadonlySet<number> {
  return new Set(overCommitments(tree).flatMap(({ nodeId }) => tree.positions.get(nodeId) ?? []));
}

const nearIn = new WeakMap<QuotaTree, ReadonlySet<number>>();
const overCommittedIn = new WeakMap<QuotaTree, ReadonlySet<number>>();

/** Found once for a tree, so that a search within a filter does not look for them with every key. */
function remembered<Found>(known: WeakMap<QuotaTree, Found>, tree: QuotaTree, find: (tree: QuotaTree) => Found): Found {
  const before = known.get(tree);
  if (before !== undefined) return before;
  const found = find(tree);
  known.set(tree, found);
  return found;
}

function matcherOf(model: QuotaModel, tree: QuotaTree, query: RowQuery): (position: number) => boolean {
  const wanted = query.search.trim().toLowerCase();
  const passes = (position: number, id: string): boolean => {
    if (query.filter === "over-committed") return remembered(overCommittedIn, tree, findOverCommitted).has(position);
    if (query.filter === "near-limit") return remembered(nearIn, tree, findNear).has(position);
    return query.filter === "all" || query.drafted.has(id);
  };
  return (position) => {
    const id = tree.nodes[position]?.id ?? "";
    const name = model.nodes.get(id)?.name ?? "";
    return (wanted === "" || name.toLowerCase().includes(wanted) || id.includes(wanted)) && passes(position, id);
  };
}

function rowAt(
  model: QuotaModel,
  tree: QuotaTree,
  position: number,
  isExpanded: boolean,
  isMatch: boolean,
): readonly QuotaRow[] {
  const node = tree.nodes[position];
  if (node === undefined) return [];
  const { id, level, children } = node;
  const name = model.nodes.get(id)?.name ?? id;
  const depth = quotaLevels.indexOf(level);
  return [{ id, level, name, depth, hasChildren: children.length > 0, isExpanded, isMatch }];
}

/**
 * The rows to show of a tree of this model (its own, or that with drafts). A search or a filter shows every match with what
 * leads to it, and nothing else: what is expanded does not count then.
 */
export function rowsOf(model: QuotaModel, tree: QuotaTree, query: RowQuery): readonly QuotaRow[] {
  const isPlain = query.search.trim() === "" && query.filter === "all";
  const isExpanded = (position: number): boolean => query.expanded.has(tree.nodes[position]?.id ?? "");
  if (isPlain) {
    const shown = walk(model, isExpanded);
    return [...shown].flatMap((position) => rowAt(model, tree, position, isExpanded(position), true));
  }
  const matches = matcherOf(model, tree, query);
  const matching = new Set<number>();
  const leading = new Set<number>();
  for (const [position, { parent }] of tree.nodes.entries()) {
    if (!matches(position)) continue;
    matching.add(position);
    for (let at = parent; at !== null && !leading.has(at); at = tree.nodes[at]?.parent ?? null) leading.add(at);
  }
  const rows: QuotaRow[] = [];
  for (const position of walk(model, (at) => leading.has(at))) {
    const [isMatch, isLeading] = [matching.has(position), leading.has(position)];
    if (isMatch || isLeading) rows.push(...rowAt(model, tree, position, isLeading, isMatch));
  }
  return rows;
}

/** The resource that a column shows of a node: of card-hours its own period, else the nearest above that is limited. */
export function resourceOf(tree: QuotaTree, nodeId: string, column: QuotaColumn): Resource | null {
  const simple = simpleResources.find((resource) => resource === column);
  if (simple !== undefined) return simple;
  return limitedResources(tree, nodeId).find((resource) => resource.startsWith("cardHours:")) ?? null;
}

export interface QuotaCell {
  readonly resource: Resource | null;
  readonly used: Fraction;
  /** Its own limit with what grants add; null where it has none. */
  readonly limit: Fraction | null;
  /** What grants add to its own limit; null where they add nothing. */
  readonly raised: Fraction | null;
  /** The limit further up that is tighter than its own, or the only one; null where its own is what counts. */
  readonly boundBy: BindingLimit | null;
  /** Where its children's limits together are above its own. */
  readonly overCommitted: Commitment | null;
}

const emptyCell: QuotaCell = {
  resource: null,
  used: fraction(0),
  limit: null,
  raised: null,
  boundBy: null,
  overCommitted: null,
};

function raisedBy(own: Limits, resource: Resource, limit: Fraction | null): Fraction | null {
  const base = amountsOf(own).find(([each]) => each === resource)?.[1];
  if (limit === null || base === undefined) return null;
  const raised = subtract(limit, base);
  return raised.numerator > 0 ? raised : null;
}

/**
 * What a cell says; `own` are the limits of the node without grants, drafted ones where there are. Throws AppError `not-found`.
 */
export function cellOf(tree: QuotaTree, own: Limits, nodeId: string, column: QuotaColumn): QuotaCell {
  const resource = resourceOf(tree, nodeId, column);
  if (resource === null) return emptyCell;
  const position = tree.positions.get(nodeId);
  const limit = position === undefined ? null : (tree.limits[position]?.get(resource) ?? null);
  const binding = effectiveLimit(tree, nodeId, resource);
  const commitment = commitmentOf(tree, nodeId, resource);
  return {
    resource,
    used: usageOf(tree, nodeId, resource),
    limit,
    raised: raisedBy(own, resource, limit),
    boundBy: binding === null || binding.nodeId === nodeId ? null : binding,
    overCommitted: commitment !== null && commitment.over.numerator > 0 ? commitment : null,
  };
}

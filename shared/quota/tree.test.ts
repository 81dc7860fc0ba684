import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AppError } from "../errors.ts";
import { compare, fraction, min, subtract, sum, toWords, zero } from "./fraction.ts";
import { amountsOf, type Limits, type Resource } from "./limits.ts";
import { limits, usage } from "./testing/arbitraries.ts";
import { largeTree, quotaNodes, reference } from "./testing/trees.ts";
import {
  buildQuotaTree,
  commitmentOf,
  effectiveLimit,
  headroomOf,
  limitedResources,
  limitsAboveParent,
  overCommitments,
  type QuotaNode,
  usageOf,
  withLimits,
} from "./tree.ts";

const cards = (count: number) => ({ cards: fraction(count) });

/** A tenant of 8 with two projects of 4 and 6, three people. */
const small: readonly QuotaNode[] = [
  { id: "c", level: "cluster", parentId: null, limits: {} },
  { id: "t1", level: "tenant", parentId: "c", limits: { ...cards(8), cpuCores: fraction(0) } },
  { id: "t1_p1", level: "project", parentId: "t1", limits: cards(4) },
  { id: "t1_p2", level: "project", parentId: "t1", limits: cards(6) },
  { id: "t1_p1/ann", level: "person", parentId: "t1_p1", limits: cards(9), usage: cards(1) },
  { id: "t1_p2/bob", level: "person", parentId: "t1_p2", limits: {}, usage: { cards: fraction(11, 2) } },
  { id: "t1_p2/eve", level: "person", parentId: "t1_p2", limits: cards(4), usage: { cards: fraction(3, 2) } },
];
const tree = buildQuotaTree(small);

const amountOf = (stated: Limits, resource: Resource) => new Map(amountsOf(stated)).get(resource);
const everyResource = fc
  .tuple(limits, usage)
  .map(([a, b]) => [...amountsOf(a), ...amountsOf(b)].map(([resource]) => resource))
  .filter((resources) => resources.length > 0)
  .chain((resources) => fc.constantFrom(...resources));

describe("effectiveLimit", () => {
  it("is the tightest on the way up, with the node that sets it", () => {
    expect(["t1_p1/ann", "t1_p2/bob", "t1_p2/eve", "t1"].map((id) => effectiveLimit(tree, id, "cards"))).toEqual([
      { resource: "cards", limit: fraction(4), nodeId: "t1_p1", level: "project" },
      { resource: "cards", limit: fraction(6), nodeId: "t1_p2", level: "project" },
      { resource: "cards", limit: fraction(4), nodeId: "t1_p2/eve", level: "person" },
      { resource: "cards", limit: fraction(8), nodeId: "t1", level: "tenant" },
    ]);
  });

  it("names the nearest of several equal ones, and so does the headroom", () => {
    const equal = buildQuotaTree([
      { id: "c", level: "cluster", parentId: null, limits: cards(4), usage: cards(0) },
      { id: "t", level: "tenant", parentId: "c", limits: cards(4) },
      { id: "p", level: "project", parentId: "t", limits: cards(4) },
      { id: "u", level: "person", parentId: "p", limits: {}, usage: cards(1) },
    ]);
    expect([effectiveLimit(equal, "u", "cards")?.nodeId, headroomOf(equal, "u", "cards")?.nodeId]).toEqual(["p", "p"]);
  });

  it("takes zero for a limit, and absence for none", () => {
    expect(effectiveLimit(tree, "t1_p1/ann", "cpuCores")).toEqual({
      resource: "cpuCores",
      limit: zero,
      nodeId: "t1",
      level: "tenant",
    });
    expect([effectiveLimit(tree, "c", "cards"), effectiveLimit(tree, "t1_p1/ann", "memoryGiB")]).toEqual([null, null]);
  });

  it("agrees with looking at every node each time", () => {
    fc.assert(
      fc.property(quotaNodes, everyResource, (nodes, resource) => {
        const built = buildQuotaTree(nodes);
        const plain = reference(nodes);
        for (const node of nodes) {
          const stated = plain.chain(node).flatMap((each) => {
            const limit = amountOf(each.limits, resource);
            return limit === undefined ? [] : { resource, limit, nodeId: each.id, level: each.level };
          });
          const lowest = stated.map(({ limit }) => limit).reduce(min, fraction(1e9));
          expect(effectiveLimit(built, node.id, resource)).toEqual(
            stated.find(({ limit }) => compare(limit, lowest) === 0) ?? null,
          );
          expect(limitedResources(built, node.id).includes(resource)).toBe(stated.length > 0);
        }
      }),
    );
  });
});

describe("usageOf and headroomOf", () => {
  it("rolls usage up and names the level that binds, which need not be the one with the tightest limit", () => {
    expect(["c", "t1", "t1_p1", "t1_p2"].map((id) => toWords(usageOf(tree, id, "cards")))).toEqual([
      "8",
      "8",
      "1",
      "7",
    ]);
    expect(["t1_p1/ann", "t1_p2/eve"].map((id) => headroomOf(tree, id, "cards"))).toEqual([
      { resource: "cards", limit: fraction(8), usage: fraction(8), headroom: zero, nodeId: "t1", level: "tenant" },
      {
        resource: "cards",
        limit: fraction(6),
        usage: fraction(7),
        headroom: fraction(-1),
        nodeId: "t1_p2",
        level: "project",
      },
    ]);
    expect(headroomOf(tree, "t1_p1/ann", "memoryGiB")).toBeNull();
  });

  it("agree with looking at every node each time", () => {
    fc.assert(
      fc.property(quotaNodes, everyResource, (nodes, resource) => {
        const built = buildQuotaTree(nodes);
        const plain = reference(nodes);
        const used = (top: QuotaNode) =>
          sum(plain.below(top).flatMap((node) => new Map(amountsOf(node.usage ?? {})).get(resource) ?? []));
        for (const node of nodes) {
          expect(usageOf(built, node.id, resource)).toEqual(used(node));
          const stated = plain.chain(node).flatMap((each) => {
            const limit = amountOf(each.limits, resource);
            if (limit === undefined) return [];
            const headroom = subtract(limit, used(each));
            return { resource, limit, usage: used(each), headroom, nodeId: each.id, level: each.level };
          });
          const least = stated.map(({ headroom }) => headroom).reduce(min, fraction(1e9));
          expect(headroomOf(built, node.id, resource)).toEqual(
            stated.find(({ headroom }) => compare(headroom, least) === 0) ?? null,
          );
        }
      }),
    );
  });

  it("counts card-hours of each period by themselves", () => {
    const [week, month] = [{ kind: "week", timeZone: "UTC" } as const, { kind: "month", timeZone: "UTC" } as const];
    const hours = (count: number, period: typeof week | typeof month) => ({ hours: fraction(count), period });
    const built = buildQuotaTree([
      { id: "c", level: "cluster", parentId: null, limits: {} },
      { id: "t", level: "tenant", parentId: "c", limits: { cardHours: hours(300, month) } },
      { id: "p", level: "project", parentId: "t", limits: { cardHours: hours(100, week) } },
      {
        id: "a",
        level: "person",
        parentId: "p",
        limits: {},
        usage: { cardHours: [hours(40, week), hours(290, month)] },
      },
      { id: "b", level: "person", parentId: "p", limits: {}, usage: { cardHours: [hours(20, week)] } },
    ]);
    expect(
      limitedResources(built, "a").map((resource) => {
        const { headroom, nodeId } = headroomOf(built, "a", resource) ?? { headroom: zero, nodeId: "" };
        return [resource, toWords(headroom), nodeId];
      }),
    ).toEqual([
      ["cardHours:week:UTC", "40", "p"],
      ["cardHours:month:UTC", "10", "t"],
    ]);
  });
});

describe("commitmentOf", () => {
  it("says by how much children's limits exceed their parent's, and how many children have none", () => {
    expect(["t1", "t1_p2", "t1_p1"].map((id) => commitmentOf(tree, id, "cards"))).toEqual([
      {
        resource: "cards",
        nodeId: "t1",
        level: "tenant",
        limit: fraction(8),
        childrenTotal: fraction(10),
        over: fraction(2),
        unlimitedChildren: 0,
      },
      {
        resource: "cards",
        nodeId: "t1_p2",
        level: "project",
        limit: fraction(6),
        childrenTotal: fraction(4),
        over: zero,
        unlimitedChildren: 1,
      },
      {
        resource: "cards",
        nodeId: "t1_p1",
        level: "project",
        limit: fraction(4),
        childrenTotal: fraction(9),
        over: fraction(5),
        unlimitedChildren: 0,
      },
    ]);
    expect([commitmentOf(tree, "c", "cards"), commitmentOf(tree, "t1_p1/ann", "cards")]).toEqual([null, null]);
    expect(overCommitments(tree).map(({ nodeId }) => nodeId)).toEqual(["t1", "t1_p1"]);
  });

  it("agrees with adding up the children, and lists exactly the parents that are over", () => {
    fc.assert(
      fc.property(quotaNodes, (nodes) => {
        const built = buildQuotaTree(nodes);
        const plain = reference(nodes);
        const expected = nodes.flatMap((node) =>
          amountsOf(node.limits).flatMap(([resource, limit]) => {
            const children = plain.children(node);
            if (children.length === 0) {
              expect(commitmentOf(built, node.id, resource)).toBeNull();
              return [];
            }
            const stated = children.flatMap((child) => amountOf(child.limits, resource) ?? []);
            const childrenTotal = sum(stated);
            const isOver = compare(childrenTotal, limit) > 0;
            const commitment = {
              resource,
              nodeId: node.id,
              level: node.level,
              limit,
              childrenTotal,
              over: isOver ? subtract(childrenTotal, limit) : zero,
              unlimitedChildren: children.filter((child) => amountOf(child.limits, resource) === undefined).length,
            };
            expect(commitmentOf(built, node.id, resource)).toEqual(commitment);
            return isOver ? [commitment] : [];
          }),
        );
        const key = ({ nodeId, resource }: { nodeId: string; resource: string }) => `${nodeId} ${resource}`;
        const sorted = (list: readonly { nodeId: string; resource: string }[]) => list.map(key).toSorted();
        expect(sorted(overCommitments(built))).toEqual(sorted(expected));
      }),
    );
  });
});

describe("limitsAboveParent", () => {
  it("names what promises more than the levels above allow", () => {
    const ann = { resource: "cards", limit: fraction(9), nodeId: "t1_p1/ann", level: "person" };
    const project = { resource: "cards", limit: fraction(4), nodeId: "t1_p1", level: "project" };
    expect(["t1_p1/ann", "t1_p2/eve", "t1_p1", "t1", "c"].map((id) => limitsAboveParent(tree, id))).toEqual([
      [{ ...ann, above: project }],
      [],
      [],
      [],
      [],
    ]);
  });

  it("is exactly where a parent's effective limit is lower than the node's own", () => {
    fc.assert(
      fc.property(quotaNodes, (nodes) => {
        const built = buildQuotaTree(nodes);
        for (const node of nodes) {
          const above = new Map(limitsAboveParent(built, node.id).map((each) => [each.resource, each]));
          for (const [resource, limit] of amountsOf(node.limits)) {
            const parent = node.parentId === null ? null : effectiveLimit(built, node.parentId, resource);
            const isAbove = parent !== null && compare(limit, parent.limit) > 0;
            expect(above.get(resource)?.above ?? null).toEqual(isAbove ? parent : null);
          }
        }
      }),
    );
  });
});

describe("withLimits", () => {
  it("is the tree that would have been built with these limits, and leaves the old one alone", () => {
    fc.assert(
      fc.property(quotaNodes, fc.array(limits, { maxLength: 4 }), (nodes, others) => {
        const edits = others.flatMap((each, index) => {
          const node = nodes[index * 3];
          return node === undefined ? [] : { nodeId: node.id, limits: each };
        });
        const built = buildQuotaTree(nodes);
        const changed = nodes.map((node) => ({
          ...node,
          limits: edits.find(({ nodeId }) => nodeId === node.id)?.limits ?? node.limits,
        }));
        expect(withLimits(built, edits)).toEqual(buildQuotaTree(changed));
        expect(built).toEqual(buildQuotaTree(nodes));
      }),
    );
  });
});

describe("buildQuotaTree", () => {
  it.each<[string, readonly QuotaNode[]]>([
    ["no node", []],
    ["no cluster", [{ id: "t", level: "tenant", parentId: null, limits: {} }]],
    [
      "two clusters",
      [
        { id: "c", level: "cluster", parentId: null, limits: {} },
        { id: "d", level: "cluster", parentId: null, limits: {} },
      ],
    ],
    ["a cluster with a parent", [{ id: "c", level: "cluster", parentId: "c", limits: {} }]],
    ["an id twice", [...small, { id: "t1", level: "tenant", parentId: "c", limits: {} }]],
    ["a missing parent", [...small, { id: "t2_p1", level: "project", parentId: "t2", limits: {} }]],
    ["a level left out", [...small, { id: "x", level: "person", parentId: "t1", limits: {} }]],
    ["its own parent", [...small, { id: "x", level: "person", parentId: "x", limits: {} }]],
  ])("refuses %s", (_, nodes) => {
    expect(() => buildQuotaTree(nodes)).toThrow(AppError);
  });

  it("refuses questions about a node that it has not", () => {
    for (const ask of [effectiveLimit, headroomOf, commitmentOf, usageOf]) {
      expect(() => ask(tree, "constructor", "cards")).toThrow(/There is no "constructor"/);
    }
    expect(() => withLimits(tree, [{ nodeId: "gone", limits: {} }])).toThrow(AppError);
  });

  it("holds 200 tenants, 2,000 projects and 20,000 people", () => {
    const large = buildQuotaTree(largeTree());
    expect([
      large.nodes.length,
      toWords(usageOf(large, "c", "cards")),
      toWords(usageOf(large, "t7", "cpuCores")),
    ]).toEqual([22_201, "10000", "400"]);
    expect(headroomOf(large, "t199p9/u9", "cards")).toEqual({
      resource: "cards",
      limit: fraction(9_000),
      usage: fraction(10_000),
      headroom: fraction(-1_000),
      nodeId: "c",
      level: "cluster",
    });
    expect(overCommitments(large).map(({ nodeId, over }) => [nodeId, toWords(over)])).toEqual([["c", "3000"]]);
  });
});

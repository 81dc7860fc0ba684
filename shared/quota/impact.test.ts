import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AppError } from "../errors.ts";
import { type Allocation, blockersOf } from "./allocations.ts";
import { add, compare, type Fraction, fraction, subtract, sum, zero } from "./fraction.ts";
import { impactOf, situationOf } from "./impact.ts";
import { amountsOf, type Limits, type Resource, type Usage } from "./limits.ts";
import { allocationsOf } from "./testing/allocations.ts";
import { limits } from "./testing/arbitraries.ts";
import { largeTree, quotaNodes, reference } from "./testing/trees.ts";
import {
  aboveParent,
  buildQuotaTree,
  commitmentOf,
  type LimitEdit,
  type QuotaNode,
  usageOf,
  withLimits,
} from "./tree.ts";

const cards = (numerator: number, denominator = 1) => ({ cards: fraction(numerator, denominator) });
const day = { kind: "day", timeZone: "UTC" } as const;

/** Tenant t1: project p1 with ann (3 half cards in use) and bob, project p2 with eve. */
const nodes: readonly QuotaNode[] = [
  { id: "c", level: "cluster", parentId: null, limits: {} },
  { id: "t1", level: "tenant", parentId: "c", limits: cards(8) },
  { id: "p1", level: "project", parentId: "t1", limits: cards(4) },
  { id: "p2", level: "project", parentId: "t1", limits: cards(4) },
  { id: "ann", level: "person", parentId: "p1", limits: {}, usage: cards(3, 2) },
  { id: "bob", level: "person", parentId: "p1", limits: cards(2), usage: cards(2) },
  { id: "eve", level: "person", parentId: "p2", limits: {} },
];
const job = (
  id: string,
  nodeId: string,
  state: Allocation["state"],
  order: number,
  amounts: Allocation["amounts"],
) => ({
  id,
  nodeId,
  state,
  order,
  amounts,
});
const running = [
  job("a1", "ann", "running", 10, cards(1, 2)),
  job("a2", "ann", "running", 20, cards(1, 2)),
  job("b1", "bob", "running", 30, cards(2)),
  job("a3", "ann", "running", 40, cards(1, 2)),
  job("cpu", "ann", "running", 50, { cpuCores: fraction(8) }),
];
const waiting = [
  job("b2", "bob", "waiting", 1, cards(1)),
  job("a4", "ann", "waiting", 2, cards(1, 2)),
  job("e1", "eve", "waiting", 3, cards(4)),
];
const situation = situationOf(buildQuotaTree(nodes), [...waiting, ...running]);

describe("impactOf", () => {
  it("of a lowered limit: who is over it, what is above it and keeps running, what waits then, what is promised", () => {
    expect(impactOf(situation, [{ nodeId: "p1", limits: cards(1) }])).toEqual({
      changes: [
        {
          nodeId: "p1",
          level: "project",
          changes: [{ resource: "cards", kind: "lowered", before: fraction(4), after: fraction(1) }],
        },
      ],
      overLimit: [
        {
          resource: "cards",
          limit: fraction(1),
          nodeId: "p1",
          level: "project",
          usage: fraction(7, 2),
          over: fraction(5, 2),
          overBefore: zero,
          // Newest first: a3 and b1 are enough to come down to 1.
          runningAbove: ["a3", "b1"],
        },
      ],
      wouldStart: [],
      wouldWait: [
        {
          allocationId: "a4",
          blockers: [
            {
              resource: "cards",
              limit: fraction(1),
              nodeId: "p1",
              level: "project",
              usage: fraction(7, 2),
              asked: fraction(1, 2),
              missing: fraction(3),
            },
          ],
        },
      ],
      overCommitments: [
        {
          after: {
            resource: "cards",
            nodeId: "p1",
            level: "project",
            limit: fraction(1),
            childrenTotal: fraction(2),
            over: fraction(1),
            unlimitedChildren: 1,
          },
          before: {
            resource: "cards",
            nodeId: "p1",
            level: "project",
            limit: fraction(4),
            childrenTotal: fraction(2),
            over: zero,
            unlimitedChildren: 1,
          },
        },
      ],
      aboveParent: [
        {
          after: {
            resource: "cards",
            limit: fraction(2),
            nodeId: "bob",
            level: "person",
            above: { resource: "cards", limit: fraction(1), nodeId: "p1", level: "project" },
          },
          before: null,
        },
      ],
    });
  });

  it("of a batch: what one edit makes room for another may take away again, in the order of the queue", () => {
    // Bob's job of 1 fits 5 in p1 together with ann's; with it and eve's 4 the tenant's 8 are exceeded.
    const impact = impactOf(situation, [
      { nodeId: "bob", limits: {} },
      { nodeId: "p1", limits: cards(5) },
    ]);
    expect([impact.wouldStart, impact.wouldWait]).toEqual([
      ["b2"],
      [
        {
          allocationId: "e1",
          blockers: [
            {
              resource: "cards",
              limit: fraction(8),
              nodeId: "t1",
              level: "tenant",
              usage: fraction(5),
              asked: fraction(4),
              missing: fraction(1),
            },
          ],
        },
      ],
    ]);
    // The tenant promised exactly its 8, and 9 now.
    expect(impact.overCommitments.map(({ after, before }) => [after.nodeId, after.over, before?.over])).toEqual([
      ["t1", fraction(1), zero],
    ]);
  });

  it("of a new parent's limit reaches all below it", () => {
    const impact = impactOf(situation, [{ nodeId: "c", limits: cards(1) }]);
    expect(impact.aboveParent.map(({ after }) => [after.nodeId, after.above.nodeId]).toSorted()).toEqual([
      ["bob", "c"],
      ["p1", "c"],
      ["p2", "c"],
      ["t1", "c"],
    ]);
  });

  it("of card-hours: everything with cards is above, since each goes on using them", () => {
    const spent: Usage = { cardHours: [{ hours: fraction(10), period: day }] };
    const tree = buildQuotaTree(nodes.map((node) => (node.id === "ann" ? { ...node, usage: spent } : node)));
    const hours = (count: number): LimitEdit[] => [
      { nodeId: "p1", limits: { cardHours: { hours: fraction(count), period: day } } },
    ];
    const asking = [
      job("unknown", "ann", "waiting", 1, cards(1)),
      job("three", "ann", "waiting", 2, { ...cards(1), cardHours: fraction(3) }),
      job("cpu-only", "ann", "waiting", 3, { cpuCores: fraction(1) }),
    ];
    const before = situationOf(tree, [...running, ...asking]);
    const told = (count: number) => {
      const { overLimit, wouldWait } = impactOf(before, hours(count));
      return [
        overLimit.flatMap((each) => each.runningAbove),
        wouldWait.map(({ allocationId, blockers }) => [
          allocationId,
          blockers.map(({ asked, missing }) => [asked, missing]),
        ]),
      ];
    };
    expect(told(9)).toEqual([
      ["a3", "b1", "a2", "a1"],
      [
        ["unknown", [[null, fraction(1)]]],
        ["three", [[fraction(3), fraction(4)]]],
      ],
    ]);
    // Exactly used up: nothing is over, but nothing more may start that uses cards.
    expect(told(10)).toEqual([
      [],
      [
        ["unknown", [[null, zero]]],
        ["three", [[fraction(3), fraction(3)]]],
      ],
    ]);
    expect(told(12)).toEqual([[], [["three", [[fraction(3), fraction(1)]]]]]);
    expect(told(13)).toEqual([[], []]);
  });

  it("of zero: nothing new starts, what runs goes on", () => {
    const impact = impactOf(situation, [{ nodeId: "p2", limits: cards(0) }]);
    expect([impact.overLimit, impact.wouldWait.map(({ allocationId }) => allocationId)]).toEqual([[], ["e1"]]);
  });

  it("is refused for a node that is not there, and for one edited twice", () => {
    expect(() => impactOf(situation, [{ nodeId: "gone", limits: {} }])).toThrow(AppError);
    expect(() =>
      impactOf(situation, [
        { nodeId: "p1", limits: {} },
        { nodeId: "p1", limits: cards(1) },
      ]),
    ).toThrow(/edited twice/);
    expect(() => situationOf(situation.tree, [job("x", "gone", "running", 0, {})])).toThrow(AppError);
  });

  it("is worked out for a tree of 20,000 people with 5,000 jobs", () => {
    const people = largeTree();
    const jobs = Array.from({ length: 5_000 }, (_, index) =>
      job(
        `j${index}`,
        `t${index % 200}p${index % 10}/u${index % 7}`,
        index % 2 === 0 ? "running" : "waiting",
        index,
        cards(1, 2),
      ),
    );
    const impact = impactOf(situationOf(buildQuotaTree(people), jobs), [{ nodeId: "c", limits: cards(9_999) }]);
    expect([
      impact.overLimit.map(({ over, runningAbove }) => [over, runningAbove]),
      impact.wouldStart.length,
      impact.overCommitments.map(({ after }) => after.over),
    ]).toEqual([[[fraction(1), ["j4998", "j4996"]]], 0, []]);
  });
});

const scene = quotaNodes.chain((drawn) =>
  fc.record({
    drawn: fc.constant(drawn),
    allocations: allocationsOf(drawn),
    edits: fc.array(limits, { maxLength: 3 }).map((list) =>
      list.flatMap((each, index) => {
        const node = drawn[index * 2];
        return node === undefined ? [] : { nodeId: node.id, limits: each };
      }),
    ),
  }),
);

const amountIn = (stated: Limits | Usage, resource: Resource): Fraction =>
  new Map(amountsOf(stated)).get(resource) ?? zero;

/** Admission a second time: usage per node in a plain table, looked up by going through every node. */
function admitPlainly(drawn: readonly QuotaNode[], queue: readonly Allocation[]): ReadonlyMap<string, boolean> {
  const plain = reference(drawn);
  const extra: { node: string; resource: Resource; amount: Fraction }[] = [];
  const used = (node: QuotaNode, resource: Resource) =>
    sum([
      ...plain.below(node).map((each) => amountIn(each.usage ?? {}, resource)),
      ...extra.filter((each) => each.node === node.id && each.resource === resource).map((each) => each.amount),
    ]);
  return new Map(
    queue.map((allocation) => {
      const owner = plain.find(allocation.nodeId);
      const chain = owner === undefined ? [] : plain.chain(owner);
      const { cardHours, ...rest } = allocation.amounts;
      const usesCards = (rest.cards?.numerator ?? 0) > 0 || (cardHours?.numerator ?? 0) > 0;
      const asked = (resource: Resource): Fraction =>
        resource.startsWith("cardHours:") ? (usesCards ? (cardHours ?? zero) : zero) : amountIn(rest, resource);
      const fits = chain.every((node) =>
        amountsOf(node.limits).every(([resource, limit]) => {
          const hours = resource.startsWith("cardHours:");
          if (hours && usesCards && cardHours === undefined) return compare(used(node, resource), limit) < 0;
          if (hours ? !usesCards : asked(resource).numerator === 0) return true;
          return compare(add(used(node, resource), asked(resource)), limit) <= 0;
        }),
      );
      for (const node of fits ? chain : []) {
        for (const [resource] of amountsOf(node.limits)) {
          extra.push({ node: node.id, resource, amount: asked(resource) });
        }
      }
      return [allocation.id, fits];
    }),
  );
}

describe("an impact, by its laws", () => {
  it("is nothing where nothing changes", () => {
    fc.assert(
      fc.property(scene, ({ drawn, allocations }) => {
        const now = situationOf(buildQuotaTree(drawn), allocations);
        const nothing = {
          changes: [],
          overLimit: [],
          wouldStart: [],
          wouldWait: [],
          overCommitments: [],
          aboveParent: [],
        };
        expect(impactOf(now, [])).toEqual(nothing);
        expect(
          impactOf(
            now,
            drawn.map((node) => ({ nodeId: node.id, limits: node.limits })),
          ),
        ).toEqual(nothing);
      }),
    );
  });

  it("lets start and makes wait exactly what going through the queue before and after shows", () => {
    fc.assert(
      fc.property(scene, ({ drawn, allocations, edits }) => {
        const impact = impactOf(situationOf(buildQuotaTree(drawn), allocations), edits);
        const changed = drawn.map((node) => ({
          ...node,
          limits: edits.find(({ nodeId }) => nodeId === node.id)?.limits ?? node.limits,
        }));
        const queue = allocations.filter(({ state }) => state === "waiting").toSorted((a, b) => a.order - b.order);
        const [before, after] = [admitPlainly(drawn, queue), admitPlainly(changed, queue)];
        expect(impact.wouldStart).toEqual(
          queue.filter(({ id }) => before.get(id) === false && after.get(id) === true).map(({ id }) => id),
        );
        expect(impact.wouldWait.map(({ allocationId }) => allocationId)).toEqual(
          queue.filter(({ id }) => before.get(id) === true && after.get(id) === false).map(({ id }) => id),
        );
      }),
    );
  });

  it("is undone by the edits backwards", () => {
    fc.assert(
      fc.property(scene, ({ drawn, allocations, edits }) => {
        const tree = buildQuotaTree(drawn);
        const there = impactOf(situationOf(tree, allocations), edits);
        const back = edits.map(({ nodeId }) => ({
          nodeId,
          limits: drawn.find(({ id }) => id === nodeId)?.limits ?? {},
        }));
        const again = impactOf(situationOf(withLimits(tree, edits), allocations), back);
        expect(again.wouldStart).toEqual(there.wouldWait.map(({ allocationId }) => allocationId));
        expect(again.wouldWait.map(({ allocationId }) => allocationId)).toEqual(there.wouldStart);
      }),
    );
  });

  it("names every changed limit that is exceeded, and the fewest of the newest allocations that would mend it", () => {
    fc.assert(
      fc.property(scene, ({ drawn, allocations, edits }) => {
        // Usage is what runs.
        const inUse = drawn.map((node) => ({ ...node, usage: {} as Usage }));
        for (const { nodeId, state, amounts } of allocations) {
          const owner = inUse.find(({ id }) => id === nodeId);
          const { cardHours: _, ...rest } = amounts;
          if (state === "running" && owner !== undefined) owner.usage = merged(owner.usage, rest);
        }
        const tree = buildQuotaTree(inUse);
        const { overLimit } = impactOf(situationOf(tree, allocations), edits);
        const after = withLimits(tree, edits);
        const held = (id: string, resource: Resource) => {
          const { cardHours: _, ...rest } = allocations.find((each) => each.id === id)?.amounts ?? {};
          return amountIn(rest, resource);
        };
        for (const { nodeId, resource, over, runningAbove } of overLimit) {
          const amounts = runningAbove.map((id) => held(id, resource));
          expect(over).toEqual(subtract(usageOf(after, nodeId, resource), amountIn(limitsIn(edits, nodeId), resource)));
          expect(compare(sum(amounts), over)).toBeGreaterThanOrEqual(0);
          expect(compare(sum(amounts.slice(0, -1)), over)).toBe(-1);
          expect(amounts.every(({ numerator }) => numerator > 0)).toBe(true);
        }
        const exceeded = edits.flatMap(({ nodeId, limits: wanted }) =>
          amountsOf(wanted)
            .filter(([resource, limit]) => compare(usageOf(after, nodeId, resource), limit) > 0)
            .filter(([resource, limit]) => {
              const before = new Map(amountsOf(drawn.find(({ id }) => id === nodeId)?.limits ?? {})).get(resource);
              return before === undefined || compare(before, limit) !== 0;
            })
            .map(([resource]) => `${nodeId} ${resource}`),
        );
        expect(overLimit.map(({ nodeId, resource }) => `${nodeId} ${resource}`).toSorted()).toEqual(
          exceeded.toSorted(),
        );
      }),
    );
  });

  it("lists exactly the promises that grew, and the limits that rose further above their parents, of all in the tree", () => {
    fc.assert(
      fc.property(scene, ({ drawn, edits }) => {
        const before = buildQuotaTree(drawn);
        const after = withLimits(before, edits);
        const impact = impactOf(situationOf(before, []), edits);
        const everywhere = drawn.flatMap(({ id }) =>
          amountsOf(limitsNow(drawn, edits, id)).map(([resource]) => ({ id, resource })),
        );
        const grown = everywhere.filter(({ id, resource }) => {
          const [old, now] = [commitmentOf(before, id, resource), commitmentOf(after, id, resource)];
          if (now === null) return false;
          const unbounded = now.unlimitedChildren > 0 && (old === null || old.unlimitedChildren === 0);
          return unbounded || compare(now.over, old?.over ?? zero) > 0;
        });
        const risen = everywhere.filter(({ id, resource }) => {
          const [old, now] = [aboveParent(before, id, resource), aboveParent(after, id, resource)];
          if (now === null) return false;
          return (
            old === null || compare(subtract(now.limit, now.above.limit), subtract(old.limit, old.above.limit)) > 0
          );
        });
        const keys = (list: readonly { id: string; resource: string }[]) =>
          list.map(({ id, resource }) => `${id} ${resource}`).toSorted();
        expect(
          keys(impact.overCommitments.map(({ after: { nodeId, resource } }) => ({ id: nodeId, resource }))),
        ).toEqual(keys(grown));
        expect(keys(impact.aboveParent.map(({ after: { nodeId, resource } }) => ({ id: nodeId, resource })))).toEqual(
          keys(risen),
        );
      }),
    );
  });
});

describe("blockersOf", () => {
  it("names every level that holds an allocation back, the nearest first, and nothing that it does not ask for", () => {
    const tree = withLimits(situation.tree, [{ nodeId: "t1", limits: cards(3) }]);
    const blocked = (each: Allocation) => blockersOf(tree, each).map(({ nodeId, missing }) => [nodeId, missing]);
    expect(waiting.map(blocked)).toEqual([
      [
        ["bob", fraction(1)],
        ["p1", fraction(1, 2)],
        ["t1", fraction(3, 2)],
      ],
      [["t1", fraction(1)]],
      [["t1", fraction(9, 2)]],
    ]);
    expect(blocked(job("cpu", "bob", "waiting", 9, { cpuCores: fraction(64), ...cards(0) }))).toEqual([]);
  });
});

function limitsIn(edits: readonly LimitEdit[], nodeId: string): Limits {
  return edits.find((edit) => edit.nodeId === nodeId)?.limits ?? {};
}

function limitsNow(drawn: readonly QuotaNode[], edits: readonly LimitEdit[], nodeId: string): Limits {
  return edits.find((edit) => edit.nodeId === nodeId)?.limits ?? drawn.find(({ id }) => id === nodeId)?.limits ?? {};
}

function merged(usage: Usage, more: Omit<Limits, "cardHours">): Usage {
  const plus = (a: Fraction | undefined, b: Fraction | undefined) => add(a ?? zero, b ?? zero);
  const types = new Set([...Object.keys(usage.gpuTypes ?? {}), ...Object.keys(more.gpuTypes ?? {})]);
  const typed = [...types].map((type): [string, Fraction] => [
    type,
    plus(
      Object.entries(usage.gpuTypes ?? {}).find(([name]) => name === type)?.[1],
      Object.entries(more.gpuTypes ?? {}).find(([name]) => name === type)?.[1],
    ),
  ]);
  return {
    cards: plus(usage.cards, more.cards),
    gpuMemoryGiB: plus(usage.gpuMemoryGiB, more.gpuMemoryGiB),
    cpuCores: plus(usage.cpuCores, more.cpuCores),
    memoryGiB: plus(usage.memoryGiB, more.memoryGiB),
    gpuTypes: Object.fromEntries(typed),
  };
}

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AppError } from "../errors.ts";
import { compare, fraction, sum, zero } from "./fraction.ts";
import {
  approvalOf,
  checkGrant,
  cutShort,
  endOf,
  type Grant,
  grantState,
  limitsAt,
  longestGrantMs,
  nextGrantChange,
} from "./grants.ts";
import { amountsOf, type Limits, type Resource } from "./limits.ts";
import { amount, limits } from "./testing/arbitraries.ts";
import { quotaNodes } from "./testing/trees.ts";
import { buildQuotaTree, effectiveLimit, headroomOf, withLimits } from "./tree.ts";

const cards = (numerator: number, denominator = 1) => ({ cards: fraction(numerator, denominator) });
const grant = (id: string, raise: Grant["raise"], fromMs: number, untilMs: number): Grant => ({
  id,
  nodeId: "p1",
  raise,
  fromMs,
  untilMs,
});

const raise = fc
  .record({ stated: limits, cardHours: fc.option(amount, { nil: undefined }) })
  .map(({ stated: { cardHours: _, ...rest }, cardHours }) => ({
    ...rest,
    ...(cardHours === undefined ? {} : { cardHours }),
  }));

const anyGrant: fc.Arbitrary<Grant> = fc
  .record({
    raise,
    fromMs: fc.nat(50),
    length: fc.nat(30),
    endedMs: fc.option(fc.nat(90), { nil: undefined, freq: 2 }),
  })
  .map(({ raise: each, fromMs, length, endedMs }) => ({
    ...grant(`g${fromMs}`, each, fromMs, fromMs + length),
    ...(endedMs === undefined ? {} : { endedMs }),
  }));
const grants = fc.array(anyGrant, { maxLength: 5 });

/** What a grant adds at an instant, straight from the definition. */
function added(list: readonly Grant[], resource: Resource, atMs: number) {
  return sum(
    list
      .filter(
        ({ fromMs, untilMs, endedMs }) => fromMs <= atMs && atMs < untilMs && (endedMs === undefined || atMs < endedMs),
      )
      .map((each) => {
        const { cardHours, ...rest } = each.raise;
        if (resource.startsWith("cardHours:")) return cardHours ?? zero;
        return new Map(amountsOf(rest)).get(resource) ?? zero;
      }),
  );
}

describe("limitsAt", () => {
  const base: Limits = {
    ...cards(4),
    cpuCores: zero,
    cardHours: { hours: fraction(100), period: { kind: "month", timeZone: "Europe/Berlin" } },
    gpuTypes: { a30: fraction(1) },
  };
  const list = [
    grant("a", { ...cards(1, 2), cardHours: fraction(10), memoryGiB: fraction(8) }, 10, 20),
    grant("b", { ...cards(2), cpuCores: fraction(16), gpuTypes: { a30: fraction(1), h100: fraction(1) } }, 15, 30),
  ];

  it("adds overlapping grants up on top of the base; what has no limit gets none", () => {
    expect([9, 10, 14, 15, 19, 20, 29, 30].map((atMs) => limitsAt(base, list, atMs).cards)).toEqual(
      [cards(4), cards(9, 2), cards(9, 2), cards(13, 2), cards(13, 2), cards(6), cards(6), cards(4)].map(
        (each) => each.cards,
      ),
    );
    expect(limitsAt(base, list, 15)).toEqual({
      ...cards(13, 2),
      cpuCores: fraction(16),
      cardHours: { hours: fraction(110), period: { kind: "month", timeZone: "Europe/Berlin" } },
      gpuTypes: { a30: fraction(2) },
    });
    expect(limitsAt(base, list, 30)).toBe(base);
  });

  it("is the base plus the sum of what is active, at every instant and in every order", () => {
    fc.assert(
      fc.property(limits, grants, fc.nat(100), (stated, some, atMs) => {
        const expected = amountsOf(stated).map(([resource, limit]) => [
          resource,
          sum([limit, added(some, resource, atMs)]),
        ]);
        expect(amountsOf(limitsAt(stated, some, atMs))).toEqual(expected);
        expect(limitsAt(stated, some.toReversed(), atMs)).toEqual(limitsAt(stated, some, atMs));
      }),
    );
  });

  it("never takes anything away, and is the base again when all have ended", () => {
    fc.assert(
      fc.property(limits, grants, fc.nat(100), (stated, some, atMs) => {
        const now = new Map(amountsOf(limitsAt(stated, some, atMs)));
        for (const [resource, limit] of amountsOf(stated)) {
          expect(compare(now.get(resource) ?? zero, limit)).toBeGreaterThanOrEqual(0);
        }
        expect(limitsAt(stated, some, 1_000)).toEqual(stated);
      }),
    );
  });
});

describe("nextGrantChange", () => {
  it("leads through every beginning and end", () => {
    const list = [
      grant("a", cards(1), 10, 20),
      grant("b", cards(1), 15, 30),
      { ...grant("c", cards(1), 40, 50), endedMs: 35 },
    ];
    expect([0, 10, 14, 15, 20, 29, 30, 45].map((atMs) => nextGrantChange(list, atMs))).toEqual([
      10,
      15,
      15,
      20,
      30,
      30,
      null,
      null,
    ]);
  });

  it("leaves nothing out: between two of them no limit changes", () => {
    fc.assert(
      fc.property(limits, grants, fc.nat(100), (stated, some, atMs) => {
        const next = nextGrantChange(some, atMs) ?? 200;
        for (let instantMs = atMs; instantMs < next; instantMs += 1) {
          expect(limitsAt(stated, some, instantMs)).toEqual(limitsAt(stated, some, atMs));
        }
      }),
    );
  });

  it("names nothing at which nothing happens: a grant begins or ends there", () => {
    fc.assert(
      fc.property(grants, fc.nat(100), (some, atMs) => {
        const next = nextGrantChange(some, atMs);
        const states = (instantMs: number) => some.map((each) => grantState(each, instantMs));
        if (next === null) expect(states(1_000)).toEqual(states(atMs));
        else expect([next > atMs, states(next)]).not.toEqual([true, states(atMs)]);
      }),
    );
  });
});

describe("cutShort", () => {
  it("ends a grant at once, and one that has not begun for good", () => {
    const [active, coming] = [grant("a", cards(1), 10, 30), grant("b", cards(1), 25, 30)];
    const cut = [cutShort(active, 20), cutShort(coming, 20)];
    expect(cut.map(endOf)).toEqual([20, 20]);
    expect([19, 20, 26].map((atMs) => cut.map((each) => grantState(each, atMs)))).toEqual([
      ["active", "ended"],
      ["ended", "ended"],
      ["ended", "ended"],
    ]);
    expect(() => cutShort(active, 30)).toThrow(/already ended/);
    expect(() => cutShort(cutShort(active, 20), 21)).toThrow(AppError);
  });

  it("changes nothing before and everything after", () => {
    fc.assert(
      fc.property(limits, anyGrant, fc.nat(100), fc.nat(100), (stated, each, cutMs, atMs) => {
        fc.pre(grantState(each, cutMs) !== "ended");
        const cut = [cutShort(each, cutMs)];
        expect(limitsAt(stated, cut, atMs)).toEqual(atMs < cutMs ? limitsAt(stated, [each], atMs) : stated);
      }),
    );
  });
});

describe("checkGrant", () => {
  it.each<[string, Grant, string | null]>([
    ["a raise", grant("a", cards(1), 10, 20), null],
    ["card-hours alone", grant("a", { cardHours: fraction(1) }, 10, 20), null],
    ["one that began already", grant("a", cards(1), -5, 20), null],
    ["nothing", grant("a", {}, 10, 20), "adds nothing"],
    ["zero", grant("a", { ...cards(0), gpuTypes: {} }, 10, 20), "adds nothing"],
    ["no time", grant("a", cards(1), 10, 10), "before it begins"],
    ["backwards", grant("a", cards(1), 20, 10), "before it begins"],
    ["no number", grant("a", cards(1), Number.NaN, 10), "before it begins"],
    ["for ever", grant("a", cards(1), 0, Number.POSITIVE_INFINITY), "before it begins"],
    ["the past", grant("a", cards(1), -5, 0), "in the past"],
    ["the longest", grant("a", cards(1), 0, longestGrantMs), null],
    ["longer", grant("a", cards(1), 0, longestGrantMs + 1), "1971-01-02 is the latest day"],
  ])("%s", (_, each, refused) => {
    if (refused === null) expect(() => checkGrant(each, 0)).not.toThrow();
    else expect(() => checkGrant(each, 0)).toThrow(refused);
  });
});

describe("approvalOf", () => {
  const tree = buildQuotaTree([
    { id: "c", level: "cluster", parentId: null, limits: { memoryGiB: fraction(1_000) } },
    { id: "t1", level: "tenant", parentId: "c", limits: cards(8) },
    { id: "p1", level: "project", parentId: "t1", limits: cards(4) },
    { id: "ann", level: "person", parentId: "p1", limits: cards(2), usage: { ...cards(2), memoryGiB: fraction(900) } },
    { id: "bob", level: "person", parentId: "p1", limits: {}, usage: cards(1) },
  ]);
  const project = { resource: "cards", limit: fraction(4), nodeId: "p1", level: "project" };

  it("is the lead's where it fits what the tenant has left", () => {
    expect(approvalOf(tree, "p1", cards(4))).toEqual({ approver: "lead", beyond: [], stillBoundBy: [] });
    expect(approvalOf(tree, "p1", { cpuCores: fraction(500) })).toEqual({
      approver: "lead",
      beyond: [],
      stillBoundBy: [],
    });
  });

  it("is an administrator's where it does not, whichever level above is short", () => {
    expect(approvalOf(tree, "p1", { ...cards(11, 2), memoryGiB: fraction(101) })).toEqual({
      approver: "administrator",
      beyond: [
        {
          resource: "cards",
          limit: fraction(8),
          nodeId: "t1",
          level: "tenant",
          usage: fraction(3),
          headroom: fraction(5),
          raise: fraction(11, 2),
        },
        {
          resource: "memoryGiB",
          limit: fraction(1_000),
          nodeId: "c",
          level: "cluster",
          usage: fraction(900),
          headroom: fraction(100),
          raise: fraction(101),
        },
      ],
      stillBoundBy: [
        { resource: "cards", limit: fraction(8), nodeId: "t1", level: "tenant" },
        { resource: "memoryGiB", limit: fraction(1_000), nodeId: "c", level: "cluster" },
      ],
    });
  });

  it("is an administrator's for a tenant itself, however small", () => {
    expect([approvalOf(tree, "t1", cards(1)).approver, approvalOf(tree, "c", cards(1)).approver]).toEqual([
      "administrator",
      "administrator",
    ]);
  });

  it("says where the raise alone would not help", () => {
    expect(approvalOf(tree, "ann", cards(2)).stillBoundBy).toEqual([]);
    expect(approvalOf(tree, "ann", cards(3)).stillBoundBy).toEqual([project]);
    // Bob has no limit of his own: the project's binds before and after.
    expect(approvalOf(tree, "bob", cards(1)).stillBoundBy).toEqual([project]);
  });

  it("is the lead's exactly where no level from the tenant up would be exceeded by using all of it", () => {
    fc.assert(
      fc.property(quotaNodes, raise, fc.nat(20), (nodes, asked, index) => {
        const below = nodes.filter(({ level }) => level === "project" || level === "person");
        const node = below[index % Math.max(1, below.length)];
        fc.pre(node !== undefined);
        if (node === undefined) return;
        const built = buildQuotaTree(nodes);
        const tenantId = /^t\d+/.exec(node.id)?.[0] ?? "";
        const raised = nodes.map((each) => (each.id === "c" || each.id === tenantId ? each.limits : {}));
        const resources = raised.flatMap((each) => amountsOf(each).map(([resource]) => resource));
        const fits = resources.every((resource) => {
          const { cardHours, ...rest } = asked;
          const more = resource.startsWith("cardHours:") ? cardHours : new Map(amountsOf(rest)).get(resource);
          const left = headroomOf(built, tenantId, resource);
          return more === undefined || more.numerator === 0 || left === null || compare(more, left.headroom) <= 0;
        });
        expect(approvalOf(built, node.id, asked).approver).toBe(fits ? "lead" : "administrator");
      }),
    );
  });

  it("leaves the effective limit short of base plus raise exactly where it says so", () => {
    fc.assert(
      fc.property(quotaNodes, raise, fc.nat(20), (nodes, asked, index) => {
        const node = nodes[index % nodes.length];
        if (node === undefined) throw new Error("no node");
        const built = buildQuotaTree(nodes);
        const active = [grant("g", asked, 0, 10)];
        const wanted = limitsAt(node.limits, active, 5);
        const raisedTree = withLimits(built, [{ nodeId: node.id, limits: wanted }]);
        const told = new Set(approvalOf(built, node.id, asked).stillBoundBy.map(({ resource }) => resource));
        for (const [resource] of amountsOf(wanted)) {
          if (compare(added(active, resource, 5), zero) === 0) continue;
          expect(told.has(resource)).toBe(effectiveLimit(raisedTree, node.id, resource)?.nodeId !== node.id);
        }
      }),
    );
  });
});

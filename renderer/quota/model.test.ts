import { describe, expect, it } from "vitest";
import type { QuotaAnswer } from "../../shared/protocol/control.ts";
import { compare, fraction, headroomOf, limitedResources, multiply, usageOf } from "../../shared/quota/index.ts";
import { draftedTree, emptyDraft, withEdits } from "./draft.ts";
import { cellOf, modelOf, type RowQuery, rowsOf, situationIn, subjectsInOrder } from "./model.ts";
import { node, nowMs, smallAnswer } from "./testing/answers.ts";

const model = modelOf(smallAnswer, nowMs);
const plain: RowQuery = { expanded: new Set(), search: "", filter: "all", drafted: new Set() };
const idsOf = (query: Partial<RowQuery>, of = model): readonly string[] =>
  rowsOf(of, of.tree, { ...plain, ...query }).map(({ id }) => id);

describe("rows", () => {
  it("are the cluster alone until it is expanded, siblings by name", () => {
    expect(idsOf({})).toEqual(["cluster"]);
    expect(idsOf({ expanded: new Set(["cluster", "t0nxp"]) })).toEqual([
      "cluster",
      "t0nxp",
      "t0nxp_p01",
      "t0nxp_p02",
      "t0v1s",
    ]);
  });

  it("stay closed below a closed parent, even where a child is expanded", () => {
    expect(idsOf({ expanded: new Set(["t0nxp"]) })).toEqual(["cluster"]);
  });

  it("of a search open what leads to a match", () => {
    const rows = rowsOf(model, model.tree, { ...plain, search: " LEna " });
    expect(rows.map(({ id, isMatch, depth }) => [id, isMatch, depth])).toEqual([
      ["cluster", false, 0],
      ["t0nxp", false, 1],
      ["t0nxp_p01", false, 2],
      ["t0nxp_p01/1001", true, 3],
    ]);
  });

  it("are filtered by over-commitment, closeness to a limit and drafts", () => {
    expect(idsOf({ filter: "over-committed" })).toEqual(["cluster", "t0nxp"]);
    expect(idsOf({ filter: "near-limit" })).toEqual([]);
    expect(idsOf({ filter: "drafts", drafted: new Set(["t0v1s_p01"]) })).toEqual(["cluster", "t0v1s", "t0v1s_p01"]);
    const tight = draftedTree(
      model,
      withEdits(model, emptyDraft, [{ nodeId: "t0nxp_p01", limits: { cards: fraction(7) } }]),
    );
    expect(rowsOf(model, tight, { ...plain, filter: "near-limit" }).map(({ id }) => id)).toEqual([
      "cluster",
      "t0nxp",
      "t0nxp_p01",
      "t0nxp_p01/1001",
    ]);
  });
});

it("are near where the smallest headroom on the way up is within a tenth of its limit", () => {
  const answer: QuotaAnswer = {
    ...smallAnswer,
    nodes: [
      node("cluster", "cluster", null, "Cluster", { cards: fraction(40) }),
      node("t0nxp", "tenant", "cluster", "NLP", { cards: fraction(10), cpuCores: fraction(8) }),
      node("t0nxp_p01", "project", "t0nxp", "Chat", { cards: fraction(20) }),
      node("t0nxp_p01/1001", "person", "t0nxp_p01", "lena", {}, { cards: fraction(9), cpuCores: fraction(1) }),
      node("t0nxp_p02", "project", "t0nxp", "Search", { cards: fraction(1) }, { cpuCores: fraction(1) }),
      node("t0v1s", "tenant", "cluster", "Vision", {}, { cards: fraction(28), gpuMemoryGiB: fraction(9) }),
    ],
    allocations: [],
  };
  const wide = modelOf(answer, nowMs);
  const byDefinition = subjectsInOrder(wide).flatMap((id) => {
    const near = limitedResources(wide.tree, id).some((resource) => {
      const room = usageOf(wide.tree, id, resource).numerator > 0 ? headroomOf(wide.tree, id, resource) : null;
      return room !== null && compare(room.headroom, multiply(room.limit, fraction(1, 10))) <= 0;
    });
    return near ? [id] : [];
  });
  const matches = rowsOf(wide, wide.tree, { ...plain, filter: "near-limit" }).filter(({ isMatch }) => isMatch);
  expect(matches.map(({ id }) => id)).toEqual(byDefinition);
  expect(byDefinition).toEqual(["cluster", "t0nxp", "t0nxp_p01", "t0nxp_p01/1001", "t0v1s"]);
});

describe("a cell", () => {
  it("tells use, own limit and over-commitment", () => {
    expect(cellOf(model.tree, { cards: fraction(12) }, "t0nxp", "cards")).toEqual({
      resource: "cards",
      used: fraction(7),
      limit: fraction(12),
      raised: null,
      boundBy: null,
      overCommitted: {
        resource: "cards",
        nodeId: "t0nxp",
        level: "tenant",
        limit: fraction(12),
        childrenTotal: fraction(16),
        over: fraction(4),
        unlimitedChildren: 0,
      },
    });
  });

  it("names the level above that binds", () => {
    expect(cellOf(model.tree, {}, "t0nxp_p01/1001", "cards").boundBy).toEqual({
      resource: "cards",
      limit: fraction(8),
      nodeId: "t0nxp_p01",
      level: "project",
    });
  });

  it("has nothing to say of card-hours that nobody limits", () => {
    expect(cellOf(model.tree, {}, "t0nxp", "cardHours").resource).toBeNull();
  });

  it("tells what a grant adds while it counts", () => {
    const grant = {
      id: "g000001",
      requestId: "r000001",
      subject: "t0nxp_p01",
      raise: { cards: fraction(2) },
      until: "2026-05-05T08:00:00.000Z",
      state: "running",
      startedAt: "2026-05-04T07:00:00.000Z",
      endedAt: null,
      version: 1,
    } as const;
    const granted = { ...smallAnswer, grants: [grant] };
    const cellAt = (atMs: number) => {
      const { limit, raised } = cellOf(modelOf(granted, atMs).tree, { cards: fraction(8) }, "t0nxp_p01", "cards");
      return { limit, raised };
    };
    expect(cellAt(nowMs)).toEqual({ limit: fraction(10), raised: fraction(2) });
    expect(cellAt(Date.parse(grant.until))).toEqual({ limit: fraction(8), raised: null });
  });
});

it("works the situation out once, of the allocations that are charged to a node that is shown", () => {
  const first = situationIn(model);
  expect(situationIn(model)).toBe(first);
  expect(first.waiting.map(({ allocation }) => allocation.id)).toEqual(["43"]);
  const [waiting] = smallAnswer.allocations.slice(2);
  if (waiting === undefined) throw new Error("no allocation");
  const elsewhere = { ...waiting, id: "44", subject: null };
  const other = modelOf({ ...smallAnswer, allocations: [waiting, elsewhere] }, nowMs);
  expect(situationIn(other).waiting.map(({ allocation }) => allocation.id)).toEqual(["43"]);
});

import { expect, it } from "vitest";
import { fraction } from "../../shared/quota/index.ts";
import {
  conflictsOf,
  draftImpact,
  editsOf,
  emptyDraft,
  mayEdit,
  maySeeFigures,
  remainingAfter,
  resolveConflicts,
  wayBack,
  withEdits,
} from "./draft.ts";
import { modelOf } from "./model.ts";
import { lead, nowMs, smallAnswer } from "./testing/answers.ts";

const model = modelOf(smallAnswer, nowMs);
const edit = (nodeId: string, cards: number) => ({ nodeId, limits: { cards: fraction(cards) } });
const chatOfSix = withEdits(model, emptyDraft, [edit("t0nxp_p01", 6)]);

it("lets leads change projects and people of their tenants alone", () => {
  const subjects = ["cluster", "t0nxp", "t0nxp_p01", "t0nxp_p01/1001", "t0v1s_p01"];
  const allowed = (me: Parameters<typeof mayEdit>[0]) => subjects.filter((subject) => mayEdit(me, subject));
  expect(allowed(lead)).toEqual(["t0nxp_p01", "t0nxp_p01/1001"]);
  expect(allowed({ ...lead, role: "member", leads: [] })).toEqual([]);
  expect(allowed({ ...lead, role: "administrator", leads: [] })).toEqual(subjects);
});

it("asks for the limits with the version that they were drafted upon", () => {
  expect(editsOf(chatOfSix)).toEqual([{ subject: "t0nxp_p01", limits: { cards: fraction(6) }, basedOn: 1 }]);
});

it("drops an edit that gives back what stands", () => {
  expect(withEdits(model, chatOfSix, [edit("t0nxp_p01", 8)])).toEqual(emptyDraft);
});

it("tells what runs above a lowered limit", () => {
  const { overLimit, wouldStart } = draftImpact(model, chatOfSix);
  expect(overLimit.map(({ nodeId, over, runningAbove }) => ({ nodeId, over, runningAbove }))).toEqual([
    { nodeId: "t0nxp_p01", over: fraction(1), runningAbove: ["42"] },
  ]);
  expect(wouldStart).toEqual([]);
});

it("tells what would start under a raised limit", () => {
  expect(draftImpact(model, withEdits(model, emptyDraft, [edit("t0nxp_p01", 9)])).wouldStart).toEqual(["43"]);
});

it("finds what was changed meanwhile, also after another edit, and has two ways out", () => {
  const nodes = smallAnswer.nodes.map((node) =>
    node.id === "t0nxp_p01" ? { ...node, limits: { cards: fraction(10) }, version: 2 } : node,
  );
  const later = modelOf({ ...smallAnswer, nodes }, nowMs);
  const draft = withEdits(later, chatOfSix, [edit("t0nxp_p01", 5)]);
  expect(conflictsOf(model, chatOfSix)).toEqual([]);
  expect(conflictsOf(later, draft)).toEqual([
    { subject: "t0nxp_p01", mine: { cards: fraction(5) }, theirs: later.nodes.get("t0nxp_p01") },
  ]);
  const both = new Set(["t0nxp_p01"]);
  expect(resolveConflicts(later, draft, both, "theirs")).toEqual(emptyDraft);
  expect(editsOf(resolveConflicts(later, draft, both, "mine"))).toEqual([
    { subject: "t0nxp_p01", limits: { cards: fraction(5) }, basedOn: 2 },
  ]);
});

it("tells of what is gone, which can only leave the draft", () => {
  const nodes = smallAnswer.nodes.filter(({ id }) => id !== "t0v1s_p01");
  const later = modelOf({ ...smallAnswer, nodes }, nowMs);
  const draft = withEdits(model, emptyDraft, [edit("t0v1s_p01", 3)]);
  expect(conflictsOf(later, draft)).toEqual([{ subject: "t0v1s_p01", mine: { cards: fraction(3) }, theirs: null }]);
  expect(resolveConflicts(later, draft, new Set(["t0v1s_p01"]), "mine")).toEqual(emptyDraft);
});

it("keeps what failed, and takes back what was done", () => {
  const draft = withEdits(model, chatOfSix, [edit("t0v1s_p01", 3)]);
  const error = { code: "conflict", message: "It was changed meanwhile.", remedy: "Look at it again." } as const;
  const outcomes = [
    { subject: "t0nxp_p01", outcome: "done", version: 2 },
    { subject: "t0v1s_p01", outcome: "failed", error },
  ] as const;
  expect([...remainingAfter(draft, outcomes).keys()]).toEqual(["t0v1s_p01"]);
  expect(editsOf(wayBack(model, outcomes))).toEqual([
    { subject: "t0nxp_p01", limits: { cards: fraction(8) }, basedOn: 2 },
  ]);
});

it("keeps the cluster's figures for administrators", () => {
  expect([
    maySeeFigures(lead, "cluster"),
    maySeeFigures(lead, "t0nxp"),
    maySeeFigures({ ...lead, role: "administrator" }, "cluster"),
  ]).toEqual([false, true, true]);
});

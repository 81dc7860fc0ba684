import { describe, expect, it, test } from "vitest";
import { fraction, type Limits, type Period } from "../../shared/quota/index.ts";
import { emptyDraft, mayEdit, withEdits } from "./draft.ts";
import { bulkEdit, cellText, copySources, copyTenant, previewCsv, toCsv, writeCell, writeGpuType } from "./edits.ts";
import { modelOf } from "./model.ts";
import { lead, node, nowMs, smallAnswer } from "./testing/answers.ts";

const model = modelOf(smallAnswer, nowMs);
const month: Period = { kind: "month", timeZone: "Asia/Shanghai" };

describe("a cell", () => {
  it.each([
    ["8", fraction(8)],
    ["3.5", fraction(7, 2)],
    ["3/7", fraction(3, 7)],
    [" 1 2/7 ", fraction(9, 7)],
  ])("reads %j", (text, cards) => {
    expect(writeCell({ cpuCores: fraction(4) }, "cards", text, month)).toEqual({
      ok: true,
      limits: { cpuCores: fraction(4), cards },
    });
  });

  it("without text has no limit", () => {
    expect(writeCell({ cards: fraction(8) }, "cards", " ", month)).toEqual({ ok: true, limits: {} });
  });

  it.each([
    ["many", "cards", "not-a-number"],
    ["-1", "cards", "negative"],
    ["1.5", "cpuCores", "not-whole"],
    ["10 / fortnight", "cardHours", "unknown-period"],
    ["10 / month Nowhere/Town", "cardHours", "unknown-time-zone"],
  ] as const)("refuses %j for %s", (text, column, fault) => {
    expect(writeCell({}, column, text, month)).toEqual({ ok: false, fault });
  });

  it.each([
    ["1000 / month Europe/Berlin", { hours: fraction(1000), period: { kind: "month", timeZone: "Europe/Berlin" } }],
    ["1/2 / week", { hours: fraction(1, 2), period: { kind: "week", timeZone: "Asia/Shanghai" } }],
    ["1/2", { hours: fraction(1, 2), period: month }],
    ["20 / none", { hours: fraction(20), period: { kind: "none" } }],
  ])("reads card-hours %j, and writes them so that they are read back", (text, cardHours) => {
    const written = writeCell({}, "cardHours", text, month);
    expect(written).toEqual({ ok: true, limits: { cardHours } });
    const limits = { cardHours } as Limits;
    expect(writeCell({}, "cardHours", cellText(limits, "cardHours"), month)).toEqual({ ok: true, limits });
  });
});

describe("many rows", () => {
  const subjects = ["t0nxp_p01", "t0nxp_p02", "t0nxp_p01/1001"];

  it("multiply exactly; what has no limit keeps none", () => {
    const { edits, refused } = bulkEdit(model, emptyDraft, subjects, "cards", {
      kind: "multiply",
      amount: fraction(3, 7),
    });
    expect(edits).toEqual([
      { nodeId: "t0nxp_p01", limits: { cards: fraction(24, 7) } },
      { nodeId: "t0nxp_p02", limits: { cards: fraction(24, 7) } },
      { nodeId: "t0nxp_p01/1001", limits: {} },
    ]);
    expect(refused).toEqual([]);
  });

  it("go on from what is drafted, and refuse what would be below zero by row", () => {
    const draft = withEdits(model, emptyDraft, [{ nodeId: "t0nxp_p02", limits: { cards: fraction(2) } }]);
    expect(bulkEdit(model, draft, subjects.slice(0, 2), "cards", { kind: "add", amount: fraction(-3) })).toEqual({
      edits: [{ nodeId: "t0nxp_p01", limits: { cards: fraction(5) } }],
      refused: [{ subject: "t0nxp_p02", fault: "negative" }],
    });
  });

  it("are set and cleared", () => {
    const set = bulkEdit(model, emptyDraft, ["t0nxp_p01/1001"], "cards", { kind: "set", text: "1/7", period: month });
    expect(set.edits).toEqual([{ nodeId: "t0nxp_p01/1001", limits: { cards: fraction(1, 7) } }]);
    const clear = bulkEdit(model, emptyDraft, ["t0nxp_p01"], "cards", { kind: "clear" });
    expect(clear.edits).toEqual([{ nodeId: "t0nxp_p01", limits: {} }]);
  });
});

it("copies a tenant level by level, and names what has no namesake", () => {
  expect(copyTenant(model, emptyDraft, "t0v1s", "t0nxp")).toEqual({
    edits: [
      { nodeId: "t0nxp", limits: { cards: fraction(20) } },
      { nodeId: "t0nxp_p01", limits: { cards: fraction(4) } },
    ],
    unmatched: ["t0nxp_p01/1001", "t0nxp_p02"],
  });
});

describe("a file", () => {
  const all = [...model.nodes.keys()];
  const written = toCsv(model, emptyDraft, all);

  it("read back as it was written changes nothing", () => {
    expect(previewCsv(model, emptyDraft, written, () => true)).toEqual({ ok: true, edits: [], notAllowed: [] });
  });

  it("changes what the caller may, and names the rest", () => {
    const draft = withEdits(model, emptyDraft, [
      { nodeId: "t0nxp_p02", limits: { cards: fraction(3) } },
      { nodeId: "t0v1s_p01", limits: { cards: fraction(5) } },
    ]);
    expect(previewCsv(model, emptyDraft, toCsv(model, draft, all), (subject) => mayEdit(lead, subject))).toEqual({
      ok: true,
      edits: [{ nodeId: "t0nxp_p02", limits: { cards: fraction(3) } }],
      notAllowed: ["t0v1s_p01"],
    });
  });

  it("with a fault changes nothing and names the line", () => {
    const preview = previewCsv(model, emptyDraft, written.replace("t0v1s_p01", "t0v1s_p99"), () => true);
    expect(preview.ok ? [] : preview.errors.map(({ line, fault }) => ({ line, fault }))).toEqual([
      { line: 8, fault: "unknown-id" },
    ]);
  });
});

test("limits are taken from other tenants, by name, and from none without one", () => {
  const tenant = (id: string, name: string) => [id, node(id, "tenant", "cluster", name)] as const;
  const nodes = new Map([tenant("b", "team 10"), tenant("c", " \u200b"), tenant("a", "Team 9"), tenant("d", "alpha")]);
  expect(copySources({ nodes }).map(({ name }) => name)).toEqual(["alpha", "Team 9", "team 10"]);
});

describe("limits on GPU types", () => {
  const limits = { cards: fraction(8), gpuTypes: { h100: fraction(4) } };

  it("are set beside each other, and the last one taken away leaves none", () => {
    expect(writeGpuType(limits, "h100/3g.40gb", " 2 ")).toEqual({
      ok: true,
      limits: { cards: fraction(8), gpuTypes: { h100: fraction(4), "h100/3g.40gb": fraction(2) } },
    });
    expect(writeGpuType(limits, "h100", "")).toEqual({ ok: true, limits: { cards: fraction(8) } });
  });

  it("are counted in whole devices", () => {
    expect(writeGpuType(limits, "h100", "0.5")).toEqual({ ok: false, fault: "not-whole" });
    expect(writeGpuType(limits, "h100", "many")).toEqual({ ok: false, fault: "not-a-number" });
  });
});

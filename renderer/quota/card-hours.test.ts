import { expect, test } from "vitest";
import { fraction, type Period } from "../../shared/quota/index.ts";
import { partsOf, textOf, usualPeriod } from "./card-hours.ts";
import { emptyDraft, withEdits } from "./draft.ts";
import { cellText, writeCell } from "./edits.ts";
import { modelOf } from "./model.ts";
import { nowMs, smallAnswer } from "./testing/answers.ts";

const model = modelOf(smallAnswer, nowMs);
const week: Period = { kind: "week", timeZone: "Asia/Tokyo" };
const otherwise = { kind: "month", timeZone: "Europe/Berlin" } as const;

test.each([
  ["10000 / month Europe/Berlin", { hours: "10000", ...otherwise }],
  ["1/2 / week Asia/Tokyo", { hours: "1/2", ...week }],
  ["7 / quarter", { hours: "7", kind: "quarter", timeZone: "Europe/Berlin" }],
  ["1/2", { hours: "1/2", ...otherwise }],
  ["many", { hours: "many", ...otherwise }],
] as const)("%j is read as parts", (text, parts) => {
  expect(partsOf(text, otherwise)).toEqual(parts);
});

test.each([
  { hours: "10000", ...otherwise },
  { hours: "1/2", ...week },
  { hours: "5", kind: "none", timeZone: "Asia/Tokyo" },
] as const)("the text of %j is what the cell reads and shows again", (parts) => {
  const read = writeCell({}, "cardHours", textOf(parts), week);
  expect(read.ok ? partsOf(cellText(read.limits, "cardHours"), parts) : read).toEqual(parts);
});

test("no number is no limit", () => {
  expect(textOf({ hours: " ", ...otherwise })).toBe("");
});

test("a new limit has the period of the nearest above, else that of another in the cluster", () => {
  const draft = withEdits(model, emptyDraft, [
    { nodeId: "t0v1s", limits: { cardHours: { hours: fraction(9), period: { kind: "none" } } } },
    { nodeId: "t0nxp", limits: { cardHours: { hours: fraction(9), period: week } } },
  ]);
  expect(usualPeriod(model, draft, "t0nxp_p01/1001")).toEqual(week);
  expect(usualPeriod(model, draft, "t0v1s_p01")).toEqual({ kind: "none" });
  expect(usualPeriod(model, draft, "cluster")).toEqual(week);
  expect(usualPeriod(model, emptyDraft, "t0nxp").kind).toBe("month");
});

import { expect, test } from "vitest";
import { fraction, type Limits } from "../../shared/quota/index.ts";
import { formatIn } from "../i18n/format.ts";
import { textIn } from "../i18n/index.ts";
import { meanwhileLines } from "./meanwhile.ts";

const by = { by: "ada", at: "2026-05-04T08:00:00.000Z" };
const month = { kind: "month", timeZone: "Europe/Berlin" } as const;
const text = (limits: Limits) => JSON.stringify(limits);

test("limits are said by resource, with what differs only", () => {
  const before = text({ cards: fraction(24), cpuCores: fraction(8), gpuTypes: { h100: fraction(2) } });
  const after = text({
    cards: fraction(30),
    cpuCores: fraction(8),
    cardHours: { hours: fraction(100), period: month },
  });
  const lines = meanwhileLines(textIn("en"), formatIn("en"), [{ field: "limits", before, after, ...by }]);
  expect(lines.map((line) => [line.what, line.before, line.after])).toEqual([
    ["GPU cards", "24", "30"],
    ["Card-hours each month", "none", "100"],
    ["h100", "2", "none"],
  ]);
});

test("a name has its word, what identifies an object is no news, and what is not known stays as it is written", () => {
  const lines = meanwhileLines(textIn("en"), formatIn("en"), [
    { field: "displayName", before: '"recsys"', after: '"recsys-B"', ...by },
    { field: "subject", before: null, after: '"t0nxp"', ...by },
    { field: "limits", before: null, after: "not limits", ...by },
  ]);
  expect(lines).toEqual([
    { what: "Name", before: "recsys", after: "recsys-B", ...by },
    { what: "limits", before: "none", after: "not limits", ...by },
  ]);
});

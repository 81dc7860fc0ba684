import { expect, test } from "vitest";
import { formatIn } from "./format.ts";

test("a time says its day where that is not today, and its year where that is not this one", () => {
  const now = new Date(2026, 10, 9, 12).getTime();
  const at = (...time: [number, number, number, number, number]) => new Date(...time).toISOString();
  const times = [at(2026, 10, 9, 7, 29), at(2026, 11, 1, 7, 29), at(2126, 10, 9, 7, 29), at(2025, 11, 31, 7, 29)];
  expect(times.map((time) => formatIn("en").clock(time, now))).toEqual([
    "07:29",
    "Dec 1, 07:29",
    "Nov 9, 2126, 07:29",
    "Dec 31, 2025, 07:29",
  ]);
  expect(formatIn("zh-CN").clock(times[2] ?? "", now)).toContain("2126年");
});

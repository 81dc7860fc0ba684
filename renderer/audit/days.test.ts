import { expect, test } from "vitest";
import { beginningOf } from "./days.ts";

test("a day begins at midnight of this machine's clock, and the day after at the next", () => {
  expect(beginningOf("2026-05-31")).toBe(new Date(2026, 4, 31).toISOString());
  expect(beginningOf("2026-05-31", 1)).toBe(new Date(2026, 5, 1).toISOString());
  const none = ["", "2026-02-30", "2026-5-1", "yesterday"];
  expect(none.map((day) => beginningOf(day))).toEqual(none.map(() => null));
});

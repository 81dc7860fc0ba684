import { expect, test } from "vitest";
import { beginningOf, slurmSpan } from "./days.ts";

test("a day begins at midnight of this machine's clock, and the day after at the next", () => {
  expect(beginningOf("2026-05-31")).toBe(new Date(2026, 4, 31).toISOString());
  expect(beginningOf("2026-05-31", 1)).toBe(new Date(2026, 5, 1).toISOString());
  const none = ["", "2026-02-30", "2026-5-1", "yesterday"];
  expect(none.map((day) => beginningOf(day))).toEqual(none.map(() => null));
});

test("Slurm is asked for the UTC days that the chosen days touch, and for the last thirty where none are chosen", () => {
  const now = new Date("2026-12-03T06:00:00Z");
  expect(slurmSpan("", "", now)).toEqual({ kind: "recent", ask: { since: "2026-11-03" } });
  const { kind, ask } = slurmSpan("2026-05-06", "2026-05-07", now);
  expect(kind).toBe("chosen");
  const begins = new Date(2026, 4, 6).getTime();
  const ends = new Date(2026, 4, 8).getTime();
  expect(Date.parse(`${ask.since}T00:00:00Z`)).toBeLessThanOrEqual(begins);
  expect(Date.parse(`${ask.until}T00:00:00Z`) + 86_400_000).toBeGreaterThanOrEqual(ends);
  expect(Object.keys(slurmSpan("", "2026-05-07", now).ask)).toEqual(["until"]);
  expect(Object.keys(slurmSpan("2026-05-06", "", now).ask)).toEqual(["since"]);
});

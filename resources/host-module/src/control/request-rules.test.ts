import { expect, test } from "vitest";
import { fraction, type Limits } from "../../../../shared/quota/index.ts";
import { checkWhy, refuseMoreThanAsked } from "./request-rules.ts";

test("a decision grants at most what was asked, of each resource and in time", () => {
  const until = "2026-06-02T08:00:00.000Z";
  const asked = { amount: { cards: fraction(4), cpuCores: fraction(8) }, until };
  const decide =
    (amount: Limits, end = until) =>
    () =>
      refuseMoreThanAsked(asked, { amount, until: end });
  expect(decide(asked.amount)).not.toThrow();
  expect(decide({ cards: fraction(7, 2) }, "2026-06-01T08:00:00.000Z")).not.toThrow();
  for (const more of [{ cards: fraction(9) }, { cards: fraction(1), memoryGiB: fraction(1) }]) {
    expect(decide(more)).toThrow(
      expect.objectContaining({ code: "bad-request", remedy: expect.stringMatching(/limit itself/) }),
    );
  }
  expect(decide({ cards: fraction(4) }, "2026-06-02T08:00:00.001Z")).toThrow(/for longer/);
});

test("a reason says something that can be read, in as many lines as it takes", () => {
  expect(() => checkWhy("a deadline:\n\tthe paper\r\n截止")).not.toThrow();
  expect(() => checkWhy(" \n\t ")).toThrow(/does not say why/);
  for (const hidden of ["\u202Eno", "\u2066no", "\u2069no", "a\u0000b", "a\u001Bb"]) {
    expect(() => checkWhy(hidden)).toThrow(/control characters/);
  }
});

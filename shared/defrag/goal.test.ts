import { expect, test } from "vitest";
import { goalText, parseGoal } from "./goal.ts";

test.each([
  ["free-gpus", { kind: "free-gpus", count: null }],
  ["free-gpus:12", { kind: "free-gpus", count: 12 }],
  ["price:2.5", { kind: "price", price: 2.5 }],
  ["hosts", { kind: "hosts" }],
  [
    "fit@host:1x7g.80gb,2x1g.10gb+me",
    {
      kind: "fit",
      scope: "host",
      profiles: [
        { profile: "7g.80gb", count: 1 },
        { profile: "1g.10gb+me", count: 2 },
      ],
    },
  ],
] as const)("%s is read, and written back the same", (text, goal) => {
  expect(parseGoal(text)).toEqual(goal);
  expect(goalText(goal)).toBe(text);
});

test("a profile without a number is asked for once, and the same one twice adds up", () => {
  expect(parseGoal("fit:3g.40gb,2x3g.40gb")).toEqual({
    kind: "fit",
    scope: "anywhere",
    profiles: [{ profile: "3g.40gb", count: 3 }],
  });
});

test.each([
  "",
  "price",
  "price:-1",
  "price:x",
  "fit",
  "fit:",
  "fit:0x3g.40gb",
  "fit:big",
  "fit@rack:3g",
  "hosts:3",
  "more",
])("%j is no goal", (text) => {
  expect(() => parseGoal(text)).toThrow(expect.objectContaining({ code: "bad-request" }));
});

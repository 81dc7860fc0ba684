import { expect, test } from "vitest";
import { differencesOf } from "./differences.ts";

test("only the fields that differ, those of before first", () => {
  const before = JSON.stringify({ displayName: "vision", limits: { cards: 4, cpuCores: 8 }, people: [1, 2] });
  const after = JSON.stringify({ displayName: "vision", limits: { cards: 6, memoryGiB: 64 }, people: [2, 1] });
  expect(differencesOf(before, after)).toEqual([
    { field: "limits.cards", before: "4", after: "6" },
    { field: "limits.cpuCores", before: "8", after: null },
    { field: "people", before: "[1,2]", after: "[2,1]" },
    { field: "limits.memoryGiB", before: null, after: "64" },
  ]);
});

test("what came or went is told whole; text that is no JSON stays as it is", () => {
  expect(differencesOf(null, '{"uid":12001}')).toEqual([{ field: "uid", before: null, after: "12001" }]);
  expect(differencesOf('{"uid":12001}', null)).toEqual([{ field: "uid", before: "12001", after: null }]);
  expect(differencesOf("not {", "not }")).toEqual([{ field: "", before: "not {", after: "not }" }]);
  expect(differencesOf(null, null)).toEqual([]);
});

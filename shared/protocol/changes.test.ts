import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { changesBetween, type Json, withChanges } from "./changes.ts";

const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as Json);

describe("changes", () => {
  test("lead from any value to any other", () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        expect(withChanges(before, changesBetween(before, after))).toEqual(after);
      }),
    );
  });

  test("name only the field that changed", () => {
    const before = { gpus: [{ temperatureCelsius: 61, name: "H100" }], unread: [] };
    const after = { gpus: [{ temperatureCelsius: 62, name: "H100" }], unread: [] };
    expect(changesBetween(before, after)).toEqual([{ path: ["gpus", 0, "temperatureCelsius"], value: 62 }]);
  });

  test("are empty between equal values", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(changesBetween(value, structuredClone(value))).toEqual([]);
      }),
    );
  });

  test("refuse a path that leads nowhere", () => {
    expect(() => withChanges({ a: [] }, [{ path: ["a", 3], value: 1 }])).toThrow(RangeError);
  });
});

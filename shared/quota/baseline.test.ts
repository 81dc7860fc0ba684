import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { countedMinutes, fadedMinutes, isFadedApart, isSetBack } from "./baseline.ts";

const daySeconds = 86_400;
const days = (count: number) => count * daySeconds * 1000;

describe("what is left of a baseline", () => {
  it.each([
    ["at once", 0, 7, 1000],
    ["before it was taken", -3, 7, 1000],
    ["after a half-life", 7, 7, 500],
    ["after two", 14, 7, 250],
    ["after half of one", 3.5, 7, 1000 / Math.SQRT2],
  ])("%s", (_, after, halfLife, left) => {
    const faded = fadedMinutes({ minutes: 1000, takenAtMs: days(100) }, days(100 + after), halfLife * daySeconds);
    expect(faded).toBeCloseTo(left, 9);
  });

  it.each([null, 0])("is all of it where use does not fade (half-life %s)", (halfLife) => {
    expect(fadedMinutes({ minutes: 1000, takenAtMs: 0 }, days(1000), halfLife)).toBe(1000);
  });

  it("loses a thousandth in a month with the half-life that is asked for", () => {
    const left = fadedMinutes({ minutes: 1_000_000, takenAtMs: 0 }, days(30), 18_250 * daySeconds);
    expect(Math.round(1_000_000 - left)).toBe(1139);
  });

  test("fading in two steps is fading in one", () => {
    const minutes = fc.integer({ min: 0, max: 1_000_000_000 });
    const span = fc.integer({ min: 0, max: 1_000_000_000_000 });
    fc.assert(
      fc.property(minutes, span, span, fc.integer({ min: 3600, max: 1_576_800_000 }), (some, first, second, half) => {
        const once = fadedMinutes({ minutes: some, takenAtMs: 0 }, first + second, half);
        const between = fadedMinutes({ minutes: some, takenAtMs: 0 }, first, half);
        const twice = fadedMinutes({ minutes: between, takenAtMs: first }, first + second, half);
        expect(Math.abs(once - twice)).toBeLessThanOrEqual(1e-9 * Math.max(1, some));
      }),
    );
  });
});

test("what counts is what came on top, and never less than nothing", () => {
  expect([countedMinutes(70, 50), countedMinutes(50, 50), countedMinutes(49, 50)]).toEqual([20, 0, 0]);
});

test("a counter that was set back is known by standing below its baseline, by more than it may be off", () => {
  expect([isSetBack(0, 3), isSetBack(0, 1000), isSetBack(900, 1000)]).toEqual([true, true, true]);
  expect([isSetBack(0, 0), isSetBack(0, 1), isSetBack(999, 1000), isSetBack(1000, 1000)]).toEqual(Array(4).fill(false));
});

test("a limit is written anew once it is a minute off, and not twice a day", () => {
  const at = (written: number, left: number, after: number) => isFadedApart(written, left, days(1), days(1 + after));
  expect([at(1000, 998.6, 1), at(1000, 990, 5), at(990, 998, 1)]).toEqual([true, true, true]);
  expect([at(1000, 999.6, 5), at(1000, 990, 0.9), at(1000, 1000, 5)]).toEqual([false, false, false]);
});

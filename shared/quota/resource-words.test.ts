import { expect, test } from "vitest";
import { fraction } from "./fraction.ts";
import { describeAmount, describeResource } from "./resource-words.ts";

test("resources in words", () => {
  expect(["cards", "cardHours:month:Europe/Berlin", "gpuType:h100/3g.40gb", "else"].map(describeResource)).toEqual([
    "cards",
    "card-hours",
    "GPUs of type h100/3g.40gb",
    "else",
  ]);
});

test("a fraction that people use stays one; another is rounded to the side that hides nothing", () => {
  expect(describeAmount(fraction(9, 7), "down")).toBe("1 2/7");
  expect(describeAmount(fraction(1, 56), "down")).toBe("1/56");
  expect(describeAmount(fraction(1001, 3600), "down")).toBe("0.27");
  expect(describeAmount(fraction(1001, 3600), "up")).toBe("0.28");
});

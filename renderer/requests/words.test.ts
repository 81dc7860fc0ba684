import { expect, test } from "vitest";
import { fraction } from "../../shared/quota/index.ts";
import { textIn } from "../i18n/index.ts";
import { amountWords, grantedWords, numberWords, raiseTitle, raiseWords } from "./words.ts";

const t = textIn("en");

test("a number is exact where it is asked for, and in the title the decimal that the table of quotas has", () => {
  const amount = fraction(75, 14);
  expect([numberWords("cards", amount), numberWords("cards", amount, "up")]).toEqual(["5 5/14", "5.36"]);
  expect(numberWords("cards", amount, "down")).toBe("5.35");
  expect(raiseWords(t, { cards: amount })).toBe("5 5/14 more cards");
  expect(raiseTitle(t, { cards: amount })).toBe("5 5/14 more cards\n5.35 more cards");
  expect(raiseTitle(t, { cards: fraction(6) })).toBe("6 more cards");
});

test("one is one", () => {
  expect([1, 2].map((cards) => raiseWords(t, { cards: fraction(cards) }))).toEqual(["1 more card", "2 more cards"]);
  expect(amountWords(t, "cards", fraction(1))).toBe("1 card");
  expect(amountWords(t, "cards", fraction(1, 2))).toBe("1/2 cards");
  expect(amountWords(t, "cpuCores", fraction(1))).toBe("1 CPU core");
  expect(amountWords(textIn("zh-CN"), "cards", fraction(1))).toBe("1 卡");
});

test("what was granted is said of what was asked for, and what was left out is none", () => {
  const asked = { cards: fraction(4), cpuCores: fraction(8) };
  expect(grantedWords(t, asked, { cards: fraction(2) })).toBe("2 of 4 cards, 0 of 8 CPU cores");
});

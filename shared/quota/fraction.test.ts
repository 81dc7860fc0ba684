import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AppError } from "../errors.ts";
import {
  add,
  compare,
  type Fraction,
  fraction,
  isEqual,
  isFraction,
  leastCommonMultiple,
  max,
  min,
  multiply,
  negate,
  parseFraction,
  type Rounding,
  subtract,
  sum,
  toDecimal,
  toWords,
  zero,
} from "./fraction.ts";

/** Numbers as quotas have them: three of their denominators multiplied stay a safe integer. */
const small = fc
  .tuple(fc.integer({ min: -1_000_000, max: 1_000_000 }), fc.integer({ min: 1, max: 1_000 }))
  .map(([numerator, denominator]) => fraction(numerator, denominator));

/** Any that can be held. */
const any = fc
  .tuple(fc.maxSafeInteger(), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }))
  .map(([numerator, denominator]) => fraction(numerator, denominator));

/** `a/b` with big integers: the definition that the quick way has to agree with. */
const exact = (number: Fraction) => [BigInt(number.numerator), BigInt(number.denominator)] as const;
const isSame = (number: Fraction, over: bigint, under: bigint) =>
  BigInt(number.numerator) * under === over * BigInt(number.denominator);

function valueOrOverflow(calculate: () => Fraction): Fraction | "overflow" {
  try {
    return calculate();
  } catch (error) {
    if (error instanceof AppError && error.code === "bad-request") return "overflow";
    throw error;
  }
}

/** Whether a rational fits into safe integers when normalised. */
function fits(over: bigint, under: bigint): boolean {
  let [high, low] = [over < 0n ? -over : over, under];
  while (low !== 0n) [high, low] = [low, high % low];
  const limit = BigInt(Number.MAX_SAFE_INTEGER);
  return (over < 0n ? -over : over) / high <= limit && under / high <= limit;
}

describe("fraction", () => {
  it.each([
    [6, 8, { numerator: 3, denominator: 4 }],
    [3, -7, { numerator: -3, denominator: 7 }],
    [-4, -2, { numerator: 2, denominator: 1 }],
    [0, 9, { numerator: 0, denominator: 1 }],
    [-0, 1, { numerator: 0, denominator: 1 }],
    [0, -5, { numerator: 0, denominator: 1 }],
  ])("%d/%d is normalised", (numerator, denominator, expected) => {
    expect(fraction(numerator, denominator)).toStrictEqual(expected);
  });

  it.each([
    [1, 0],
    [0.5, 1],
    [1, Number.NaN],
    [Number.MAX_SAFE_INTEGER + 1, 1],
    [1, Number.POSITIVE_INFINITY],
  ])("%d/%d is refused", (numerator, denominator) => {
    expect(valueOrOverflow(() => fraction(numerator, denominator))).toBe("overflow");
  });

  it("is always recognised as one, and data that is not normalised never is", () => {
    fc.assert(fc.property(any, (number) => isFraction(number)));
    const others: unknown[] = [
      null,
      1,
      "1/2",
      {},
      { numerator: 1 },
      { numerator: 2, denominator: 4 },
      { numerator: 1, denominator: 0 },
      { numerator: 1, denominator: -2 },
      { numerator: 0, denominator: 2 },
      { numerator: -0, denominator: 1 },
      { numerator: 0.5, denominator: 1 },
      { numerator: "1", denominator: 2 },
      { numerator: 2 ** 53, denominator: 1 },
    ];
    expect(others.filter(isFraction)).toEqual([]);
  });
});

describe("parseFraction", () => {
  it.each([
    ["3", "3"],
    ["0", "0"],
    ["-0", "0"],
    ["0.5", "1/2"],
    [".125", "1/8"],
    ["007.50", "7 1/2"],
    ["3/7", "3/7"],
    ["6/14", "3/7"],
    ["1 2/7", "1 2/7"],
    ["0 3/7", "3/7"],
    [" 1  2 / 7 ", "1 2/7"],
    ["-1 2/7", "-1 2/7"],
    ["14/7", "2"],
    ["9007199254740991", "9007199254740991"],
    ["0.00000000000000000000", "0"],
    ["18014398509481982/2", "9007199254740991"],
  ])("%j is %s", (text, words) => {
    const number = parseFraction(text);
    expect(number === null ? null : toWords(number)).toBe(words);
  });

  it.each([
    "",
    " ",
    "-",
    ".",
    "3.",
    "1/0",
    "0/0",
    "1/2/3",
    "1 2",
    "1.5/2",
    "1/2.5",
    "1e3",
    "0x10",
    "1,5",
    "1_000",
    "+3",
    "--3",
    "1 -2/7",
    "NaN",
    "Infinity",
    "3 cards",
    "03-Jul",
    "٣",
    "9007199254740992",
    "1/9007199254740993",
    "0.0000000000000000000000000000000000000000001",
    "1".repeat(1_000_000),
  ])("%.40j is none", (text) => {
    expect(parseFraction(text)).toBeNull();
  });

  it("reads back what toWords wrote", () => {
    fc.assert(
      fc.property(any, (number) => {
        expect(parseFraction(toWords(number))).toStrictEqual(number);
      }),
    );
  });

  it("reads the same from a decimal and from its fraction", () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.integer({ min: 1, max: 6 }), fc.nat(999_999), (whole, places, digits) => {
        const decimals = (digits % 10 ** places).toString().padStart(places, "0");
        expect(parseFraction(`${whole}.${decimals}`)).toStrictEqual(
          add(fraction(whole), fraction(Number(decimals), 10 ** places)),
        );
      }),
    );
  });

  it("never throws, whatever the text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[-\d ./]{0,44}$/)), (text) => {
        const number = parseFraction(text);
        return number === null || isFraction(number);
      }),
    );
  });
});

describe("calculating", () => {
  it("follows the laws of a field where nothing overflows", () => {
    fc.assert(
      fc.property(small, small, small, (a, b, c) => {
        expect(add(a, b)).toStrictEqual(add(b, a));
        expect(add(add(a, b), c)).toStrictEqual(add(a, add(b, c)));
        expect(add(a, zero)).toStrictEqual(a);
        expect(subtract(a, a)).toStrictEqual(zero);
        expect(subtract(add(a, b), b)).toStrictEqual(a);
        expect(multiply(a, add(b, c))).toStrictEqual(add(multiply(a, b), multiply(a, c)));
        expect(sum([a, b, c])).toStrictEqual(add(a, add(b, c)));
      }),
    );
  });

  it("gives the exact result, or refuses exactly where it cannot be held; never rounds", () => {
    fc.assert(
      fc.property(fc.oneof(small, any), fc.oneof(small, any), (a, b) => {
        const [[an, ad], [bn, bd]] = [exact(a), exact(b)];
        const cases = [
          [() => add(a, b), an * bd + bn * ad, ad * bd],
          [() => subtract(a, b), an * bd - bn * ad, ad * bd],
          [() => multiply(a, b), an * bn, ad * bd],
        ] as const;
        for (const [calculate, over, under] of cases) {
          const result = valueOrOverflow(calculate);
          if (result === "overflow") expect(fits(over, under)).toBe(false);
          else expect([isFraction(result), isSame(result, over, under)]).toEqual([true, true]);
        }
      }),
    );
  });

  it("goes through numbers that are no safe integers where the result is one", () => {
    const third = fraction(3_000_000_000_000_001, 3_000_000_000_000_000);
    expect(subtract(third, fraction(1, 3_000_000_000_000_000))).toStrictEqual(fraction(1));
    expect(valueOrOverflow(() => add(fraction(Number.MAX_SAFE_INTEGER), fraction(1)))).toBe("overflow");
    expect(valueOrOverflow(() => fraction(leastCommonMultiple(Number.MAX_SAFE_INTEGER, 2)))).toBe("overflow");
  });

  it("has no negative zero", () => {
    expect([negate(zero), subtract(zero, zero), multiply(zero, fraction(-1))]).toStrictEqual([zero, zero, zero]);
  });
});

describe("comparing", () => {
  it("is the order of the rational numbers, for any that can be held", () => {
    fc.assert(
      fc.property(any, any, (a, b) => {
        const [[an, ad], [bn, bd]] = [exact(a), exact(b)];
        const difference = an * bd - bn * ad;
        expect(compare(a, b)).toBe(difference < 0n ? -1 : difference > 0n ? 1 : 0);
        expect(isEqual(a, b)).toBe(difference === 0n);
        expect([max(a, b), min(a, b)]).toStrictEqual(difference < 0n ? [b, a] : [a, b]);
      }),
    );
  });

  it("tells neighbours apart that floating point does not", () => {
    const large = Number.MAX_SAFE_INTEGER;
    expect(compare(fraction(large - 1, large), fraction(large - 2, large - 1))).toBe(1);
  });
});

describe("toDecimal", () => {
  it.each<[string, number, Rounding, string, boolean]>([
    ["3", 2, "nearest", "3", true],
    ["1/2", 2, "nearest", "0.5", true],
    ["1/2", 0, "nearest", "1", false],
    ["1/2", 0, "down", "0", false],
    ["-1/2", 0, "nearest", "-1", false],
    ["-1/2", 0, "down", "0", false],
    ["3/7", 2, "nearest", "0.43", false],
    ["3/7", 2, "down", "0.42", false],
    ["3/7", 2, "up", "0.43", false],
    ["1 2/7", 3, "up", "1.286", false],
    ["-1 2/7", 2, "up", "-1.29", false],
    ["-1 2/7", 2, "down", "-1.28", false],
    ["100", 2, "up", "100", true],
    ["999/1000", 2, "nearest", "1", false],
    ["0", 2, "up", "0", true],
  ])("%s with %d places, %s, is %s", (text, places, rounding, expected, isExact) => {
    expect(toDecimal(parseFraction(text) ?? zero, places, rounding)).toEqual({ text: expected, exact: isExact });
  });

  it("rounds by less than one in the last place, in the stated direction, and says when it did not round", () => {
    fc.assert(
      fc.property(small, fc.nat(6), fc.constantFrom<Rounding>("nearest", "down", "up"), (number, places, rounding) => {
        const { text, exact: isExact } = toDecimal(number, places, rounding);
        const shown = parseFraction(text);
        if (shown === null) throw new Error(text);
        const size = (value: Fraction) => fraction(Math.abs(value.numerator), value.denominator);
        const error = subtract(size(shown), size(number));
        const step = fraction(1, 10 ** places);
        expect(isExact).toBe(isEqual(shown, number));
        const bound = rounding === "nearest" ? multiply(step, fraction(1, 2)) : step;
        expect(compare(size(error), bound)).toBeLessThanOrEqual(rounding === "nearest" ? 0 : -1);
        if (rounding === "down") expect(compare(error, zero)).toBeLessThanOrEqual(0);
        if (rounding === "up") expect(compare(error, zero)).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

import { AppError } from "../errors.ts";

/**
 * An exact rational number, as plain data. Always normalised: the denominator is above zero and shares no factor with the
 * numerator, both are safe integers, zero is 0/1. Make one with `fraction` or `parseFraction`, never by hand.
 */
export interface Fraction {
  readonly numerator: number;
  readonly denominator: number;
}

export const zero: Fraction = { numerator: 0, denominator: 1 };
export const one: Fraction = { numerator: 1, denominator: 1 };

function tooLarge(): AppError {
  return new AppError({
    code: "bad-request",
    message: "A number is too large or too finely divided to be calculated exactly.",
    remedy: "Use smaller numbers, or fractions with a smaller denominator.",
  });
}

/** Greatest common divisor of two integers, not negative. */
export function greatestCommonDivisor(a: number, b: number): number {
  let [high, low] = [Math.abs(a), Math.abs(b)];
  while (low !== 0) [high, low] = [low, high % low];
  return high;
}

/** Least common multiple of two integers above zero. Throws AppError `bad-request` where it is no safe integer. */
export function leastCommonMultiple(a: number, b: number): number {
  const multiple = (a / greatestCommonDivisor(a, b)) * b;
  if (!Number.isSafeInteger(multiple)) throw tooLarge();
  return multiple;
}

/** The way through big integers, for what does not fit into safe ones on the way but may in the end. */
function fromBig(numerator: bigint, denominator: bigint): Fraction {
  let [high, low] = [numerator < 0n ? -numerator : numerator, denominator];
  while (low !== 0n) [high, low] = [low, high % low];
  const parts = { numerator: Number(numerator / high), denominator: Number(denominator / high) };
  // Number() rounds, and every integer that is not safe rounds to one that is not safe either.
  if (!Number.isSafeInteger(parts.numerator) || !Number.isSafeInteger(parts.denominator)) throw tooLarge();
  return parts;
}

/**
 * `numerator / denominator`, normalised. Both must be safe integers and the denominator not zero, else AppError `bad-request`.
 */
export function fraction(numerator: number, denominator = 1): Fraction {
  if (!Number.isSafeInteger(numerator) || !Number.isSafeInteger(denominator)) throw tooLarge();
  if (denominator === 0) {
    throw new AppError({
      code: "bad-request",
      message: "A fraction has the denominator 0.",
      remedy: "Write a denominator above 0.",
    });
  }
  // Adding 0 turns -0 into 0.
  if (denominator === 1) return { numerator: numerator + 0, denominator };
  const divisor =
    denominator < 0 ? -greatestCommonDivisor(numerator, denominator) : greatestCommonDivisor(numerator, denominator);
  return { numerator: numerator / divisor + 0, denominator: denominator / divisor };
}

/** Whether unknown data is a normalised fraction. */
export function isFraction(value: unknown): value is Fraction {
  if (typeof value !== "object" || value === null) return false;
  if (!("numerator" in value) || !("denominator" in value)) return false;
  const { numerator, denominator } = value;
  return (
    typeof numerator === "number" &&
    typeof denominator === "number" &&
    Number.isSafeInteger(numerator) &&
    Number.isSafeInteger(denominator) &&
    !Object.is(numerator, -0) &&
    denominator > 0 &&
    greatestCommonDivisor(numerator, denominator) === 1
  );
}

const written = /^(-)?(?:(\d+)(?:\.(\d+))?|\.(\d+)|(?:(\d+)\s+)?(\d+)\s*\/\s*(\d+))$/;

/**
 * Reads `3`, `0.5`, `.5`, `3/7` and `1 2/7`, each with a minus sign before it if need be; exact, whatever the number of digits.
 * Null where the text is none of these, has the denominator 0, or would need more than safe integers. More than 40
 * characters are never read.
 */
export function parseFraction(text: string): Fraction | null {
  const trimmed = text.trim();
  const match = trimmed.length > 40 ? null : written.exec(trimmed);
  if (match === null) return null;
  const [, sign, integer, decimals, bareDecimals, whole, over, under] = match;
  const places = decimals ?? bareDecimals ?? "";
  const denominator = under === undefined ? 10n ** BigInt(places.length) : BigInt(under);
  if (denominator === 0n) return null;
  const magnitude =
    over === undefined ? BigInt(`${integer ?? ""}${places}`) : BigInt(whole ?? "0") * denominator + BigInt(over);
  try {
    return fromBig(sign === undefined ? magnitude : -magnitude, denominator);
  } catch {
    return null;
  }
}

/** Below zero, zero or above zero, as `toSorted` wants it. Never overflows. */
export function compare(a: Fraction, b: Fraction): number {
  if (a.denominator === b.denominator) return Math.sign(a.numerator - b.numerator);
  const left = a.numerator * b.denominator;
  const right = b.numerator * a.denominator;
  if (Number.isSafeInteger(left) && Number.isSafeInteger(right)) return Math.sign(left - right);
  const [exactLeft, exactRight] = [
    BigInt(a.numerator) * BigInt(b.denominator),
    BigInt(b.numerator) * BigInt(a.denominator),
  ];
  return exactLeft < exactRight ? -1 : exactLeft > exactRight ? 1 : 0;
}

/** Whether both are the same number. */
export function isEqual(a: Fraction, b: Fraction): boolean {
  return a.numerator === b.numerator && a.denominator === b.denominator;
}

/** The sum. Throws AppError `bad-request` where it cannot be held exactly. */
export function add(a: Fraction, b: Fraction): Fraction {
  const isAlike = a.denominator === b.denominator;
  const left = isAlike ? a.numerator : a.numerator * b.denominator;
  const right = isAlike ? b.numerator : b.numerator * a.denominator;
  const under = isAlike ? a.denominator : a.denominator * b.denominator;
  const over = left + right;
  const isSafe = Number.isSafeInteger(left) && Number.isSafeInteger(right);
  if (isSafe && Number.isSafeInteger(over) && Number.isSafeInteger(under)) return fraction(over, under);
  return fromBig(
    BigInt(a.numerator) * BigInt(b.denominator) + BigInt(b.numerator) * BigInt(a.denominator),
    BigInt(a.denominator) * BigInt(b.denominator),
  );
}

/** The same number with the other sign. */
export function negate(a: Fraction): Fraction {
  return { numerator: 0 - a.numerator, denominator: a.denominator };
}

/** `a - b`, below zero where `b` is larger. Throws AppError `bad-request` where it cannot be held exactly. */
export function subtract(a: Fraction, b: Fraction): Fraction {
  return add(a, negate(b));
}

/** The product. Throws AppError `bad-request` where it cannot be held exactly. */
export function multiply(a: Fraction, b: Fraction): Fraction {
  const over = a.numerator * b.numerator;
  const under = a.denominator * b.denominator;
  if (Number.isSafeInteger(over) && Number.isSafeInteger(under)) return fraction(over, under);
  return fromBig(BigInt(a.numerator) * BigInt(b.numerator), BigInt(a.denominator) * BigInt(b.denominator));
}

/** The sum of all, zero of none. Throws AppError `bad-request` where it cannot be held exactly. */
export function sum(numbers: Iterable<Fraction>): Fraction {
  let total = zero;
  for (const number of numbers) total = add(total, number);
  return total;
}

/** The larger of two. */
export function max(a: Fraction, b: Fraction): Fraction {
  return compare(a, b) < 0 ? b : a;
}

/** The smaller of two. */
export function min(a: Fraction, b: Fraction): Fraction {
  return compare(a, b) > 0 ? b : a;
}

/** `3`, `3/7`, `1 2/7`, `-1 2/7`: what `parseFraction` reads back as the same number. */
export function toWords(number: Fraction): string {
  const { denominator } = number;
  const magnitude = Math.abs(number.numerator);
  const sign = number.numerator < 0 ? "-" : "";
  const rest = magnitude % denominator;
  const whole = (magnitude - rest) / denominator;
  if (rest === 0) return `${sign}${whole}`;
  return whole === 0 ? `${sign}${rest}/${denominator}` : `${sign}${whole} ${rest}/${denominator}`;
}

/** `down` is towards zero, `up` away from it, `nearest` takes a half away from zero. */
export type Rounding = "nearest" | "down" | "up";

/**
 * For display only: at most `places` decimals, zeros at the end left out, a point before them. `exact` says whether
 * nothing was rounded away. A limit is shown rounded down and a usage up, so that the two never look as if more were free.
 */
export function toDecimal(
  number: Fraction,
  places: number,
  rounding: Rounding,
): { readonly text: string; readonly exact: boolean } {
  const denominator = BigInt(number.denominator);
  const scaled = BigInt(Math.abs(number.numerator)) * 10n ** BigInt(places);
  const rest = scaled % denominator;
  const roundsUp = rounding === "up" ? rest > 0n : rounding === "nearest" && rest * 2n >= denominator;
  const digits = (scaled / denominator + (roundsUp ? 1n : 0n)).toString().padStart(places + 1, "0");
  const decimals = digits.slice(digits.length - places).replace(/0+$/, "");
  const whole = digits.slice(0, digits.length - places);
  const text = places === 0 || decimals === "" ? whole : `${whole}.${decimals}`;
  const sign = number.numerator < 0 && text !== "0" ? "-" : "";
  return { text: `${sign}${text}`, exact: rest === 0n };
}

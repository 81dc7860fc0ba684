/** Limits, usage and periods for properties. For tests only. */
import fc from "fast-check";
import { type Fraction, fraction } from "../fraction.ts";
import type { CardHours, Limits, Usage } from "../limits.ts";
import type { Period } from "../period.ts";

export const amount: fc.Arbitrary<Fraction> = fc
  .tuple(fc.nat(400), fc.constantFrom(1, 2, 4, 7, 8, 56, 100))
  .map(([numerator, denominator]) => fraction(numerator, denominator));
const whole = fc.nat(40).map((count) => fraction(count));
const memory = fc.nat(4_096).map((mebibytes) => fraction(mebibytes, 1024));

export const period: fc.Arbitrary<Period> = fc.constantFrom<Period>(
  { kind: "none" },
  { kind: "day", timeZone: "UTC" },
  { kind: "week", timeZone: "Europe/Berlin" },
  { kind: "month", timeZone: "Asia/Shanghai" },
  { kind: "quarter", timeZone: "UTC" },
);

export const gpuTypes = ["H100-SXM5-80GB", "H100-SXM5-80GB/3g.40gb", "a30", "constructor"] as const;

const simple = {
  cards: amount,
  gpuMemoryGiB: memory,
  cpuCores: whole,
  memoryGiB: memory,
  gpuTypes: fc.dictionary(fc.constantFrom(...gpuTypes), whole, { minKeys: 1, noNullPrototype: true }),
};

const cardHours: fc.Arbitrary<CardHours> = fc.record({ hours: amount, period });

export const limits: fc.Arbitrary<Limits> = fc.record({ ...simple, cardHours }, { requiredKeys: [] });

export const usage: fc.Arbitrary<Usage> = fc.record(
  {
    ...simple,
    cardHours: fc.uniqueArray(cardHours, { selector: (each) => JSON.stringify(each.period), maxLength: 5 }),
  },
  { requiredKeys: [] },
);

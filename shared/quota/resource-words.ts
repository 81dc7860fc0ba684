/** English words for what a sentence of the host says about an amount. */
import { type Fraction, type Rounding, toDecimal, toWords } from "./fraction.ts";
import { partsOfResource } from "./limits.ts";

const words = {
  cards: "cards",
  gpuMemoryGiB: "GiB of GPU memory",
  cpuCores: "CPU cores",
  memoryGiB: "GiB of memory",
  cardHours: "card-hours",
} as const;

/** What is counted, behind a number: `GiB of GPU memory`, `GPUs of type h100`. The resource as it is where it is none. */
export function describeResource(resource: string): string {
  const parts = partsOfResource(resource);
  if (parts === null) return resource;
  return parts.kind === "gpuType" ? `GPUs of type ${parts.gpuType}` : words[parts.kind];
}

/** Parts of cards are divided this finely at most. */
const readableDenominator = 56;

/** `1 2/7`; two decimals where the fraction says nothing to anybody, as sums of minutes do. */
export function describeAmount(amount: Fraction, rounding: Rounding): string {
  return amount.denominator <= readableDenominator ? toWords(amount) : toDecimal(amount, 2, rounding).text;
}

import { AppError } from "../errors.ts";
import type { GpuGeometry, GpuInstanceProfile } from "../mig/types.ts";
import { type Fraction, fraction, isEqual, leastCommonMultiple, max, multiply, one } from "./fraction.ts";

/**
 * How much of its card a GPU instance counts for: the larger of its part of the compute slices and its part of the memory
 * slices (the rule unless another is set), or one of the two alone.
 */
export type CardShareRule = "larger" | "compute" | "memory";

export const cardShareRules: readonly CardShareRule[] = ["larger", "compute", "memory"];
export const defaultCardShareRule: CardShareRule = "larger";

/** A share with what it rests on, so that every figure can say why it is what it is. */
export interface CardShare {
  readonly share: Fraction;
  /** The rule that was set. */
  readonly rule: CardShareRule;
  /**
   * Which part decided. `both` where they are equal; `compute` under every rule where the GPU counts no memory slices
   * (Thor shares the memory of its board); `whole-card` for an undivided card, and where neither part is known.
   */
  readonly basis: "compute" | "memory" | "both" | "whole-card";
  /** Part of the card's compute slices; null where unknown. */
  readonly compute: Fraction | null;
  /** Part of the card's memory slices; null where the GPU has none or the profile's are unknown. */
  readonly memory: Fraction | null;
}

/** The slices that a profile covers; attributes like `+me`, `-me` and `+gfx` do not change them. */
type Slices = Pick<GpuInstanceProfile, "computeSlices" | "memorySlices">;
type CardSlices = Pick<GpuGeometry, "computeSlices" | "memorySlices">;

function partOf(slices: number, all: number): Fraction | null {
  return slices > 0 && all > 0 ? fraction(slices, all) : null;
}

/** The share of a card that is not divided: always 1, under every rule. */
export function wholeCardShare(rule: CardShareRule = defaultCardShareRule): CardShare {
  return { share: one, rule, basis: "whole-card", compute: one, memory: one };
}

/**
 * The share of a GPU instance on its card, `max(3/7, 4/8) = 1/2` for `3g.40gb` of an H100 under the rule `larger`. Slices are
 * those of `-lgip` and `-lgipp`. A part that is unknown leaves the decision to the other; where both are, the instance
 * counts as the whole card, so that nothing unknown passes under a limit.
 */
export function cardShareOf(card: CardSlices, profile: Slices, rule: CardShareRule = defaultCardShareRule): CardShare {
  const compute = partOf(profile.computeSlices, card.computeSlices);
  const memory = partOf(profile.memorySlices, card.memorySlices);
  const figure = (share: Fraction, basis: CardShare["basis"]): CardShare => ({ share, rule, basis, compute, memory });
  if (compute === null) return memory === null ? figure(one, "whole-card") : figure(memory, "memory");
  if (memory === null) return figure(compute, "compute");
  if (isEqual(compute, memory)) return figure(compute, "both");
  if (rule === "compute") return figure(compute, "compute");
  if (rule === "memory") return figure(memory, "memory");
  const share = max(compute, memory);
  return figure(share, isEqual(share, compute) ? "compute" : "memory");
}

function partsUnder(card: GpuGeometry, profile: GpuInstanceProfile, rule: CardShareRule | null): readonly Fraction[] {
  const rules = rule === null ? cardShareRules : [rule];
  return rules.map((each) => cardShareOf(card, profile, each).share);
}

/**
 * The smallest number of units to a card in which every share on these GPUs is whole, because Slurm counts in integers:
 * 56 for a card of 7 compute and 8 memory slices, 168 for every model of the table together. Without a rule it
 * serves all of them, so that a change of the rule leaves the unit as it is; with one it can be smaller (28 for `larger`,
 * 7 for `compute`, 8 for `memory`). Throws AppError `bad-request` where there is no such safe integer.
 */
export function unitsPerCard(cards: readonly GpuGeometry[], rule: CardShareRule | null = null): number {
  const denominators = cards.flatMap((card) =>
    card.profiles.flatMap((profile) => partsUnder(card, profile, rule).map((share) => share.denominator)),
  );
  return denominators.reduce(leastCommonMultiple, 1);
}

/** A number of cards in units. Throws AppError `bad-request` where it is not whole in them. */
export function inUnits(cards: Fraction, unitsPerOneCard: number): number {
  const units = multiply(cards, fraction(unitsPerOneCard));
  if (units.denominator === 1) return units.numerator;
  throw new AppError({
    code: "bad-request",
    message: `${cards.numerator}/${cards.denominator} of a card is not a whole number of units of 1/${unitsPerOneCard} card.`,
    remedy: "Use a share that the GPU's profiles can add up to.",
  });
}

/** Our limits as Slurm's, and back: GrpTRES for what is in use at once, GrpTRESMins for card-hours. */
import { AppError } from "../../../../../shared/errors.ts";
import {
  type Fraction,
  fraction,
  inUnits,
  type Limits,
  multiply,
  type Period,
  type Usage,
} from "../../../../../shared/quota/index.ts";
import { isTresName, type TresCounts } from "../../slurm/tres.ts";
import { cardShareGres, cardShareUnits, gpuMemoryGres } from "./counted-gres.ts";

/** How this cluster counts cards: in parts, by the counted GRES, or whole ones by `gres/gpu`. */
export type CardCounting = "shares" | "whole";

/** By Slurm's names; memory in MiB, minutes of one unit. */
export interface SlurmLimits {
  readonly grpTres: TresCounts;
  readonly grpTresMins: TresCounts;
}

const mebibytesPerGibibyte = 1_024;
const minutesPerHour = 60;
const typePrefix = "gres/gpu:";
/** The engine does not know in which period it counts. */
const noPeriod: Period = { kind: "none" };

const unitsOf = (counting: CardCounting): number => (counting === "shares" ? cardShareUnits : 1);

/** The resource that stands for cards, `gres/cardshare` or `gres/gpu`. */
export function cardTres(counting: CardCounting): string {
  return counting === "shares" ? `gres/${cardShareGres}` : "gres/gpu";
}

/** Throws AppError `bad-request` for an amount that Slurm cannot hold, or a name of a GPU type that is none of Slurm's. */
export function toSlurm(limits: Limits, counting: CardCounting): SlurmLimits {
  const { cards, gpuMemoryGiB, cpuCores, memoryGiB, gpuTypes, cardHours } = limits;
  const units = unitsOf(counting);
  const grpTres: Record<string, number> = {};
  if (cards !== undefined) grpTres[cardTres(counting)] = inUnits(cards, units);
  if (gpuMemoryGiB !== undefined) grpTres[`gres/${gpuMemoryGres}`] = whole(gpuMemoryGiB, 1, "GiB of GPU memory");
  if (cpuCores !== undefined) grpTres.cpu = whole(cpuCores, 1, "CPU cores");
  if (memoryGiB !== undefined) grpTres.mem = whole(memoryGiB, mebibytesPerGibibyte, "MiB of RAM");
  for (const [type, count] of Object.entries(gpuTypes ?? {})) grpTres[typeTres(type)] = whole(count, 1, type);
  const minutes = cardHours === undefined ? null : multiply(cardHours.hours, fraction(units * minutesPerHour));
  return {
    grpTres,
    // Up to a minute of one unit less than was written: never more.
    grpTresMins: minutes === null ? {} : { [cardTres(counting)]: Math.floor(minutes.numerator / minutes.denominator) },
  };
}

function whole(amount: Fraction, units: number, what: string): number {
  const scaled = multiply(amount, fraction(units));
  if (scaled.denominator === 1) return scaled.numerator;
  throw new AppError({
    code: "bad-request",
    message: `Slurm counts ${what} in whole numbers.`,
    remedy: "Nothing was changed. Use a whole number.",
  });
}

function typeTres(type: string): string {
  const tres = `${typePrefix}${type}`;
  if (isTresName(tres) && type === type.toLowerCase() && !type.includes("/")) return tres;
  throw new AppError({
    code: "bad-request",
    message: `${JSON.stringify(type)} is no GPU type of Slurm's.`,
    remedy: "Nothing was changed. Use the type as slurm.conf names it, h100 or h100_3g.40gb.",
  });
}

/** What a limit of Slurm's says in our terms, and what of it has none, as Slurm writes it. */
export function fromSlurm(
  { grpTres, grpTresMins }: SlurmLimits,
  counting: CardCounting,
): { readonly limits: Limits; readonly foreign: readonly string[] } {
  const { amounts, others } = amountsOf(grpTres, counting);
  const foreign = others.map((tres) => `GrpTRES=${tres}=${grpTres[tres]}`);
  let limits: Limits = amounts;
  for (const [tres, count] of Object.entries(grpTresMins)) {
    if (tres === cardTres(counting))
      limits = { ...limits, cardHours: { hours: hoursOf(count, counting), period: noPeriod } };
    else foreign.push(`GrpTRESMins=${tres}=${count}`);
  }
  return { limits, foreign };
}

/** Counts of Slurm's as amounts of ours; those without a meaning here are named. */
export function amountsOf(
  counts: TresCounts,
  counting: CardCounting,
): { readonly amounts: Omit<Usage, "cardHours">; readonly others: readonly string[] } {
  const others: string[] = [];
  const simple: Record<string, Fraction> = {};
  const gpuTypes: Record<string, Fraction> = {};
  for (const [tres, count] of Object.entries(counts)) {
    if (tres === cardTres(counting)) simple.cards = fraction(count, unitsOf(counting));
    else if (tres === `gres/${gpuMemoryGres}`) simple.gpuMemoryGiB = fraction(count);
    else if (tres === "cpu") simple.cpuCores = fraction(count);
    else if (tres === "mem") simple.memoryGiB = fraction(Math.round(count), mebibytesPerGibibyte);
    else if (tres.startsWith(typePrefix)) gpuTypes[tres.slice(typePrefix.length)] = fraction(count);
    else others.push(tres);
  }
  return { amounts: { ...simple, ...(Object.keys(gpuTypes).length === 0 ? {} : { gpuTypes }) }, others };
}

/** Unit-minutes as card-hours. */
export function hoursOf(unitMinutes: number, counting: CardCounting): Fraction {
  return fraction(Math.round(unitMinutes), unitsOf(counting) * minutesPerHour);
}

/** What has to be sent so that the one becomes the other; null clears. Empty where they are the same in Slurm. */
export function limitChange(
  before: SlurmLimits,
  after: SlurmLimits,
): { readonly grpTres?: Record<string, number | null>; readonly grpTresMins?: Record<string, number | null> } {
  const grpTres = difference(before.grpTres, after.grpTres);
  const grpTresMins = difference(before.grpTresMins, after.grpTresMins);
  return {
    ...(Object.keys(grpTres).length === 0 ? {} : { grpTres }),
    ...(Object.keys(grpTresMins).length === 0 ? {} : { grpTresMins }),
  };
}

function difference(before: TresCounts, after: TresCounts): Record<string, number | null> {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return Object.fromEntries(
    [...names].filter((name) => before[name] !== after[name]).map((name) => [name, after[name] ?? null]),
  );
}

/** One of our resources, as limits of the tree are keyed; Slurm's own name where it is none. */
export function resourceOf(tres: string, limitName: string, counting: CardCounting): string {
  if (tres === cardTres(counting)) return limitName === "GrpTRESMins" ? "cardHours:none" : "cards";
  if (tres === `gres/${gpuMemoryGres}`) return "gpuMemoryGiB";
  if (tres === "cpu") return "cpuCores";
  if (tres === "mem") return "memoryGiB";
  return tres.startsWith(typePrefix) ? `gpuType:${tres.slice(typePrefix.length)}` : tres;
}

/** A count of that resource in our unit. */
export function amountOf(tres: string, limitName: string, count: number, counting: CardCounting): Fraction {
  const rounded = Math.round(count);
  if (tres === cardTres(counting)) {
    return limitName === "GrpTRESMins" ? hoursOf(rounded, counting) : fraction(rounded, unitsOf(counting));
  }
  return tres === "mem" ? fraction(rounded, mebibytesPerGibibyte) : fraction(rounded);
}

/** Whether the second limits are what Slurm would say of the first. */
export function isSameInSlurm(a: Limits, b: Limits, counting: CardCounting): boolean {
  return Object.keys(limitChange(toSlurm(a, counting), toSlurm(b, counting))).length === 0;
}

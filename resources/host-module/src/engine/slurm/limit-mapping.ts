/**
 * Our limits as Slurm's and back. Slurm holds whole numbers only: what is not whole in its units is refused, never
 * rounded. `cards` count in `gres/cardshare`, 56 to a card; where that is not tracked and no card is divided, in whole
 * `gres/gpu`.
 *
 * A type of GPU is called as in Slurm, but that the profile of an instance stands behind a slash: Slurm's
 * `a100_1g.5gb` is our `a100/1g.5gb`. Slurm's names are lower case and have no slash, so each name has one other.
 */
import { AppError } from "../../../../../shared/errors.ts";
import {
  countedMinutes,
  type Fraction,
  fraction,
  type Limits,
  multiply,
  type Period,
  toWords,
  type Usage,
} from "../../../../../shared/quota/index.ts";
import type { LimitChange } from "../../slurm/commands.ts";
import { countOf, type TresCounts } from "../../slurm/tres.ts";
import { cardShareGres, cardShareUnits, gpuMemoryGres } from "./counted-gres.ts";

/** What cards are counted in. */
export interface CardUnit {
  readonly tres: string;
  readonly unitsPerCard: number;
}

/** What this cluster can hold. */
export interface SlurmResources {
  /** Null where cards cannot be counted: no limit on them is held. */
  readonly cards: CardUnit | null;
  readonly gpuMemory: boolean;
  /** `a100_1g.5gb`, of `gres/gpu:a100_1g.5gb` in AccountingStorageTRES. */
  readonly gpuTypes: ReadonlySet<string>;
}

/** Limits of an association that are ours to set; memory in MiB, minutes of one unit. */
export interface SlurmLimits {
  readonly grpTres: TresCounts;
  readonly grpTresMins: TresCounts;
}

const gpuMemoryTres = `gres/${gpuMemoryGres}`;
const gpuTypePrefix = "gres/gpu:";
const cardShareTres = `gres/${cardShareGres}`;
const minutesPerHour = 60;
const mebibytesPerGibibyte = 1024;

/**
 * What can be held where these resources are tracked (AccountingStorageTRES) and GPUs of these types are configured. A
 * card that is divided has a type with a profile, and then a count of GPUs is no count of cards.
 */
export function resourcesOf(trackedTres: readonly string[], configuredTypes: readonly string[]): SlurmResources {
  const tracks = (tres: string) => trackedTres.includes(tres);
  const isDivided = configuredTypes.some((type) => instanceType.test(type));
  return {
    cards: tracks(cardShareTres)
      ? { tres: cardShareTres, unitsPerCard: cardShareUnits }
      : tracks("gres/gpu") && !isDivided
        ? { tres: "gres/gpu", unitsPerCard: 1 }
        : null,
    gpuMemory: tracks(gpuMemoryTres),
    gpuTypes: new Set(
      trackedTres.filter((tres) => tres.startsWith(gpuTypePrefix)).map((tres) => tres.slice(gpuTypePrefix.length)),
    ),
  };
}

/** `a100_1g.5gb`, `h100_1g.10gb+me`: what stands behind the first `_` that a profile follows. */
const instanceType = /^(.*?)_(\d+g\.\d+gb(?:[+.-].*)?)$/;

/** Our name of Slurm's type. */
export function gpuTypeOfSlurm(type: string): string {
  return type.replace(instanceType, "$1/$2");
}

/** Slurm's name of our type. Throws AppError `bad-request` where Slurm can have no such type. */
export function slurmGpuType(gpuType: string): string {
  const type = gpuType.replace("/", "_");
  if (/^[a-z0-9][a-z0-9_.+-]*$/.test(type) && gpuTypeOfSlurm(type) === gpuType) return type;
  throw refusal(
    `${JSON.stringify(gpuType)} is no type of GPU that Slurm can have.`,
    "Write it as gres.conf has it, in lower case, an instance with a slash before its profile: a100/1g.5gb.",
  );
}

/**
 * Limits in Slurm's units; what this cluster cannot count (cards, GPU memory) is left out. Throws AppError `bad-request`
 * for what is not whole in those units, and for a type of GPU that is not tracked.
 */
export function toSlurm(limits: Limits, resources: SlurmResources): SlurmLimits {
  const grpTres = new Map<string, number>();
  const grpTresMins = new Map<string, number>();
  const { cards: unit } = resources;
  if (limits.cards !== undefined && unit !== null) {
    grpTres.set(unit.tres, wholeIn(limits.cards, unit.unitsPerCard, "cards"));
  }
  if (limits.gpuMemoryGiB !== undefined && resources.gpuMemory) {
    grpTres.set(gpuMemoryTres, wholeIn(limits.gpuMemoryGiB, 1, "GiB of GPU memory"));
  }
  if (limits.cpuCores !== undefined) grpTres.set("cpu", wholeIn(limits.cpuCores, 1, "CPU cores"));
  if (limits.memoryGiB !== undefined) {
    grpTres.set("mem", wholeIn(limits.memoryGiB, mebibytesPerGibibyte, "GiB of memory"));
  }
  for (const [gpuType, count] of Object.entries(limits.gpuTypes ?? {})) {
    const type = slurmGpuType(gpuType);
    if (!resources.gpuTypes.has(type)) {
      throw refusal(
        `Slurm does not count GPUs of type ${gpuType}.`,
        `Add ${gpuTypePrefix}${type} to AccountingStorageTRES, or limit cards instead.`,
      );
    }
    grpTres.set(`${gpuTypePrefix}${type}`, wholeIn(count, 1, `GPUs of type ${gpuType}`));
  }
  if (limits.cardHours !== undefined && unit !== null) {
    grpTresMins.set(unit.tres, wholeIn(limits.cardHours.hours, unit.unitsPerCard * minutesPerHour, "card-hours"));
  }
  return { grpTres: Object.fromEntries(grpTres), grpTresMins: Object.fromEntries(grpTresMins) };
}

function wholeIn(amount: Fraction, units: number, what: string): number {
  const count = multiply(amount, fraction(units));
  if (count.denominator === 1) return count.numerator;
  const unit = units === 1 ? "whole numbers" : `steps of 1/${units}`;
  throw refusal(`${toWords(amount)} ${what} cannot be a limit: Slurm counts them in ${unit}.`, `Use ${unit}.`);
}

/** Slurm's limit on minutes is on all that was ever used: what does not count comes on top. */
function withNotCounted(limits: SlurmLimits, { cards }: SlurmResources, minutes: number): SlurmLimits {
  const limit = cards === null ? undefined : ownCount(limits.grpTresMins, cards.tres);
  if (cards === null || limit === undefined) return limits;
  return { ...limits, grpTresMins: { ...limits.grpTresMins, [cards.tres]: limit + minutes } };
}

/** What Slurm has, as ours; card-hours under the period given, `notCounted` minutes taken off. What is not ours is left out: see `foreignTres`. */
export function limitsFromSlurm(found: SlurmLimits, resources: SlurmResources, period: Period, notCounted = 0): Limits {
  const minutes = resources.cards === null ? undefined : ownCount(found.grpTresMins, resources.cards.tres);
  return {
    ...amountsFromSlurm(found.grpTres, resources),
    ...(minutes === undefined
      ? {}
      : { cardHours: { hours: cardHoursOf(countedMinutes(minutes, notCounted), resources), period } }),
  };
}

/** Resources of a job, an association or a limit, as ours. */
export function amountsFromSlurm(counts: TresCounts, resources: SlurmResources): Omit<Usage, "cardHours"> {
  const amount = (tres: string, units: number) => {
    const count = ownCount(counts, tres);
    return count === undefined ? undefined : fraction(Math.round(count), units);
  };
  const cards = resources.cards === null ? undefined : amount(resources.cards.tres, resources.cards.unitsPerCard);
  const gpuMemoryGiB = resources.gpuMemory ? amount(gpuMemoryTres, 1) : undefined;
  const cpuCores = amount("cpu", 1);
  const memoryGiB = amount("mem", mebibytesPerGibibyte);
  const types = Object.entries(counts).filter(([tres]) => isOurType(tres, resources));
  return {
    ...(cards === undefined ? {} : { cards }),
    ...(gpuMemoryGiB === undefined ? {} : { gpuMemoryGiB }),
    ...(cpuCores === undefined ? {} : { cpuCores }),
    ...(memoryGiB === undefined ? {} : { memoryGiB }),
    ...(types.length === 0
      ? {}
      : {
          gpuTypes: Object.fromEntries(
            types.map(([tres, count]) => [gpuTypeOfSlurm(tres.slice(gpuTypePrefix.length)), fraction(count)]),
          ),
        }),
  };
}

function ownCount(counts: TresCounts, tres: string): number | undefined {
  return Object.hasOwn(counts, tres) ? countOf(counts, tres) : undefined;
}

function isOurType(tres: string, { gpuTypes }: SlurmResources): boolean {
  return tres.startsWith(gpuTypePrefix) && gpuTypes.has(tres.slice(gpuTypePrefix.length));
}

/** Minutes of one unit as hours of a card. */
export function cardHoursOf(unitMinutes: number, { cards }: SlurmResources): Fraction {
  return fraction(Math.round(unitMinutes), (cards?.unitsPerCard ?? 1) * minutesPerHour);
}

/** What sacctmgr has to be told to come from one to the other; a limit that is gone is null. Null where nothing differs. */
export function changeBetween(
  before: Limits,
  after: Limits,
  resources: SlurmResources,
  notCounted: { readonly before: number; readonly after: number } = { before: 0, after: 0 },
): LimitChange | null {
  const old = withNotCounted(toSlurm(writable(before, resources), resources), resources, notCounted.before);
  const wanted = withNotCounted(toSlurm(after, resources), resources, notCounted.after);
  const grpTres = differenceOf(old.grpTres, wanted.grpTres);
  const grpTresMins = differenceOf(old.grpTresMins, wanted.grpTresMins);
  if (Object.keys(grpTres).length + Object.keys(grpTresMins).length === 0) return null;
  return {
    ...(Object.keys(grpTres).length === 0 ? {} : { grpTres }),
    ...(Object.keys(grpTresMins).length === 0 ? {} : { grpTresMins }),
  };
}

/** What stood before cannot be refused: what Slurm cannot have held needs no clearing there. */
function writable(limits: Limits, resources: SlurmResources): Limits {
  const isWritable = (part: Limits): boolean => {
    try {
      toSlurm(part, resources);
      return true;
    } catch {
      return false;
    }
  };
  const { gpuTypes, ...others } = limits;
  const types = Object.entries(gpuTypes ?? {}).filter(([type, count]) => isWritable({ gpuTypes: { [type]: count } }));
  const { cards, gpuMemoryGiB, cpuCores, memoryGiB, cardHours } = others;
  const parts: readonly Limits[] = [
    ...(cards === undefined ? [] : [{ cards }]),
    ...(gpuMemoryGiB === undefined ? [] : [{ gpuMemoryGiB }]),
    ...(cpuCores === undefined ? [] : [{ cpuCores }]),
    ...(memoryGiB === undefined ? [] : [{ memoryGiB }]),
    ...(cardHours === undefined ? [] : [{ cardHours }]),
    ...(types.length === 0 ? [] : [{ gpuTypes: Object.fromEntries(types) }]),
  ];
  return Object.assign({}, ...parts.filter(isWritable));
}

function differenceOf(before: TresCounts, after: TresCounts): Record<string, number | null> {
  const all = new Set([...Object.keys(after), ...Object.keys(before)]);
  return Object.fromEntries(
    [...all]
      .map((tres): [string, number | null] => [tres, ownCount(after, tres) ?? null])
      .filter(([tres, count]) => (ownCount(before, tres) ?? null) !== count),
  );
}

/** Limits on resources that are none of ours, as Slurm writes them. */
export function foreignTres(found: SlurmLimits, resources: SlurmResources): readonly string[] {
  const isOurs = (tres: string) =>
    tres === resources.cards?.tres ||
    tres === "cpu" ||
    tres === "mem" ||
    (resources.gpuMemory && tres === gpuMemoryTres) ||
    isOurType(tres, resources);
  return [
    ...Object.entries(found.grpTres).flatMap(([tres, count]) => (isOurs(tres) ? [] : [`GrpTRES ${tres}=${count}`])),
    ...Object.entries(found.grpTresMins).flatMap(([tres, count]) =>
      tres === resources.cards?.tres ? [] : [`GrpTRESMins ${tres}=${count}`],
    ),
  ];
}

/** Which of our resources a limit of Slurm is on, and one of it in that unit; null where it is none of ours. */
export function resourceOfTres(
  limitName: string,
  tres: string | null,
  resources: SlurmResources,
): {
  readonly resource: "cards" | "gpuMemoryGiB" | "cpuCores" | "memoryGiB" | "cardHours" | `gpuType:${string}`;
  readonly units: number;
} | null {
  if (tres === null) return null;
  const { cards } = resources;
  if (limitName === "GrpTRESMins") {
    return tres === cards?.tres ? { resource: "cardHours", units: cards.unitsPerCard * minutesPerHour } : null;
  }
  if (limitName !== "GrpTRES") return null;
  if (tres === cards?.tres) return { resource: "cards", units: cards.unitsPerCard };
  if (tres === gpuMemoryTres) return { resource: "gpuMemoryGiB", units: 1 };
  if (tres === "cpu") return { resource: "cpuCores", units: 1 };
  if (tres === "mem") return { resource: "memoryGiB", units: mebibytesPerGibibyte };
  if (!isOurType(tres, resources)) return null;
  return { resource: `gpuType:${gpuTypeOfSlurm(tres.slice(gpuTypePrefix.length))}`, units: 1 };
}

/** Whether limits found are those wanted, so far as this cluster can hold them. */
export function isHeld(change: LimitChange, found: SlurmLimits): boolean {
  const holds = (wanted: LimitChange["grpTres"], counts: TresCounts) =>
    Object.entries(wanted ?? {}).every(([tres, count]) => (ownCount(counts, tres) ?? null) === count);
  return holds(change.grpTres, found.grpTres) && holds(change.grpTresMins, found.grpTresMins);
}

function refusal(message: string, remedy: string): AppError {
  return new AppError({ code: "bad-request", message, remedy: `${remedy} Nothing was changed.` });
}

import { AppError } from "../errors.ts";
import { compare, type Fraction, fraction, isFraction, parseFraction, zero } from "./fraction.ts";
import { type CardHours, type Limits, type SimpleResource, simpleResources, type Usage } from "./limits.ts";
import { type Period, periodKinds } from "./period.ts";
import { timeZoneName } from "./time-zone.ts";

export type LimitFault =
  | "not-an-object"
  | "unknown-field"
  | "missing"
  | "not-a-number"
  | "negative"
  | "too-large"
  /** Counted in whole ones: CPU cores, devices of a GPU type. */
  | "not-whole"
  /** Finer than a MiB, or a fraction of a card that no GPU can be divided into. */
  | "too-fine"
  | "unknown-period"
  | "unknown-time-zone"
  | "bad-gpu-type";

/** Which field of the input was refused (`gpuTypes.H100`, `cardHours.period.timeZone`, empty for all of it), and why. */
export interface LimitRefusal {
  readonly field: string;
  readonly fault: LimitFault;
  /** What stood there, shortened. */
  readonly found: string;
}

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusals: readonly LimitRefusal[] };

/** Beyond any cluster: a typing error. Low enough that sums over 20,000 people stay exact. */
export const largestAmount = 100_000_000;

/**
 * Denominators of cards and card-hours divide this, so that a sum of many never overflows: thousandths, sevenths, eighths,
 * ninths, elevenths, twelfths, 256ths, and seconds of a 56th of a card in hours.
 */
const finestShare = 66_528_000;
const mebibytesPerGibibyte = 1024;

const grainOf: Readonly<Record<SimpleResource | "cardHours" | "gpuTypes", number>> = {
  cards: finestShare,
  cardHours: finestShare,
  gpuMemoryGiB: mebibytesPerGibibyte,
  memoryGiB: mebibytesPerGibibyte,
  cpuCores: 1,
  gpuTypes: 1,
};

/** Collects what is refused, so that all of it is told at once. */
class Refusals {
  readonly list: LimitRefusal[] = [];

  add(field: string, fault: LimitFault, value: unknown): null {
    this.list.push({ field, fault, found: shortened(value) });
    return null;
  }
}

function shortened(value: unknown): string {
  if (typeof value === "string") return value.length > 60 ? `${value.slice(0, 59)}…` : value;
  if (typeof value === "number" || typeof value === "boolean" || value === null) return String(value);
  return value === undefined ? "" : Array.isArray(value) ? "a list" : "an object";
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null;
}

const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null;

function readNumber(value: unknown): Fraction | null {
  if (typeof value === "string") return parseFraction(value);
  // The decimal as it is written, not the binary number nearest to it.
  if (typeof value === "number") return parseFraction(String(value));
  return isFraction(value) ? value : null;
}

function readAmount(value: unknown, field: string, grain: number | null, refusals: Refusals): Fraction | null {
  const amount = readNumber(value);
  if (amount === null) return refusals.add(field, "not-a-number", value);
  const found = typeof value === "object" ? `${amount.numerator}/${amount.denominator}` : value;
  if (compare(amount, zero) < 0) return refusals.add(field, "negative", found);
  if (grain === null) return amount;
  if (compare(amount, fraction(largestAmount)) > 0) return refusals.add(field, "too-large", found);
  if (grain % amount.denominator === 0) return amount;
  return refusals.add(field, grain === 1 ? "not-whole" : "too-fine", found);
}

function refuseOthers(fields: Fields, known: readonly string[], prefix: string, refusals: Refusals): void {
  for (const [name, value] of Object.entries(fields)) {
    if (!known.includes(name)) refusals.add(`${prefix}${shortened(name)}`, "unknown-field", value);
  }
}

function readPeriod(value: unknown, field: string, refusals: Refusals): Period | null {
  const fields = fieldsOf(value);
  if (fields === null) return refusals.add(field, isAbsent(value) ? "missing" : "not-an-object", value);
  refuseOthers(fields, ["kind", "timeZone"], `${field}.`, refusals);
  const { kind, timeZone } = fields;
  const known = periodKinds.find((candidate) => candidate === kind);
  if (known === undefined) return refusals.add(`${field}.kind`, isAbsent(kind) ? "missing" : "unknown-period", kind);
  if (known === "none")
    return isAbsent(timeZone) ? { kind: known } : refusals.add(`${field}.timeZone`, "unknown-field", timeZone);
  if (isAbsent(timeZone) || timeZone === "") return refusals.add(`${field}.timeZone`, "missing", timeZone);
  const name = typeof timeZone === "string" ? timeZoneName(timeZone) : null;
  return name === null
    ? refusals.add(`${field}.timeZone`, "unknown-time-zone", timeZone)
    : { kind: known, timeZone: name };
}

function readCardHours(value: unknown, field: string, grain: number | null, refusals: Refusals): CardHours | null {
  const fields = fieldsOf(value);
  if (fields === null) return refusals.add(field, "not-an-object", value);
  refuseOthers(fields, ["hours", "period"], `${field}.`, refusals);
  const hours = isAbsent(fields.hours)
    ? refusals.add(`${field}.hours`, "missing", fields.hours)
    : readAmount(fields.hours, `${field}.hours`, grain, refusals);
  const period = readPeriod(fields.period, `${field}.period`, refusals);
  return hours === null || period === null ? null : { hours, period };
}

/** Whether a text can name a GPU type: letters, digits and `. _ + - /`, 64 at most, as model keys and profile names have them. */
export function isGpuTypeName(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._+\-/]{0,63}$/.test(text);
}

function readGpuTypes(value: unknown, exact: boolean, refusals: Refusals): Readonly<Record<string, Fraction>> {
  const fields = fieldsOf(value);
  if (fields === null) refusals.add("gpuTypes", "not-an-object", value);
  const entries: (readonly [string, Fraction])[] = [];
  for (const [name, count] of Object.entries(fields ?? {})) {
    const field = `gpuTypes.${shortened(name)}`;
    if (!isGpuTypeName(name)) refusals.add(field, "bad-gpu-type", name);
    if (isAbsent(count)) continue;
    const amount = readAmount(count, field, exact ? grainOf.gpuTypes : null, refusals);
    if (amount !== null) entries.push([name, amount]);
  }
  return Object.fromEntries(entries);
}

/** What limits and usage have in common; `exact` for limits, whose numbers people write. */
function readAmounts(fields: Fields, exact: boolean, refusals: Refusals): Omit<Limits, "cardHours"> {
  const simple: Partial<Record<SimpleResource, Fraction>> = {};
  refuseOthers(fields, [...simpleResources, "cardHours", "gpuTypes"], "", refusals);
  for (const resource of simpleResources) {
    if (isAbsent(fields[resource])) continue;
    const amount = readAmount(fields[resource], resource, exact ? grainOf[resource] : null, refusals);
    if (amount !== null) simple[resource] = amount;
  }
  const gpuTypes = isAbsent(fields.gpuTypes) ? {} : readGpuTypes(fields.gpuTypes, exact, refusals);
  return { ...simple, ...(Object.keys(gpuTypes).length === 0 ? {} : { gpuTypes }) };
}

function parsedBy<T>(value: unknown, read: (fields: Fields, refusals: Refusals) => T): Parsed<T> {
  const refusals = new Refusals();
  const fields = fieldsOf(value);
  if (fields === null) refusals.add("", "not-an-object", value);
  const result = read(fields ?? {}, refusals);
  return refusals.list.length === 0 ? { ok: true, value: result } : { ok: false, refusals: refusals.list };
}

/**
 * Limits from unknown data: `Limits` itself as JSON, with each amount a fraction, a number or a text that `parseFraction`
 * reads; absent and null mean no limit. Everything that is wrong is refused at once, by field, and nothing is taken by half.
 * Amounts are 0 to 100,000,000; memory in whole MiB, CPU cores and GPU types in whole ones.
 */
export function parseLimits(value: unknown): Parsed<Limits> {
  return parsedBy(value, (fields, refusals) => {
    const amounts = readAmounts(fields, true, refusals);
    if (isAbsent(fields.cardHours)) return amounts;
    const cardHours = readCardHours(fields.cardHours, "cardHours", grainOf.cardHours, refusals);
    return cardHours === null ? amounts : { ...amounts, cardHours };
  });
}

/** Usage from unknown data, `Usage` as JSON: any amounts that are not negative. */
export function parseUsage(value: unknown): Parsed<Usage> {
  return parsedBy(value, (fields, refusals) => {
    const amounts = readAmounts(fields, false, refusals);
    if (isAbsent(fields.cardHours)) return amounts;
    if (!Array.isArray(fields.cardHours)) {
      refusals.add("cardHours", "not-an-object", fields.cardHours);
      return amounts;
    }
    const cardHours = fields.cardHours.flatMap(
      (each: unknown, index) => readCardHours(each, `cardHours.${index}`, null, refusals) ?? [],
    );
    return { ...amounts, cardHours };
  });
}

const faultWords: Readonly<Record<LimitFault, string>> = {
  "not-an-object": "has not the shape that is expected",
  "unknown-field": "is no field that is known",
  missing: "is missing",
  "not-a-number": "is not a number like 3, 0.5, 3/7 or 1 2/7",
  negative: "is below zero",
  "too-large": "is larger than 100,000,000",
  "not-whole": "is not a whole number",
  "too-fine": "is divided too finely (cards: at most three decimals or a share that GPUs have; memory: whole MiB)",
  "unknown-period": "is none of none, day, week, month, quarter",
  "unknown-time-zone": "is no time zone like Europe/Berlin",
  "bad-gpu-type": "is no name of a GPU type",
};

/** The words for a fault, after its subject: `is below zero`. */
export function describeFault(fault: LimitFault): string {
  return faultWords[fault];
}

/** One English sentence for a refusal. */
export function describeRefusal({ field, fault, found }: LimitRefusal): string {
  const what = found === "" ? "" : ` (${JSON.stringify(found)})`;
  return `${field === "" ? "The input" : field}${what} ${faultWords[fault]}.`;
}

/** `parseLimits` for callers that have no use for a list: throws AppError `bad-request` that names every field. */
export function readLimits(value: unknown): Limits {
  const parsed = parseLimits(value);
  if (parsed.ok) return parsed.value;
  const sentences = parsed.refusals.map(describeRefusal);
  throw new AppError({
    code: "bad-request",
    message: `The limits were refused. ${sentences.slice(0, 3).join(" ")}`,
    remedy: "Correct these fields; nothing was changed.",
    evidence: { details: sentences.join("\n") },
  });
}

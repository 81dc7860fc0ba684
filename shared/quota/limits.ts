import { compare, type Fraction } from "./fraction.ts";
import { type Period, periodKey, periodOfKey } from "./period.ts";

/** Card-hours within one period: an hour of half a card is half a card-hour. */
export interface CardHours {
  readonly hours: Fraction;
  readonly period: Period;
}

interface Amounts {
  /** GPU cards; an instance counts by its card share. */
  readonly cards?: Fraction;
  readonly gpuMemoryGiB?: Fraction;
  readonly cpuCores?: Fraction;
  readonly memoryGiB?: Fraction;
  /**
   * Devices of one GPU type, by its name. A type is what Slurm would call one: undivided cards of a model
   * (`H100-SXM5-80GB`) or instances of a profile (`H100-SXM5-80GB/3g.40gb`); each counts 1.
   */
  readonly gpuTypes?: Readonly<Record<string, Fraction>>;
}

/**
 * What a node of the quota tree may use, of itself. An absent resource has no limit here (one further up may bind); zero is a
 * limit. Read unknown data with `parseLimits`.
 */
export interface Limits extends Amounts {
  readonly cardHours?: CardHours;
}

/** What is in use; an absent resource is not used. Card-hours once for each period that a limit somewhere above counts in. */
export interface Usage extends Amounts {
  readonly cardHours?: readonly CardHours[];
}

/**
 * One thing that can be limited, as a key: `cards`, `cardHours:month:Europe/Berlin`, `gpuType:H100-SXM5-80GB`. Card-hours of
 * different periods are different resources: their usage is counted separately.
 */
export type Resource = SimpleResource | `cardHours:${string}` | `gpuType:${string}`;

export type SimpleResource = "cards" | "gpuMemoryGiB" | "cpuCores" | "memoryGiB";

export const simpleResources: readonly SimpleResource[] = ["cards", "gpuMemoryGiB", "cpuCores", "memoryGiB"];

/** A resource taken apart. */
export type ResourceParts =
  | { readonly kind: SimpleResource }
  | { readonly kind: "cardHours"; readonly period: Period }
  | { readonly kind: "gpuType"; readonly gpuType: string };

export function cardHoursResource(period: Period): Resource {
  return `cardHours:${periodKey(period)}`;
}

export function gpuTypeResource(gpuType: string): Resource {
  return `gpuType:${gpuType}`;
}

/** What a key stands for; null where it is none. */
export function partsOfResource(resource: string): ResourceParts | null {
  const simple = simpleResources.find((candidate) => candidate === resource);
  if (simple !== undefined) return { kind: simple };
  const mark = resource.indexOf(":");
  const [kind, rest] = [resource.slice(0, mark), resource.slice(mark + 1)];
  if (kind === "gpuType" && rest !== "") return { kind, gpuType: rest };
  const period = kind === "cardHours" ? periodOfKey(rest) : null;
  return period === null ? null : { kind: "cardHours", period };
}

export type AmountEntry = readonly [resource: Resource, amount: Fraction];

/** Every amount that is stated, always in the same order: the simple ones, card-hours, GPU types by name. */
export function amountsOf(amounts: Limits | Usage): readonly AmountEntry[] {
  const entries: AmountEntry[] = [];
  for (const resource of simpleResources) {
    const amount = amounts[resource];
    if (amount !== undefined) entries.push([resource, amount]);
  }
  const { cardHours, gpuTypes } = amounts;
  for (const each of cardHours === undefined ? [] : "period" in cardHours ? [cardHours] : cardHours) {
    entries.push([cardHoursResource(each.period), each.hours]);
  }
  if (gpuTypes === undefined) return entries;
  const types = Object.entries(gpuTypes).toSorted(([a], [b]) => (a < b ? -1 : 1));
  for (const [gpuType, amount] of types) entries.push([gpuTypeResource(gpuType), amount]);
  return entries;
}

/** The limits with these amounts, the inverse of `amountsOf`; of card-hours in several periods the last one stays. */
export function limitsOf(entries: Iterable<AmountEntry>): Limits {
  const simple: Partial<Record<SimpleResource, Fraction>> = {};
  const types: (readonly [string, Fraction])[] = [];
  let cardHours: CardHours | undefined;
  for (const [resource, amount] of entries) {
    const parts = partsOfResource(resource);
    if (parts?.kind === "cardHours") cardHours = { hours: amount, period: parts.period };
    else if (parts?.kind === "gpuType") types.push([parts.gpuType, amount]);
    else if (parts !== null) simple[parts.kind] = amount;
  }
  return {
    ...simple,
    ...(cardHours === undefined ? {} : { cardHours }),
    ...(types.length === 0 ? {} : { gpuTypes: Object.fromEntries(types) }),
  };
}

/** How one limit changes: `set` where there was none, `cleared` where there is none any more. */
export interface LimitChange {
  readonly resource: Resource;
  readonly kind: "set" | "cleared" | "raised" | "lowered";
  readonly before: Fraction | null;
  readonly after: Fraction | null;
}

function changeOf(resource: Resource, before: Fraction | null, after: Fraction | null): LimitChange | null {
  if (before === null) return after === null ? null : { resource, kind: "set", before, after };
  if (after === null) return { resource, kind: "cleared", before, after };
  const order = compare(before, after);
  return order === 0 ? null : { resource, kind: order < 0 ? "raised" : "lowered", before, after };
}

/**
 * What differs between two limits, in the order of `amountsOf`, what was cleared last; empty where nothing does. Card-hours in
 * another period are two changes, one limit set and one cleared, because the usage that counts is another one.
 */
export function changesBetween(before: Limits, after: Limits): readonly LimitChange[] {
  const [old, wanted] = [new Map(amountsOf(before)), new Map(amountsOf(after))];
  const resources = new Set([...wanted.keys(), ...old.keys()]);
  return [...resources].flatMap(
    (resource) => changeOf(resource, old.get(resource) ?? null, wanted.get(resource) ?? null) ?? [],
  );
}

import { civilDayAt, startOfCivilDay } from "./time-zone.ts";

export type PeriodKind = "none" | "day" | "week" | "month" | "quarter";

export const periodKinds: readonly PeriodKind[] = ["none", "day", "week", "month", "quarter"];

/** How often the usage of card-hours begins anew, on the calendar of a time zone; `none` counts on for ever. */
export type Period =
  | { readonly kind: "none" }
  | { readonly kind: Exclude<PeriodKind, "none">; readonly timeZone: string };

/** One stretch of counting: `startMs` belongs to it, `endMs` to the next. */
export interface PeriodSpan {
  readonly startMs: number;
  /** The next reset. */
  readonly endMs: number;
  /** The date on which it begins, `2026-03-01`: with the period the key under which a reset is done once. */
  readonly firstDay: string;
}

const dayMs = 86_400_000;

/** The first day of the period that holds a day; days are counted from 1970-01-01, a Thursday. */
function firstDayOf(kind: Exclude<PeriodKind, "none">, day: number): number {
  if (kind === "day") return day;
  if (kind === "week") return day - ((((day + 3) % 7) + 7) % 7);
  const date = new Date(day * dayMs);
  const month = date.getUTCMonth();
  return Date.UTC(date.getUTCFullYear(), kind === "month" ? month : month - (month % 3), 1) / dayMs;
}

function firstDayAfter(kind: Exclude<PeriodKind, "none">, firstDay: number): number {
  if (kind === "day") return firstDay + 1;
  if (kind === "week") return firstDay + 7;
  const date = new Date(firstDay * dayMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + (kind === "month" ? 1 : 3), 1) / dayMs;
}

/**
 * The period that an instant lies in, null for `none`. Instants are milliseconds since 1970 in UTC. A week begins on Monday. Each
 * begins at the first instant of its first day: at 01:00 where the clock skips midnight, at the first of two midnights. A
 * period that a zone left out altogether (a day in Apia in 2011) is none. Throws AppError `bad-request` for instants outside the
 * years 1600 to 9000.
 */
export function periodAt(period: Period, instantMs: number): PeriodSpan | null {
  if (period.kind === "none") return null;
  const { kind, timeZone } = period;
  let first = firstDayOf(kind, civilDayAt(timeZone, instantMs));
  // A clock that was set back over midnight shows yesterday's date once more: what began has begun.
  let next = firstDayAfter(kind, first);
  while (startOfCivilDay(timeZone, next) <= instantMs) {
    first = next;
    next = firstDayAfter(kind, first);
  }
  return {
    startMs: startOfCivilDay(timeZone, first),
    endMs: startOfCivilDay(timeZone, next),
    firstDay: new Date(first * dayMs).toISOString().slice(0, 10),
  };
}

/** The next instant after this one at which usage begins anew; null for `none`. */
export function nextReset(period: Period, afterMs: number): number | null {
  return periodAt(period, afterMs)?.endMs ?? null;
}

/**
 * Every period that began after `afterMs` and not later than `untilMs`, ascending: what a host that was off has to catch up
 * with. Asked again with the second instant as the first, it never names a reset twice and never leaves one out.
 */
export function resetsDue(period: Period, afterMs: number, untilMs: number): readonly PeriodSpan[] {
  const due: PeriodSpan[] = [];
  let span = periodAt(period, afterMs);
  while (span !== null && span.endMs <= untilMs) {
    span = periodAt(period, span.endMs);
    if (span !== null) due.push(span);
  }
  return due;
}

/** `month:Europe/Berlin`, `none`: the same text for the same period. */
export function periodKey(period: Period): string {
  return period.kind === "none" ? "none" : `${period.kind}:${period.timeZone}`;
}

/** What `periodKey` wrote. */
export function periodOfKey(key: string): Period | null {
  if (key === "none") return { kind: "none" };
  const [kind, timeZone] = key.split(":");
  const known = periodKinds.find((candidate) => candidate === kind);
  if (known === undefined || known === "none" || timeZone === undefined || timeZone === "") return null;
  return { kind: known, timeZone };
}

import { AppError } from "../errors.ts";

/**
 * Local time in IANA time zones on plain `Intl`: Node 24 and today's browsers have no Temporal without a flag. Instants are
 * milliseconds since 1970 in UTC; a civil date is the number of days since 1970-01-01.
 */

const secondMs = 1_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** No zone was ever further from UTC than Manila until 1844, 15:56 behind it. */
const mostOffsetMs = 16 * hourMs;

/** Years with four digits, which `Date` and `Intl` read alike. */
const earliestMs = Date.UTC(1600, 0, 1);
const latestMs = Date.UTC(9000, 0, 1);

const formatters = new Map<string, Intl.DateTimeFormat>();

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const known = formatters.get(timeZone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat("en-US", {
    timeZone,
    calendar: "gregory",
    numberingSystem: "latn",
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  formatters.set(timeZone, made);
  return made;
}

/** `Intl` takes a good part of a millisecond for each. */
const usualNames = new Map<string, string>();

/**
 * The name of a time zone in its usual spelling (`europe/berlin` is `Europe/Berlin`); null where it is none. Offsets like
 * `+02:00` are none: they know no daylight saving time. A second name of a zone stays as it was written, because `Intl` would
 * turn `Asia/Kolkata` into the older `Asia/Calcutta`.
 */
export function timeZoneName(text: string): string | null {
  const known = usualNames.get(text);
  if (known !== undefined) return known;
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/.test(text)) return null;
  try {
    const resolved = new Intl.DateTimeFormat("en-US", { timeZone: text }).resolvedOptions().timeZone;
    // By its usual spelling alone, so that no more are held than there are zones.
    if (resolved === text) usualNames.set(text, resolved);
    return resolved.toLowerCase() === text.toLowerCase() ? resolved : text;
  } catch {
    return null;
  }
}

function checkInstant(instantMs: number): void {
  if (instantMs >= earliestMs && instantMs <= latestMs) return;
  throw new AppError({
    code: "bad-request",
    message: "A point in time lies outside the years that can be calculated with.",
    remedy: "Check the clock of the host, and the date that was given.",
    evidence: { details: String(instantMs) },
  });
}

/** What a clock in that zone shows, as if it were UTC, in whole seconds. */
function wallClockMs(timeZone: string, instantMs: number): number {
  const parts = new Map(
    formatterOf(timeZone)
      .formatToParts(instantMs)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
  return Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
}

function offsetMs(timeZone: string, instantMs: number): number {
  return wallClockMs(timeZone, instantMs) - Math.floor(instantMs / secondMs) * secondMs;
}

/** The date on a calendar in that zone at that instant, as days since 1970-01-01. */
export function civilDayAt(timeZone: string, instantMs: number): number {
  checkInstant(instantMs);
  return Math.floor(wallClockMs(timeZone, instantMs) / dayMs);
}

interface Segment {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly offsetMs: number;
}

/** The first second after `fromMs` that has another offset than `fromMs`, where there is one change at most in between. */
function changeBetween(timeZone: string, fromMs: number, untilMs: number): number {
  const before = offsetMs(timeZone, fromMs);
  let [low, high] = [fromMs, untilMs];
  while (high - low > secondMs) {
    const middle = low + Math.floor((high - low) / 2 / secondMs) * secondMs;
    if (offsetMs(timeZone, middle) === before) low = middle;
    else high = middle;
  }
  return high;
}

/** Stretches of one offset, looked for hour by hour: no zone changes its offset twice within one. */
function segmentsBetween(timeZone: string, fromMs: number, untilMs: number): readonly Segment[] {
  const segments: Segment[] = [];
  let beginMs = fromMs;
  for (let hour = fromMs; hour < untilMs; hour += hourMs) {
    const next = hour + hourMs;
    const offset = offsetMs(timeZone, hour);
    if (next < untilMs && offsetMs(timeZone, next) === offset) continue;
    const changeMs = next < untilMs ? changeBetween(timeZone, hour, next) : untilMs;
    segments.push({ fromMs: beginMs, untilMs: changeMs, offsetMs: offset });
    beginMs = changeMs;
  }
  return segments;
}

const starts = new Map<string, number>();
/** The starts that 20,000 people in a few zones need are few; a run through centuries must not fill the memory. */
const mostStarts = 5_000;

/**
 * The first instant of that date in that zone: the first at which a clock there shows 00:00 of the date or later. That is 01:00
 * where the clock skips midnight (Beirut, Cairo, formerly São Paulo), the first of two where midnight comes twice (Havana),
 * and the first instant of the next date for a date that was skipped (Apia, 30 December 2011). `day` as `civilDayAt` gives it.
 */
export function startOfCivilDay(timeZone: string, day: number): number {
  const key = `${day} ${timeZone}`;
  const known = starts.get(key);
  if (known !== undefined) return known;
  const start = findStart(timeZone, day);
  if (starts.size >= mostStarts) starts.clear();
  starts.set(key, start);
  return start;
}

function findStart(timeZone: string, day: number): number {
  const wallMs = day * dayMs;
  checkInstant(wallMs);
  const [fromMs, untilMs] = [wallMs - mostOffsetMs, wallMs + mostOffsetMs];
  const offset = offsetMs(timeZone, fromMs);
  const quick = wallMs - offset;
  if (offsetMs(timeZone, untilMs) === offset && isStart(timeZone, wallMs, quick)) return quick;
  for (const segment of segmentsBetween(timeZone, fromMs, untilMs)) {
    const candidate = Math.max(segment.fromMs, wallMs - segment.offsetMs);
    if (candidate < segment.untilMs && isStart(timeZone, wallMs, candidate)) return candidate;
  }
  throw new AppError({
    code: "internal",
    message: `The start of a day in ${timeZone} could not be found.`,
    remedy: "Choose another time zone for the period, and report this.",
    evidence: { details: new Date(wallMs).toISOString() },
  });
}

/** The round trip: a clock there has reached the date at this second and had not a second before. */
function isStart(timeZone: string, wallMs: number, instantMs: number): boolean {
  return wallClockMs(timeZone, instantMs) >= wallMs && wallClockMs(timeZone, instantMs - secondMs) < wallMs;
}

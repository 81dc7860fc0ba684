import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AppError } from "../errors.ts";
import { nextReset, type Period, periodAt, periodKey, periodKinds, periodOfKey, resetsDue } from "./period.ts";
import { civilDayAt, timeZoneName } from "./time-zone.ts";

const at = (text: string): number => {
  const instantMs = Date.parse(text);
  if (Number.isNaN(instantMs)) throw new Error(text);
  return instantMs;
};
const asText = (instantMs: number): string => new Date(instantMs).toISOString().replace(/(:00)?\.000Z$/, "Z");

/** `2026-02-28T23:00Z to 2026-03-31T22:00Z`. */
function spanOf(kind: Exclude<Period["kind"], "none">, timeZone: string, instant: string): string {
  const span = periodAt({ kind, timeZone }, at(instant));
  return span === null ? "none" : `${span.firstDay}: ${asText(span.startMs)} to ${asText(span.endMs)}`;
}

const hourMs = 3_600_000;
const zones = Intl.supportedValuesOf("timeZone");

/** Zones that set their clocks at midnight, at odd minutes, by half hours, or skip days: where code of this kind fails. */
const oddZones = [
  "America/Sao_Paulo",
  "America/Asuncion",
  "America/Santiago",
  "America/Havana",
  "America/Scoresbysund",
  "America/St_Johns",
  "America/Nuuk",
  "Asia/Beirut",
  "Asia/Amman",
  "Asia/Tehran",
  "Asia/Gaza",
  "Africa/Cairo",
  "Africa/Casablanca",
  "Atlantic/Azores",
  "Australia/Lord_Howe",
  "Antarctica/Troll",
  "Pacific/Apia",
  "Pacific/Kwajalein",
  "Pacific/Chatham",
  "Asia/Manila",
  "Europe/Berlin",
  "Asia/Shanghai",
  "UTC",
];

const repeating = fc.constantFrom<Exclude<Period["kind"], "none">>("day", "week", "month", "quarter");
const anyPeriod = fc.record({
  kind: repeating,
  timeZone: fc.oneof(fc.constantFrom(...oddZones), fc.constantFrom(...zones)),
});
const anyInstant = fc.integer({ min: at("1970-01-01T00:00:00Z"), max: at("2045-01-01T00:00:00Z") });

/** A second implementation, straight from the definition: one formatter that prints the date, nothing calculated. */
function dateIn(timeZone: string): (instantMs: number) => string {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
  return (instantMs) => format.format(instantMs);
}

describe("periodAt", () => {
  it.each([
    ["day", "UTC", "2026-03-01T00:00:00Z", "2026-03-01: 2026-03-01T00:00Z to 2026-03-02T00:00Z"],
    ["day", "UTC", "2026-02-28T23:59:59.999Z", "2026-02-28: 2026-02-28T00:00Z to 2026-03-01T00:00Z"],
    // Clocks go forward (23 hours), back (25 hours).
    ["day", "Europe/Berlin", "2026-03-29T12:00:00Z", "2026-03-29: 2026-03-28T23:00Z to 2026-03-29T22:00Z"],
    ["day", "Europe/Berlin", "2026-10-25T12:00:00Z", "2026-10-25: 2026-10-24T22:00Z to 2026-10-25T23:00Z"],
    // Half an hour of daylight saving time.
    ["day", "Australia/Lord_Howe", "2026-04-05T00:00:00Z", "2026-04-05: 2026-04-04T13:00Z to 2026-04-05T13:30Z"],
    // No midnight: the day begins at 01:00.
    ["day", "America/Sao_Paulo", "2018-11-04T12:00:00Z", "2018-11-04: 2018-11-04T03:00Z to 2018-11-05T02:00Z"],
    ["day", "Asia/Beirut", "2026-03-29T12:00:00Z", "2026-03-29: 2026-03-28T22:00Z to 2026-03-29T21:00Z"],
    ["day", "Africa/Cairo", "2026-04-24T12:00:00Z", "2026-04-24: 2026-04-23T22:00Z to 2026-04-24T21:00Z"],
    // Midnight twice: the first of them.
    ["day", "America/Havana", "2026-11-01T12:00:00Z", "2026-11-01: 2026-11-01T04:00Z to 2026-11-02T05:00Z"],
    // Set back at one minute past midnight: the date goes back, the period does not.
    ["day", "America/St_Johns", "2010-11-07T02:45:00Z", "2010-11-07: 2010-11-07T02:30Z to 2010-11-08T03:30Z"],
    // 30 December 2011 did not exist in Apia: the 29th is followed by the 31st.
    ["day", "Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-29: 2011-12-29T10:00Z to 2011-12-30T10:00Z"],
    ["day", "Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31: 2011-12-30T10:00Z to 2011-12-31T10:00Z"],
    // Monday to Monday, over the turn of the year, and before 1970.
    ["week", "UTC", "2026-01-01T00:00:00Z", "2025-12-29: 2025-12-29T00:00Z to 2026-01-05T00:00Z"],
    ["week", "UTC", "2026-01-05T00:00:00Z", "2026-01-05: 2026-01-05T00:00Z to 2026-01-12T00:00Z"],
    ["week", "UTC", "1969-12-28T23:00:00Z", "1969-12-22: 1969-12-22T00:00Z to 1969-12-29T00:00Z"],
    ["week", "America/New_York", "2026-03-09T03:59:59Z", "2026-03-02: 2026-03-02T05:00Z to 2026-03-09T04:00Z"],
    // Leap years: 2028 is one, 2100 is none, 2000 was one.
    ["month", "Asia/Shanghai", "2028-02-29T15:59:59Z", "2028-02-01: 2028-01-31T16:00Z to 2028-02-29T16:00Z"],
    ["month", "UTC", "2100-02-15T00:00:00Z", "2100-02-01: 2100-02-01T00:00Z to 2100-03-01T00:00Z"],
    ["month", "UTC", "2000-02-29T00:00:00Z", "2000-02-01: 2000-02-01T00:00Z to 2000-03-01T00:00Z"],
    ["month", "Europe/Berlin", "2026-03-31T21:59:59Z", "2026-03-01: 2026-02-28T23:00Z to 2026-03-31T22:00Z"],
    ["month", "Asia/Kolkata", "2026-01-31T18:30:00Z", "2026-02-01: 2026-01-31T18:30Z to 2026-02-28T18:30Z"],
    ["quarter", "UTC", "2026-12-31T23:59:59Z", "2026-10-01: 2026-10-01T00:00Z to 2027-01-01T00:00Z"],
    ["quarter", "Europe/London", "2026-04-01T00:00:00Z", "2026-04-01: 2026-03-31T23:00Z to 2026-06-30T23:00Z"],
  ] as const)("%s in %s at %s is %s", (kind, timeZone, instant, expected) => {
    expect(spanOf(kind, timeZone, instant)).toBe(expected);
  });

  it("is null where there is no period", () => {
    expect([
      periodAt({ kind: "none" }, 0),
      nextReset({ kind: "none" }, 0),
      resetsDue({ kind: "none" }, 0, 1e15),
    ]).toEqual([null, null, []]);
  });

  it("tiles time without gap or overlap", () => {
    fc.assert(
      fc.property(anyPeriod, anyInstant, (period, instantMs) => {
        const span = periodAt(period, instantMs);
        if (span === null) throw new Error("no period");
        expect(span.startMs <= instantMs && instantMs < span.endMs).toBe(true);
        // Every instant of it gives the same period, the first one after it another that begins right there.
        expect([periodAt(period, span.startMs), periodAt(period, span.endMs - 1)]).toEqual([span, span]);
        expect(periodAt(period, span.endMs)?.startMs).toBe(span.endMs);
        expect(periodAt(period, span.startMs - 1)?.endMs).toBe(span.startMs);
      }),
      { numRuns: 600 },
    );
  });

  it("begins exactly when a calendar on the wall there first shows its first day or a later one", () => {
    fc.assert(
      fc.property(anyPeriod, anyInstant, (period, instantMs) => {
        const span = periodAt(period, instantMs);
        if (span === null) throw new Error("no period");
        const date = dateIn(period.timeZone);
        expect(date(span.startMs) >= span.firstDay && date(span.startMs - 1) < span.firstDay).toBe(true);
      }),
      { numRuns: 600 },
    );
  });

  it("begins on the days that the calendar names: Mondays, firsts of months, firsts of quarters", () => {
    fc.assert(
      fc.property(anyPeriod, anyInstant, ({ kind, timeZone }, instantMs) => {
        const firstDay = periodAt({ kind, timeZone }, instantMs)?.firstDay ?? "";
        const weekday = new Date(firstDay).getUTCDay();
        const month = Number(firstDay.slice(5, 7));
        if (kind === "week") expect(weekday).toBe(1);
        if (kind === "month") expect(firstDay.slice(8)).toBe("01");
        if (kind === "quarter") expect([firstDay.slice(8), month % 3]).toEqual(["01", 1]);
      }),
    );
  });

  it.each(zones)("%s: the days of every change of the clocks, 2004 to 2030, follow each other", (timeZone) => {
    const period: Period = { kind: "day", timeZone };
    const date = dateIn(timeZone);
    const [fromMs, untilMs] = [at("2004-01-01T00:00:00Z"), at("2030-01-01T00:00:00Z")];
    // Coarse: steps of five days of which the length in local hours is looked at.
    const hour = new Intl.DateTimeFormat("sv-SE", { timeZone, hour: "2-digit", minute: "2-digit" });
    for (let step = fromMs; step < untilMs; step += 120 * hourMs) {
      if (hour.format(step) === hour.format(step + 120 * hourMs)) continue;
      let span = periodAt(period, step);
      while (span !== null && span.startMs < step + 120 * hourMs) {
        const { startMs, endMs, firstDay } = span;
        expect([date(startMs) >= firstDay, date(startMs - 1) < firstDay, endMs > startMs]).toEqual([true, true, true]);
        span = periodAt(period, endMs);
        expect(span?.startMs).toBe(endMs);
      }
    }
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1e15, 1e18])("%d is no time to calculate with", (instantMs) => {
    expect(() => periodAt({ kind: "day", timeZone: "UTC" }, instantMs)).toThrow(AppError);
  });
});

describe("resetsDue", () => {
  it("names every reset that a host missed while it was off", () => {
    const due = (kind: Exclude<Period["kind"], "none">, after: string, until: string) =>
      resetsDue({ kind, timeZone: "Europe/Berlin" }, at(after), at(until)).map((span) => span.firstDay);
    expect(due("day", "2026-03-27T12:00:00Z", "2026-03-30T12:00:00Z")).toEqual([
      "2026-03-28",
      "2026-03-29",
      "2026-03-30",
    ]);
    expect(due("week", "2026-03-01T12:00:00Z", "2026-03-24T12:00:00Z")).toEqual([
      "2026-03-02",
      "2026-03-09",
      "2026-03-16",
      "2026-03-23",
    ]);
    expect(due("quarter", "2026-01-02T00:00:00Z", "2026-03-31T21:59:59Z")).toEqual([]);
    expect(due("quarter", "2026-01-02T00:00:00Z", "2026-03-31T22:00:00Z")).toEqual(["2026-04-01"]);
    // A clock that went backwards owes nothing.
    expect(due("day", "2026-03-27T12:00:00Z", "2026-03-20T12:00:00Z")).toEqual([]);
  });

  it("does each reset once, however often and whenever the timer comes by", () => {
    const spanDays = fc.integer({ min: 1, max: 40 * 24 });
    fc.assert(
      fc.property(anyPeriod, anyInstant, fc.array(spanDays, { minLength: 1, maxLength: 6 }), (period, start, hours) => {
        const visits = [start];
        for (const next of hours) visits.push((visits.at(-1) ?? start) + next * hourMs);
        const last = visits.at(-1) ?? start;
        const bit = visits.slice(1).flatMap((until, index) => resetsDue(period, visits[index] ?? start, until));
        expect(bit).toEqual(resetsDue(period, start, last));
        expect(bit.every(({ startMs }) => start < startMs && startMs <= last)).toBe(true);
        const next = nextReset(period, last);
        expect(next !== null && next > last && periodAt(period, next)?.startMs === next).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});

describe("periodKey", () => {
  it("is read back as the same period", () => {
    const periods: readonly Period[] = [
      { kind: "none" },
      { kind: "month", timeZone: "Europe/Berlin" },
      { kind: "day", timeZone: "Etc/GMT+5" },
    ];
    expect(periods.map(periodKey)).toEqual(["none", "month:Europe/Berlin", "day:Etc/GMT+5"]);
    expect(periods.map((period) => periodOfKey(periodKey(period)))).toEqual(periods);
    expect(["", "none:UTC", "year:UTC", "day", "day:"].map(periodOfKey)).toEqual([null, null, null, null, null]);
    expect(periodKinds).toEqual(["none", "day", "week", "month", "quarter"]);
  });
});

describe("timeZoneName", () => {
  it.each([
    ["Europe/Berlin", "Europe/Berlin"],
    ["europe/berlin", "Europe/Berlin"],
    ["utc", "UTC"],
    ["Asia/Kolkata", "Asia/Kolkata"],
    ["America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"],
    ["Etc/GMT+5", "Etc/GMT+5"],
    ["+02:00", null],
    ["Mars/Olympus", null],
    ["", null],
    ["Europe/Berlin\n", null],
    ["../../etc/passwd", null],
    [`A${"a".repeat(100_000)}`, null],
  ])("%.40j is %j", (text, expected) => {
    const name = timeZoneName(text);
    // Which of two names of a zone Intl prefers differs between versions of its data.
    expect(name?.replace("America/Buenos_Aires", "America/Argentina/Buenos_Aires") ?? null).toBe(expected);
    if (name !== null) expect(Number.isInteger(civilDayAt(name, 0))).toBe(true);
  });
});

/**
 * From when card-hours count where the engine's counter runs on for ever: what stood on it when a period began is kept for
 * every row that the period covers, and does not count. Each row and each period stand alone; the counter is never touched.
 */
import { parentSubject, parseSubject } from "../../../../shared/organisation/subject.ts";
import {
  countedMinutes,
  fadedMinutes,
  isFadedApart,
  isSetBack,
  type Limits,
  type Period,
  periodAt,
  periodKey,
  resetsDue,
} from "../../../../shared/quota/index.ts";
import type { Baselines, CardHoursCounter } from "../engine/engine.ts";
import { periodsAbove, periodsIn, quotaNodes } from "../engine/quota-tree.ts";
import type { BaselineRow } from "../ledger/baselines.ts";
import type { Change } from "../ledger/change.ts";
import { type countingReasons, fromZero, limits, resets } from "../ledger/quotas.ts";
import type { Reader } from "../ledger/reader.ts";
import type { SubjectColumns } from "../ledger/subject.ts";

/** From when a limit counts, and what of the counter it does not: written once the engine holds it. */
export interface Counting {
  readonly why: (typeof countingReasons)[number];
  /** Readings to keep: of every row that the period covers and of which none was known. */
  readonly rows: readonly BaselineRow[];
  /** Whole minutes on top of the limit. */
  readonly notCounted: number;
  readonly countsFrom: string | null;
}

/** What is due of one limit on card-hours. */
export interface Duty extends Counting {
  readonly subject: string;
  readonly version: number;
  /** The minutes that stand on top of the limit now. */
  readonly before: number;
  /** The start of the period that began; null where none did. */
  readonly began: string | null;
}

/** A reading that comes this much after the period began is called late: the timer looks each minute. */
const lateAfterMs = 300_000;

/**
 * Slurm fades its counters in steps, each PriorityCalcPeriod (five minutes if nothing else is set), and a whole step also
 * what was read within it: it may be this much ahead of the curve.
 */
const fadesAheadMs = 600_000;

/** The ledger's readings, as an engine asks for them. */
export function baselinesIn(reader: Reader): Baselines {
  const readings = readingsIn(reader);
  const inLimits = new Map(reader.list(resets).map(({ subject, notCounted }) => [subject, notCounted]));
  return {
    of: (subject, period) => {
      const row = readings.get(readingKey(subject, period));
      if (row === undefined) return null;
      return { counter: row.counter, minutes: row.minutes, takenAtMs: Date.parse(row.takenAt) };
    },
    inLimit: (subject) => inLimits.get(subject) ?? 0,
  };
}

function readingsIn(reader: Reader): ReadonlyMap<string, BaselineRow> {
  return new Map(reader.baselines().map((row) => [`${row.subject} ${row.period}`, row]));
}

function readingKey(subject: string, period: Period): string {
  return `${subject} ${periodKey(period)}`;
}

/** Whether a limit on card-hours counts anew: there was none, or one in another period. */
export function startsCounting(before: Limits, after: Limits): boolean {
  if (after.cardHours === undefined) return false;
  return before.cardHours === undefined || periodKey(before.cardHours.period) !== periodKey(after.cardHours.period);
}

/** The counter and the ledger's readings of it, as they are at one instant. */
export class CountingState {
  readonly #counter: CardHoursCounter;
  readonly #now: Date;
  readonly #readings: ReadonlyMap<string, BaselineRow>;
  /** The subjects in each, itself among them, those below before those above. */
  readonly #within = new Map<string, string[]>();
  readonly #isCovered: (subject: string, period: Period) => boolean;

  constructor(reader: Reader, counter: CardHoursCounter, now: Date) {
    this.#counter = counter;
    this.#now = now;
    this.#readings = readingsIn(reader);
    for (const { id } of quotaNodes(reader, new Map()).toReversed()) {
      if (!counter.minutes.has(id)) continue;
      for (let at: string | null = id; at !== null; at = parentSubject(at)) {
        const all = this.#within.get(at);
        if (all === undefined) this.#within.set(at, [id]);
        else all.push(id);
      }
    }
    const periodOf = periodsIn(reader);
    this.#isCovered = (subject, period) =>
      periodsAbove(subject, periodOf).some((each) => periodKey(each) === periodKey(period));
  }

  /**
   * A limit that is set now counts from now, but for rows of which the start of this period is known: those that a limit in
   * it covered already, and those read since it began.
   */
  begin(subject: string, period: Period): Counting {
    const startMs = periodAt(period, this.#now.getTime())?.startMs ?? 0;
    return this.#take(subject, period, "set", (id) => {
      const row = this.#reading(id, period);
      if (row !== null) return Date.parse(row.takenAt) >= startMs;
      return this.#isCovered(id, period);
    });
  }

  /** A period has begun: whatever was read before it is read anew. */
  beginPeriod(subject: string, period: Period, startMs: number): Counting {
    const why = this.#now.getTime() - startMs > lateAfterMs ? "late" : "period";
    return this.#take(subject, period, why, (id) => {
      const row = this.#reading(id, period);
      return row !== null && Date.parse(row.takenAt) >= startMs;
    });
  }

  /**
   * Where the counter of the subject, or of one in it, was set back below what does not count: that is nothing then. Of an
   * account it is what it is of those in it, if as much is on its counter. Null where nothing was.
   */
  setBack(subject: string, period: Period): Counting | null {
    const mended = new Map<string, number>();
    const rows: BaselineRow[] = [];
    for (const id of this.#within.get(subject) ?? []) {
      const used = this.#counter.minutes.get(id) ?? 0;
      const left = this.left(id, period);
      if (!isSetBack(used, this.left(id, period, fadesAheadMs))) {
        mended.set(id, Math.round(left));
        continue;
      }
      const below = [...mended].filter(([each]) => parentSubject(each) === id);
      const ofThose = below.reduce((sum, [, minutes]) => sum + minutes, 0);
      const minutes = ofThose <= used ? ofThose : 0;
      mended.set(id, minutes);
      rows.push(this.#row(id, period, minutes));
    }
    if (rows.length === 0) return null;
    const countsFrom = this.#now.toISOString();
    return { why: "set back", rows, notCounted: mended.get(subject) ?? 0, countsFrom };
  }

  /** Minutes of a subject that do not count in a period, now or so much later; not rounded. */
  left(subject: string, period: Period, laterMs = 0): number {
    const row = this.#reading(subject, period);
    if (row === null) return 0;
    const baseline = { minutes: row.minutes, takenAtMs: Date.parse(row.takenAt) };
    return fadedMinutes(baseline, this.#now.getTime() + laterMs, this.#counter.halfLifeSeconds);
  }

  /** When the subject's own reading was taken; null where there is none. */
  takenAtMs(subject: string, period: Period): number | null {
    const row = this.#reading(subject, period);
    return row === null ? null : Date.parse(row.takenAt);
  }

  /** What was read of another counter is no reading of this one. */
  #reading(subject: string, period: Period): BaselineRow | null {
    const row = this.#readings.get(readingKey(subject, period));
    return row === undefined || row.counter !== this.#counter.counter ? null : row;
  }

  #row(subject: string, period: Period, minutes: number): BaselineRow {
    const { counter } = this.#counter;
    return { subject, period: periodKey(period), counter, minutes, takenAt: this.#now.toISOString() };
  }

  /**
   * Of an account whose people were known in part, so much does not count that what counts is the sum of theirs: what is
   * shown of it is that sum.
   */
  #take(subject: string, period: Period, why: Counting["why"], isKnown: (id: string) => boolean): Counting {
    const within = this.#within.get(subject) ?? [];
    const people = within.filter((id) => parseSubject(id)?.level === "person");
    const counted = new Map<string, number>();
    for (const id of people.filter(isKnown)) {
      const own = countedMinutes(this.#counter.minutes.get(id) ?? 0, Math.round(this.left(id, period)));
      for (let at: string | null = id; at !== null; at = parentSubject(at)) {
        counted.set(at, (counted.get(at) ?? 0) + own);
      }
    }
    const rows = within
      .filter((id) => !isKnown(id))
      .map((id) => {
        const used = this.#counter.minutes.get(id) ?? 0;
        return this.#row(id, period, Math.max(0, used - (counted.get(id) ?? 0)));
      });
    const own = rows.find((row) => row.subject === subject);
    const known = this.#reading(subject, period)?.takenAt ?? null;
    const notCounted = own?.minutes ?? Math.round(this.left(subject, period));
    return { why, rows, notCounted, countsFrom: own?.takenAt ?? known };
  }
}

/** What is due of all limits on card-hours now: periods that began, counters that were set back, use that has faded. */
export function dutiesOf(reader: Reader, counter: CardHoursCounter, now: Date): readonly Duty[] {
  const state = new CountingState(reader, counter, now);
  return reader.list(resets).flatMap((row): readonly Duty[] => {
    const period = reader.find(limits, { subject: row.subject })?.limits.cardHours?.period;
    if (period === undefined) return [];
    const { subject, version, notCounted: before } = row;
    const began = resetsDue(period, Date.parse(row.lastDoneAt ?? now.toISOString()), now.getTime()).at(-1);
    if (began !== undefined) {
      const counting = state.beginPeriod(subject, period, began.startMs);
      return [{ ...counting, subject, version, before, began: new Date(began.startMs).toISOString() }];
    }
    const counting = state.setBack(subject, period) ?? faded(state, row, period, now.getTime());
    return counting === null ? [] : [{ ...counting, subject, version, before, began: null }];
  });
}

/** Also where the reading was taken anew for a limit above. */
function faded(
  state: CountingState,
  row: {
    readonly subject: string;
    readonly notCounted: number;
    readonly countsFrom: string | null;
    readonly writtenAt: string | null;
  },
  period: Period,
  nowMs: number,
): Counting | null {
  const left = state.left(row.subject, period);
  const writtenAtMs = row.writtenAt === null ? 0 : Date.parse(row.writtenAt);
  const isNewer = (state.takenAtMs(row.subject, period) ?? 0) > writtenAtMs;
  if (!isFadedApart(row.notCounted, left, isNewer ? 0 : writtenAtMs, nowMs)) return null;
  return { why: "faded", rows: [], notCounted: Math.round(left), countsFrom: row.countsFrom };
}

/**
 * Notes from when a limit counts, beside the limit itself. `counting` null: nothing is read, since the limit goes on as it
 * did or the ledger counts by itself.
 */
export function noteCounting(
  change: Change,
  columns: SubjectColumns,
  own: Limits,
  counting: Counting | null,
  now: Date,
): void {
  const period = own.cardHours?.period ?? { kind: "none" as const };
  const timeZone = period.kind === "none" ? "UTC" : period.timeZone;
  const known = change.find(resets, { subject: columns.subject });
  const isSame = known?.period === period.kind && known.timeZone === timeZone;
  const at = now.toISOString();
  const { rows, ...counts } = counting ?? { rows: [], ...fromZero };
  change.putBaselines(rows);
  if (counting === null && (known === null ? period.kind === "none" : isSame && own.cardHours !== undefined)) return;
  if (isSame && own.cardHours === undefined && known.notCounted === 0) return;
  const fields = {
    ...{ period: period.kind, timeZone, lastDoneAt: at },
    ...counts,
    writtenAt: counting === null ? null : at,
  };
  if (known === null) change.insert(resets, { ...columns, ...fields });
  else change.update(resets, { subject: columns.subject }, known.version, fields);
}

/** A limit that the engine had and the ledger had not counts all that the engine counts: no reading stands against it. */
export function forgetReadings(change: Change, subject: string, period: Period): void {
  const isCovered = (id: string) =>
    id !== subject && periodsAbove(id, periodsIn(change)).some((each) => periodKey(each) === periodKey(period));
  const subjects = quotaNodes(change, new Map())
    .map(({ id }) => id)
    .filter((id) => isAtOrBelow(id, subject) && !isCovered(id));
  change.dropBaselines(subjects, periodKey(period));
}

function isAtOrBelow(id: string, subject: string): boolean {
  for (let at: string | null = id; at !== null; at = parentSubject(at)) if (at === subject) return true;
  return false;
}

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fraction, type Limits, type Period, periodKey } from "../../../../shared/quota/index.ts";
import type { CardHoursCounter } from "../engine/engine.ts";
import type { Change } from "../ledger/change.ts";
import { members, people, projects, tenants } from "../ledger/organisation.ts";
import { limits, resets } from "../ledger/quotas.ts";
import { subjectColumns } from "../ledger/subject.ts";
import { asOps, noon, type TemporaryLedger, temporaryLedger } from "../testing/ledger.ts";
import { baselinesIn, CountingState, dutiesOf, forgetReadings, noteCounting, startsCounting } from "./counting.ts";
import { ledgerSubject } from "./quota.ts";

const month: Period = { kind: "month", timeZone: "UTC" };
const week: Period = { kind: "week", timeZone: "UTC" };
const ever: Period = { kind: "none" };
const daySeconds = 86_400;
const [tenant, one, two] = ["t0001", "t0001_p01", "t0001_p02"];
const [ada, bob, cas] = [`${one}/1`, `${one}/2`, `${two}/3`];

let temporary: TemporaryLedger;
const ledger = () => temporary.ledger;
beforeEach(() => {
  temporary = temporaryLedger();
  const createdAt = noon.toISOString();
  write((change) => {
    for (const [uid, user] of [
      [1, "ada"],
      [2, "bob"],
      [3, "cas"],
    ] as const) {
      change.insert(people, { uid, user, seenAt: createdAt });
    }
    change.insert(tenants, { id: tenant, displayName: "A", createdAt });
    for (const id of [one, two]) change.insert(projects, { id, tenantId: tenant, displayName: id, createdAt });
    for (const [projectId, uid] of [
      [one, 1],
      [one, 2],
      [two, 3],
    ] as const) {
      change.insert(members, { projectId, uid, role: "member" });
    }
  });
});
afterEach(() => temporary[Symbol.dispose]());

function write(work: (change: Change) => void): void {
  ledger().change({ ...asOps, command: "test" }, work);
}

/** A counter at which each person stands so, and each account at the sum. */
function counter(used: Readonly<Record<string, number>>, halfLifeSeconds: number | null = null): CardHoursCounter {
  const minutes = new Map<string, number>(
    ["cluster", tenant, one, two, ada, bob, cas].map((id) => {
      const isIn = (person: string) =>
        id === "cluster" || person === id || person.startsWith(`${id}/`) || person.startsWith(`${id}_p`);
      return [id, Object.entries(used).reduce((sum, [person, count]) => (isIn(person) ? sum + count : sum), 0)];
    }),
  );
  return { counter: "gres/cardshare", minutes, halfLifeSeconds };
}

const days = (count: number) => new Date(noon.getTime() + count * daySeconds * 1000);

/** Sets a limit as `quota.set` does once the engine holds it. */
function set(subject: string, own: Limits, now: Date, at: CardHoursCounter | null): void {
  const before = ledger().find(limits, { subject });
  const begins = own.cardHours !== undefined && startsCounting(before?.limits ?? {}, own);
  const counting =
    at !== null && begins && own.cardHours !== undefined
      ? new CountingState(ledger(), at, now).begin(subject, own.cardHours.period)
      : null;
  write((change) => {
    const columns = subjectColumns(ledgerSubject(subject));
    if (before === null) change.insert(limits, { ...columns, limits: own });
    else change.update(limits, { subject }, before.version, { limits: own });
    noteCounting(change, columns, own, counting, now);
  });
}

const hours = (count: number, period: Period): Limits => ({ cardHours: { hours: fraction(count), period } });

/** Does what is due, as the timer does once the engine holds it. */
function settle(now: Date, at: CardHoursCounter) {
  const duties = dutiesOf(ledger(), at, now);
  for (const { subject, version, rows, why, notCounted, countsFrom, began } of duties) {
    write((change) => {
      change.putBaselines(rows);
      const fields = { why, notCounted, countsFrom, writtenAt: now.toISOString() };
      change.update(resets, { subject }, version, { ...fields, ...(began === null ? {} : { lastDoneAt: began }) });
    });
  }
  return duties.map(({ subject, why, before, notCounted }) => [subject, why, before, notCounted]);
}

const minutesOf = (period: Period) =>
  Object.fromEntries(
    ledger()
      .baselines()
      .filter((row) => row.period === periodKey(period))
      .map(({ subject, minutes }) => [subject, minutes]),
  );

describe("a limit that is set", () => {
  test("does not count what was used before, on its own row and on those below it", () => {
    set(one, hours(1, month), noon, counter({ [ada]: 30, [bob]: 5, [cas]: 100 }));
    expect([minutesOf(month), baselinesIn(ledger()).inLimit(one)]).toEqual([{ [one]: 35, [ada]: 30, [bob]: 5 }, 35]);
    expect(ledger().find(resets, { subject: one })).toMatchObject({ why: "set", countsFrom: noon.toISOString() });
  });

  test("counts rows that a limit in its period covers already from where they are", () => {
    set(tenant, hours(1, month), noon, counter({ [ada]: 30, [cas]: 100 }));
    set(one, hours(1, month), days(1), counter({ [ada]: 50, [cas]: 110 }));
    expect([minutesOf(month), baselinesIn(ledger()).inLimit(one)]).toEqual([
      { [tenant]: 130, [one]: 30, [two]: 100, [ada]: 30, [bob]: 0, [cas]: 100 },
      30,
    ]);
  });

  test("above others counts as much as is shown of those in it", () => {
    set(one, hours(1, month), noon, counter({ [ada]: 30, [cas]: 100 }));
    set(tenant, hours(1, month), days(1), counter({ [ada]: 50, [cas]: 110 }));
    // 20 of ada's count already: the tenant's count with them.
    expect(minutesOf(month)).toEqual({ [one]: 30, [ada]: 30, [bob]: 0, [tenant]: 140, [two]: 110, [cas]: 110 });
  });

  test("counts who came later from nothing, in a period that counts already", () => {
    set(tenant, hours(1, month), noon, counter({ [ada]: 30 }));
    write((change) => change.dropBaselines([bob]));
    set(one, hours(1, month), days(1), counter({ [ada]: 30, [bob]: 7 }));
    expect(minutesOf(month)).toMatchObject({ [one]: 30, [ada]: 30 });
    expect(minutesOf(month)).not.toHaveProperty([bob]);
  });

  test("that goes and comes back within its period gives nothing back, after it all", () => {
    set(one, hours(1, month), noon, counter({ [ada]: 30 }));
    set(one, {}, days(1), null);
    expect(baselinesIn(ledger()).inLimit(one)).toBe(0);
    set(one, hours(1, month), days(2), counter({ [ada]: 50 }));
    expect(baselinesIn(ledger()).inLimit(one)).toBe(30);
    set(one, {}, days(3), null);
    set(one, hours(1, month), days(40), counter({ [ada]: 70 }));
    expect(baselinesIn(ledger()).inLimit(one)).toBe(70);
  });

  test("in another period counts anew in that", () => {
    set(one, hours(1, month), noon, counter({ [ada]: 30 }));
    set(one, hours(1, ever), days(1), counter({ [ada]: 50 }));
    expect([minutesOf(ever)[one], baselinesIn(ledger()).inLimit(one)]).toEqual([50, 50]);
    // Never ends.
    expect(settle(days(400), counter({ [ada]: 90 }))).toEqual([]);
  });

  test("counts all where the engine counts periods by itself", () => {
    set(one, hours(1, month), noon, null);
    expect([ledger().baselines(), ledger().find(resets, { subject: one })]).toMatchObject([
      [],
      { period: "month", why: "set", notCounted: 0, countsFrom: null, writtenAt: null },
    ]);
  });
});

describe("a period that begins", () => {
  test("moves its own limit, once, and no other", () => {
    set(tenant, hours(1, month), noon, counter({ [ada]: 30, [cas]: 100 }));
    set(one, hours(1, week), noon, counter({ [ada]: 30, [cas]: 100 }));
    // The Monday after: noon is on a Wednesday.
    const monday = new Date("2026-03-09T00:01:00Z");
    const used = counter({ [ada]: 70, [cas]: 110 });
    expect(settle(monday, used)).toEqual([[one, "period", 30, 70]]);
    expect([settle(monday, used), minutesOf(month)[tenant], minutesOf(week)]).toEqual([
      [],
      130,
      { [one]: 70, [ada]: 70, [bob]: 0 },
    ]);
  });

  test("says that it was late where nobody was there", () => {
    set(one, hours(1, week), noon, counter({ [ada]: 30 }));
    const used = counter({ [ada]: 70 });
    expect([settle(days(20), used), settle(days(20), used)]).toEqual([[[one, "late", 30, 70]], []]);
    expect(ledger().find(resets, { subject: one })).toMatchObject({
      lastDoneAt: "2026-03-23T00:00:00.000Z",
      countsFrom: days(20).toISOString(),
    });
  });

  test("at two levels at once, each for itself", () => {
    set(tenant, hours(1, week), noon, counter({ [ada]: 30, [cas]: 100 }));
    set(one, hours(1, week), noon, counter({ [ada]: 30, [cas]: 100 }));
    expect(settle(days(7), counter({ [ada]: 70, [cas]: 110 }))).toEqual([
      [tenant, "late", 130, 180],
      [one, "late", 30, 70],
    ]);
  });

  test("of a limit from before there were baselines: nothing of it is due until then", () => {
    set(one, hours(1, week), noon, null);
    expect(settle(days(1), counter({ [ada]: 500 }))).toEqual([]);
    expect(settle(days(7), counter({ [ada]: 600 }))).toEqual([[one, "late", 0, 600]]);
  });
});

describe("a counter that was set back", () => {
  test("by hand, of a person and the account: nothing stands against them, and a tenant keeps what others had", () => {
    set(tenant, hours(1, month), noon, counter({ [ada]: 300, [cas]: 100 }));
    set(one, hours(1, week), noon, counter({ [ada]: 300, [cas]: 100 }));
    const after = counter({ [ada]: 4, [cas]: 120 });
    expect(settle(days(1), after)).toEqual([
      [tenant, "set back", 400, 100],
      [one, "set back", 300, 0],
    ]);
    expect([settle(days(1), after), minutesOf(month), minutesOf(week)]).toEqual([
      [],
      { [tenant]: 100, [one]: 0, [two]: 100, [ada]: 0, [bob]: 0, [cas]: 100 },
      { [one]: 0, [ada]: 0, [bob]: 0 },
    ]);
  });

  test("of an account alone: its people's readings are more than it has, and it counts from zero", () => {
    set(one, hours(1, month), noon, counter({ [ada]: 300 }));
    const at = counter({ [ada]: 310 });
    const after = { ...at, minutes: new Map([...at.minutes, [one, 2]]) };
    expect(settle(days(1), after)).toEqual([[one, "set back", 300, 0]]);
    expect(minutesOf(month)).toMatchObject({ [one]: 0, [ada]: 300 });
  });
});

describe("use that fades", () => {
  const halfLife = 100 * daySeconds;

  test("takes the limit along, once a day", () => {
    set(one, hours(1, month), noon, counter({ [ada]: 10_000 }, halfLife));
    const left = (after: number) => Math.round(10_000 * 2 ** (-after / 100));
    const at = (after: number) => settle(days(after), counter({ [ada]: left(after) + 50 }, halfLife));
    expect([at(0.5), at(1), at(1.5), at(2)]).toEqual([
      [],
      [[one, "faded", 10_000, left(1)]],
      [],
      [[one, "faded", left(1), left(2)]],
    ]);
  });

  test("is no setting back", () => {
    set(one, hours(1, month), noon, counter({ [ada]: 10_000 }, halfLife));
    const after = settle(days(20), counter({ [ada]: Math.floor(10_000 * 2 ** -0.2) }, halfLife));
    expect(after).toEqual([[one, "faded", 10_000, Math.round(10_000 * 2 ** -0.2)]]);
  });
});

test("use that Slurm fades a step early was not set back", () => {
  // As read off a cluster with a half-life of two minutes that fades each minute.
  set(one, hours(1, month), noon, counter({ [ada]: 40 }, 120));
  expect(settle(days(44 / daySeconds), counter({ [ada]: 28 }, 120))).toEqual([]);
});

test("readings of another counter say nothing of this one", () => {
  set(one, hours(1, month), noon, counter({ [ada]: 300 }));
  const other = { ...counter({ [ada]: 10 }), counter: "gres/gpu" };
  expect(settle(days(2), other)).toEqual([[one, "faded", 300, 0]]);
});

test("a limit that only the engine had leaves no reading of it and of those in it, but of those that another covers", () => {
  set(two, hours(1, ever), noon, counter({ [cas]: 100 }));
  set(tenant, hours(1, ever), noon, counter({ [ada]: 30, [cas]: 100 }));
  set(tenant, {}, days(1), null);
  write((change) => forgetReadings(change, tenant, ever));
  expect(minutesOf(ever)).toEqual({ [two]: 100, [cas]: 100 });
});

/**
 * Card-hours begin anew by the host's timer, each limit by itself: what was used before does not count, and Slurm's own
 * counters, which fair share lives on, are never touched.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Fraction, fraction } from "../../shared/quota/index.ts";
import { slurmLabMissing } from "../lab/slurm-missing.ts";
import type { GovernedLab } from "./governed-lab.ts";
import { enforcingLab, setLimits } from "./set-limits.ts";

const missing = slurmLabMissing();
const timeZone = "Asia/Shanghai";
const week = { kind: "week", timeZone };
const month = { kind: "month", timeZone };
/** A card counts 56 a minute. */
const unitsPerHour = 56 * 60;
const hours = (minutes: number) => `${minutes}/${unitsPerHour}`;

describe.skipIf(missing !== null)(`usage begins anew${missing === null ? "" : ` (skipped: ${missing})`}`, () => {
  let lab: GovernedLab;
  let second: string;

  beforeAll(async () => {
    lab = await enforcingLab();
    const project = await lab
      .as("ops")
      .request("project.add", { tenantId: lab.alpha.tenant.id, displayName: "Alpha two" });
    second = project.id;
    await lab.as("ops").request("member.add", { projectId: second, uid: lab.slurm.person("lea").uid });
  }, 120_000);
  afterAll(async () => {
    await lab?.[Symbol.asyncDispose]();
  });

  /** Raw usage as slurmctld has it, by `account` and `account/user`. */
  async function rawUsage(): Promise<Readonly<Record<string, number>>> {
    const said = await lab.slurm.expect(["sshare", "-a", "-n", "-P", "-o", "Account,User,RawUsage"]);
    return Object.fromEntries(
      said
        .trim()
        .split("\n")
        .map((line) => line.split("|").map((word) => word.trim()))
        .map(([account = "", user = "", raw = ""]) => [user === "" ? account : `${account}/${user}`, Number(raw)]),
    );
  }

  /** An account's limit on minutes and what slurmctld counts against it. */
  async function minutes(account: string): Promise<{ readonly limit: number | null; readonly used: number }> {
    const said = await lab.slurm.expect(["scontrol", "show", "assoc_mgr", "flags=assoc", `accounts=${account}`]);
    const row = said.split(/^(?=ClusterName=)/m).find((text) => text.includes(` Account=${account} UserName= `));
    const [, limit = "N", used = "0"] = /GrpTRESMins=\S*?gres\/cardshare=(N|\d+)\((\d+)\)/.exec(row ?? "") ?? [];
    return { limit: limit === "N" ? null : Number(limit), used: Number(used) };
  }

  /** What is shown of a person in a period, in minutes of a 56th of a card. */
  async function shown(subject: string, period: { readonly kind: string }): Promise<number> {
    const { nodes } = await lab.as("ops").request("quota.get", {});
    const cardHours = nodes.find(({ id }) => id === subject)?.usage?.cardHours ?? [];
    const used: Fraction = cardHours.find((each) => each.period.kind === period.kind)?.hours ?? fraction(0);
    return (used.numerator * unitsPerHour) / used.denominator;
  }

  /** A card for some seconds in each of these places, by who is there. */
  async function work(places: readonly (readonly [name: string, account: string])[], seconds = 4): Promise<void> {
    const ids = await Promise.all(
      places.map(([name, account]) =>
        lab.slurm.submit(
          lab.slurm.person(name),
          [`--account=${account}`, "--gres=gpu:h100:1", "--time=1"],
          `#!/bin/sh\nsleep ${seconds}\n`,
        ),
      ),
    );
    for (const id of ids) await lab.slurm.waitForJob(id, { state: "COMPLETED" });
  }

  async function allow(subject: string, count: number, period: typeof week): Promise<void> {
    const outcomes = await setLimits(lab, { [subject]: { cardHours: { hours: hours(count), period } } });
    expect(outcomes).toMatchObject([{ outcome: "done" }]);
  }

  const everywhere = () =>
    [
      ["max", lab.alpha.projectId],
      ["lea", second],
      ["mia", lab.bravo.projectId],
    ] as const;

  const submit = (account: string) =>
    lab.slurm.submit(lab.slurm.person("max"), [`--account=${account}`, "--gres=gpu:h100:1", "--time=1"]);

  const timer = () => lab.slurm.expect(["/opt/tessera/current/tessera-host", "timer"]);

  /** The ledger with so many days added to the past of one limit: as if nobody had been there since. */
  async function lastResetWas(subject: string, daysAgo: number): Promise<void> {
    const program =
      'const { DatabaseSync } = require("node:sqlite");' +
      "const [, path, subject, at] = process.argv;" +
      "const ledger = new DatabaseSync(path);" +
      'ledger.prepare("UPDATE resets SET lastDoneAt = ?, countsFrom = ?, writtenAt = ? WHERE subject = ?").run(at, at, at, subject);' +
      "ledger.prepare(\"UPDATE baselines SET takenAt = ? WHERE period = (SELECT period || ':' || timeZone FROM resets WHERE subject = ?)\").run(at, subject);";
    const at = new Date(Date.now() - daysAgo * 86_400_000).toISOString();
    const ledger = "/var/lib/tessera/ledger.sqlite";
    await lab.slurm.expect(["/opt/tessera/current/node", "-e", program, ledger, subject, at]);
  }

  /** Newest first, with why it counts from there. */
  async function resetsInAudit(most: number): Promise<readonly (readonly unknown[])[]> {
    const { rows } = await lab.as("ops").request("audit.list", { subject: "cluster", command: "quota.reset" });
    return rows.slice(0, most).map(({ role, object, outcome, after }) => {
      const why: unknown = after === null ? null : JSON.parse(after).why;
      return [role, object, outcome, why];
    });
  }

  test("a limit that is set in the middle counts from then on", async () => {
    const { projectId, uid } = lab.alpha;
    await work(everywhere());
    const used = (await minutes(projectId)).used;
    expect(used).toBeGreaterThan(0);
    // A card for a minute and a 56th more: less than that is left if what was used before counts.
    await allow(projectId, 57, week);
    expect(await minutes(projectId)).toEqual({ limit: used + 57, used });
    expect([await shown(`${projectId}/${uid}`, week), await lab.as("ops").request("engine.drift", {})]).toEqual([
      0,
      [],
    ]);
    await work([["max", projectId]]);
    const more = (await minutes(projectId)).used - used;
    expect([more > 0, await shown(`${projectId}/${uid}`, week)]).toEqual([true, more]);
    const waiting = await submit(projectId);
    await lab.slurm.waitForJob(waiting, { state: "PENDING", reason: "AssocGrpGRESMinutes" });
    const { blockers } = await lab
      .as("max")
      .request("quota.explain", { subject: `${projectId}/${uid}`, allocationId: String(waiting) });
    expect(blockers).toMatchObject([
      { subject: projectId, limit: fraction(57, unitsPerHour), used: fraction(more, unitsPerHour) },
    ]);
    await lab.slurm.cancel(waiting);
    expect(await timer()).toContain("0 periods begun");
  });

  test("a project's week ends while nobody was there: it counts anew, the tenant's month goes on, Slurm's counters stand", async () => {
    const { projectId, tenant, uid } = lab.alpha;
    const person = `${projectId}/${uid}`;
    const uncounted = ((await minutes(projectId)).limit ?? 0) - 57;
    await allow(tenant.id, 300, month);
    await allow(projectId, 200, week);
    expect((await minutes(projectId)).limit).toBe(uncounted + 200);
    const tenantLimit = (await minutes(tenant.id)).limit;
    await work([
      ["max", projectId],
      ["lea", second],
    ]);
    const ofMonth = [await shown(person, month), await shown(`${second}/${lab.slurm.person("lea").uid}`, month)];
    for (const each of ofMonth) expect(each).toBeGreaterThan(0);
    await allow(projectId, 57, week);
    expect((await minutes(projectId)).limit).toBe(uncounted + 57);
    const waiting = await submit(projectId);
    await lab.slurm.waitForJob(waiting, { state: "PENDING", reason: "AssocGrpGRESMinutes" });
    await lab.slurm.expect(["scontrol", "hold", String(waiting)]);
    const before = await rawUsage();
    await lastResetWas(projectId, 8);
    expect(await timer()).toContain("1 periods begun");
    expect(await rawUsage()).toEqual(before);
    const { limit, used } = await minutes(projectId);
    expect([limit, await shown(person, week), (await minutes(tenant.id)).limit]).toEqual([used + 57, 0, tenantLimit]);
    expect([await shown(person, month), await shown(`${second}/${lab.slurm.person("lea").uid}`, month)]).toEqual(
      ofMonth,
    );
    expect(await resetsInAudit(2)).toEqual([
      ["host", `reset/${projectId}`, "done", "late"],
      ["host", `reset/${projectId}`, "begun", null],
    ]);
    expect(await timer()).toContain("0 periods begun");
    expect(await lab.as("ops").request("engine.drift", {})).toEqual([]);
    await lab.slurm.expect(["scontrol", "release", String(waiting)]);
    await lab.slurm.waitForJob(waiting, { state: "RUNNING" });
    await lab.slurm.cancel(waiting);
  });

  test("a tenant whose month is used up holds its projects back, though one of them counts anew", async () => {
    const { projectId, tenant } = lab.alpha;
    await lastResetWas(projectId, 8);
    expect(await timer()).toContain("1 periods begun");
    const { limit, used } = await minutes(tenant.id);
    const uncounted = (limit ?? 0) - 300;
    // A minute of a card less than what is used and what a job asks for.
    const left = used - uncounted + 40;
    await allow(tenant.id, left, month);
    expect(await minutes(tenant.id)).toEqual({ limit: uncounted + left, used });
    const waiting = await submit(projectId);
    await lab.slurm.waitForJob(waiting, { state: "PENDING", reason: "AssocGrpGRESMinutes" });
    const { blockers } = await lab
      .as("ops")
      .request("quota.explain", { subject: `${projectId}/${lab.alpha.uid}`, allocationId: String(waiting) });
    expect(blockers).toMatchObject([
      {
        ...{ subject: tenant.id, level: "tenant", resource: `cardHours:month:${timeZone}` },
        ...{ limit: fraction(left, unitsPerHour), used: fraction(used - uncounted, unitsPerHour) },
      },
    ]);
    await lab.slurm.cancel(waiting);
  });

  test("both periods end at once: each object has its rows in the audit, and nothing is begun twice", async () => {
    const { projectId, tenant } = lab.alpha;
    await allow(tenant.id, 300, month);
    await work(everywhere());
    const before = await rawUsage();
    await lastResetWas(projectId, 40);
    await lastResetWas(tenant.id, 40);
    expect(await timer()).toContain("2 periods begun");
    expect(await timer()).toContain("0 periods begun");
    expect(await rawUsage()).toEqual(before);
    for (const account of [tenant.id, projectId]) {
      const { limit, used } = await minutes(account);
      expect((limit ?? 0) - used).toBe(account === projectId ? 57 : 300);
    }
    expect((await resetsInAudit(4)).toSorted()).toEqual(
      [tenant.id, projectId]
        .flatMap((id) => [
          ["host", `reset/${id}`, "begun", null],
          ["host", `reset/${id}`, "done", "late"],
        ])
        .toSorted(),
    );
    expect((await minutes(lab.bravo.projectId)).limit).toBeNull();
  });

  /** In minutes, as it was set. */
  async function limitOf(subject: string): Promise<number> {
    const { nodes } = await lab.as("ops").request("quota.get", {});
    const set = nodes.find(({ id }) => id === subject)?.limits.cardHours?.hours ?? fraction(0);
    return (set.numerator * unitsPerHour) / set.denominator;
  }

  test("a counter that somebody set back counts from zero, and the limit with it", async () => {
    const { projectId, tenant, uid } = lab.alpha;
    const others = (await minutes(second)).used;
    await lab.slurm.expect([
      ...["sacctmgr", "-i", "modify", "user", "where", "name=max", `account=${projectId}`, "set", "rawusage=0"],
    ]);
    await lab.slurm.expect(["sacctmgr", "-i", "modify", "account", "where", `name=${projectId}`, "set", "rawusage=0"]);
    expect((await minutes(projectId)).used).toBe(0);
    await timer();
    const [ofProject, ofTenant] = [await minutes(projectId), await minutes(tenant.id)];
    expect(ofProject).toEqual({ limit: 57, used: 0 });
    // What the other project had used before the month began does not count still.
    expect([others > 0, ofTenant]).toEqual([true, { limit: 300 + others, used: others }]);
    expect(await shown(`${projectId}/${uid}`, week)).toBe(0);
    expect((await resetsInAudit(4)).map(([, object, outcome, why]) => [object, outcome, why]).toSorted()).toEqual(
      [tenant.id, projectId]
        .flatMap((id) => [
          [`reset/${id}`, "begun", null],
          [`reset/${id}`, "done", "set back"],
        ])
        .toSorted(),
    );
    const rows = await resetsInAudit(100);
    await timer();
    expect([await lab.as("ops").request("engine.drift", {}), await resetsInAudit(100)]).toEqual([[], rows]);
    await work([["max", projectId]]);
    expect(await shown(`${projectId}/${uid}`, week)).toBe((await minutes(projectId)).used);
  });

  test("a limit on minutes that was set by hand is a difference from the whole of it, either way", async () => {
    const { tenant } = lab.alpha;
    const { limit } = await minutes(tenant.id);
    const own = await limitOf(tenant.id);
    const uncounted = (limit ?? 0) - own;
    expect(uncounted).toBeGreaterThan(0);
    const byHand = (count: number) =>
      lab.slurm.expect([
        ...["sacctmgr", "-i", "modify", "account", "where", `name=${tenant.id}`, "set"],
        `GrpTRESMins=gres/cardshare=${count}`,
      ]);
    const resolve = async (take: "engine" | "ledger") => {
      const [found, ...more] = await lab.as("ops").request("engine.drift", {});
      expect([found?.subject, found?.ways, more]).toEqual([tenant.id, ["ledger", "engine"], []]);
      const { outcomes } = await lab
        .as("ops")
        .task("engine.resolve", { resolutions: [{ id: found?.id ?? "", take }] }, () => undefined);
      expect(outcomes).toMatchObject([{ outcome: "done" }]);
      expect(await lab.as("ops").request("engine.drift", {})).toEqual([]);
    };
    await byHand(uncounted + 500);
    await resolve("ledger");
    expect((await minutes(tenant.id)).limit).toBe(limit);
    await byHand(uncounted + 500);
    await resolve("engine");
    expect([(await minutes(tenant.id)).limit, await limitOf(tenant.id)]).toEqual([uncounted + 500, 500]);
    // One that nobody set here counts all that Slurm counts.
    expect(await setLimits(lab, { [tenant.id]: {} })).toMatchObject([{ outcome: "done" }]);
    await byHand(1000);
    await resolve("engine");
    expect([(await minutes(tenant.id)).limit, await limitOf(tenant.id)]).toEqual([1000, 1000]);
    expect(await timer()).toContain("0 periods begun");
    expect((await minutes(tenant.id)).limit).toBe(1000);
  });

  test("a person's row that was removed by hand and is made anew counts from zero", async () => {
    const { uid } = lab.slurm.person("lea");
    const person = `${second}/${uid}`;
    const limit = async () => {
      const said = await lab.slurm.expect([
        ...["sacctmgr", "-nP", "show", "assoc", `account=${second}`, "user=lea", "format=user,grptresmins"],
      ]);
      return said.split("\n").find((line) => line.startsWith("lea|"));
    };
    await allow(person, 57, week);
    const { used } = await minutes(second);
    expect([used > 0, await limit()]).toEqual([true, `lea|gres/cardshare=${used + 57}`]);
    await lab.slurm.expect(["sacctmgr", "-i", "delete", "user", "where", "name=lea", `account=${second}`]);
    const [found] = await lab.as("ops").request("engine.drift", {});
    expect(found).toMatchObject({ subject: person, what: "member", engine: null });
    const { outcomes } = await lab
      .as("ops")
      .task("engine.resolve", { resolutions: [{ id: found?.id ?? "", take: "ledger" }] }, () => undefined);
    expect(outcomes).toMatchObject([{ outcome: "done" }]);
    expect([await limit(), await lab.as("ops").request("engine.drift", {})]).toEqual(["lea|gres/cardshare=57", []]);
    await timer();
    expect([await limit(), await lab.as("ops").request("engine.drift", {})]).toEqual(["lea|gres/cardshare=57", []]);
  });
});

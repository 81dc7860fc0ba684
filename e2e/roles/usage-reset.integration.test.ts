/** Card-hours begin anew by the host's timer: of the object and all below it, once, and of nobody else. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { slurmLabMissing } from "../lab/slurm-missing.ts";
import { GovernedLab } from "./governed-lab.ts";
import { installGuard, passingScript, setLimits } from "./set-limits.ts";

const missing = slurmLabMissing();
const period = { kind: "day", timeZone: "Asia/Shanghai" };

describe.skipIf(missing !== null)(`usage begins anew${missing === null ? "" : ` (skipped: ${missing})`}`, () => {
  let lab: GovernedLab;
  let second: string;

  beforeAll(async () => {
    lab = await GovernedLab.start({ jobSubmit: passingScript, slurmConf: ["PriorityDecayHalfLife=18250-0"] });
    await installGuard(lab);
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

  /** A card for a few seconds in each project. */
  async function workInEach(): Promise<void> {
    const places = [
      ["max", lab.alpha.projectId],
      ["lea", second],
      ["mia", lab.bravo.projectId],
    ] as const;
    const ids = await Promise.all(
      places.map(([name, account]) =>
        lab.slurm.submit(
          lab.slurm.person(name),
          [`--account=${account}`, "--gres=gpu:h100:1", "--time=1"],
          "#!/bin/sh\nsleep 3\n",
        ),
      ),
    );
    for (const id of ids) await lab.slurm.waitForJob(id, { state: "COMPLETED" });
  }

  const timer = () => lab.slurm.expect(["/opt/tessera/current/tessera-host", "timer"]);

  /** As if the last reset had been that many days ago and nobody had been there since. */
  async function lastResetWas(daysAgo: number): Promise<void> {
    const program =
      'const { DatabaseSync } = require("node:sqlite");' +
      "const ledger = new DatabaseSync(process.argv[1]);" +
      'ledger.prepare("UPDATE resets SET lastDoneAt = ?").run(process.argv[2]);';
    const at = new Date(Date.now() - daysAgo * 86_400_000).toISOString();
    await lab.slurm.expect(["/opt/tessera/current/node", "-e", program, "/var/lib/tessera/ledger.sqlite", at]);
  }

  test("a project's period that ended while nobody was there: its rows are zero, others keep theirs, who waited runs", async () => {
    const { projectId, tenant } = lab.alpha;
    await workInEach();
    expect(await setLimits(lab, { [projectId]: { cardHours: { hours: "57/3360", period } } })).toMatchObject([
      { outcome: "done" },
    ]);
    const max = lab.slurm.person("max");
    const waiting = await lab.slurm.submit(max, [`--account=${projectId}`, ...["--gres=gpu:h100:1", "--time=1"]]);
    await lab.slurm.waitForJob(waiting, { state: "PENDING", reason: "AssocGrpGRESMinutes" });
    expect(await timer()).toContain("0 resets");
    // Held, so that nothing new is used before the figures are read.
    await lab.slurm.expect(["scontrol", "hold", String(waiting)]);
    const before = await rawUsage();
    await lastResetWas(3);
    expect(await timer()).toContain("1 resets");
    const after = await rawUsage();
    const unchanged = [second, `${second}/lea`, lab.bravo.tenant.id, lab.bravo.projectId, `${lab.bravo.projectId}/mia`];
    for (const row of [projectId, `${projectId}/max`, tenant.id, ...unchanged]) expect(before[row]).toBeGreaterThan(0);
    expect([after[projectId], after[`${projectId}/max`]]).toEqual([0, 0]);
    expect(unchanged.map((row) => after[row])).toEqual(unchanged.map((row) => before[row]));
    await lab.slurm.expect(["scontrol", "release", String(waiting)]);
    await lab.slurm.waitForJob(waiting, { state: "RUNNING" });
    expect(await timer()).toContain("0 resets");
    expect(await resetsInAudit()).toEqual([
      ["host", `reset/${projectId}`, "done"],
      ["host", `reset/${projectId}`, "begun"],
    ]);
    await lab.slurm.cancel(waiting);
    expect(await setLimits(lab, { [projectId]: {} })).toMatchObject([{ outcome: "done" }]);
  });

  test("a tenant's period takes its projects and people with it, and not the other tenant", async () => {
    const { tenant, projectId } = lab.alpha;
    await workInEach();
    expect(await setLimits(lab, { [tenant.id]: { cardHours: { hours: 100, period } } })).toMatchObject([
      { outcome: "done" },
    ]);
    const before = await rawUsage();
    await lastResetWas(1.5);
    expect(await timer()).toContain("1 resets");
    const after = await rawUsage();
    const below = [tenant.id, projectId, `${projectId}/max`, second, `${second}/lea`];
    for (const row of below) expect(before[row]).toBeGreaterThan(0);
    expect(below.map((row) => after[row])).toEqual(below.map(() => 0));
    const others = [lab.bravo.tenant.id, lab.bravo.projectId, `${lab.bravo.projectId}/mia`];
    expect(others.map((row) => after[row])).toEqual(others.map((row) => before[row]));
    expect((await resetsInAudit()).slice(0, 2)).toEqual([
      ["host", `reset/${tenant.id}`, "done"],
      ["host", `reset/${tenant.id}`, "begun"],
    ]);
  });

  /** Newest first. */
  async function resetsInAudit(): Promise<readonly (readonly (string | null)[])[]> {
    const { rows } = await lab.as("ops").request("audit.list", { subject: "cluster", command: "quota.reset" });
    return rows.map(({ role, object, outcome }) => [role, object, outcome]);
  }
});

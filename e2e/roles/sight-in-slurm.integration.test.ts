/**
 * What goes around limits and around sight in Slurm itself: a QOS with limits of its own is told of, and PrivateData keeps
 * tenants from each other in Slurm's own tools, or the engine's status says that it does not.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clusterName, databaseName, databaseSocket } from "../lab/slurm-configuration.ts";
import { slurmLabMissing } from "../lab/slurm-missing.ts";
import type { GovernedLab, Name } from "./governed-lab.ts";
import { enforcingLab, setLimits } from "./set-limits.ts";

const missing = slurmLabMissing();

/** The turn of an hour, so many hours ago, as Slurm takes it in the lab's time zone. */
function hourAgo(hours: number): string {
  const at = new Date(Math.floor(Date.now() / 3_600_000 - hours) * 3_600_000);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day}T${two(at.getHours())}:00:00`;
}

describe.skipIf(missing !== null)(`sight in Slurm${missing === null ? "" : ` (skipped: ${missing})`}`, () => {
  let lab: GovernedLab;

  beforeAll(async () => {
    lab = await enforcingLab();
  }, 120_000);
  afterAll(async () => {
    await lab?.[Symbol.asyncDispose]();
  });

  const foreign = async () =>
    (await lab.as("ops").request("engine.drift", {})).map(({ subject, what, engine }) => [subject, what, engine]);
  const asks = (name: Name, argv: readonly string[]) => lab.slurm.run(argv, { as: lab.slurm.person(name) });

  test("a QOS with limits of its own is listed where it is given, and a job under it passes the project's limit", async () => {
    const { projectId, uid } = lab.alpha;
    expect(await setLimits(lab, { [projectId]: { cards: "1/2" } })).toMatchObject([{ outcome: "done" }]);
    await lab.slurm.sacctmgr(
      "add",
      "qos",
      "wide",
      "set",
      "GrpTRES=gres/cardshare=560",
      "GrpTRESMins=gres/cardshare=9999",
    );
    await lab.slurm.sacctmgr("add", "qos", "plain", "set", "Priority=3");
    expect(await foreign()).toEqual([]);
    await lab.slurm.sacctmgr(
      ...["modify", "user", "where", "name=max", `account=${projectId}`, "set", "qos+=wide,plain"],
    );
    await lab.slurm.sacctmgr("modify", "account", "where", `name=${lab.bravo.tenant.id}`, "set", "qos+=wide");
    const words = "QOS wide, whose own limits replace these for GrpTRES gres/cardshare, GrpTRESMins gres/cardshare";
    expect((await foreign()).toSorted()).toEqual(
      [
        [`${projectId}/${uid}`, "foreign", words],
        [lab.bravo.tenant.id, "foreign", words],
      ].toSorted(),
    );
    const max = lab.slurm.person("max");
    const held = await lab.slurm.submit(max, ["--gres=gpu:h100:1"]);
    await lab.slurm.waitForJob(held, { state: "PENDING", reason: "AssocGrpGRES" });
    const passes = await lab.slurm.submit(max, ["--gres=gpu:h100:1", "--qos=wide", "--time=1"]);
    await lab.slurm.waitForJob(passes, { state: "RUNNING" });
    expect((await lab.slurm.job(held)).state).toBe("PENDING");
    await lab.slurm.cancel(passes);

    // A partition gives its QOS to everybody in it.
    await lab.slurm.expect(["scontrol", "update", "PartitionName=gpu", "QOS=wide"]);
    expect(await foreign()).toContainEqual([
      "cluster",
      "foreign",
      "the partition gpu, whose QOS wide replaces all limits of its jobs for GrpTRES gres/cardshare, GrpTRESMins gres/cardshare",
    ]);
    await lab.slurm.cancel(held);
    const byPartition = await lab.slurm.submit(max, ["--gres=gpu:h100:1", "--time=1"]);
    await lab.slurm.waitForJob(byPartition, { state: "RUNNING" });
    await lab.slurm.cancel(byPartition);
    await lab.slurm.expect(["scontrol", "update", "PartitionName=gpu", "QOS="]);
    await setLimits(lab, { [projectId]: {} });
  });

  /** What a person of Alpha finds of Bravo with Slurm's own tools: the names that say it, by tool. */
  async function foundOfBravo(name: Name, jobId: number): Promise<Readonly<Record<string, boolean>>> {
    const { tenant, projectId } = lab.bravo;
    const tools = {
      squeue: ["squeue", "--noheader", "--format=%i %u %a"],
      "scontrol job": ["scontrol", "--oneliner", "show", "job", String(jobId)],
      "scontrol jobs": ["scontrol", "--oneliner", "show", "job"],
      sacct: ["sacct", "--allusers", "--noheader", "--parsable2", "--format=JobID,User,Account"],
      sshare: ["sshare", "--all", "--noheader", "--parsable2", "--format=Account,User,RawUsage"],
      sreport: [
        ...["sreport", "--parsable2", "--noheader", "cluster", "AccountUtilizationByUser"],
        ...[`start=${hourAgo(3)}`, `end=${hourAgo(1)}`, "format=Accounts,Login,Used"],
      ],
      "sacctmgr associations": ["sacctmgr", "-nP", "show", "assoc", "format=account,user"],
      "sacctmgr accounts": ["sacctmgr", "-nP", "show", "account", "format=account"],
      "sacctmgr users": ["sacctmgr", "-nP", "show", "user", "format=user"],
    };
    const found: Record<string, boolean> = {};
    for (const [tool, argv] of Object.entries(tools)) {
      const { stdout } = await asks(name, argv);
      found[tool] = [tenant.id, projectId, "mia"].some((word) => stdout.includes(word));
    }
    return found;
  }

  /** An hour of use by each of these associations, where slurmdbd sums it up at the turn of the hour for sreport. */
  async function workedAnHour(users: readonly Name[]): Promise<void> {
    const who = users.map((user) => `'${user}'`).join();
    const table = (name: string) => `${databaseName}.${clusterName}_${name}`;
    const hour = "UNIX_TIMESTAMP() DIV 3600 * 3600 - 7200";
    const sql = `
      INSERT INTO ${table("assoc_usage_hour_table")} (creation_time, mod_time, id, id_tres, time_start, alloc_secs)
        SELECT 0, 0, id_assoc, 1, ${hour}, 3600 FROM ${table("assoc_table")} WHERE user IN (${who});
      INSERT INTO ${table("usage_hour_table")} (creation_time, mod_time, id_tres, time_start, count, alloc_secs)
        VALUES (0, 0, 1, ${hour}, 8, ${users.length * 3600})`;
    await lab.slurm.expect(["mariadb", `--socket=${databaseSocket}`, "--execute", sql]);
  }

  test("as the doctor advises it, a member of Alpha finds nothing of Bravo; without it everything, and it is said", async () => {
    const mia = lab.slurm.person("mia");
    const job = await lab.slurm.submit(mia, ["--gres=gpu:h100:1"]);
    await lab.slurm.waitForJob(job, { state: "RUNNING" });
    await expect
      .poll(() => lab.slurm.expect(["sacct", "--allusers", "--noheader", "--format=User"]), { timeout: 20_000 })
      .toContain("mia");
    await workedAnHour(["max", "mia"]);
    const privacy = async () =>
      (await lab.as("ops").request("engine.status", {})).findings
        .filter(({ check }) => check.startsWith("privacy"))
        .map(({ level, change }) => ({ level, ...(change === undefined ? {} : { change }) }));
    expect(await privacy()).toEqual([{ level: "ok" }, { level: "ok" }]);
    const closed = await foundOfBravo("max", job);
    const own = await foundOfBravo("mia", job);
    // The list of accounts is for coordinators and administrators alone then.
    expect(Object.entries(own).flatMap(([tool, found]) => (found ? [] : [tool]))).toEqual(["sacctmgr accounts"]);
    expect(Object.entries(closed).filter(([, found]) => found)).toEqual([]);
    const { allocations } = await lab.as("ops").request("quota.get", {});
    expect(allocations).toMatchObject([{ id: String(job), user: "mia", subject: `${lab.bravo.projectId}/${mia.uid}` }]);

    withoutPrivateData();
    await lab.slurm.expect(["scontrol", "reconfigure"]);
    await lab.slurm.slurmdbd.restart();
    const lines = ["PrivateData=accounts,jobs,reservations,usage,users"];
    await expect.poll(privacy, { timeout: 20_000 }).toEqual([
      { level: "problem", change: { file: "slurm.conf", lines } },
      { level: "problem", change: { file: "slurmdbd.conf", lines } },
    ]);
    const open = await foundOfBravo("max", job);
    expect(Object.entries(open).filter(([, found]) => !found)).toEqual([]);
    await lab.slurm.cancel(job);
  });

  function withoutPrivateData(): void {
    for (const name of ["slurm.conf", "slurmdbd.conf"]) {
      const path = lab.slurm.control.machine.file(`/etc/slurm/${name}`);
      writeFileSync(path, readFileSync(path, "utf8").replace(/^PrivateData=.*\n/m, ""));
    }
  }
});

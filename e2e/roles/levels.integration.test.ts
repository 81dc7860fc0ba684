/**
 * Each level and each resource that can be limited: what is set through tessera-host stands in slurmdbd, holds a job back by
 * Slurm's own reason, and whoever waits reads which limit it is, by how much, and whose it is to change.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { slurmLabMissing } from "../lab/slurm-missing.ts";
import type { GovernedLab, Name } from "./governed-lab.ts";
import { enforcingLab, setLimits } from "./set-limits.ts";

const missing = slurmLabMissing();
const card = ["--gres=gpu:h100:1"];
const one = { numerator: 1, denominator: 1 };

describe.skipIf(missing !== null)(`levels and resources${missing === null ? "" : ` (skipped: ${missing})`}`, () => {
  let lab: GovernedLab;

  beforeAll(async () => {
    lab = await enforcingLab();
  }, 120_000);
  afterAll(async () => {
    await lab?.[Symbol.asyncDispose]();
  });

  const explain = (name: Name, id: number, subject = `${lab.alpha.projectId}/${lab.alpha.uid}`) =>
    lab.as(name).request("quota.explain", { subject, allocationId: String(id) });

  /** What slurmdbd has of an account's or a person's row, `grptres` or `grptresmins`. */
  async function inSlurm(account: string, user: string, field: string): Promise<readonly string[]> {
    const said = await lab.slurm.expect([
      ...["sacctmgr", "-nP", "show", "assoc", `account=${account}`, `user=${user}`, `format=user,${field}`],
    ]);
    const row = said.split("\n").find((line) => line.startsWith(`${user}|`));
    return (row?.split("|")[1] ?? "").split(",").toSorted();
  }

  test("every resource is enforced here", async () => {
    const { enforcement } = await lab.as("ops").request("engine.status", {});
    expect(enforcement.filter(({ enforced }) => !enforced)).toEqual([]);
  });

  test("card-hours that are used up hold the next job back, and the rest is told", async () => {
    const { projectId } = lab.alpha;
    const period = { kind: "day", timeZone: "Asia/Shanghai" };
    // A card for 57/56 of a minute: one job of a minute fits, and whatever it has used keeps the next one out.
    expect(await setLimits(lab, { [projectId]: { cardHours: { hours: "57/3360", period } } })).toMatchObject([
      { outcome: "done" },
    ]);
    expect(await inSlurm(projectId, "", "grptresmins")).toEqual(["gres/cardshare=57"]);
    const max = lab.slurm.person("max");
    const first = await lab.slurm.submit(max, [...card, "--time=1"], "#!/bin/sh\nsleep 4\n");
    await lab.slurm.waitForJob(first, { state: "COMPLETED" });
    const second = await lab.slurm.submit(max, [...card, "--time=1"]);
    await lab.slurm.waitForJob(second, { state: "PENDING", reason: "AssocGrpGRESMinutes" });
    const { blockers } = await explain("max", second);
    expect(blockers).toMatchObject([
      {
        ...{ subject: projectId, level: "project", resource: "cardHours:day:Asia/Shanghai", changedBy: "lead" },
        ...{ limit: { numerator: 19, denominator: 1120 }, asked: { numerator: 1, denominator: 60 } },
      },
    ]);
    const [blocker] = blockers;
    expect(blocker?.used.numerator).toBeGreaterThan(0);
    const usage = (await lab.as("max").request("quota.get", {})).nodes.find(
      ({ id }) => id === `${projectId}/${lab.alpha.uid}`,
    )?.usage;
    expect(usage?.cardHours).toEqual([{ hours: blocker?.used, period }]);
    await lab.slurm.cancel(second);
    expect(await setLimits(lab, { [projectId]: {} })).toMatchObject([{ outcome: "done" }]);
  });

  const levels = [
    { level: "cluster", changedBy: "administrator", place: () => ["cluster", "root", ""] },
    { level: "tenant", changedBy: "administrator", place: () => [lab.alpha.tenant.id, lab.alpha.tenant.id, ""] },
    { level: "project", changedBy: "lead", place: () => [lab.alpha.projectId, lab.alpha.projectId, ""] },
    {
      level: "person",
      changedBy: "lead",
      place: () => [`${lab.alpha.projectId}/${lab.alpha.uid}`, lab.alpha.projectId, "max"],
    },
  ] as const;

  test.each(levels)("a limit of the $level holds the second job back", async ({ level, changedBy, place }) => {
    const [subject = "", account = "", user = ""] = place();
    expect(await setLimits(lab, { [subject]: { cards: 1 } })).toMatchObject([{ outcome: "done" }]);
    expect(await inSlurm(account, user, "grptres")).toEqual(["gres/cardshare=56"]);
    expect(await lab.as("ops").request("engine.drift", {})).toEqual([]);
    const max = lab.slurm.person("max");
    const first = await lab.slurm.submit(max, card);
    const second = await lab.slurm.submit(max, card);
    await lab.slurm.waitForJob(first, { state: "RUNNING" });
    await lab.slurm.waitForJob(second, { state: "PENDING", reason: "AssocGrpGRES" });
    const blocker = { level, resource: "cards", asked: one, missing: one, changedBy };
    expect(await explain("ops", second)).toMatchObject({
      reason: "AssocGrpGRES",
      blockers: [{ ...blocker, subject, limit: one, used: one }],
    });
    const told = await explain("max", second);
    expect(told.blockers).toMatchObject([{ ...blocker, subject: level === "cluster" ? null : subject }]);
    expect(await setLimits(lab, { [subject]: {} })).toMatchObject([{ outcome: "done" }]);
    expect(await inSlurm(account, user, "grptres")).toEqual([""]);
    await lab.slurm.waitForJob(second, { state: "RUNNING" });
    await lab.slurm.cancel(first, second);
  });

  test("a member held back by the cluster's limit hears that it is, and not how much others use", async () => {
    expect(await setLimits(lab, { cluster: { cards: 2 } })).toMatchObject([{ outcome: "done" }]);
    const [max, mia] = [lab.slurm.person("max"), lab.slurm.person("mia")];
    const others = await lab.slurm.submit(mia, ["--gres=gpu:h100:2"]);
    await lab.slurm.waitForJob(others, { state: "RUNNING" });
    const waiting = await lab.slurm.submit(max, card);
    await lab.slurm.waitForJob(waiting, { state: "PENDING", reason: "AssocGrpGRES" });
    const { sentence, blockers } = await explain("max", waiting);
    expect(blockers).toMatchObject([
      { level: "cluster", subject: null, missing: one, limit: { numerator: 0 }, used: { numerator: 0 } },
    ]);
    expect(sentence).not.toMatch(/\b2\b/);
    await expect(explain("liv", waiting)).rejects.toMatchObject({ code: "forbidden" });
    await setLimits(lab, { cluster: {} });
    await lab.slurm.cancel(others, waiting);
  });

  const resources = [
    {
      resource: "gpuMemoryGiB",
      limits: { gpuMemoryGiB: 60 },
      held: ["gres/vram=60"],
      job: ["--gres=gpu:h100_3g.40gb:1"],
      next: ["--gres=gpu:h100:1"],
      reason: "AssocGrpGRES",
      missing: { numerator: 60, denominator: 1 },
    },
    {
      resource: "cpuCores",
      limits: { cpuCores: 3 },
      held: ["cpu=3"],
      job: ["--cpus-per-task=2"],
      next: ["--cpus-per-task=2"],
      reason: "AssocGrpCpuLimit",
      missing: one,
    },
    {
      resource: "memoryGiB",
      limits: { memoryGiB: "3/2" },
      held: ["mem=1.50G"],
      job: ["--mem=1G"],
      next: ["--mem=1G"],
      reason: "AssocGrpMemLimit",
      missing: { numerator: 1, denominator: 2 },
    },
    {
      resource: "gpuType:h100",
      limits: { gpuTypes: { h100: 1 } },
      held: ["gres/gpu:h100=1"],
      job: card,
      next: card,
      reason: "AssocGrpGRES",
      missing: one,
    },
    {
      resource: "gpuType:h100/1g.10gb",
      limits: { gpuTypes: { "h100/1g.10gb": 1 } },
      held: ["gres/gpu:h100_1g.10gb=1"],
      job: ["--gres=gpu:h100_1g.10gb:1"],
      next: ["--gres=gpu:h100_1g.10gb:1"],
      reason: "AssocGrpGRES",
      missing: one,
    },
  ] as const;

  test.each(resources)("$resource of a project holds the second job back", async ({ resource, limits, ...more }) => {
    const { projectId } = lab.alpha;
    expect(await setLimits(lab, { [projectId]: limits })).toMatchObject([{ outcome: "done" }]);
    expect(await inSlurm(projectId, "", "grptres")).toEqual(more.held);
    const max = lab.slurm.person("max");
    const first = await lab.slurm.submit(max, more.job);
    await lab.slurm.waitForJob(first, { state: "RUNNING" });
    const second = await lab.slurm.submit(max, more.next);
    await lab.slurm.waitForJob(second, { state: "PENDING", reason: more.reason });
    expect(await explain("max", second)).toMatchObject({
      reason: more.reason,
      blockers: [{ subject: projectId, level: "project", name: "Alpha one", resource, missing: more.missing }],
    });
    expect(await lab.as("ops").request("engine.drift", {})).toEqual([]);
    await lab.slurm.cancel(first, second);
    expect(await setLimits(lab, { [projectId]: {} })).toMatchObject([{ outcome: "done" }]);
  });
});

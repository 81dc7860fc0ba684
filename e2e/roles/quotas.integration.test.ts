/**
 * From a new tenant to a raise that ends: limits set through tessera-host hold in a real Slurm, say why something waits,
 * and come back by the host's timer. And what is said when slurmdbd goes away in the middle.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toErrorData } from "../../shared/errors.ts";
import type { HostAnswer } from "../../shared/protocol/contract.ts";
import { readLimits } from "../../shared/quota/index.ts";
import { slurmLabMissing } from "../lab/slurm-missing.ts";
import { GovernedLab } from "./governed-lab.ts";

const missing = slurmLabMissing();
const nothing = () => undefined;
/** Somebody else's script, which lets every job pass. */
const passing =
  "function slurm_job_submit() return slurm.SUCCESS end\nfunction slurm_job_modify() return slurm.SUCCESS end\nreturn slurm.SUCCESS\n";

describe.skipIf(missing !== null)(`quotas${missing === null ? "" : ` (skipped: ${missing})`}`, () => {
  let lab: GovernedLab;

  beforeAll(async () => {
    lab = await GovernedLab.start({ jobSubmit: passing });
  }, 120_000);
  afterAll(async () => {
    await lab?.[Symbol.asyncDispose]();
  });

  async function setLimits(subject: string, limits: unknown): Promise<HostAnswer<"quota.set">["outcomes"][number]> {
    const { nodes } = await lab.as("ops").request("quota.get", {});
    const basedOn = nodes.find(({ id }) => id === subject)?.version ?? -1;
    const { outcomes } = await lab
      .as("ops")
      .task("quota.set", { edits: [{ subject, limits: readLimits(limits), basedOn }] }, nothing);
    const [outcome] = outcomes;
    if (outcome === undefined) throw new Error("no outcome");
    return outcome;
  }

  /** GrpTRES of an account or a person's association, as slurmdbd has it. */
  async function grpTres(account: string, user = ""): Promise<string> {
    const said = await lab.slurm.expect([
      ...["sacctmgr", "-nP", "show", "assoc", `account=${account}`, `user=${user}`, "format=user,grptres"],
    ]);
    return (
      said
        .trim()
        .split("\n")
        .map((line) => line.split("|"))
        .find(([name]) => name === user)?.[1] ?? ""
    );
  }

  const drift = () => lab.as("ops").request("engine.drift", {});
  const card = ["--gres=gpu:h100:1"];

  test("the guard takes the place of another script only when told to, and is in force then", async () => {
    const guard = (...words: readonly string[]) =>
      lab.slurm.run(["/opt/tessera/current/tessera-host", "slurm", "guard", ...words]);
    expect((await guard("install")).stderr).toContain("is a script of somebody else");
    const installed = await guard("install", "--take-over");
    expect(installed).toMatchObject({ status: 0, stdout: expect.stringContaining("In force: version") });
    const untyped = await lab.slurm.run(["sbatch", "--gres=gpu:1", "--wrap=true"], { as: lab.slurm.person("max") });
    expect(untyped.status).not.toBe(0);
    const { enforcement } = await lab.as("ops").request("engine.status", {});
    // The lab lets use fade, as Slurm does by default: that one is not called enforced.
    expect(enforcement.filter(({ enforced }) => !enforced)).toMatchObject([
      { resource: "cardHours", why: expect.stringContaining("PriorityDecayHalfLife") },
    ]);
  });

  test("a tenant's limits are in slurmdbd as set, and there is no difference to the ledger", async () => {
    const { tenant, projectId, uid } = lab.alpha;
    expect(await setLimits(tenant.id, { cards: 2, cpuCores: 8, memoryGiB: 16, gpuMemoryGiB: 160 })).toMatchObject({
      outcome: "done",
    });
    expect(await setLimits(projectId, { cards: "1" })).toMatchObject({ outcome: "done" });
    expect(await setLimits(`${projectId}/${uid}`, { cards: "3/7", gpuTypes: { h100: 1 } })).toMatchObject({
      outcome: "done",
    });
    expect((await grpTres(tenant.id)).split(",").toSorted()).toEqual([
      ...["cpu=8", "gres/cardshare=112", "gres/vram=160", "mem=16G"],
    ]);
    expect(await grpTres(projectId)).toBe("gres/cardshare=56");
    expect(await grpTres(`${projectId}`, "max")).toContain("gres/cardshare=24");
    expect(await drift()).toEqual([]);
    // Clearing one leaves the others.
    expect(await setLimits(`${projectId}/${uid}`, {})).toMatchObject({ outcome: "done" });
    expect(await grpTres(projectId, "max")).toBe("");
    expect(await drift()).toEqual([]);
  });

  test("a lead may not lift a project above the tenant, nor the tenant itself", async () => {
    const { tenant, projectId } = lab.alpha;
    const nodes = (await lab.as("lea").request("quota.get", {})).nodes;
    const basedOn = nodes.find(({ id }) => id === projectId)?.version ?? -1;
    const set = (subject: string, cards: number, version: number) =>
      lab
        .as("lea")
        .task("quota.set", { edits: [{ subject, limits: readLimits({ cards }), basedOn: version }] }, nothing);
    expect((await set(projectId, 3, basedOn)).outcomes).toMatchObject([
      { outcome: "failed", error: { code: "forbidden" } },
    ]);
    await expect(set(tenant.id, 3, 0)).rejects.toMatchObject({ code: "forbidden" });
    expect((await set(projectId, 1, basedOn)).outcomes).toMatchObject([{ outcome: "unchanged" }]);
  });

  test("the later of two edits is told what changed meanwhile", async () => {
    const { projectId } = lab.bravo;
    expect(await setLimits(projectId, { cards: 1 })).toMatchObject({ outcome: "done" });
    const late = await lab
      .as("ops")
      .task("quota.set", { edits: [{ subject: projectId, limits: readLimits({ cards: 2 }), basedOn: 0 }] }, nothing);
    expect(late.outcomes).toMatchObject([{ outcome: "failed", error: { code: "conflict" } }]);
    const [outcome] = late.outcomes;
    const error = outcome !== undefined && "error" in outcome ? outcome.error : null;
    expect(error?.evidence?.changedMeanwhile).toMatchObject([
      { field: "subject" },
      {},
      {},
      {},
      {},
      { field: "limits", by: "ops" },
    ]);
    expect(await grpTres(projectId)).toBe("gres/cardshare=56");
  });

  test("of two consoles that set the same limit at once one is told, and Slurm holds what the ledger does", async () => {
    const { projectId } = lab.bravo;
    await using other = await lab.open("ops");
    const { nodes } = await lab.as("ops").request("quota.get", {});
    const basedOn = nodes.find(({ id }) => id === projectId)?.version ?? -1;
    const set = (channel: typeof other.channel, cards: number) =>
      channel.task("quota.set", { edits: [{ subject: projectId, limits: readLimits({ cards }), basedOn }] }, nothing);
    const both = await Promise.all([set(lab.as("ops"), 3), set(other.channel, 4)]);
    const outcomes = both.flatMap((each) => each.outcomes.map(({ outcome }) => outcome));
    expect(outcomes.toSorted()).toEqual(["done", "failed"]);
    expect(await drift()).toEqual([]);
    expect(await setLimits(projectId, { cards: 1 })).toMatchObject({ outcome: "done" });
  });

  test("a job over the limit waits, the member reads why, asks, the lead approves, it runs, the grant ends", async () => {
    const { projectId, uid } = lab.alpha;
    const max = lab.slurm.person("max");
    const subject = `${projectId}/${uid}`;
    const first = await lab.slurm.submit(max, card);
    await lab.slurm.waitForJob(first, { state: "RUNNING" });
    const second = await lab.slurm.submit(max, card);
    await lab.slurm.waitForJob(second, { state: "PENDING", reason: "AssocGrpGRES" });
    const why = await lab.as("max").request("quota.explain", { subject, allocationId: String(second) });
    expect(why).toMatchObject({
      reason: "AssocGrpGRES",
      blockers: [
        {
          ...{ subject: projectId, level: "project", name: "Alpha one", resource: "cards", changedBy: "lead" },
          ...{ limit: { numerator: 1 }, used: { numerator: 1 }, missing: { numerator: 1, denominator: 1 } },
        },
      ],
    });

    const until = new Date(Date.now() + 3_600_000).toISOString();
    const asked = await lab
      .as("max")
      .request("request.ask", { subject: projectId, raise: readLimits({ cards: 1 }), why: "a deadline", until });
    expect(asked).toMatchObject({ state: "asked", approver: "lead", notes: [] });
    // Not another tenant's business.
    expect((await lab.as("liv").request("requests.list", {})).requests).toEqual([]);
    const open = (await lab.as("lea").request("requests.list", {})).requests;
    expect(open).toMatchObject([{ id: asked.id, approver: "lead", askedBy: { user: "max" } }]);
    await lab.as("lea").request("request.decide", {
      ...{ subject: projectId, requestId: asked.id, basedOn: asked.version, decision: "approve", answer: "fine" },
    });
    await lab.slurm.waitForJob(second, { state: "RUNNING" });
    expect(await grpTres(projectId)).toBe("gres/cardshare=112");
    expect(await drift()).toEqual([]);

    const { grants } = await lab.as("lea").request("requests.list", {});
    expect(grants).toMatchObject([{ subject: projectId, state: "running" }]);
    const [grant] = grants;
    await lab
      .as("lea")
      .request("grant.cut", { subject: projectId, grantId: grant?.id ?? "", basedOn: grant?.version ?? 0 });
    expect(await grpTres(projectId)).toBe("gres/cardshare=56");
    // Nothing that runs is killed.
    expect((await lab.slurm.job(second)).state).toBe("RUNNING");
    await lab.slurm.cancel(first, second);
  });

  test("a raise ends by the host's timer though nobody is connected, and a second run does nothing", async () => {
    const { projectId } = lab.alpha;
    const until = new Date(Date.now() + 3_000).toISOString();
    const asked = await lab
      .as("max")
      .request("request.ask", { subject: projectId, raise: readLimits({ cards: "1/2" }), why: "short", until });
    await lab.as("ops").request("request.decide", {
      ...{ subject: projectId, requestId: asked.id, basedOn: asked.version, decision: "approve", answer: "" },
    });
    expect(await grpTres(projectId)).toBe("gres/cardshare=84");
    await new Promise((resolve) => setTimeout(resolve, Date.parse(until) - Date.now() + 50));
    const timer = () => lab.slurm.expect(["/opt/tessera/current/tessera-host", "timer"]);
    expect(await timer()).toContain("1 grants set or ended");
    expect(await grpTres(projectId)).toBe("gres/cardshare=56");
    expect(await timer()).toContain("0 grants set or ended");
    const { rows } = await lab.as("ops").request("audit.list", { subject: "cluster", command: "grant.settle" });
    expect(rows.map(({ role, outcome }) => `${role} ${outcome}`)).toContain("host done");
  });

  test("what somebody did with sacctmgr is shown beside the ledger, and resolved by choice in either direction", async () => {
    const { tenant, projectId } = lab.bravo;
    await lab.slurm.sacctmgr("modify", "account", projectId, "set", "GrpTRES=gres/cardshare=280");
    await lab.slurm.sacctmgr("add", "coordinator", `account=${tenant.id}`, "names=mia");
    const found = await drift();
    expect(found.map(({ what, subject, ledger, engine, ways }) => ({ what, subject, ledger, engine, ways }))).toEqual(
      expect.arrayContaining([
        { what: "limits", subject: projectId, ledger: "cards 1", engine: "cards 5", ways: ["ledger", "engine"] },
        { what: "coordinator", subject: tenant.id, ledger: null, engine: "mia", ways: [] },
      ]),
    );
    const id = found.find(({ what }) => what === "limits")?.id ?? "";
    await lab.as("ops").task("engine.resolve", { resolutions: [{ id, take: "engine" }] }, nothing);
    const nodes = (await lab.as("ops").request("quota.get", {})).nodes;
    expect(nodes.find((node) => node.id === projectId)?.limits).toEqual(readLimits({ cards: 5 }));

    await lab.slurm.sacctmgr("modify", "account", projectId, "set", "GrpTRES=gres/cardshare=56");
    const again = (await drift()).find(({ what }) => what === "limits")?.id ?? "";
    await lab.as("ops").task("engine.resolve", { resolutions: [{ id: again, take: "ledger" }] }, nothing);
    expect(await grpTres(projectId)).toBe("gres/cardshare=280");
    // The same choice again is about something that is no longer so.
    const late = await lab.as("ops").task("engine.resolve", { resolutions: [{ id: again, take: "ledger" }] }, nothing);
    expect(late.outcomes).toMatchObject([{ outcome: "failed", error: { code: "conflict" } }]);
    await lab.slurm.sacctmgr("delete", "coordinator", `account=${tenant.id}`, "names=mia");
    expect((await drift()).filter(({ what }) => what !== "coordinator")).toEqual([]);
    const told = await lab.as("ops").request("audit.slurm", { since: "2026-01-01" });
    expect(told.some(({ action, actor }) => /Modify/.test(action) && actor === "root")).toBe(true);
  });

  test("a project with jobs is kept until they are cancelled by will, and then nothing of it is left", async () => {
    const ops = lab.as("ops");
    const project = await ops.request("project.add", { tenantId: lab.bravo.tenant.id, displayName: "Doomed" });
    const mia = lab.slurm.person("mia");
    const member = await ops.request("member.add", { projectId: project.id, uid: mia.uid });
    const groups = async () => (await lab.slurm.expect(["id", "-nG", "mia"])).trim().split(" ");
    expect(await groups()).toContain(project.id);
    const job = await lab.slurm.submit(mia, [`--account=${project.id}`, ...card]);
    await lab.slurm.waitForJob(job, { state: "RUNNING" });
    const told = await ops.request("removal.consequences", { subject: project.id });
    expect(told).toMatchObject({ running: [{ id: String(job) }], waiting: [], members: [{ user: "mia" }] });
    const remove = { projectId: project.id, basedOn: project.version };
    await setLimits(project.id, { cards: 1 });
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const raise = readLimits({ cards: 1 });
    const asked = await lab.as("mia").request("request.ask", { subject: project.id, raise, why: "more", until });
    await expect(ops.request("project.remove", remove)).rejects.toMatchObject({ code: "in-use" });
    expect((await lab.slurm.job(job)).state).toBe("RUNNING");
    await ops.request("project.remove", { ...remove, cancelAllocations: true });
    expect((await lab.slurm.job(job)).state).toBe("CANCELLED");
    expect(await lab.slurm.expect(["sacctmgr", "-nP", "show", "assoc", `account=${project.id}`])).toBe("");
    expect(await groups()).not.toContain(project.id);
    expect(member.version).toBeGreaterThan(0);
    const { requests } = await ops.request("requests.list", {});
    expect(requests.find(({ id }) => id === asked.id)).toMatchObject({
      state: "withdrawn",
      decidedBy: { user: "ops" },
    });
    expect(await drift()).toEqual([]);
  });

  test("slurmdbd gone in the middle: the truth is said, the ledger stays as it was, and trying again is safe", async () => {
    const { projectId } = lab.alpha;
    await lab.slurm.slurmdbd.stop();
    let outcome: unknown;
    try {
      outcome = await setLimits(projectId, { cards: 2 });
    } catch (error) {
      outcome = { outcome: "failed", error: toErrorData(error) };
    }
    expect(outcome).toMatchObject({ outcome: expect.stringMatching(/^(failed|unknown)$/) });
    await expect(
      lab.as("ops").request("project.add", { tenantId: lab.alpha.tenant.id, displayName: "Lost" }),
    ).rejects.toMatchObject({ code: "timeout" });
    await lab.slurm.slurmdbd.start();
    expect(await drift()).toEqual([]);
    expect(
      (await lab.as("ops").request("organisation.get", {})).tenants.flatMap(({ projects }) => projects),
    ).not.toEqual(expect.arrayContaining([expect.objectContaining({ displayName: "Lost" })]));
    expect(await setLimits(projectId, { cards: 2 })).toMatchObject({ outcome: "done" });
    expect(await grpTres(projectId)).toBe("gres/cardshare=112");
    expect(await lab.as("ops").request("audit.verify", {})).toMatchObject({ intact: true });
  }, 120_000);
});

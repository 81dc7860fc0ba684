/** The Slurm engine against a real Slurm: what is said to be done is done, and what is not said is not. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Engine, EngineChange, EnginePerson } from "../../resources/host-module/src/engine/engine.ts";
import { slurmEngine } from "../../resources/host-module/src/engine/slurm/slurm-engine.ts";
import { fraction, type Limits, type Period } from "../../shared/quota/index.ts";
import { SlurmLab } from "../lab/slurm.ts";
import { slurmLabMissing } from "../lab/slurm-missing.ts";
import { systemOf } from "./lab-system.ts";

const missing = slurmLabMissing();
const month: Period = { kind: "month", timeZone: "UTC" };
const tenantId = "taaaa";
const projectId = "taaaa_p01";
const limits: Limits = {
  cards: fraction(3, 2),
  gpuMemoryGiB: fraction(120),
  cpuCores: fraction(8),
  memoryGiB: fraction(65, 2),
  gpuTypes: { "h100/3g.40gb": fraction(1) },
  cardHours: { hours: fraction(100), period: month },
};

describe.skipIf(missing !== null)(`the Slurm engine${missing === null ? "" : ` (skipped: ${missing})`}`, () => {
  let lab: SlurmLab;
  let engine: Engine;
  let alice: EnginePerson;
  const periodOf = (subject: string) => (subject === projectId ? month : null);
  const apply = async (...changes: readonly EngineChange[]) =>
    (await engine.apply(changes, {})).map((each) => ("error" in each ? [each.outcome, each.error.code] : each.outcome));
  const set = (subject: string, before: Limits, after: Limits): EngineChange => ({
    ...{ kind: "set-limits", subject, person: null, before, limits: after },
  });
  const found = async (subject: string) => (await engine.state([alice], periodOf)).subjects.get(subject);

  beforeAll(async () => {
    lab = await SlurmLab.start({ people: ["alice"] });
    engine = await slurmEngine(systemOf(lab));
    alice = { uid: lab.person("alice").uid, user: "alice" };
  });
  afterAll(async () => {
    await lab?.[Symbol.asyncDispose]();
  });

  test("a tenant, a project and a member are made once; the second time nothing changes", async () => {
    const changes: readonly EngineChange[] = [
      { kind: "add-tenant", tenantId },
      { kind: "add-project", projectId },
      { kind: "add-project", projectId: "taaaa_p02" },
      { kind: "add-member", projectId, person: alice },
      { kind: "add-member", projectId: "taaaa_p02", person: alice },
    ];
    expect(await apply(...changes)).toEqual(changes.map(() => "done"));
    expect(await apply(...changes)).toEqual(changes.map(() => "unchanged"));
    const { subjects, unread } = await engine.state([alice], periodOf);
    const person = (project: string) => `${project}/${alice.uid}`;
    const names = ["cluster", tenantId, projectId, person(projectId), "taaaa_p02", person("taaaa_p02")];
    expect([[...subjects.keys()].toSorted(), unread]).toEqual([names.toSorted(), []]);
    expect((await engine.state([], periodOf)).unread.length).toBe(2);
  });

  test("limits are read back as they were set, lowered and cleared; what is refused harms no other", async () => {
    expect(await apply(set(projectId, {}, limits))).toEqual(["done"]);
    expect(await found(projectId)).toEqual({ limits, foreign: [], coordinators: [] });
    const lower: Limits = { ...limits, cards: fraction(1, 2) };
    expect(engine.commands([set(projectId, limits, lower)])).toEqual([
      "sacctmgr -i modify account where name=taaaa_p01 cluster=lab set GrpTRES=gres/cardshare=28".split(" "),
    ]);
    const outcomes = await apply(
      set("taaaa_p09", {}, { cpuCores: fraction(3) }),
      set(projectId, limits, lower),
      set(tenantId, {}, { cards: fraction(1, 10) }),
      set(projectId, lower, lower),
    );
    expect(outcomes).toEqual([["failed", "not-found"], "done", ["failed", "bad-request"], "unchanged"]);
    expect((await found(projectId))?.limits).toEqual(lower);
    expect(await apply(set(projectId, lower, {}))).toEqual(["done"]);
    expect((await found(projectId))?.limits).toEqual({});
  });

  test("a job's use and its wait are told; nothing is removed while it is there, and all once it is gone", async () => {
    const half: Limits = { cards: fraction(1, 2) };
    expect(await apply(set(projectId, {}, half))).toEqual(["done"]);
    const asked = ["--account=taaaa_p01", "--gres=gpu:h100_1g.10gb:1,cardshare:28,vram:10", "--mem=512", "--time=10"];
    const running = await lab.submit(lab.person("alice"), asked);
    await lab.waitForJob(running, { state: "RUNNING" });
    const waiting = await lab.submit(lab.person("alice"), asked);
    await lab.waitForJob(waiting, { state: "PENDING", reason: "AssocGrpGRES" });
    const subject = `${projectId}/${alice.uid}`;
    const amounts = {
      cards: fraction(1, 2),
      gpuMemoryGiB: fraction(10),
      cpuCores: fraction(1),
      memoryGiB: fraction(1, 2),
    };
    expect((await engine.usage([alice], periodOf)).get(subject)).toMatchObject({
      ...amounts,
      gpuTypes: { "h100/1g.10gb": fraction(1) },
    });
    const jobs = (await engine.allocations([alice])).toSorted((a, b) => Number(a.id) - Number(b.id));
    expect(jobs).toMatchObject([
      { id: String(running), subject, state: "running", hosts: "g1", reason: null, ...amounts },
      { id: String(waiting), subject, state: "waiting", hosts: null, reason: "AssocGrpGRES", ...amounts },
    ]);
    expect((await engine.explain(String(waiting), [alice], periodOf)).blockers).toEqual([
      {
        ...{ subject: projectId, level: "project", name: projectId, resource: "cards", changedBy: "lead" },
        ...{ limit: fraction(1, 2), used: fraction(1, 2), asked: fraction(1, 2), missing: fraction(1, 2) },
      },
    ]);
    await expect(engine.explain(String(running), [alice], periodOf)).rejects.toMatchObject({ code: "not-found" });

    const removals: readonly EngineChange[] = [
      { kind: "remove-member", projectId, person: alice },
      { kind: "remove-project", projectId },
      { kind: "remove-tenant", tenantId },
    ];
    expect(await apply(...removals)).toEqual(removals.map(() => ["failed", "in-use"]));
    expect((await engine.state([alice], periodOf)).subjects.size).toBe(6);
    await engine.cancel([String(running), String(waiting)]);
    expect(await engine.allocations([alice])).toEqual([]);
    expect(await apply({ kind: "remove-project", projectId })).toEqual(["done"]);
    expect(await apply({ kind: "remove-project", projectId })).toEqual(["unchanged"]);
    expect(
      [...(await engine.state([alice], periodOf)).subjects.keys()].filter((key) => key.startsWith(projectId)),
    ).toEqual([]);
    // The project was alice's default account: another of hers is it now.
    expect(await lab.expect(["sacctmgr", "-nP", "show", "user", "alice", "format=DefaultAccount"])).toBe("taaaa_p02\n");
  });

  test("what somebody changed by hand is seen: limits, a coordinator, another account's child of our name", async () => {
    await lab.sacctmgr("modify", "account", "taaaa_p02", "set", "GrpTRES=cpu=7,node=2", "MaxWall=60");
    await lab.sacctmgr("add", "coordinator", "account=taaaa_p02", "names=alice");
    await lab.sacctmgr("add", "account", "taaaa_p03", "parent=root");
    expect(await found("taaaa_p02")).toEqual({
      limits: { cpuCores: fraction(7) },
      foreign: ["GrpTRES node=2", "MaxWall=60"],
      coordinators: ["alice"],
    });
    expect((await found(`taaaa_p02/${alice.uid}`))?.foreign).toEqual([]);
    expect(await apply({ kind: "add-project", projectId: "taaaa_p03" })).toEqual([["failed", "conflict"]]);
    const today = new Date().toISOString().slice(0, 10);
    const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    const isSeen = async (days: Parameters<typeof engine.transactions>[0]) =>
      (await engine.transactions(days)).some(
        ({ action, info }) => action === "Modify Associations" && info.includes("GrpTRES=cpu=7"),
      );
    expect(await Promise.all([{ since: today }, { since: today, until: today }, {}].map(isSeen))).toEqual([
      true,
      true,
      true,
    ]);
    expect(await Promise.all([{ until: yesterday }, { since: yesterday, until: yesterday }].map(isSeen))).toEqual([
      false,
      false,
    ]);
  });

  test("500 limits at once, with progress; of two kinds of limits two commands, of which one holds what is not there", async () => {
    const ids = Array.from({ length: 500 }, (_, index) => `tbbbb_p${String(index + 1).padStart(3, "0")}`);
    const adds = ids.map((id): EngineChange => ({ kind: "add-project", projectId: id }));
    expect(new Set(await apply({ kind: "add-tenant", tenantId: "tbbbb" }, ...adds))).toEqual(new Set(["done"]));
    const wanted = ids.map((_, index): Limits => ({ cards: fraction(index < 250 ? 1 : 2) }));
    const sets = ids.map((id, index) => set(id, {}, wanted[index] ?? {}));
    const told: number[] = [];
    const outcomes = await engine.apply(sets, { progress: (done) => told.push(done) });
    expect([new Set(outcomes.map(({ outcome }) => outcome)), told]).toEqual([new Set(["done"]), [0, 250, 500]]);
    const { subjects } = await engine.state([alice], periodOf);
    expect(ids.map((id) => subjects.get(id)?.limits)).toEqual(wanted);
  });

  test("slurmdbd goes away in the middle: no change is called done that is not, and again works when it is back", async () => {
    const before: Limits = { cards: fraction(1) };
    // No two alike, so that each is a command of its own; more than are sent at once.
    const cards = [5, 6, 7, 8, 9, 10, 11, 12, 13, 14];
    const idOf = (index: number) => `tbbbb_p${String(index + 1).padStart(3, "0")}`;
    const changes = cards.map((count, index) => set(idOf(index), before, { cards: fraction(count) }));
    const stopping: Promise<void>[] = [];
    const outcomes = await engine.apply(changes, {
      progress: (done) => {
        if (done === 1) stopping.push(lab.slurmdbd.kill());
      },
    });
    await Promise.all(stopping);
    await expect(engine.state([alice], periodOf)).rejects.toMatchObject({ code: "timeout" });
    await lab.slurmdbd.start();
    const { subjects } = await engine.state([alice], periodOf);
    const stands = cards.map((count, index) => subjects.get(idOf(index))?.limits.cards?.numerator === count);
    for (const [index, { outcome }] of outcomes.entries()) {
      if (outcome === "done") expect(stands[index]).toBe(true);
      if (outcome === "failed") expect(stands[index]).toBe(false);
    }
    expect(outcomes.map(({ outcome }) => outcome)).toContain("done");
    expect(outcomes.at(-1)?.outcome).toBe("failed");
    expect(await apply(...changes)).toEqual(changes.map(() => "done"));
  });
});

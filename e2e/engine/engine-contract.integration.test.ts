/** What every engine does, whatever keeps the limits. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Engine, EngineChange, EnginePerson } from "../../resources/host-module/src/engine/engine.ts";
import { takeLease } from "../../resources/host-module/src/engine/local/leases.ts";
import { localEngine } from "../../resources/host-module/src/engine/local/local-engine.ts";
import { slurmEngine } from "../../resources/host-module/src/engine/slurm/slurm-engine.ts";
import { limits as limitsTable } from "../../resources/host-module/src/ledger/quotas.ts";
import { subjectColumns } from "../../resources/host-module/src/ledger/subject.ts";
import { realSystem } from "../../resources/host-module/src/operating-system/index.ts";
import { asOps, noon, ops, temporaryLedger } from "../../resources/host-module/src/testing/ledger.ts";
import { addMember, addProject, createTenant } from "../../resources/host-module/src/testing/tenants.ts";
import { fraction, type Limits } from "../../shared/quota/index.ts";
import { SlurmLab } from "../lab/slurm.ts";
import { slurmLabMissing } from "../lab/slurm-missing.ts";
import { systemOf } from "./lab-system.ts";

/** A tenant with one project and one person in it, and limits on the project, as the engine's owner makes them. */
interface Ground extends AsyncDisposable {
  readonly engine: Engine;
  readonly tenantId: string;
  readonly projectId: string;
  readonly person: EnginePerson;
  /** Half a card, held by the person from now on. */
  hold(): Promise<string>;
}

const wanted: Limits = { cards: fraction(1, 2), gpuTypes: { "h100/3g.40gb": fraction(1) } };

async function slurmGround(): Promise<Ground> {
  const lab = await SlurmLab.start({ people: ["alice"] });
  const [tenantId, projectId] = ["taaaa", "taaaa_p01"];
  const alice = lab.person("alice");
  const person = { uid: alice.uid, user: "alice" };
  const engine = await slurmEngine(systemOf(lab));
  await engine.apply(
    [
      { kind: "add-tenant", tenantId },
      { kind: "add-project", projectId },
      { kind: "add-member", projectId, person },
      { kind: "set-limits", subject: projectId, person: null, before: {}, limits: wanted },
    ],
    {},
  );
  return {
    ...{ engine, tenantId, projectId, person },
    hold: async () => {
      const asked = [`--account=${projectId}`, "--gres=gpu:h100_3g.40gb:1,cardshare:28"];
      const id = await lab.submit(alice, asked);
      await lab.waitForJob(id, { state: "RUNNING" });
      return String(id);
    },
    [Symbol.asyncDispose]: () => lab[Symbol.asyncDispose](),
  };
}

async function localGround(): Promise<Ground> {
  const temporary = temporaryLedger();
  const { ledger } = temporary;
  const tenantId = createTenant(ledger, asOps, { displayName: "T" }, noon).id;
  const projectId = addProject(ledger, asOps, { tenantId, displayName: "P" }, noon).id;
  const person = { uid: 20001, user: "alice" };
  addMember(ledger, asOps, { projectId, account: person }, noon);
  const act = { actor: ops, role: "administrator" as const, command: "lease.take" };
  ledger.change(act, (change) =>
    change.insert(limitsTable, { ...subjectColumns({ scope: "project", projectId }), limits: wanted }),
  );
  const place = { projectId, uid: person.uid, gpuUuid: "GPU-1", gpuInstanceId: 1, until: null };
  return {
    ...{ engine: localEngine(ledger, realSystem()), tenantId, projectId, person },
    hold: async () => takeLease(ledger, act, { ...place, amounts: wanted }, new Date()).id,
    [Symbol.asyncDispose]: async () => temporary[Symbol.dispose](),
  };
}

const missing = slurmLabMissing();
const engines = [
  { name: "slurm", start: slurmGround, skipped: missing },
  { name: "local", start: localGround, skipped: null },
];

for (const { name, start, skipped } of engines) {
  describe.skipIf(skipped !== null)(`the ${name} engine${skipped === null ? "" : ` (skipped: ${skipped})`}`, () => {
    let ground: Ground;
    beforeAll(async () => {
      ground = await start();
    });
    afterAll(async () => {
      await ground?.[Symbol.asyncDispose]();
    });
    const outcomes = async (changes: readonly EngineChange[], progress?: (done: number) => void) =>
      (await ground.engine.apply(changes, progress === undefined ? {} : { progress })).map((each) =>
        "error" in each ? `${each.outcome} ${each.error.code}` : each.outcome,
      );
    const subjects = async () => (await ground.engine.state([ground.person], () => null)).subjects;

    test("what is there is not made again, and progress reaches all changes", async () => {
      const { tenantId, projectId, person } = ground;
      const told: number[] = [];
      const made = await outcomes(
        [
          { kind: "add-tenant", tenantId },
          { kind: "add-project", projectId },
          { kind: "add-member", projectId, person },
          { kind: "set-limits", subject: projectId, person: null, before: wanted, limits: wanted },
        ],
        (done) => told.push(done),
      );
      expect([made, told.at(-1), told]).toEqual([Array(4).fill("unchanged"), 4, told.toSorted((a, b) => a - b)]);
    });

    test("limits are read back as they were set", async () => {
      const { engine, projectId } = ground;
      expect((await subjects()).get(projectId)).toEqual({ limits: engine.kept(wanted), foreign: [], coordinators: [] });
    });

    test("what is held is used and listed; until it is ended nothing of it is removed, and then it can be", async () => {
      const { engine, tenantId, projectId, person } = ground;
      const subject = `${projectId}/${person.uid}`;
      const id = await ground.hold();
      expect((await engine.usage([person], () => null)).get(subject)).toMatchObject(wanted);
      expect(await engine.allocations([person])).toMatchObject([
        { id, subject, user: "alice", state: "running", cards: fraction(1, 2), gpuTypes: { "h100/3g.40gb": 1 } },
      ]);
      await expect(engine.explain(id, [person], () => null)).rejects.toMatchObject({ code: "not-found" });
      const removals: readonly EngineChange[] = [
        { kind: "remove-member", projectId, person },
        { kind: "remove-project", projectId },
        { kind: "remove-tenant", tenantId },
      ];
      const before = await subjects();
      expect(await outcomes(removals)).toEqual(Array(3).fill("failed in-use"));
      expect(await subjects()).toEqual(before);
      await engine.cancel([id]);
      expect([await engine.allocations([person]), (await engine.usage([person], () => null)).size]).toEqual([[], 0]);
      for (const outcome of await outcomes(removals)) expect(["done", "unchanged"]).toContain(outcome);
    });
  });
}

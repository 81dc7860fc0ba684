/** Every command as every role, on the own tenant and on a foreign one, through real sshd and sudo. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AppErrorData, toErrorData } from "../../shared/errors.ts";
import { type HostInput, type HostMethod, hostContract } from "../../shared/protocol/contract.ts";
import { slurmLabMissing } from "../lab/slurm-missing.ts";
import { GovernedLab, type Name, names, type Place } from "./governed-lab.ts";

/**
 * Who may call what, written down once more and by hand: `lead` and `member` of the place that the input names.
 * A command that is missing here, or too many, fails the first test.
 */
const allowed: Readonly<Record<HostMethod, "anyone" | "participant" | "member" | "lead" | "administrator">> = {
  hello: "anyone",
  inventory: "anyone",
  watch: "anyone",
  "watch.complete": "anyone",
  "identity.me": "anyone",
  "organisation.get": "participant",
  "quota.get": "participant",
  "requests.list": "participant",
  "leases.list": "participant",
  "control.watch": "participant",
  "quota.explain": "member",
  "request.ask": "member",
  "request.withdraw": "member",
  "lease.take": "member",
  "lease.release": "member",
  "people.search": "lead",
  "project.add": "lead",
  "project.rename": "lead",
  "project.remove": "lead",
  "member.add": "lead",
  "member.remove": "lead",
  "removal.consequences": "lead",
  "quota.set": "lead",
  "request.decide": "lead",
  "grant.cut": "lead",
  "audit.list": "lead",
  "mig.plan": "administrator",
  "mig.apply": "administrator",
  "mig.undo": "administrator",
  "mig.recover": "administrator",
  "mig.status": "administrator",
  "mig.save": "administrator",
  "mig.restore": "administrator",
  doctor: "administrator",
  "ledger.create": "administrator",
  "roles.put": "administrator",
  "administrator.add": "administrator",
  "administrator.remove": "administrator",
  "tenant.create": "administrator",
  "tenant.rename": "administrator",
  "tenant.remove": "administrator",
  "lead.add": "administrator",
  "lead.remove": "administrator",
  "engine.status": "administrator",
  "engine.drift": "administrator",
  "engine.resolve": "administrator",
  "audit.verify": "administrator",
  "audit.slurm": "administrator",
};

const methods = Object.keys(hostContract) as HostMethod[];
const never = 4_000_000_001;
const until = "2099-01-01T00:00:00.000Z";

/** Inputs that change nothing where they are allowed: what they name is not there, or of another version. */
function inputs({ tenant, projectId, uid }: Place): { readonly [M in HostMethod]: HostInput<M> } {
  const person = `${projectId}/${uid}`;
  const gpus = [{ gpuUuid: "GPU-none", layout: { migEnabled: true, instances: [] } }];
  return {
    hello: { protocolVersion: 1, client: "test" },
    inventory: {},
    watch: { intervalMs: 1_000 },
    "watch.complete": {},
    "identity.me": {},
    "organisation.get": {},
    "quota.get": {},
    "requests.list": {},
    "leases.list": {},
    "control.watch": {},
    "quota.explain": { subject: person, allocationId: "999999" },
    "request.ask": { subject: person, raise: { cards: { numerator: 1, denominator: 1 } }, why: "more", until },
    "request.withdraw": { subject: person, requestId: "r000000", basedOn: 1 },
    "lease.take": { projectId, gpuUuid: "GPU-none", gpuInstanceId: null },
    "lease.release": { subject: person, leaseId: "l000000" },
    "people.search": { subject: tenant.id, text: "nobody-is-called-this" },
    "project.add": { tenantId: tenant.id, displayName: `${tenant.displayName} one` },
    "project.rename": { projectId, basedOn: 0, displayName: "Other" },
    "project.remove": { projectId, basedOn: 0 },
    "member.add": { projectId, uid: never },
    "member.remove": { projectId, uid: never, basedOn: 0 },
    "removal.consequences": { subject: projectId },
    "quota.set": { edits: [{ subject: projectId, limits: {}, basedOn: 999_999 }] },
    "request.decide": { subject: projectId, requestId: "r000000", basedOn: 1, decision: "refuse", answer: "" },
    "grant.cut": { subject: projectId, grantId: "g000000", basedOn: 1 },
    "audit.list": { subject: tenant.id, limit: 1_000 },
    "mig.plan": { gpus },
    "mig.apply": { gpus, dryRun: true },
    "mig.undo": { dryRun: true },
    "mig.recover": { operationId: "none", way: "finish" },
    "mig.status": {},
    "mig.save": {},
    "mig.restore": { dryRun: true },
    doctor: {},
    "ledger.create": { engine: "auto" },
    "roles.put": { revision: 0, administrators: [], tenants: [] },
    "administrator.add": { uid: never },
    "administrator.remove": { uid: never },
    "tenant.create": { displayName: tenant.displayName },
    "tenant.rename": { tenantId: tenant.id, basedOn: 0, displayName: "Other" },
    "tenant.remove": { tenantId: tenant.id, basedOn: 0 },
    "lead.add": { tenantId: tenant.id, uid: never },
    "lead.remove": { tenantId: tenant.id, uid: never },
    "engine.status": {},
    "engine.drift": {},
    "engine.resolve": { resolutions: [{ id: "none", take: "ledger" }] },
    "audit.verify": {},
    "audit.slurm": { since: "2026-01-01" },
  };
}

type Called = { readonly answer: unknown } | { readonly error: AppErrorData };

/** A watch is cancelled once it has said something. */
async function call(lab: GovernedLab, name: Name, method: HostMethod, input: unknown): Promise<Called> {
  const stop = new AbortController();
  const pushed: unknown[] = [];
  try {
    const channel = lab.as(name);
    const { kind } = hostContract[method];
    // The input was made for this very method.
    const answer =
      kind === "request"
        ? await channel.request(method as "identity.me", input as HostInput<"identity.me">)
        : await channel.task(
            method as "control.watch",
            input as HostInput<"control.watch">,
            (event) => {
              pushed.push(event);
              if (method.endsWith("watch")) stop.abort();
            },
            stop.signal,
          );
    return { answer: [answer, pushed] };
  } catch (error) {
    return { error: toErrorData(error) };
  }
}

const missing = slurmLabMissing();

describe.skipIf(missing !== null)(`roles${missing === null ? "" : ` (skipped: ${missing})`}`, () => {
  let lab: GovernedLab;

  beforeAll(async () => {
    lab = await GovernedLab.start();
  }, 120_000);
  afterAll(async () => {
    await lab?.[Symbol.asyncDispose]();
  });

  test("every command of the contract has a row in this matrix", () => {
    expect(Object.keys(allowed).toSorted()).toEqual(methods.toSorted());
  });

  test("a caller is who the operating system says, in the role of the ledger", async () => {
    const roles = Object.fromEntries(
      await Promise.all(
        names.map(async (name) => {
          const me = await lab.as(name).request("identity.me", {});
          return [name, `${me.user} ${me.role} ${me.uid === lab.slurm.person(name).uid}`];
        }),
      ),
    );
    expect(roles).toEqual({
      ops: "ops administrator true",
      lea: "lea lead true",
      max: "max member true",
      liv: "liv lead true",
      mia: "mia member true",
      eve: "eve none true",
    });
  });

  test.each(names)(
    "%s may what the role allows, on the own tenant and on no other, and hears nothing of others",
    async (name) => {
      const { bravo, alpha, slurm } = lab;
      const job = await slurm.submit(slurm.person("mia"), ["--gres=gpu:h100:1", "--job-name=bravo-secret"]);
      const wrong: string[] = [];
      const leaks: string[] = [];
      let heard = "";
      for (const [place, own] of [
        [alpha, name === "lea" ? "lead" : name === "max" ? "member" : "none"],
        [bravo, name === "liv" ? "lead" : name === "mia" ? "member" : "none"],
      ] as const) {
        const every = inputs(place);
        for (const method of methods) {
          const called = await call(lab, name, method, every[method]);
          const refused = "error" in called && called.error.code === "forbidden";
          if (refused === may(name, allowed[method], own)) {
            wrong.push(`${method} of ${place.tenant.displayName}: ${JSON.stringify(called).slice(0, 200)}`);
          }
          const said = JSON.stringify(called);
          heard += said;
          if (["lea", "max", "eve"].includes(name) && /bravo|\bliv\b|\bmia\b/i.test(said)) {
            leaks.push(`${method} of ${place.tenant.displayName}: ${said.slice(0, 500)}`);
          }
        }
      }
      expect({ wrong, leaks }).toEqual({ wrong: [], leaks: [] });
      // There is something to hear: who may, hears it.
      const mayHear = ["ops", "liv", "mia"].includes(name);
      expect([heard.includes("bravo-secret"), heard.includes("Bravo one")]).toEqual([mayHear, mayHear]);
      await slurm.cancel(job);
    },
    180_000,
  );

  test("reaching for another tenant is on record, and not in that tenant's sight", async () => {
    await call(lab, "max", "project.add", { tenantId: lab.bravo.tenant.id, displayName: "Mine" });
    const all = await lab.as("ops").request("audit.list", { subject: "cluster", outcome: "refused", actor: "max" });
    expect(all.rows[0]).toMatchObject({ command: "project.add", outcome: "refused", tenant: null, user: "max" });
    const theirs = await lab.as("liv").request("audit.list", { subject: lab.bravo.tenant.id });
    expect(theirs.rows.filter(({ user }) => user === "max")).toEqual([]);
  });

  test("the record says from where and with which key, and its chain is intact", async () => {
    const { rows } = await lab
      .as("ops")
      .request("audit.list", { subject: "cluster", command: "tenant.create", outcome: "done" });
    expect(rows[0]).toMatchObject({ user: "ops", address: expect.stringMatching(/^\d+\.\d+\.\d+\.\d+$/) });
    expect(rows[0]?.keyFingerprint).toMatch(/^SHA256:/);
    expect(await lab.as("ops").request("audit.verify", {})).toMatchObject({ intact: true, findings: [] });
  });
});

function may(name: Name, needs: (typeof allowed)[HostMethod], own: "lead" | "member" | "none"): boolean {
  if (name === "ops" || needs === "anyone") return true;
  switch (needs) {
    case "participant":
      return name !== "eve";
    case "member":
      return own !== "none";
    case "lead":
      return own === "lead";
    default:
      return false;
  }
}

/** Two processes at one ledger want the last half of a card. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fraction } from "../../../../../shared/quota/index.ts";
import { limits } from "../../ledger/quotas.ts";
import { subjectColumns } from "../../ledger/subject.ts";
import { asOps, noon, ops, temporaryLedger } from "../../testing/ledger.ts";
import { addMember, addProject, createTenant } from "../../testing/tenants.ts";
import { activeLeases } from "./leases.ts";

const from = (file: string) => JSON.stringify(join(import.meta.dirname, file));
/** Opens the ledger, says so, and takes a lease for each line that it is told. */
const script = `
  import { createInterface } from "node:readline";
  import { openLedger } from ${from("../../ledger/ledger.ts")};
  import { takeLease } from ${from("leases.ts")};
  const [path, projectId, instance] = process.argv.slice(1);
  const actor = { uid: 1000, user: "ada", loginUid: null, keyFingerprint: null, address: null };
  const ledger = openLedger(path, { busyTimeoutMs: 60_000 });
  process.stdout.write("ready\\n");
  for await (const gpuUuid of createInterface({ input: process.stdin })) {
    const wish = { projectId, uid: 1000, gpuUuid, gpuInstanceId: Number(instance), amounts: { cards: { numerator: 1, denominator: 2 } }, until: null };
    try {
      takeLease(ledger, { actor, role: "member", command: "lease.take" }, wish, new Date(${noon.getTime()}));
      process.stdout.write("taken\\n");
    } catch (error) {
      process.stdout.write(error.code + "\\n");
    }
  }
  ledger.close();
`;

test("of two processes that want the last half card, one gets it, every time", async () => {
  const rounds = 20;
  using temporary = temporaryLedger();
  const { ledger, path } = temporary;
  const tenantId = createTenant(ledger, asOps, { displayName: "T" }, noon).id;
  const projectId = addProject(ledger, asOps, { tenantId, displayName: "P" }, noon).id;
  addMember(ledger, asOps, { projectId, account: { uid: 1000, user: "ada" } }, noon);
  const act = { actor: ops, role: "administrator" as const, command: "quota.set" };
  const columns = subjectColumns({ scope: "tenant", tenantId });
  let { version } = ledger.change(act, (change) => change.insert(limits, { ...columns, limits: {} }));

  const workers = [1, 2].map((instance) => {
    const argv = ["--input-type=module", "-e", script, path, projectId, String(instance)];
    const child = spawn(process.execPath, argv, { stdio: ["pipe", "pipe", "inherit"] });
    const lines = child.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false });
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    return { child, ended, said: async () => String((await lines.next()).value).trim() };
  });
  expect(await Promise.all(workers.map(({ said }) => said()))).toEqual(["ready", "ready"]);
  for (let round = 0; round < rounds; round += 1) {
    const cards = fraction(round + 1, 2);
    const key = { subject: tenantId };
    version = ledger.change(act, (change) => change.update(limits, key, version, { limits: { cards } })).version;
    for (const { child } of workers) child.stdin.write(`GPU-${round}\n`);
    const said = await Promise.all(workers.map((worker) => worker.said()));
    expect(said.toSorted()).toEqual(["conflict", "taken"]);
  }
  for (const { child } of workers) child.stdin.end();
  expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([0, 0]);
  expect(activeLeases(ledger, noon).length).toBe(rounds);
});

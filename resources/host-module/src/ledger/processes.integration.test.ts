/** Several consoles at once: real processes on one file. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkLedger, verifyAudit } from "./check.ts";
import { openLedger } from "./ledger.ts";
import { projects, tenants } from "./organisation.ts";
import { settings } from "./settings.ts";

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tessera-processes-"));
  path = join(directory, "ledger.sqlite");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const from = (file: string) => JSON.stringify(join(import.meta.dirname, file));
const prelude = `
  import { openLedger } from ${from("ledger.ts")};
  import { createTenant, addProject } from ${from("../testing/tenants.ts")};
  import { settings } from ${from("settings.ts")};
  const [path, name, rounds] = process.argv.slice(1);
  const acting = { actor: { uid: process.pid, user: name, loginUid: null, keyFingerprint: null, address: null }, role: "administrator" };
  const ledger = openLedger(path, { busyTimeoutMs: 60_000 });
`;

function worker(script: string, ...args: readonly string[]) {
  const child = spawn(process.execPath, ["--input-type=module", "-e", prelude + script, path, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  const ended = new Promise<{ status: number | null; output: string }>((resolve) =>
    child.on("close", (status) => resolve({ status, output })),
  );
  return { child, ended, output: () => output };
}

/** Counts up one setting, taking a conflict for what it is: look again, and make the edit on top. */
const counting = `
  const key = { name: "count" };
  let conflicts = 0;
  const act = { ...acting, command: "count" };
  for (let round = 0; round < Number(rounds); round += 1) {
    const tenant = createTenant(ledger, acting, { displayName: name + " " + round }, new Date());
    addProject(ledger, acting, { tenantId: tenant.id, displayName: "P" }, new Date());
    for (;;) {
      const seen = ledger.get(settings, key);
      // Time for others to come in between.
      await new Promise((resolve) => setTimeout(resolve, 1));
      try {
        ledger.change(act, (change) => change.update(settings, key, seen.version, { value: seen.value + 1 }));
        break;
      } catch (error) {
        if (error.code !== "conflict" || error.evidence.changedMeanwhile.length === 0) throw error;
        conflicts += 1;
      }
    }
  }
  ledger.close();
  process.stdout.write(String(conflicts));
`;

test("edits of one object from many processes: none is lost, each conflict is told, the record is whole", async () => {
  const workers = 5;
  const rounds = 12;
  const act = {
    actor: { uid: 0, user: "root", loginUid: null, keyFingerprint: null, address: null },
    role: "administrator" as const,
    command: "begin",
  };
  using ledger = openLedger(path);
  ledger.change(act, (change) => change.insert(settings, { name: "count", value: 0 }));
  const running = Array.from({ length: workers }, (_, index) => worker(counting, `w${index}`, String(rounds)));
  const ends = await Promise.all(running.map(({ ended }) => ended));
  expect(ends.map(({ status }) => status)).toEqual(Array(workers).fill(0));
  const conflicts = ends.reduce((sum, { output }) => sum + Number(output), 0);
  expect(conflicts).toBeGreaterThan(0);
  const ids = ledger.list(tenants).map(({ id }) => id);
  expect([
    ...[ledger.get(settings, { name: "count" }).value, new Set(ids).size, ledger.list(projects).length],
    ledger.database.prepare("SELECT count(*) AS refused FROM audit WHERE outcome = 'refused'").get(),
  ]).toEqual([workers * rounds, workers * rounds, workers * rounds, { refused: conflicts }]);
  expect([checkLedger(ledger).problems, verifyAudit(ledger)]).toMatchObject([
    [],
    { intact: true, rows: 1 + 3 * workers * rounds + conflicts, notes: [] },
  ]);
});

test("many that open a ledger which is not there yet make one", async () => {
  const script = `
    createTenant(ledger, acting, { displayName: name }, new Date());
    ledger.close();`;
  const running = Array.from({ length: 6 }, (_, index) => worker(script, `w${index}`));
  const ends = await Promise.all(running.map(({ ended }) => ended));
  using ledger = openLedger(path);
  expect([ends.map(({ status }) => status), ledger.list(tenants).length, verifyAudit(ledger)]).toMatchObject([
    Array(6).fill(0),
    6,
    { intact: true, rows: 6, notes: [] },
  ]);
});

test("an empty file that another process is writing at that moment is waited for", async () => {
  const holder = `
    import { DatabaseSync } from "node:sqlite";
    const database = new DatabaseSync(process.argv[1]);
    database.exec("BEGIN IMMEDIATE");
    process.stdout.write("held");
    setTimeout(() => database.exec("ROLLBACK"), 300);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", holder, path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.on("close", resolve));
  await new Promise((resolve) => child.stdout.once("data", resolve));
  using ledger = openLedger(path, { busyTimeoutMs: 60_000 });
  expect([ledger.list(tenants), await ended]).toEqual([[], 0]);
});

test("processes killed at any moment leave whole changes and a whole record", async () => {
  const script = `
    for (let round = 0; ; round += 1) {
      const tenant = createTenant(ledger, acting, { displayName: "T" }, new Date());
      process.stdout.write(".");
      await new Promise((resolve) => setImmediate(resolve));
    }`;
  for (let kill = 0; kill < 6; kill += 1) {
    const { child, ended, output } = worker(script, "w");
    while (output().length < 2 + kill) await new Promise((resolve) => setTimeout(resolve, 1));
    child.kill("SIGKILL");
    await ended;
  }
  using ledger = openLedger(path);
  const verdict = verifyAudit(ledger);
  // Every tenant has its row of audit and the id that was given for it; a row or two may have no mark.
  expect([checkLedger(ledger).problems, verdict.findings, verdict.rows]).toEqual([[], [], ledger.list(tenants).length]);
  expect(ledger.givenIds("t").toSorted()).toEqual(ledger.list(tenants).map(({ id }) => id));
});

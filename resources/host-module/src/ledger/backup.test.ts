import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { marksPathOf } from "../audit/marks.ts";
import { asOps, temporaryLedger } from "../testing/ledger.ts";
import { backupLedger } from "./backup.ts";
import { checkLedger, verifyAudit } from "./check.ts";
import { openLedger } from "./ledger.ts";
import { settings } from "./settings.ts";

const act = { ...asOps, command: "test" };

function filled() {
  const temporary = temporaryLedger();
  for (const name of ["a", "b"]) temporary.ledger.change(act, (change) => change.insert(settings, { name, value: 1 }));
  return temporary;
}

test("a backup is a ledger of its own: all of it, sound, verifiable, for its owner's eyes", () => {
  using temporary = filled();
  const path = join(temporary.directory, "copy.sqlite");
  const backup = backupLedger(temporary.ledger, path);
  expect(backup).toEqual({ path, head: verifyAudit(temporary.ledger).head, auditFindings: 0 });
  expect([path, marksPathOf(path)].map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600]);
  temporary.ledger.change(act, (change) => change.insert(settings, { name: "later", value: 1 }));
  using copy = openLedger(path);
  expect([copy.list(settings).map(({ name }) => name), checkLedger(copy), verifyAudit(copy)]).toEqual([
    ...[["a", "b"], { sound: true, problems: [] }],
    { intact: true, rows: 2, head: backup.head, findings: [], more: 0, notes: [] },
  ]);
  copy.change(act, (change) => change.insert(settings, { name: "onward", value: 1 }));
  expect(verifyAudit(copy)).toMatchObject({ intact: true, rows: 3, notes: [] });
});

test("is never written over what is there, nor half", () => {
  using temporary = filled();
  const taken = join(temporary.directory, "taken");
  writeFileSync(taken, "mine");
  const half = join(temporary.directory, "half");
  writeFileSync(marksPathOf(half), "mine");
  const directory = join(temporary.directory, "directory");
  mkdirSync(directory);
  const before = readdirSync(temporary.directory).toSorted();
  for (const path of [taken, half, directory]) {
    expect(() => backupLedger(temporary.ledger, path)).toThrowError(expect.objectContaining({ code: "conflict" }));
  }
  expect(() => backupLedger(temporary.ledger, join(temporary.directory, "no", "where"))).toThrowError(
    expect.objectContaining({ code: "internal" }),
  );
  expect([readdirSync(temporary.directory).toSorted(), readFileSync(taken, "utf8")]).toEqual([before, "mine"]);
});

test("of a record that was tampered with is made, and says so", () => {
  using temporary = filled();
  const { database } = temporary.ledger;
  database.exec("DROP TRIGGER auditNeverUpdated; UPDATE audit SET user = 'eve' WHERE seq = 1");
  expect(backupLedger(temporary.ledger, join(temporary.directory, "copy")).auditFindings).toBe(2);
});

test("of a damaged file is not made", () => {
  using temporary = filled();
  // Pages enough that one of them can be lost without SQLite noticing as it opens the file.
  temporary.ledger.change(act, (change) => {
    for (let count = 0; count < 300; count += 1) change.insert(settings, { name: `s${count}`, value: "x".repeat(100) });
  });
  const { pageno } =
    temporary.ledger.database
      .prepare("SELECT pageno FROM dbstat WHERE name = 'settings' AND pagetype = 'leaf' LIMIT 1")
      .get() ?? {};
  temporary.ledger.close();
  const content = readFileSync(temporary.path);
  content.fill(0x5a, (Number(pageno) - 1) * 4096, Number(pageno) * 4096);
  const damaged = join(temporary.directory, "damaged.sqlite");
  writeFileSync(damaged, content, { mode: 0o600 });
  copyFileSync(marksPathOf(temporary.path), marksPathOf(damaged));
  using ledger = openLedger(damaged);
  const copy = join(temporary.directory, "copy");
  expect(() => backupLedger(ledger, copy)).toThrowError(expect.objectContaining({ code: "unreadable" }));
  expect(existsSync(copy)).toBe(false);
});

test("a check finds references that lead nowhere", () => {
  using temporary = filled();
  const database = new DatabaseSync(temporary.path, { enableForeignKeyConstraints: false });
  database.exec("INSERT INTO leads VALUES ('t0001', 1, 1)");
  database.close();
  const inWords = (parent: string) => `row 1 of leads refers to something in ${parent} that is not there`;
  expect(checkLedger(temporary.ledger)).toEqual({
    sound: false,
    problems: expect.arrayContaining([inWords("tenants"), inWords("people")]),
  });
});

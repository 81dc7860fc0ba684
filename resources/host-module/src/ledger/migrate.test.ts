import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AppError } from "../../../../shared/errors.ts";
import { asOps, noonText } from "../testing/ledger.ts";
import { checkLedger, verifyAudit } from "./check.ts";
import { openLedger } from "./ledger.ts";
import { applicationId, migrate, pragmaNumber } from "./migrate.ts";
import { type Migration, migrations } from "./migrations.ts";
import { openDatabase } from "./open.ts";
import { administrators, leads, members, people, projects, tenants } from "./organisation.ts";
import { fromZero, limits, resets } from "./quotas.ts";
import { settings } from "./settings.ts";
import { subjectColumns } from "./subject.ts";

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tessera-migrate-"));
  path = join(directory, "ledger.sqlite");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const act = { ...asOps, command: "test" };
const tenant = { id: "t0001", displayName: "A", createdAt: noonText };
const project = { id: "t0001_p01", tenantId: "t0001", displayName: "P", createdAt: noonText };
const person = { uid: 2001, user: "grace", seenAt: noonText };
const member = { projectId: project.id, uid: 2001, role: "member" as const };

/** What every earlier version can hold, put in by the ledger that wrote it. */
function fill(at: string) {
  using ledger = openLedger(at);
  return ledger.change(act, (change) => [
    change.insert(people, person),
    change.insert(administrators, { uid: person.uid }),
    change.insert(tenants, tenant),
    change.insert(leads, { tenantId: tenant.id, uid: person.uid }),
    change.insert(projects, project),
    change.insert(members, member),
    change.insert(settings, { name: "rule", value: [1, "x"] }),
  ]);
}

function schemaOf(database: DatabaseSync): unknown {
  return database.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name").all();
}

/** A file of version `version`, filled: version 1 is what every later one has grown from. */
function writtenBy(version: number): ReturnType<typeof fill> {
  const newest = join(directory, "newest.sqlite");
  const values = fill(newest);
  const database = openDatabase(path, 1_000, migrations.slice(0, version));
  database.exec(`ATTACH '${newest}' AS newest`);
  for (const table of ["audit", "people", "administrators", "tenants", "leads", "projects", "members", "settings"]) {
    database.exec(`INSERT INTO main.${table} SELECT * FROM newest.${table}`);
  }
  database.close();
  return values;
}

describe("a file of an earlier version", () => {
  test.each(migrations.map((_, index) => index + 1))("%i comes to the newest with all that was in it", (version) => {
    const values = writtenBy(version);
    const fresh = join(directory, "fresh.sqlite");
    openLedger(fresh).close();
    using ledger = openLedger(path);
    expect([
      ...[ledger.find(people, person), ledger.find(administrators, person), ledger.find(tenants, tenant)],
      ...[ledger.find(leads, { tenantId: tenant.id, uid: person.uid }), ledger.find(projects, project)],
      ...[ledger.find(members, member), ledger.find(settings, { name: "rule" })],
    ]).toEqual(values);
    expect({
      version: pragmaNumber(ledger.database, "user_version"),
      application: pragmaNumber(ledger.database, "application_id"),
      references: pragmaNumber(ledger.database, "foreign_keys"),
      synchronous: pragmaNumber(ledger.database, "synchronous"),
      problems: checkLedger(ledger).problems,
      findings: verifyAudit(ledger).findings,
      schema: schemaOf(ledger.database),
    }).toEqual({
      version: migrations.length,
      application: applicationId,
      references: 1,
      synchronous: 2,
      problems: [],
      findings: [],
      schema: schemaOf(new DatabaseSync(fresh, { readOnly: true })),
    });
    // What came with a later version works on it.
    const row = { ...subjectColumns({ scope: "person", projectId: project.id, uid: 2001 }) };
    expect(ledger.change(act, (change) => change.insert(limits, { ...row, limits: {} }))).toMatchObject(row);
  });
});

test("card-hours that were set before there were baselines count from zero, as they did", () => {
  writtenBy(3);
  const before = new DatabaseSync(path);
  before
    .prepare("INSERT INTO resets VALUES (?, 'project', ?, ?, NULL, 'month', 'Asia/Shanghai', ?, 1)")
    .run(project.id, tenant.id, project.id, noonText);
  before.close();
  using ledger = openLedger(path);
  const { why, countsFrom, notCounted, writtenAt, lastDoneAt } = ledger.get(resets, { subject: project.id });
  expect({ why, countsFrom, notCounted, writtenAt, lastDoneAt }).toEqual({ ...fromZero, lastDoneAt: noonText });
  const row = {
    subject: project.id,
    period: "month:Asia/Shanghai",
    counter: "gres/gpu",
    minutes: 7,
    takenAt: noonText,
  };
  ledger.change(act, (change) => change.putBaselines([row, { ...row, minutes: 9 }, { ...row, period: "none" }]));
  ledger.change(act, (change) => change.dropBaselines([project.id], "none"));
  expect([ledger.baselines(), verifyAudit(ledger).intact]).toEqual([[{ ...row, minutes: 9 }], true]);
});

test("the steps that were released are the ones that made the files there are", () => {
  const digest = ({ statements }: Migration) => createHash("sha256").update(statements).digest("hex").slice(0, 16);
  expect(migrations.map(digest)).toMatchInlineSnapshot(`
    [
      "dbf3ddf299be1271",
      "2eeef46b2cef9b26",
      "c49376f4364d51f5",
      "eb86dbfba44a08e0",
    ]
  `);
});

test("a newer file is refused with what to do, and not touched", () => {
  openLedger(path).close();
  const later = new DatabaseSync(path);
  later.exec(`PRAGMA user_version = ${migrations.length + 1}`);
  const before = schemaOf(later);
  expect(() => openLedger(path)).toThrowError(
    expect.objectContaining<Partial<AppError>>({
      code: "version-mismatch",
      message: `The ledger has version ${migrations.length + 1}; this tessera-host knows versions up to ${migrations.length}.`,
      remedy: "Use the newer tessera-host that wrote it, or put back a backup from before.",
    }),
  );
  expect([pragmaNumber(later, "user_version"), schemaOf(later)]).toEqual([migrations.length + 1, before]);
  later.close();
});

test("a SQLite file of something else is refused, and stays as it is", () => {
  const other = new DatabaseSync(path);
  other.exec("CREATE TABLE bookmarks (url TEXT)");
  other.close();
  expect(() => openLedger(path)).toThrowError(
    expect.objectContaining({ code: "unreadable", message: `${path} is a SQLite file, but not a ledger of Tessera.` }),
  );
  const after = new DatabaseSync(path);
  expect([pragmaNumber(after, "user_version"), after.prepare("PRAGMA journal_mode").get()]).toEqual([
    0,
    { journal_mode: "delete" },
  ]);
  after.close();
});

describe("a step that fails", () => {
  const bad = (statements: string): readonly Migration[] => [...migrations, { what: "a bad step", statements }];
  const cases = {
    "in the middle of its statements": "CREATE TABLE extra (x TEXT) STRICT; INSERT INTO nowhere VALUES (1);",
    "by leaving references that lead nowhere": "DROP TABLE projects;",
    "by changing the audit": "UPDATE audit SET command = 'x';",
  };
  test.each(Object.entries(cases))("%s leaves the file as it was", (_, statements) => {
    const values = fill(path);
    const database = new DatabaseSync(path, { timeout: 1_000 });
    const before = schemaOf(database);
    const version = migrations.length + 1;
    expect(() => migrate(database, path, bad(statements))).toThrowError(
      expect.objectContaining({
        code: "internal",
        message: `The ledger could not be brought to version ${version} (a bad step); it is still at version ${version - 1}.`,
      }),
    );
    expect([
      ...[schemaOf(database), pragmaNumber(database, "user_version"), database.isTransaction],
      pragmaNumber(database, "foreign_keys"),
    ]).toEqual([before, version - 1, false, 1]);
    database.close();
    using ledger = openLedger(path);
    expect([ledger.list(tenants), checkLedger(ledger).sound, verifyAudit(ledger).intact]).toEqual([
      [values[2]],
      true,
      true,
    ]);
  });

  test("keeps the good steps before it", () => {
    const database = openDatabase(path, 1_000, migrations.slice(0, 1));
    expect(() => migrate(database, path, bad("INSERT INTO nowhere VALUES (1);"))).toThrowError("a bad step");
    expect(pragmaNumber(database, "user_version")).toBe(migrations.length);
    database.close();
  });
});

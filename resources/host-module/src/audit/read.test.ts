import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Ledger } from "../ledger/ledger.ts";
import { openLedger } from "../ledger/ledger.ts";
import { settings } from "../ledger/settings.ts";
import { ada, asOps, ops, type TemporaryLedger, temporaryLedger } from "../testing/ledger.ts";
import { auditAsCsv, auditAsJsonLines } from "./export.ts";
import { hashOfRow } from "./hash.ts";
import { type AuditFilter, type AuditReader, auditRows, readAudit } from "./read.ts";
import { type ActingRole, type Actor, type AuditRow, auditColumns, type Outcome } from "./row.ts";

const all: AuditReader = { kind: "administrator" };

/** One row a minute from twelve on. */
const scenes: readonly (readonly [Actor, ActingRole, string, string | null, string | null, Outcome])[] = [
  [ops, "administrator", "tenant.create", "t0001", "tenant/t0001", "done"],
  [ops, "administrator", "tenant.create", "t0002", "tenant/t0002", "done"],
  [ada, "lead", "project.add", "t0001", "project/t0001_p01", "done"],
  [ada, "lead", "member.add", null, "person/2001", "done"],
  [ada, "lead", "member.add", "t0001", "member/t0001_p01/2001", "done"],
  [ada, "lead", "member.add", "t0001", "member/t0001_p010/2001", "done"],
  [ada, "lead", "tenant.rename", "t0002", "tenant/t0002", "refused"],
  [{ ...ada, user: null, uid: 0 }, "host", "reset.apply", "t0001", "reset/t0001", "begun"],
  [ops, "administrator", "tenants.export", null, null, "failed"],
];

let temporary: TemporaryLedger;
let ledger: Ledger;
beforeAll(() => {
  temporary = temporaryLedger();
  let minute = 0;
  ledger = openLedger(temporary.path, { now: () => new Date(Date.UTC(2026, 2, 4, 12, minute++)) });
  for (const [actor, role, command, tenant, object, outcome] of scenes) {
    const error =
      outcome === "refused" ? ({ code: "forbidden", message: "Not Yours.", remedy: "" } as const) : undefined;
    const attempt = { tenant, object, outcome, ...(error === undefined ? {} : { error }) };
    ledger.record(
      { actor, role, command, ...(outcome === "begun" ? { commandLine: ["sacctmgr", "Modify"] } : {}) },
      attempt,
    );
  }
});
afterAll(() => {
  ledger.close();
  temporary[Symbol.dispose]();
});

const seqs = (reader: AuditReader, filter: AuditFilter = {}) =>
  readAudit(ledger.database, reader, filter).rows.map(({ seq }) => seq);

describe("what a reader gets to see", () => {
  test("administrators all of it, newest first", () => {
    expect(seqs(all)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1]);
  });

  test("others what belongs to their tenants, and nothing of the platform, whatever they look for", () => {
    const own: AuditReader = { kind: "tenants", ids: ["t0001"] };
    const filters: readonly AuditFilter[] = [
      {},
      { text: "t0002" },
      { object: "tenant/t0002" },
      { object: "person/2001" },
    ];
    expect([...filters.map((filter) => seqs(own, filter)), seqs({ kind: "tenants", ids: [] })]).toEqual([
      ...[[8, 6, 5, 3, 1], [], [], [], []],
    ]);
    expect(seqs({ kind: "tenants", ids: ["t0001", "t0002", "t0002' OR 1=1 --", "null"] })).toEqual([
      8, 7, 6, 5, 3, 2, 1,
    ]);
    expect([...auditRows(ledger.database, own)].map(({ seq }) => seq)).toEqual([1, 3, 5, 6, 8]);
  });
});

test("filters: each alone, and several together", () => {
  const filters: readonly (readonly [AuditFilter, readonly number[]])[] = [
    [{ actor: "ada" }, [7, 6, 5, 4, 3]],
    [{ actor: 0 }, [8]],
    [{ object: "tenant" }, [7, 2, 1]],
    [{ object: "tenant/t0002" }, [7, 2]],
    // A part of a name is another name.
    [{ object: "member/t0001_p01" }, [5]],
    [{ command: "tenant" }, [7, 2, 1]],
    [{ command: "tenant.create" }, [2, 1]],
    [{ from: new Date("2026-03-04T12:06:00Z") }, [9, 8, 7]],
    [{ to: new Date("2026-03-04T12:01:00Z") }, [1]],
    [{ from: new Date("2026-03-04T12:01:00Z"), to: new Date("2026-03-04T12:03:00Z") }, [3, 2]],
    [{ outcome: "refused" }, [7]],
    [{ text: "not yours" }, [7]],
    [{ text: "MODIFY" }, [8]],
    [{ text: "192.0.2.7" }, [9, 2, 1]],
    [{ text: "%" }, []],
    [{ actor: "ada", command: "member.add", object: "person" }, [4]],
  ];
  expect(filters.map(([filter]) => [filter, seqs(all, filter)])).toEqual(filters);
});

test("pages follow one another without a gap, also while rows come in", () => {
  const pages: number[][] = [];
  let before: number | undefined;
  do {
    const page = readAudit(ledger.database, all, {}, { limit: 4, ...(before === undefined ? {} : { before }) });
    pages.push(page.rows.map(({ seq }) => seq));
    before = page.next ?? undefined;
  } while (before !== undefined);
  expect([pages, readAudit(ledger.database, all, {}, { limit: 9 }).next]).toEqual([
    [[9, 8, 7, 6], [5, 4, 3, 2], [1]],
    null,
  ]);
});

describe("exports", () => {
  test("JSON Lines hold each row as it is; the chain can be verified from them alone", () => {
    using other = temporaryLedger();
    const act = { ...asOps, command: "test" };
    other.ledger.change(act, (change) =>
      change.insert(settings, { name: "a", value: { "10": 1, "9": "\u2028é\\", x: -0 } }),
    );
    other.ledger.change(act, (change) => change.update(settings, { name: "a" }, 1, { value: 1e21 }));
    const lines = [...auditAsJsonLines(auditRows(other.ledger.database, all))];
    expect(lines.join("").split("\n")).toHaveLength(3);
    const rows = readAudit(other.ledger.database, all).rows.toReversed();
    expect(lines.map((line) => JSON.parse(line))).toEqual(
      rows.map((row) => ({ ...row, before: JSON.parse(row.before ?? "null"), after: JSON.parse(row.after ?? "null") })),
    );
    // The texts stand in it as they were hashed.
    for (const [index, line] of lines.entries()) {
      const row = rows[index];
      expect(line).toContain(`"after":${row?.after},`);
      expect(row?.hash).toBe(row === undefined ? "" : hashOfRow(row));
    }
  });

  const row: AuditRow = {
    ...{
      seq: 1,
      at: "2026-03-04T12:00:00.000Z",
      uid: 1,
      user: '=cmd|"/c calc"!A1',
      loginUid: null,
      keyFingerprint: "+x",
    },
    ...{ address: null, role: "lead", command: "a", tenant: null, object: "", before: "not\nJSON", after: '{"a":1}' },
    ...{ commandLine: null, outcome: "done", error: null, previousHash: "0", hash: "1" },
  };

  test("an edited text that is no JSON stands as a text", () => {
    const [line] = auditAsJsonLines([row]);
    expect(JSON.parse(line ?? "")).toEqual({ ...row, after: { a: 1 } });
  });

  test("CSV quotes what has to be, and disarms formulas", () => {
    expect([...auditAsCsv([row])]).toEqual([
      `${auditColumns.join(",")}\r\n`,
      `1,2026-03-04T12:00:00.000Z,1,"'=cmd|""/c calc""!A1",,'+x,,lead,a,,"","not\nJSON","{""a"":1}",,done,,0,1\r\n`,
    ]);
  });

  test("are read page by page, every row once", () => {
    using other = temporaryLedger();
    other.ledger.change({ ...asOps, command: "test" }, (change) => {
      for (let count = 0; count < 2_500; count += 1) change.insert(settings, { name: `s${count}`, value: 1 });
    });
    const found = [...auditRows(other.ledger.database, all)].map(({ seq }) => seq);
    expect(found).toEqual(Array.from({ length: 2_500 }, (_, index) => index + 1));
  });
});

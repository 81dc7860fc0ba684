/** Tampering is done as somebody with root would do it: in the file itself, with the guards taken off and put back. */
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifyAudit } from "../ledger/check.ts";
import { type Ledger, openLedger } from "../ledger/ledger.ts";
import { settings } from "../ledger/settings.ts";
import { ada, asAda, asOps, noon, temporaryLedger } from "../testing/ledger.ts";
import { hashOf } from "./hash.ts";
import { marksPathOf } from "./marks.ts";
import { auditColumns, hashedColumns, noHash } from "./row.ts";
import { auditSchema } from "./schema.ts";

const act = { ...asOps, command: "test", commandLine: ["sacctmgr", "-i", "modify"] };
const rowCount = 8;

/** Rows in which every column has a value somewhere and none somewhere else; the last change has two of them. */
function fill(ledger: Ledger): void {
  ledger.change(act, (change) => change.insert(settings, { name: "a", value: 1 }));
  ledger.change({ ...asAda, command: "test" }, (change) => change.update(settings, { name: "a" }, 1, { value: 2 }));
  const error = { code: "forbidden", message: "No.", remedy: "Ask." } as const;
  ledger.record(act, { object: "tenant/t0001", tenant: "t0001", outcome: "refused", error });
  ledger.record(
    { actor: { ...ada, user: null }, role: "none", command: "x" },
    { object: "o", tenant: null, outcome: "begun" },
  );
  ledger.change(act, (change) => change.remove(settings, { name: "a" }, 2));
  ledger.change(act, (change) => change.insert(settings, { name: "b", value: "\0\ud800é" }));
  ledger.change(act, (change) => {
    change.insert(settings, { name: "c", value: {} });
    change.insert(settings, { name: "d", value: [] });
  });
}

/** Works on the file with the guards off, and puts them back as they were. */
function tamper(path: string, work: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(path);
  try {
    const { audit: _, ...guards } = auditSchema;
    for (const name of Object.keys(guards)) database.exec(`DROP TRIGGER ${name}`);
    work(database);
    for (const guard of Object.values(guards)) database.exec(guard);
  } finally {
    database.close();
  }
}

/** A filled ledger after some tampering. */
function verdictAfter(work: (database: DatabaseSync, path: string) => void) {
  using temporary = temporaryLedger();
  fill(temporary.ledger);
  tamper(temporary.path, (database) => work(database, temporary.path));
  return verifyAudit(temporary.ledger);
}

const kinds = (verdict: ReturnType<typeof verifyAudit>) => verdict.findings.map(({ seq, kind }) => [seq, kind]);

/** Gives rows from `first` on the hashes that their content now asks for, as a forger who knows how would. */
function rechain(database: DatabaseSync, first: number): void {
  const columns = hashedColumns.map((column, index) => `CAST("${column}" AS BLOB) AS c${index}`).join(", ");
  let previous = String(
    database.prepare("SELECT hash FROM audit WHERE seq < ? ORDER BY seq DESC").get(first)?.hash ?? noHash,
  );
  for (const { seq } of database.prepare("SELECT seq FROM audit WHERE seq >= ? ORDER BY seq").all(first)) {
    database.prepare(`UPDATE audit SET "previousHash" = ? WHERE seq = ?`).run(previous, seq ?? null);
    const row = database.prepare(`SELECT ${columns} FROM audit WHERE seq = ?`).get(seq ?? null) ?? {};
    previous = hashOf(Object.values(row).map((bytes) => (bytes instanceof Uint8Array ? bytes : null)));
    database.prepare("UPDATE audit SET hash = ? WHERE seq = ?").run(previous, seq ?? null);
  }
}

test("a record that nobody touched is whole", () => {
  using temporary = temporaryLedger();
  const { ledger } = temporary;
  expect(verifyAudit(ledger)).toEqual({
    ...{ intact: true, rows: 0, head: { seq: 0, hash: noHash } },
    ...{ findings: [], more: 0, notes: [] },
  });
  fill(ledger);
  const last = ledger.database.prepare("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1").get();
  expect(verifyAudit(ledger)).toEqual({
    ...{ intact: true, rows: rowCount, head: { ...last } },
    ...{ findings: [], more: 0, notes: [] },
  });
});

test("the hash is over the bytes of every column, as its description says", () => {
  using temporary = temporaryLedger();
  fill(temporary.ledger);
  // Written down anew from the description, not from the code: what another program would do.
  for (const row of temporary.ledger.database.prepare("SELECT * FROM audit").all()) {
    const parts = hashedColumns.map((column) => {
      const value = row[column];
      return value === null ? "-\n" : `${Buffer.byteLength(String(value))}:${value}\n`;
    });
    const digest = process.getBuiltinModule("node:crypto").createHash("sha256");
    expect(digest.update(`tessera-audit-1\n${parts.join("")}`).digest("hex")).toBe(row.hash);
  }
});

describe("the guards", () => {
  test.each([
    `UPDATE audit SET user = 'x'`,
    `DELETE FROM audit WHERE seq = 3`,
    `DELETE FROM audit`,
    `INSERT OR REPLACE INTO audit SELECT * FROM audit WHERE seq = 3`,
    `INSERT INTO audit SELECT 10, at, uid, user, "loginUid", "keyFingerprint", address, role, command, tenant, object, before, after, "commandLine", outcome, error, "previousHash", hash FROM audit WHERE seq = 3`,
  ])("refuse %s", (statement) => {
    using temporary = temporaryLedger();
    fill(temporary.ledger);
    expect(() => temporary.ledger.database.exec(statement)).toThrow("the audit is append-only");
    expect(verifyAudit(temporary.ledger)).toMatchObject({ intact: true, rows: rowCount });
  });

  test("are missed when they are gone", () => {
    using temporary = temporaryLedger();
    fill(temporary.ledger);
    temporary.ledger.database.exec("DROP TRIGGER auditNeverUpdated");
    expect(verifyAudit(temporary.ledger).findings).toEqual([
      {
        seq: null,
        kind: "unguarded",
        message: "auditNeverUpdated is not in the ledger as it was made: the record could be changed without notice.",
      },
    ]);
  });
});

/** Another value than the one there, of a kind that the column can hold. */
const otherText = fc.oneof(fc.string({ unit: "binary" }), fc.constant("\0"), fc.constantFrom("null", "", "done"));
const numbers: readonly string[] = ["seq", "uid", "loginUid"];
const nullable: readonly string[] = [
  ...["user", "loginUid", "keyFingerprint", "address", "tenant", "object"],
  ...["before", "after", "commandLine", "error"],
];

/** Only for columns other than seq: moving a row has a test of its own. */
const columns = auditColumns.filter((column) => column !== "seq");

describe("any change of a single field is found, at its row", () => {
  test.each(columns)("%s", (column) => {
    using temporary = temporaryLedger();
    fill(temporary.ledger);
    const value = numbers.includes(column)
      ? fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
      : fc.oneof(otherText, fc.uint8Array({ maxLength: 8 }));
    const values = nullable.includes(column) ? fc.oneof(value, fc.constant(null)) : value;
    const { database } = temporary.ledger;
    const { audit: _, ...guards } = auditSchema;
    for (const name of Object.keys(guards)) database.exec(`DROP TRIGGER ${name}`);
    const bytesAt = database.prepare(`SELECT CAST("${column}" AS BLOB) AS bytes FROM audit WHERE seq = ?`);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: rowCount }), values, (seq, changed) => {
        // A text of any bytes: also of such as are no UTF-8, or decode to what was there before.
        const place = changed instanceof Uint8Array ? "CAST(? AS TEXT)" : "?";
        const before = bytesAt.get(seq)?.bytes;
        database.exec("BEGIN");
        database.prepare(`UPDATE audit SET "${column}" = ${place} WHERE seq = ?`).run(changed, seq);
        const same = sameBytes(before, bytesAt.get(seq)?.bytes);
        const found = kinds(verifyAudit(temporary.ledger)).filter(([, kind]) => kind !== "unguarded");
        database.exec("ROLLBACK");
        expect(found).toEqual(same ? [] : [[seq, "edited"]]);
      }),
    );
  });
});

function sameBytes(one: unknown, other: unknown): boolean {
  if (one instanceof Uint8Array && other instanceof Uint8Array) return Buffer.compare(one, other) === 0;
  return one === other;
}

describe("tampering", () => {
  test("an added NUL with something behind it, which most readers do not show", () => {
    const found = verdictAfter((database) =>
      database.exec(`UPDATE audit SET user = CAST(CAST(user AS BLOB) || x'006576696c' AS TEXT) WHERE seq = 3`),
    );
    expect(kinds(found)).toEqual([[3, "edited"]]);
  });

  test("a row edited and its own hash made anew: the next row was chained to another one", () => {
    // Row 7 is the first of two of one transaction: there is no mark made of it, the chain alone can tell.
    const found = verdictAfter((database) => {
      const next = database.prepare(`SELECT "previousHash", hash FROM audit WHERE seq = 8`).get();
      database.exec("UPDATE audit SET user = 'eve' WHERE seq = 7");
      rechain(database, 7);
      const back = database.prepare(`UPDATE audit SET "previousHash" = ?, hash = ? WHERE seq = 8`);
      back.run(next?.previousHash ?? null, next?.hash ?? null);
    });
    expect(found.findings).toEqual([
      { seq: 7, kind: "rewritten", message: "Row 7 was rewritten: row 8 was chained to another one." },
    ]);
  });

  test("everything from a row on made anew: the marks have other hashes", () => {
    const found = verdictAfter((database) => {
      database.exec("UPDATE audit SET user = 'eve' WHERE seq = 4");
      rechain(database, 4);
    });
    expect(kinds(found)).toEqual([4, 5, 6, 8].map((seq) => [seq, "rewritten"]));
  });

  test("the same with a forged mark of the last row: the first mark still counts", () => {
    const found = verdictAfter((database, path) => {
      database.exec("UPDATE audit SET user = 'eve' WHERE seq = 8");
      rechain(database, 8);
      const last = database.prepare("SELECT hash FROM audit WHERE seq = 8").get();
      appendFileSync(marksPathOf(path), `7 8 ${last?.hash}\n`);
    });
    expect(kinds(found)).toEqual([[8, "rewritten"]]);
  });

  test("rows taken out: which", () => {
    expect(kinds(verdictAfter((database) => database.exec("DELETE FROM audit WHERE seq IN (1, 4, 5)")))).toEqual([
      [1, "missing"],
      [4, "missing"],
    ]);
  });

  test("rows taken out and the rest moved up", () => {
    const found = verdictAfter((database) => {
      database.exec("DELETE FROM audit WHERE seq = 4");
      for (let seq = 5; seq <= rowCount; seq += 1)
        database.exec(`UPDATE audit SET seq = ${seq - 1} WHERE seq = ${seq}`);
    });
    expect(kinds(found).slice(0, 2)).toEqual([
      [4, "edited"],
      [5, "edited"],
    ]);
  });

  test("the tail cut off: nothing but the marks can tell", () => {
    expect(verdictAfter((database) => database.exec("DELETE FROM audit WHERE seq > 6")).findings).toEqual([
      { seq: 7, kind: "missing", message: "Rows 7 to 8 are missing." },
    ]);
  });

  test("all rows gone", () => {
    expect(kinds(verdictAfter((database) => database.exec("DELETE FROM audit")))).toEqual([[1, "missing"]]);
  });

  test("two rows changed places", () => {
    const found = verdictAfter((database) => {
      for (const [from, to] of [
        [3, -1],
        [6, 3],
        [-1, 6],
      ])
        database.exec(`UPDATE audit SET seq = ${to} WHERE seq = ${from}`);
    });
    expect(kinds(found)).toEqual([
      [3, "edited"],
      [6, "edited"],
    ]);
  });

  test("a row put in between, the others moved down", () => {
    const found = verdictAfter((database) => {
      for (let seq = rowCount; seq > 3; seq -= 1) database.exec(`UPDATE audit SET seq = ${seq + 1} WHERE seq = ${seq}`);
      database.exec(`INSERT INTO audit (${auditColumns.map((column) => `"${column}"`).join(", ")})
        SELECT 4, ${auditColumns
          .slice(1)
          .map((column) => `"${column}"`)
          .join(", ")} FROM audit WHERE seq = 3`);
    });
    expect(kinds(found).slice(0, 2)).toEqual([
      [4, "edited"],
      [5, "edited"],
    ]);
  });

  test("a row put in before the first", () => {
    const found = verdictAfter((database) =>
      database.exec(`INSERT INTO audit (${auditColumns.map((column) => `"${column}"`).join(", ")})
        SELECT 0, ${auditColumns
          .slice(1)
          .map((column) => `"${column}"`)
          .join(", ")} FROM audit WHERE seq = 1`),
    );
    expect(kinds(found)).toEqual([[0, "inserted"]]);
  });

  test("a row put on at the end, well made: it has no mark, and stays without", () => {
    using temporary = temporaryLedger();
    const { ledger } = temporary;
    fill(ledger);
    tamper(temporary.path, (database) => {
      database.exec(`INSERT INTO audit (${auditColumns.map((column) => `"${column}"`).join(", ")})
        SELECT 9, ${auditColumns
          .slice(1)
          .map((column) => `"${column}"`)
          .join(", ")} FROM audit WHERE seq = 8`);
      rechain(database, 9);
    });
    ledger.change(act, (change) => change.insert(settings, { name: "e", value: 1 }));
    expect(verifyAudit(ledger)).toMatchObject({
      intact: true,
      notes: ["Row 9 has no mark: the process was killed right after writing, or somebody wrote past Tessera."],
    });
  });

  test("a hundred findings are shown, the rest is counted", () => {
    using temporary = temporaryLedger();
    temporary.ledger.change(act, (change) => {
      for (let count = 0; count < 130; count += 1) change.insert(settings, { name: `s${count}`, value: 1 });
    });
    tamper(temporary.path, (database) => database.exec("UPDATE audit SET uid = uid + 1"));
    const verdict = verifyAudit(temporary.ledger);
    expect([verdict.findings.length, verdict.more]).toEqual([100, 30]);
  });
});

describe("the marks", () => {
  const marked = (work: (path: string, text: string) => void) => {
    using temporary = temporaryLedger();
    fill(temporary.ledger);
    const path = marksPathOf(temporary.path);
    work(path, readFileSync(path, "utf8"));
    temporary.ledger.change(act, (change) => change.insert(settings, { name: "e", value: 1 }));
    return verifyAudit(temporary.ledger);
  };

  test("one line for each transaction, its rows and the last one's hash", () => {
    using temporary = temporaryLedger();
    fill(temporary.ledger);
    const hashes = temporary.ledger.database
      .prepare("SELECT hash FROM audit")
      .all()
      .map(({ hash }) => hash);
    expect(readFileSync(marksPathOf(temporary.path), "utf8").split("\n")).toEqual([
      "tessera-audit-marks-1",
      ...[1, 2, 3, 4, 5, 6].map((seq) => `${seq} ${seq} ${hashes[seq - 1]}`),
      ...[`7 8 ${hashes[7]}`, ""],
    ]);
  });

  test("gone, though made anew by the next change: found", () => {
    expect(marked((path) => rmSync(path))).toMatchObject({
      findings: [
        {
          seq: null,
          kind: "marks",
          message: "The file of marks beside the ledger is gone, or was gone and made anew.",
        },
      ],
      notes: ["Rows 1 to 8 have no mark: the process was killed right after writing, or somebody wrote past Tessera."],
    });
  });

  test("a changed hash: found at its row", () => {
    expect(kinds(marked((path, text) => writeFileSync(path, text.replace(/(\n5 5 ).*/, `$1${noHash}`))))).toEqual([
      [5, "rewritten"],
    ]);
  });

  test("a line that is no mark: found", () => {
    expect(marked((path, text) => writeFileSync(path, text.replace(/\n5 5 .*/, "\nnothing to see"))).findings).toEqual([
      { seq: null, kind: "marks", message: "Line 6 of the marks is not a mark." },
    ]);
  });

  test("a line torn by a crash is none of these; its row has no mark", () => {
    expect(marked((path, text) => writeFileSync(path, text.slice(0, -40)))).toMatchObject({
      intact: true,
      notes: ["Rows 7 to 8 have no mark: the process was killed right after writing, or somebody wrote past Tessera."],
    });
  });

  test("that cannot be written leave the change as it is, and are reported", () => {
    using temporary = temporaryLedger();
    const { ledger, path } = temporary;
    fill(ledger);
    const marks = marksPathOf(path);
    const text = readFileSync(marks, "utf8");
    rmSync(marks);
    process.getBuiltinModule("node:fs").mkdirSync(marks);
    ledger.change(act, (change) => change.insert(settings, { name: "e", value: 1 }));
    expect([ledger.markTrouble?.code, ledger.find(settings, { name: "e" })?.value]).toEqual(["internal", 1]);
    rmSync(marks, { recursive: true });
    writeFileSync(marks, text);
    ledger.change(act, (change) => change.insert(settings, { name: "f", value: 1 }));
    expect([ledger.markTrouble, verifyAudit(ledger).intact]).toEqual([null, true]);
  });
});

test("whatever is written comes back as it was hashed", () => {
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("\0", "\ud800", "a\0b", "\ufffd"));
  fc.assert(
    fc.property(text, text, fc.array(text), fc.jsonValue(), (user, object, commandLine, value) => {
      using temporary = temporaryLedger();
      const actor = { ...ada, user, keyFingerprint: user, address: user };
      const error = { code: "internal", message: user, remedy: JSON.stringify(value) } as const;
      temporary.ledger.record(
        { actor, role: "none", command: object, commandLine },
        { object, tenant: null, outcome: "failed", error },
      );
      temporary.ledger.record({ actor, role: "none", command: "x" }, { object, tenant: null, outcome: "failed" });
      expect(verifyAudit(temporary.ledger)).toMatchObject({ intact: true, rows: 2, notes: [] });
    }),
    { numRuns: 25 },
  );
});

test("a ledger whose file was removed, or cut to nothing, is not made anew in silence", () => {
  using temporary = temporaryLedger();
  fill(temporary.ledger);
  temporary.ledger.close();
  for (const ruin of [() => rmSync(temporary.path), () => writeFileSync(temporary.path, "")]) {
    ruin();
    expect(() => openLedger(temporary.path, { now: () => noon })).toThrowError(
      expect.objectContaining({
        code: "unreadable",
        evidence: {
          details: `${temporary.path}\nThe file is empty, but the marks beside it count ${rowCount} rows of audit.`,
        },
      }),
    );
  }
});

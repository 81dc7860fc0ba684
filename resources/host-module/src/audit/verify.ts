import type { DatabaseSync } from "node:sqlite";
import { hashOf } from "./hash.ts";
import { type Marks, readMarks } from "./marks.ts";
import { hashedColumns, noHash } from "./row.ts";
import { auditSchema } from "./schema.ts";

export interface AuditFinding {
  /** The row it is about; null where it is about no single one. */
  readonly seq: number | null;
  /**
   * `edited`: the row is not the one its hash was made of; `rewritten`: it fits its own hash, but not what follows it or
   * the mark made of it; `missing`: rows are gone, this is the first of them; `inserted`: a row where none can be;
   * `marks`: the marks beside the ledger were tampered with or removed; `unguarded`: the triggers that refuse changes
   * are not as they were made.
   */
  readonly kind: "edited" | "rewritten" | "missing" | "inserted" | "marks" | "unguarded";
  readonly message: string;
}

export interface AuditVerdict {
  /** Whether nothing was found. Notes do not count. */
  readonly intact: boolean;
  readonly rows: number;
  /** Number and hash of the last row: what to write down elsewhere. */
  readonly head: { readonly seq: number; readonly hash: string };
  /** By row, the first 100. */
  readonly findings: readonly AuditFinding[];
  /** Findings beyond those. */
  readonly more: number;
  /** What is no proof of anything, one sentence each. */
  readonly notes: readonly string[];
}

const mostFindings = 100;

/**
 * Walks the whole chain and holds it against the marks beside the file. Finds every edited, deleted, inserted or moved
 * row and a tail that was cut off, and says which row it is. It cannot find that somebody with root rewrote the chain
 * from some row on and the marks with it; compare `head` with one that was kept elsewhere for that.
 *
 * Throws what SQLite throws for a file that cannot be read; `verifyAudit` of the ledger turns that into an AppError.
 */
export function verifyChain(database: DatabaseSync, marksPath: string): AuditVerdict {
  // The marks first: every one of them is of a transaction that was on disk before it.
  const marks = readMarks(marksPath);
  const findings = findingsBySeq();
  for (const finding of guardFindings(database)) findings.add(finding);
  const chain = walk(database, marks, findings.add);
  for (const finding of markFindings(marks, chain.head.seq)) findings.add(finding);
  const all = findings.sorted();
  return {
    intact: all.length === 0,
    rows: chain.rows,
    head: chain.head,
    findings: all.slice(0, mostFindings),
    more: Math.max(0, all.length - mostFindings),
    notes: unmarked(marks, chain.head.seq),
  };
}

/** At most one finding a row, the first that was found; what a later row says about it adds nothing. */
function findingsBySeq() {
  const bySeq = new Map<number | string, AuditFinding>();
  return {
    add: (finding: AuditFinding): void => {
      const key = finding.seq ?? finding.message;
      if (!bySeq.has(key)) bySeq.set(key, finding);
    },
    sorted: () => [...bySeq.values()].toSorted((a, b) => (a.seq ?? 0) - (b.seq ?? 0)),
  };
}

const rowsAsBytes = `SELECT "seq", "hash", ${hashedColumns
  .map((column, index) => `CAST("${column}" AS BLOB) AS c${index}`)
  .join(", ")} FROM audit ORDER BY "seq"`;
const previousHashColumn = `c${hashedColumns.indexOf("previousHash")}`;

function walk(database: DatabaseSync, marks: Marks, add: (finding: AuditFinding) => void) {
  // Every mark counts: a second one of the same row must not outvote the first.
  const marked = Map.groupBy(marks.marks, (mark) => mark.last);
  const statement = database.prepare(rowsAsBytes);
  statement.setReadBigInts(true);
  let head = { seq: 0, hash: noHash };
  let rows = 0;
  for (const row of statement.iterate()) {
    rows += 1;
    const seq = Number(row.seq);
    const hash = typeof row.hash === "string" ? row.hash : "";
    if (seq < 1) {
      add({ seq, kind: "inserted", message: `Row ${seq} was put in: rows are numbered from 1.` });
      continue;
    }
    const gap = seq > head.seq + 1;
    if (gap) add(missing(head.seq + 1, seq - 1));
    const fields = hashedColumns.map((_, index) => bytesOf(row[`c${index}`]));
    if (hashOf(fields) !== hash) {
      add({ seq, kind: "edited", message: `Row ${seq} was edited: its content does not have the hash beside it.` });
    } else if (!gap && textOf(row[previousHashColumn]) !== head.hash) {
      const message = `Row ${head.seq} was rewritten: row ${seq} was chained to another one.`;
      if (head.seq === 0)
        add({ seq, kind: "rewritten", message: `Row ${seq} was rewritten: it was not made as the first one.` });
      else add({ seq: head.seq, kind: "rewritten", message });
    }
    if (marked.get(seq)?.some((mark) => mark.hash !== hash)) {
      add({ seq, kind: "rewritten", message: `Row ${seq} was rewritten: the mark made of it has another hash.` });
    }
    head = { seq, hash };
  }
  return { head, rows };
}

function bytesOf(value: unknown): Uint8Array | null {
  return value instanceof Uint8Array ? value : null;
}

function textOf(value: unknown): string {
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : "";
}

function missing(first: number, last: number): AuditFinding {
  const message = first === last ? `Row ${first} is missing.` : `Rows ${first} to ${last} are missing.`;
  return { seq: first, kind: "missing", message };
}

function markFindings(marks: Marks, head: number): readonly AuditFinding[] {
  const last = marks.marks.reduce((most, mark) => Math.max(most, mark.last), 0);
  const gone: AuditFinding = {
    seq: null,
    kind: "marks",
    message: "The file of marks beside the ledger is gone, or was gone and made anew.",
  };
  return [
    ...(marks.present ? [] : [gone]),
    ...(last > head ? [missing(head + 1, last)] : []),
    ...marks.unreadable.map(
      (line): AuditFinding => ({ seq: null, kind: "marks", message: `Line ${line} of the marks is not a mark.` }),
    ),
  ];
}

function guardFindings(database: DatabaseSync): readonly AuditFinding[] {
  const found = new Map(
    database
      .prepare("SELECT name, sql FROM sqlite_schema")
      .all()
      .map(({ name, sql }) => [name, sql]),
  );
  return Object.entries(auditSchema)
    .filter(([name, sql]) => found.get(name) !== sql)
    .map(([name]) => ({
      seq: null,
      kind: "unguarded",
      message: `${name} is not in the ledger as it was made: the record could be changed without notice.`,
    }));
}

function unmarked(marks: Marks, head: number): readonly string[] {
  const covered = marks.marks.toSorted((a, b) => a.first - b.first);
  const notes: string[] = [];
  let next = 1;
  const note = (last: number) => {
    if (last < next) return;
    const rows = next === last ? `Row ${next} has` : `Rows ${next} to ${last} have`;
    notes.push(`${rows} no mark: the process was killed right after writing, or somebody wrote past Tessera.`);
  };
  for (const { first, last } of covered) {
    note(Math.min(first - 1, head));
    next = Math.max(next, last + 1);
  }
  note(head);
  return notes;
}

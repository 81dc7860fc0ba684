import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { type AuditRow, auditColumns, type Outcome } from "./row.ts";

/** Whose rows may be read: all, or those of some tenants. Rows that belong to no tenant are for administrators only. */
export type AuditReader =
  | { readonly kind: "administrator" }
  | { readonly kind: "tenants"; readonly ids: readonly string[] };

/** Every condition that is given has to hold. */
export interface AuditFilter {
  /** User name or uid of who acted. */
  readonly actor?: string | number;
  /** An object (`tenant/t3f2k`), or all of a kind or below one (`tenant`, `member/t3f2k_p01`). */
  readonly object?: string;
  /** A command (`tenant.rename`), or all of a group (`tenant`). */
  readonly command?: string;
  /** From this time on. */
  readonly from?: Date;
  /** Before this time. */
  readonly to?: Date;
  readonly outcome?: Outcome;
  /** Anywhere in user, object, command, before, after, command line, error, address or key; upper and lower case of ASCII are the same. */
  readonly text?: string;
}

export interface AuditPage {
  /** Newest first. */
  readonly rows: readonly AuditRow[];
  /** Where the next, older page begins: its `before`. Null where there is none. */
  readonly next: number | null;
}

const largestPage = 1_000;

/** One page of what the reader may see, newest first; `before` is the `next` of the page before it. */
export function readAudit(
  database: DatabaseSync,
  reader: AuditReader,
  filter: AuditFilter = {},
  page: { readonly before?: number; readonly limit?: number } = {},
): AuditPage {
  const limit = Math.min(Math.max(1, Math.trunc(page.limit ?? 100)), largestPage);
  const conditions = [...conditionsOf(reader, filter), condition(`"seq" < ?`, page.before)];
  const rows = select(database, conditions, "DESC", limit + 1);
  const shown = rows.slice(0, limit);
  return { rows: shown, next: rows.length > limit ? (shown.at(-1)?.seq ?? null) : null };
}

/** All of it, oldest first, page by page: an export never holds more than one page in memory. */
export function* auditRows(
  database: DatabaseSync,
  reader: AuditReader,
  filter: AuditFilter = {},
): Generator<AuditRow, void, undefined> {
  const conditions = conditionsOf(reader, filter);
  let after = 0;
  for (;;) {
    const rows = select(database, [...conditions, condition(`"seq" > ?`, after)], "ASC", largestPage);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < largestPage) return;
    after = last.seq;
  }
}

interface Condition {
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
}

const always: Condition = { sql: "TRUE", values: [] };

/** A condition on one value, which holds where there is none. */
function condition(sql: string, value: SQLInputValue | undefined): Condition {
  return value === undefined ? always : { sql, values: [value] };
}

function conditionsOf(reader: AuditReader, filter: AuditFilter): readonly Condition[] {
  const { actor, object, command, outcome, text } = filter;
  return [
    reader.kind === "administrator"
      ? always
      : { sql: `"tenant" IN (SELECT value FROM json_each(?))`, values: [JSON.stringify(reader.ids)] },
    condition(typeof actor === "number" ? `"uid" = ?` : `"user" = ?`, actor),
    below("object", "/", object),
    below("command", ".", command),
    condition(`"at" >= ?`, filter.from?.toISOString()),
    condition(`"at" < ?`, filter.to?.toISOString()),
    condition(`"outcome" = ?`, outcome),
    condition(`instr(lower(${searched}), lower(?)) > 0`, text),
  ];
}

/** Joined with a line feed, which none of them holds and nobody looks for. */
const searched = `concat_ws(char(10), ${[
  "user",
  "object",
  "command",
  "before",
  "after",
  "commandLine",
  "error",
  "address",
  "keyFingerprint",
]
  .map((column) => `"${column}"`)
  .join(", ")})`;

function below(column: string, separator: string, value: string | undefined): Condition {
  if (value === undefined) return always;
  const prefix = value + separator;
  return {
    sql: `("${column}" = ? OR substr("${column}", 1, length(?)) = ?)`,
    values: [value, prefix, prefix],
  };
}

function select(
  database: DatabaseSync,
  conditions: readonly Condition[],
  order: "ASC" | "DESC",
  limit: number,
): readonly AuditRow[] {
  const where = conditions.map(({ sql }) => sql).join(" AND ");
  const columns = auditColumns.map((column) => `"${column}"`).join(", ");
  return database
    .prepare(`SELECT ${columns} FROM audit WHERE ${where} ORDER BY "seq" ${order} LIMIT ?`)
    .all(...conditions.flatMap(({ values }) => values), limit)
    .map(rowOf);
}

/** The columns have the types that the table gives them (STRICT), but a file can hold anything. */
function rowOf(row: Readonly<Record<string, unknown>>): AuditRow {
  const text = (column: keyof AuditRow) => String(row[column] ?? "");
  const textOrNull = (column: keyof AuditRow) => (row[column] === null ? null : text(column));
  return {
    seq: Number(row.seq),
    at: text("at"),
    uid: Number(row.uid),
    user: textOrNull("user"),
    loginUid: row.loginUid === null ? null : Number(row.loginUid),
    keyFingerprint: textOrNull("keyFingerprint"),
    address: textOrNull("address"),
    role: text("role"),
    command: text("command"),
    tenant: textOrNull("tenant"),
    object: textOrNull("object"),
    before: textOrNull("before"),
    after: textOrNull("after"),
    commandLine: textOrNull("commandLine"),
    outcome: text("outcome"),
    error: textOrNull("error"),
    previousHash: text("previousHash"),
    hash: text("hash"),
  };
}

import type { Prepare } from "../ledger/prepare.ts";
import { hashOfRow } from "./hash.ts";
import { type ActingRole, type Actor, type AuditRow, auditColumns, noHash, type Outcome } from "./row.ts";

/** What the caller knows of a row; number and hashes come from where it lands. */
export interface AuditEntry {
  readonly at: Date;
  readonly actor: Actor;
  readonly role: ActingRole;
  readonly command: string;
  readonly tenant: string | null;
  readonly object: string | null;
  /** Plain data; null where the object is not there. */
  readonly before: unknown;
  readonly after: unknown;
  readonly commandLine: readonly string[] | null;
  readonly outcome: Outcome;
  readonly error: { readonly code: string; readonly message: string; readonly remedy: string } | null;
}

/** Where the chain ends: the number of its last row and that row's hash. */
export interface AuditHead {
  readonly seq: number;
  readonly hash: string;
}

const insert = `INSERT INTO audit (${auditColumns.map((column) => `"${column}"`).join(", ")})
  VALUES (${auditColumns.map(() => "?").join(", ")})`;

/** The end of the chain; 0 and zeros while there is no row. */
export function auditHead(prepare: Prepare): AuditHead {
  const last = prepare("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1").get();
  return last === undefined ? { seq: 0, hash: noHash } : { seq: Number(last.seq), hash: String(last.hash) };
}

/**
 * Appends one row and answers the new end of the chain. Must be called inside a write transaction: the row then stands
 * or falls with the change it records, and no other process can append between reading the end and writing after it.
 * `head` is the end of the chain where the caller knows it already.
 */
export function appendAudit(prepare: Prepare, entry: AuditEntry, head: AuditHead = auditHead(prepare)): AuditHead {
  const row: Omit<AuditRow, "hash"> = {
    seq: head.seq + 1,
    at: entry.at.toISOString(),
    uid: entry.actor.uid,
    user: storable(entry.actor.user),
    loginUid: entry.actor.loginUid,
    keyFingerprint: storable(entry.actor.keyFingerprint),
    address: storable(entry.actor.address),
    role: entry.role,
    command: storable(entry.command),
    tenant: entry.tenant,
    object: storable(entry.object),
    before: json(entry.before),
    after: json(entry.after),
    commandLine: json(entry.commandLine),
    outcome: entry.outcome,
    error: json(entry.error),
    previousHash: head.hash,
  };
  const full: AuditRow = { ...row, hash: hashOfRow(row) };
  prepare(insert).run(...auditColumns.map((column) => full[column]));
  return { seq: full.seq, hash: full.hash };
}

function json(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

/** SQLite keeps neither half a surrogate pair nor, for most readers, what follows a NUL; JSON escapes both by itself. */
function storable<T extends string | null>(text: T): T | string {
  return text === null ? text : text.toWellFormed().replaceAll("\0", "\uFFFD");
}

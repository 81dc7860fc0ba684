import type { DatabaseSync } from "node:sqlite";
import { marksPathOf } from "../audit/marks.ts";
import { type AuditVerdict, verifyChain } from "../audit/verify.ts";
import type { Ledger } from "./ledger.ts";
import { ledgerError } from "./sqlite-error.ts";

/** What is wrong with the file itself, in SQLite's words; empty when all is well. At most 100 of each kind. */
export function databaseProblems(database: DatabaseSync): readonly string[] {
  const pages = database
    .prepare("PRAGMA integrity_check(100)")
    .all()
    .flatMap((row) => Object.values(row).map(String));
  const references = database
    .prepare("PRAGMA foreign_key_check")
    .all()
    .slice(0, 100)
    .map((row) => `row ${row.rowid} of ${row.table} refers to something in ${row.parent} that is not there`);
  return [...pages.filter((words) => words !== "ok"), ...references];
}

/** Reads the whole file. Throws AppError `unreadable` where it is damaged so far that it cannot be looked through. */
export function checkLedger(ledger: Ledger): { readonly sound: boolean; readonly problems: readonly string[] } {
  const problems = guarded(ledger, () => databaseProblems(ledger.database));
  return { sound: problems.length === 0, problems };
}

/** Whether anybody edited, removed, inserted or moved a row of the audit, and which; see `verifyChain`. Throws AppError. */
export function verifyAudit(ledger: Ledger): AuditVerdict {
  return guarded(ledger, () => verifyChain(ledger.database, marksPathOf(ledger.path)));
}

function guarded<T>(ledger: Ledger, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw ledgerError(error, ledger.path);
  }
}

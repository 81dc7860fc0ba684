import { noHash } from "./row.ts";

/**
 * The audit's table and its guards, part of migration 1 and never to be changed: verifying compares them with what
 * stands in the file. No foreign keys: a row outlives what it tells of.
 *
 * The guard on INSERT also stops INSERT OR REPLACE, which deletes without asking the DELETE trigger.
 */
export const auditSchema = {
  audit: `CREATE TABLE audit (
  "seq" INTEGER PRIMARY KEY,
  "at" TEXT NOT NULL,
  "uid" INTEGER NOT NULL,
  "user" TEXT,
  "loginUid" INTEGER,
  "keyFingerprint" TEXT,
  "address" TEXT,
  "role" TEXT NOT NULL,
  "command" TEXT NOT NULL,
  "tenant" TEXT,
  "object" TEXT,
  "before" TEXT,
  "after" TEXT,
  "commandLine" TEXT,
  "outcome" TEXT NOT NULL,
  "error" TEXT,
  "previousHash" TEXT NOT NULL,
  "hash" TEXT NOT NULL
) STRICT`,
  auditNeverUpdated: `CREATE TRIGGER auditNeverUpdated BEFORE UPDATE ON audit
BEGIN SELECT raise(ABORT, 'the audit is append-only'); END`,
  auditNeverDeleted: `CREATE TRIGGER auditNeverDeleted BEFORE DELETE ON audit
BEGIN SELECT raise(ABORT, 'the audit is append-only'); END`,
  auditOnlyAppended: `CREATE TRIGGER auditOnlyAppended BEFORE INSERT ON audit
WHEN NEW."seq" IS NOT (SELECT coalesce(max("seq"), 0) + 1 FROM audit)
  OR NEW."previousHash" IS NOT coalesce((SELECT "hash" FROM audit ORDER BY "seq" DESC LIMIT 1), '${noHash}')
BEGIN SELECT raise(ABORT, 'the audit is append-only'); END`,
} as const;

import type { DatabaseSync } from "node:sqlite";
import { AppError } from "../../../../shared/errors.ts";
import { type Migration, migrations } from "./migrations.ts";
import { damagedLedger, ledgerError } from "./sqlite-error.ts";

/** `TSLG` in the file's header, so that `file` and we can tell a ledger from any other SQLite file. */
export const applicationId = 0x54_53_4c_47;

export function pragmaNumber(database: DatabaseSync, name: string): number {
  return Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0] ?? 0);
}

/**
 * The version of the file, 0 for one in which nothing is yet. Changes nothing. Throws AppError `version-mismatch` for a
 * newer one than `newest`, `unreadable` for a SQLite file that is none of ours.
 */
export function ledgerVersion(database: DatabaseSync, path: string, newest: number = migrations.length): number {
  const application = pragmaNumber(database, "application_id");
  const version = pragmaNumber(database, "user_version");
  const empty = database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
  if (application === 0 && version === 0 && empty) return 0;
  if (application !== applicationId) {
    throw new AppError({
      code: "unreadable",
      message: `${path} is a SQLite file, but not a ledger of Tessera.`,
      remedy: "Move it away, or put the ledger's backup in its place.",
      evidence: { details: `application_id 0x${application.toString(16)}, user_version ${version}` },
    });
  }
  if (version < 1) throw damagedLedger(path, `user_version ${version}`);
  if (version <= newest) return version;
  throw new AppError({
    code: "version-mismatch",
    message: `The ledger has version ${version}; this tessera-host knows versions up to ${newest}.`,
    remedy: "Use the newer tessera-host that wrote it, or put back a backup from before.",
    evidence: { details: path },
  });
}

/**
 * Brings the file to the newest version, a transaction for each step: what a failed step did is undone, and the file
 * stays at the version before it. Several processes may come at once; each step is done by the first.
 *
 * Throws AppError: as `ledgerVersion`, `internal` with the step's number when it fails, and the file's own troubles.
 */
export function migrate(database: DatabaseSync, path: string, steps: readonly Migration[] = migrations): void {
  if (ledgerVersion(database, path, steps.length) === steps.length) return;
  // A step may rebuild a table that others refer to; the references are checked at its end instead. Only outside of a
  // transaction can they be switched off.
  database.exec("PRAGMA foreign_keys = OFF");
  try {
    for (const [index, step] of steps.entries()) apply(database, path, steps, index, step);
  } finally {
    database.exec("PRAGMA foreign_keys = ON");
  }
}

function apply(
  database: DatabaseSync,
  path: string,
  steps: readonly Migration[],
  index: number,
  step: Migration,
): void {
  const version = index + 1;
  database.exec("BEGIN IMMEDIATE");
  try {
    if (ledgerVersion(database, path, steps.length) < version) {
      database.exec(step.statements);
      const broken = database.prepare("PRAGMA foreign_key_check").all();
      if (broken.length > 0) throw new Error(`${broken.length} references lead nowhere after it`);
      database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version}`);
    }
    database.exec("COMMIT");
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    const known = ledgerError(error, path);
    if (known.code !== "internal" && known.code !== "bad-request") throw known;
    throw new AppError(
      {
        code: "internal",
        message: `The ledger could not be brought to version ${version} (${step.what}); it is still at version ${index}.`,
        remedy: "Go on with the tessera-host from before, and report this.",
        evidence: known.evidence ?? {},
      },
      { cause: error },
    );
  }
}

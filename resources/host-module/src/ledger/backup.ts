import { closeSync, constants, existsSync, fsyncSync, linkSync, openSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { AppError } from "../../../../shared/errors.ts";
import { type AuditHead, auditHead } from "../audit/append.ts";
import { formatMarks, marksPathOf, readMarks } from "../audit/marks.ts";
import { verifyChain } from "../audit/verify.ts";
import { sqlite } from "../operating-system/builtin.ts";
import { databaseProblems } from "./check.ts";
import type { Ledger } from "./ledger.ts";
import { syncDirectory } from "./place.ts";
import { ledgerError } from "./sqlite-error.ts";

export interface Backup {
  readonly path: string;
  /** The end of its audit: written down elsewhere, it shows later whether the ledger still is the one it was. */
  readonly head: AuditHead;
  /** What verifying the audit found in it: a tampered record is backed up as it is, and said. */
  readonly auditFindings: number;
}

/**
 * Writes a copy of the ledger as it is at this moment, and of the audit's marks beside it, readable by their owner alone.
 * Others may write meanwhile. The copy is made under another name, read through from end to end, brought to disk and
 * only then given its name, which must be free: what stands at `path` afterwards is a whole backup or nothing.
 *
 * VACUUM INTO rather than SQLite's page by page backup: that one starts anew at each write of another process.
 *
 * Throws AppError `conflict` (the name is taken), `disk-full`, `permission`, `unreadable` (the ledger is damaged).
 */
export function backupLedger(ledger: Ledger, path: string): Backup {
  const targets = [path, marksPathOf(path)];
  for (const target of targets) if (existsSync(target)) throw taken(target);
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    // Made beforehand, so that it is never readable by others; VACUUM INTO takes an empty file.
    closeSync(openSync(temporary, newFile, 0o600));
    ledger.database.prepare("VACUUM INTO ?").run(temporary);
    const head = inspect(temporary, (database) => auditHead((text) => database.prepare(text)));
    const { present, marks } = readMarks(marksPathOf(ledger.path));
    const copy = formatMarks({ present, marks: marks.filter((mark) => mark.last <= head.seq) });
    writeFileSync(marksPathOf(temporary), copy, { mode: 0o600, flag: "wx" });
    const auditFindings = inspect(temporary, (database) => readThrough(database, temporary));
    for (const file of [temporary, marksPathOf(temporary)]) sync(file);
    publish(temporary, path);
    return { path, head, auditFindings };
  } catch (error) {
    throw ledgerError(error, path);
  } finally {
    for (const file of [temporary, marksPathOf(temporary), `${temporary}-journal`]) rmSync(file, { force: true });
  }
}

const newFile = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

function inspect<T>(path: string, work: (database: InstanceType<ReturnType<typeof sqlite>["DatabaseSync"]>) => T): T {
  const database = new (sqlite().DatabaseSync)(path, { readOnly: true });
  try {
    return work(database);
  } finally {
    database.close();
  }
}

function readThrough(database: Parameters<typeof databaseProblems>[0], path: string): number {
  const problems = databaseProblems(database);
  if (problems.length > 0) {
    throw new AppError({
      code: "unreadable",
      message: "The ledger is damaged, and so would be its backup; none was made.",
      remedy: "Keep the backups there are, and put the newest sound one in place of the ledger.",
      evidence: { details: problems.join("\n") },
    });
  }
  const verdict = verifyChain(database, marksPathOf(path));
  return verdict.findings.length + verdict.more;
}

function sync(path: string): void {
  const file = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** link(2) refuses a name that is taken, where rename(2) would overwrite it. */
function publish(temporary: string, path: string): void {
  link(marksPathOf(temporary), marksPathOf(path));
  try {
    link(temporary, path);
  } catch (error) {
    rmSync(marksPathOf(path), { force: true });
    throw error;
  }
  syncDirectory(dirname(path));
}

function link(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    throw error instanceof Error && "code" in error && error.code === "EEXIST" ? taken(to) : error;
  }
}

function taken(path: string): AppError {
  return new AppError({
    code: "conflict",
    message: `There is a file ${path} already.`,
    remedy: "Nothing was written. Name another file, or move that one away.",
  });
}

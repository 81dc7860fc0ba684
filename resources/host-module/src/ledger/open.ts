import type { DatabaseSync } from "node:sqlite";
import { marksPathOf, readMarks } from "../audit/marks.ts";
import { sqlite } from "../operating-system/builtin.ts";
import { ledgerVersion, migrate } from "./migrate.ts";
import { type Migration, migrations } from "./migrations.ts";
import { preparePlace } from "./place.ts";
import { damagedLedger, isBusy, ledgerError } from "./sqlite-error.ts";

const pauseMs = 20;

/**
 * Opens the ledger's file, makes it where there is none, and brings it to the newest version. In the connection that
 * comes back references are kept, a writer waits `busyTimeoutMs` for another, and a commit is on disk (fsync) before it
 * returns.
 *
 * Throws AppError `permission`, `disk-full`, `locked`, `unreadable` (damaged, no ledger, or emptied), `version-mismatch`.
 */
export function openDatabase(
  path: string,
  busyTimeoutMs: number,
  steps: readonly Migration[] = migrations,
): DatabaseSync {
  preparePlace(path);
  let database: DatabaseSync;
  try {
    database = new (sqlite().DatabaseSync)(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
  } catch (error) {
    throw ledgerError(error, path);
  }
  try {
    if (ledgerVersion(database, path, steps.length) === 0) refuseEmptied(database, path);
    whileBusy(busyTimeoutMs, () => useWriteAheadLog(database));
    database.exec("PRAGMA synchronous = FULL");
    migrate(database, path, steps);
    return database;
  } catch (error) {
    database.close();
    throw ledgerError(error, path);
  }
}

/** Marks of rows that are not there: the ledger was removed or cut to nothing. A new one in its place would hide that. */
function refuseEmptied(database: DatabaseSync, path: string): void {
  const rows = readMarks(marksPathOf(path)).marks.reduce((most, mark) => Math.max(most, mark.last), 0);
  // Looked at once more: another process may have made the ledger, and written to it, in between.
  if (rows === 0 || ledgerVersion(database, path) !== 0) return;
  throw damagedLedger(path, `The file is empty, but the marks beside it count ${rows} rows of audit.`);
}

function useWriteAheadLog(database: DatabaseSync): void {
  const mode = Object.values(database.prepare("PRAGMA journal_mode = WAL").get() ?? {})[0];
  if (mode !== "wal") throw new Error(`this file system allows no write-ahead log (journal mode ${mode})`);
}

/** Changing the journal mode is the one thing for which SQLite does not wait by itself. */
function whileBusy(timeoutMs: number, work: () => void): void {
  const end = performance.now() + timeoutMs;
  for (;;) {
    try {
      work();
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > end) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
    }
  }
}

import type { DatabaseSync } from "node:sqlite";
import { AppError, type AppErrorData } from "../../../../shared/errors.ts";
import { appendAudit } from "../audit/append.ts";
import { appendMarks, marksPathOf } from "../audit/marks.ts";
import type { Outcome } from "../audit/row.ts";
import { type About, type Act, type Change, openChange } from "./change.ts";
import { openDatabase } from "./open.ts";
import { preparing } from "./prepare.ts";
import { type Reader, readerOf } from "./reader.ts";
import { isFileTrouble, ledgerError } from "./sqlite-error.ts";

/** The open ledger. Everything in it is synchronous: a transaction is never held open while something else is awaited. */
export interface Ledger extends Reader, Disposable {
  readonly path: string;
  /** For what has queries of its own (audit, check, backup). */
  readonly database: DatabaseSync;
  /** Several readings of one and the same state. Throws AppError. */
  read<T>(work: (reader: Reader) => T): T;
  /**
   * One transaction: all that `work` changes, with its rows of audit, or nothing. When it returns, that is on disk.
   * When it throws, nothing was changed; the attempt is recorded as `refused` (our own rules) or `failed` (anything
   * else) in a transaction of its own, and the error goes on as AppError.
   */
  change<T>(act: Act, work: (change: Change) => T): T;
  /** As `change`, and everything is taken back at the end: whether our own rules allow it, before anything else is touched. */
  rehearse(act: Act, work: (change: Change) => unknown): void;
  /**
   * Records an attempt that changed nothing here: one that was refused beforehand, or one outside the ledger. Whoever
   * reached for a tenant that is not theirs is no business of that tenant's people: `tenant` is null then.
   */
  record(act: Act, attempt: Attempt): void;
  /** Why the last marks of the audit could not be written; null when all is well. The changes themselves stand. */
  readonly markTrouble: AppErrorData | null;
  close(): void;
}

export interface Attempt {
  readonly object: string | null;
  readonly tenant: string | null;
  readonly outcome: Outcome;
  readonly error?: AppErrorData;
}

export interface LedgerOptions {
  /** How long a writer waits for another one. Default 5 s. */
  readonly busyTimeoutMs?: number;
  readonly now?: () => Date;
}

const defaultBusyTimeoutMs = 5_000;

/**
 * Opens the ledger, making and migrating it where needed. Throws AppError `permission`, `disk-full`, `locked`,
 * `unreadable`, `version-mismatch`.
 */
export function openLedger(path: string, options: LedgerOptions = {}): Ledger {
  const now = options.now ?? (() => new Date());
  const database = openDatabase(path, options.busyTimeoutMs ?? defaultBusyTimeoutMs);
  const prepare = preparing(database);
  let markTrouble: AppErrorData | null = null;

  const transaction = <T>(begin: string, work: () => T): T => {
    // Not ours to roll back then: whoever began it finds out.
    if (database.isTransaction) throw new Error("a transaction of the ledger is open already");
    try {
      database.exec(begin);
      const value = work();
      if (value instanceof Promise) throw new Error("a transaction of the ledger cannot wait for anything");
      database.exec("COMMIT");
      return value;
    } catch (error) {
      if (database.isTransaction) database.exec("ROLLBACK");
      throw error instanceof Rehearsed ? error : ledgerError(error, path);
    }
  };

  const mark = (first: number, last: { readonly seq: number; readonly hash: string }): void => {
    try {
      appendMarks(marksPathOf(path), [{ first, last: last.seq, hash: last.hash }]);
      markTrouble = null;
    } catch (error) {
      markTrouble = ledgerError(error, path).toData();
    }
  };

  const record = (act: Act, attempt: Attempt): void => {
    const { actor, role, command, commandLine = null } = act;
    const { object, tenant, outcome } = attempt;
    const error = attempt.error === undefined ? null : recordedError(attempt.error);
    const head = transaction("BEGIN IMMEDIATE", () =>
      appendAudit(prepare, {
        ...{ at: now(), actor, role, command, tenant, object, before: null, after: null, commandLine },
        ...{ outcome, error },
      }),
    );
    mark(head.seq, head);
  };

  return {
    ...readingAs(readerOf(prepare), path),
    path,
    database,
    get markTrouble() {
      return markTrouble;
    },

    read: (work) => transaction("BEGIN", () => work(readerOf(prepare))),

    change: (act, work) => {
      const change = openChange(prepare, act, now);
      try {
        const value = transaction("BEGIN IMMEDIATE", () => work(change));
        const written = change.written();
        if (written !== null) mark(written.first, written.last);
        return value;
      } catch (error) {
        if (error instanceof AppError && !isFileTrouble(error)) recordFailure(record, act, change.about(), error);
        throw error;
      }
    },

    rehearse: (act, work) => {
      const change = openChange(prepare, act, now);
      try {
        transaction("BEGIN IMMEDIATE", () => {
          work(change);
          throw new Rehearsed();
        });
      } catch (error) {
        if (error instanceof Rehearsed) return;
        if (error instanceof AppError && !isFileTrouble(error)) recordFailure(record, act, change.about(), error);
        throw error;
      }
    },

    record,
    close: () => {
      if (database.isOpen) database.close();
    },
    [Symbol.dispose]() {
      this.close();
    },
  };
}

/** Ends a rehearsal. */
class Rehearsed extends Error {}

/** What our own rules say no to; everything else broke. */
const refusals = ["bad-request", "not-found", "forbidden", "conflict", "in-use", "stale-plan"];

function recordFailure(
  record: (act: Act, attempt: Attempt) => void,
  act: Act,
  about: About | null,
  error: AppError,
): void {
  try {
    record(act, {
      object: about?.object ?? null,
      tenant: about?.tenant ?? null,
      outcome: refusals.includes(error.code) ? "refused" : "failed",
      error: error.toData(),
    });
  } catch {
    // A disk that is full by now, or a lock that another holds: what went wrong first is what the caller has to hear.
  }
}

/** Code and sentences; the evidence may hold what another tenant must not read. */
function recordedError({ code, message, remedy }: AppErrorData) {
  return { code, message, remedy };
}

/** Outside of a transaction the file's troubles have to become AppErrors one by one. */
function readingAs(reader: Reader, path: string): Reader {
  const guarded = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw ledgerError(error, path);
    }
  };
  return {
    find: (table, key) => guarded(() => reader.find(table, key)),
    get: (table, key) => guarded(() => reader.get(table, key)),
    list: (table, where) => guarded(() => reader.list(table, where)),
    conflictSince: (table, key, basedOn) => guarded(() => reader.conflictSince(table, key, basedOn)),
    lastChangeOf: (kinds) => guarded(() => reader.lastChangeOf(kinds)),
    isGivenId: (id) => guarded(() => reader.isGivenId(id)),
    givenIds: (prefix) => guarded(() => reader.givenIds(prefix)),
    baselines: () => guarded(() => reader.baselines()),
  };
}

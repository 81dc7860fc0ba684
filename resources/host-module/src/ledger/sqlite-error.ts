import { AppError, type AppErrorData } from "../../../../shared/errors.ts";
import { writeError } from "../operating-system/file-error.ts";

/** SQLite's result codes; the primary one is the low byte. Source: sqlite.org/rescode.html. */
const primary = {
  permission: 3,
  busy: 5,
  locked: 6,
  readOnly: 8,
  inputOutput: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  constraint: 19,
  notADatabase: 26,
} as const;
/** The index of the write-ahead log could not be made longer: there, a full disk is an input/output error. */
const shmSize = 10 | (19 << 8);
const foreignKey = 19 | (3 << 8);

function resultCode(error: unknown): number | null {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return null;
  return error.errcode;
}

/** Whether the file or the disk is in trouble, and not what was asked of them. */
export function isFileTrouble(error: unknown): boolean {
  const code = resultCode(error instanceof AppError ? error.cause : error);
  return code !== null && (code & 0xff) !== primary.constraint;
}

/** A reference to something that is not there, or the removal of something that is referred to. */
export function isForeignKeyError(error: unknown): boolean {
  return resultCode(error) === foreignKey;
}

export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code !== null && (code & 0xff) === primary.busy;
}

/**
 * Whatever went wrong at the ledger's file, as AppError: `locked`, `disk-full`, `permission`, `unreadable`, and
 * `internal` with SQLite's words for what nobody can expect. AppErrors pass as they are.
 */
export function ledgerError(error: unknown, path: string): AppError {
  if (error instanceof AppError) return error;
  const code = resultCode(error);
  if (code === null) {
    const fromSystem = error instanceof Error && "syscall" in error;
    return fromSystem ? writeError(error, path) : new AppError(faultData(error, path), { cause: error });
  }
  return new AppError({ ...sqliteData(code, path), evidence: evidenceOf(error, path) }, { cause: error });
}

function evidenceOf(error: unknown, path: string) {
  return { details: `${path}\n${error instanceof Error ? error.message : String(error)}` };
}

function faultData(error: unknown, path: string): AppErrorData {
  return {
    code: "internal",
    message: `A change to the ledger failed: ${error instanceof Error ? error.message : String(error)}`,
    remedy: "Nothing was changed. Export the troubleshooting log and report it.",
    evidence: evidenceOf(error, path),
  };
}

function sqliteData(code: number, path: string): AppErrorData {
  if (code === shmSize) return diskFull(path);
  switch (code & 0xff) {
    case primary.busy:
    case primary.locked:
      return {
        code: "locked",
        message: "The ledger is being written by somebody else, for longer than we wait.",
        remedy: "Nothing was changed. Try again; `fuser` on the file tells which process holds it.",
      };
    case primary.full:
      return diskFull(path);
    case primary.permission:
    case primary.readOnly:
    case primary.cannotOpen:
      return {
        code: "permission",
        message: `The ledger ${path} cannot be opened for writing.`,
        remedy: "Nothing was changed. Run as root, on a file system that is writable.",
      };
    case primary.corrupt:
    case primary.notADatabase:
      return damaged(path);
    case primary.constraint:
      return {
        code: "bad-request",
        message: "The change breaks a rule of the ledger.",
        remedy: "Nothing was changed. The evidence names the rule.",
      };
    case primary.inputOutput:
      return {
        code: "internal",
        message: `The disk answered with an error when the ledger ${path} was used.`,
        remedy: "Nothing was changed. Check the disk, its quota and the kernel log.",
      };
    default:
      return {
        code: "internal",
        message: "The ledger does not answer as it should.",
        remedy: "Check it with tessera-host doctor; the evidence holds SQLite's words.",
      };
  }
}

function diskFull(path: string): AppErrorData {
  return {
    code: "disk-full",
    message: `There is no room left for the ledger ${path}.`,
    remedy: "Nothing was changed. Free space on that file system, then try again.",
  };
}

function damaged(path: string): AppErrorData {
  return {
    code: "unreadable",
    message: `The ledger ${path} is damaged.`,
    remedy: "Move it away together with its -wal, -shm and .audit-marks files, and put a backup in its place.",
  };
}

/** The same sentence for damage that we found ourselves. */
export function damagedLedger(path: string, details: string): AppError {
  return new AppError({ ...damaged(path), evidence: { details: `${path}\n${details}` } });
}

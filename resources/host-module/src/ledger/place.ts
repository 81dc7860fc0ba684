import { chmodSync, closeSync, constants, fsyncSync, lstatSync, mkdirSync, openSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { AppError } from "../../../../shared/errors.ts";
import { makeMarks, marksPathOf } from "../audit/marks.ts";
import { writeError } from "../operating-system/file-error.ts";

const directoryMode = 0o700;
const fileMode = 0o600;

/**
 * Makes directory and file of the ledger where they are missing, readable by their owner alone, and refuses what
 * somebody else could write into or put in their place: SQLite makes its other files beside this one and under its mode.
 *
 * An existing file is never opened here. POSIX locks belong to process and file: closing any descriptor of it would
 * drop the locks of a connection that this process already has.
 *
 * Throws AppError `permission`, `disk-full`.
 */
export function preparePlace(path: string): void {
  const directory = dirname(path);
  try {
    if (mkdirSync(directory, { recursive: true, mode: 0o755 }) !== undefined) chmodSync(directory, directoryMode);
    const place = lstatSync(directory);
    if (!place.isDirectory() || !isOurs(place) || (place.mode & 0o022) !== 0) {
      throw notOurs(directory, "directory", place);
    }
    if (statusOf(path) === null) {
      // The marks first: a ledger without them is taken for one whose marks were removed.
      makeMarks(marksPathOf(path));
      make(path);
    }
    const file = lstatSync(path);
    if (!file.isFile() || !isOurs(file)) throw notOurs(path, "file", file);
    if ((file.mode & 0o077) !== 0) chmodSync(path, fileMode);
  } catch (error) {
    throw error instanceof AppError ? error : writeError(error, path);
  }
}

function isOurs(status: Stats): boolean {
  return status.uid === (process.geteuid?.() ?? status.uid);
}

function statusOf(path: string): Stats | null {
  return lstatSync(path, { throwIfNoEntry: false }) ?? null;
}

/** Another process may be quicker; its file is as good as ours. */
function make(path: string): void {
  try {
    closeSync(openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, fileMode));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return;
    throw error;
  }
  syncDirectory(dirname(path));
}

/** A new name survives a power cut only when its directory is on disk too. */
export function syncDirectory(path: string): void {
  const directory = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

function notOurs(path: string, kind: string, status: Stats): AppError {
  return new AppError({
    code: "permission",
    message: `${path} is not a ${kind} that only this user can write to.`,
    remedy: `Look at what stands there, then remove it, or chown it to this user and chmod it to 0${(kind === "file" ? fileMode : directoryMode).toString(8)}.`,
    evidence: { details: `uid ${status.uid}, mode 0${(status.mode & 0o7777).toString(8)}` },
  });
}

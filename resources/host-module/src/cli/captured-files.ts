import { constants, type Stats } from "node:fs";
import { basename, join, relative } from "node:path";
import { AppError } from "../../../../shared/errors.ts";
import type { Unread } from "../../../../shared/protocol/inventory.ts";
import { fileSystem } from "../operating-system/builtin.ts";

/** More than this is no captured output of a driver: eight GPUs in full make half a megabyte. */
const largestFileBytes = 64 * 1024 * 1024;
const mostFiles = 2_000;
const mostBytes = 512 * 1024 * 1024;

export interface CapturedFiles {
  readonly files: readonly { readonly name: string; readonly bytes: Uint8Array }[];
  /** What was there and was not read. */
  readonly unread: readonly Unread[];
}

/**
 * The one file, or the files of a directory and of those below it. Links to files are followed, links to directories are
 * not, so that none can lead in a circle. What cannot be read is told in `unread`, and the rest stands.
 * Throws AppError `not-found`, `permission`, `unreadable` where nothing can be read at all.
 */
export async function capturedFiles(path: string): Promise<CapturedFiles> {
  const status = await fileSystem()
    .stat(path)
    .catch((error: unknown) => {
      throw unusable(path, error);
    });
  if (status.isFile()) {
    const bytes = await readBounded(path).catch((error: unknown) => {
      throw unusable(path, error);
    });
    return { files: [{ name: basename(path), bytes }], unread: [] };
  }
  if (!status.isDirectory()) throw unusable(path, new Unusable(`is ${kindOf(status)}, neither file nor directory`));
  const unread: Unread[] = [];
  const paths = await filesBelow(path, unread, true);
  const files: { name: string; bytes: Uint8Array }[] = [];
  let total = 0;
  for (const [at, file] of paths.entries()) {
    const name = relative(path, file);
    const skip = (reason: string) => unread.push({ source: name, field: "", reason, raw: "" });
    if (at >= mostFiles || total > mostBytes) {
      skip(`${paths.length - at} more files were left out: there are too many for a capture`);
      break;
    }
    try {
      const bytes = await readBounded(file);
      total += bytes.length;
      files.push({ name, bytes });
    } catch (error) {
      skip(reasonOf(error));
    }
  }
  return { files, unread };
}

/** Why a path is of no use, in words that follow its name. */
class Unusable extends Error {}

async function filesBelow(directory: string, unread: Unread[], isTop = false): Promise<readonly string[]> {
  const found: string[] = [];
  const entries = await fileSystem()
    .readdir(directory, { withFileTypes: true })
    .catch((error: unknown) => {
      if (isTop) throw unusable(directory, error);
      unread.push({ source: directory, field: "", reason: reasonOf(error), raw: "" });
      return [];
    });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.isDirectory()) found.push(...(await filesBelow(join(directory, entry.name), unread)));
    else found.push(join(directory, entry.name));
  }
  return found;
}

/** Without waiting for a pipe's writer, and never more than a capture can be. */
async function readBounded(path: string): Promise<Uint8Array> {
  const file = await fileSystem().open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const status = await file.stat();
    if (!status.isFile()) throw new Unusable(`is ${kindOf(status)}`);
    if (status.size > largestFileBytes) throw new Unusable(`is larger than ${largestFileBytes / 1024 / 1024} MiB`);
    return new Uint8Array(await file.readFile());
  } finally {
    await file.close();
  }
}

function kindOf(status: Stats): string {
  if (status.isDirectory()) return "a directory behind a link";
  if (status.isFIFO()) return "a pipe";
  if (status.isSocket()) return "a socket";
  return status.isCharacterDevice() || status.isBlockDevice() ? "a device" : "no plain file";
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

function reasonOf(error: unknown): string {
  if (error instanceof Unusable) return error.message;
  const reasons: Readonly<Record<string, string>> = {
    EACCES: "may not be read by this user",
    EPERM: "may not be read by this user",
    ELOOP: "is a link that leads in a circle",
    ENOENT: "is a link to nothing",
    ENXIO: "is a socket or a device without a driver",
  };
  return reasons[codeOf(error)] ?? `cannot be read (${codeOf(error) || String(error)})`;
}

function unusable(path: string, error: unknown): AppError {
  const code = codeOf(error);
  const missing = code === "ENOENT" || code === "ENOTDIR";
  return new AppError({
    code: missing ? "not-found" : code === "EACCES" || code === "EPERM" ? "permission" : "unreadable",
    message: missing ? `There is no ${path}.` : `${path} ${reasonOf(error)}.`,
    remedy: "Give a directory or a file with captured output.",
  });
}

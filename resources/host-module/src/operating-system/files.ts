import { constants, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { AppError } from "../../../../shared/errors.ts";
import type { FileStatus, Files } from "../system.ts";
import { fileSystem } from "./builtin.ts";
import { isAbsence, writeError } from "./file-error.ts";
import { isFileLocked, lockFile } from "./lock.ts";

/** Temporary names need be unique only among ourselves: they are made anew or not at all, in directories of root. */
let temporaryFiles = 0;

async function absentAsNull<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (isAbsence(error)) return null;
    throw error;
  }
}

function isKernelFile(path: string): boolean {
  return path.startsWith("/proc/") || path.startsWith("/sys/");
}

/**
 * The kernel answers from memory, and an inventory reads hundreds of these: five passes through the thread pool for each
 * cost ten times the reading itself.
 */
function readKernelFile(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if (isAbsence(error)) return null;
    throw error;
  }
}

/** Makes a new or renamed entry of a directory survive a power cut: the file's own fsync does not cover its name. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await fileSystem().open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/**
 * Files of the machine we run on. `resolve` turns a path of the contract into one of this machine (another state
 * directory in tests); `heldLocks` receives the descriptors of held locks.
 */
export function realFiles(resolve: (path: string) => string, heldLocks: Set<number>): Files {
  return {
    async read(path) {
      const content = isKernelFile(path)
        ? readKernelFile(resolve(path))
        : await absentAsNull(fileSystem().readFile(resolve(path)));
      return content === null ? null : new Uint8Array(content);
    },

    async list(path) {
      const names = await absentAsNull(fileSystem().readdir(resolve(path)));
      return names === null ? null : names.sort();
    },

    async status(path): Promise<FileStatus | null> {
      const status = await absentAsNull(fileSystem().lstat(resolve(path)));
      if (status === null) return null;
      return {
        uid: status.uid,
        gid: status.gid,
        sizeBytes: status.size,
        changedAtMs: status.mtimeMs,
        kind: status.isFile()
          ? "file"
          : status.isDirectory()
            ? "directory"
            : status.isSymbolicLink()
              ? "link"
              : "other",
      };
    },

    readLink(path) {
      return absentAsNull(fileSystem().readlink(resolve(path)));
    },

    async makeDirectory(path, mode) {
      const target = resolve(path);
      try {
        // Everything above it is made with plain rights: mkdir applies the mode, less the umask, to each new part.
        const made = await fileSystem().mkdir(target, { recursive: true, mode: 0o755 });
        if (made === undefined) return;
        await fileSystem().chmod(target, mode);
        await syncDirectory(dirname(made));
      } catch (error) {
        throw writeError(error, path);
      }
    },

    async replace(path, content, mode) {
      const target = resolve(path);
      temporaryFiles += 1;
      const temporary = `${target}.${process.pid}-${temporaryFiles}.tmp`;
      try {
        const file = await fileSystem().open(temporary, "wx", mode);
        try {
          await file.chmod(mode);
          await file.writeFile(content);
          await file.sync();
        } finally {
          await file.close();
        }
        await fileSystem().rename(temporary, target);
        await syncDirectory(dirname(target));
      } catch (error) {
        await fileSystem()
          .rm(temporary, { force: true })
          .catch(() => undefined);
        throw writeError(error, path);
      }
    },

    async append(path, content, mode) {
      const target = resolve(path);
      try {
        const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
        const file = await fileSystem().open(target, flags, mode);
        try {
          const { size } = await file.stat();
          try {
            await file.writeFile(content);
            await file.sync();
          } catch (error) {
            await file.truncate(size).catch(() => undefined);
            throw error;
          }
          if (size === 0) await syncDirectory(dirname(target));
        } finally {
          await file.close();
        }
      } catch (error) {
        throw writeError(error, path);
      }
    },

    async remove(path) {
      try {
        await fileSystem().rm(resolve(path), { force: true, recursive: true });
      } catch (error) {
        throw error instanceof AppError ? error : writeError(error, path);
      }
    },

    lock(path, holder) {
      return lockFile(resolve(path), holder, heldLocks);
    },

    isLocked(path) {
      return isFileLocked(resolve(path));
    },
  };
}

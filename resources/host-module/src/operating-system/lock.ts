import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { AppError } from "../../../../shared/errors.ts";
import { childProcess, fileSystem } from "./builtin.ts";
import { writeError } from "./file-error.ts";

/**
 * An exclusive lock on a file, held by the kernel.
 *
 * Node has no flock(2), so flock(1) takes the lock on a file that *we* opened and handed down: the lock belongs to the
 * open file, not to the process that asked for it, and stays with our descriptor when flock(1) has ended. The kernel
 * releases it when the last copy of the descriptor is closed, which covers every way to die, SIGKILL included, and
 * there is no stale lock to detect. A file with a process number in it would need a test and a removal, two steps
 * between which another process can come; an abstract socket could be taken by any user of the host.
 *
 * `held` receives the descriptor, for `runProgram` to hand on: a driver command that outlives us keeps the lock until
 * it has ended, so nobody reads a layout that is still about to change.
 *
 * Throws AppError `locked` with the holder's words, `permission`, `disk-full`, or `internal` without flock(1).
 */
export async function lockFile(path: string, holder: string, held: Set<number>): Promise<AsyncDisposable> {
  let file: FileHandle;
  try {
    file = await fileSystem().open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  } catch (error) {
    throw writeError(error, path);
  }
  try {
    const answer = await flock(file.fd);
    if (answer !== 0) throw await refusal(answer, file, path);
    // Words for whoever finds the lock taken. They may be left over or missing; the lock itself is the kernel's.
    await file.truncate(0);
    await file.write(`${holder}\n`, 0);
  } catch (error) {
    await file.close();
    throw error instanceof AppError ? error : writeError(error, path);
  }
  held.add(file.fd);
  return {
    async [Symbol.asyncDispose]() {
      held.delete(file.fd);
      await file.truncate(0).catch(() => undefined);
      await file.close();
    },
  };
}

/** By the kernel's list (proc(5), /proc/locks: type, mode, access, process, `major:minor:inode`), since trying would take it. */
export async function isFileLocked(path: string): Promise<boolean> {
  try {
    const { ino } = await fileSystem().stat(path);
    const locks = await fileSystem().readFile("/proc/locks", "utf8");
    return locks
      .split("\n")
      .some((line) => /\bFLOCK\b/.test(line) && line.includes(`:${ino} `) && !line.includes("->"));
  } catch {
    return false;
  }
}

function flock(fd: number): Promise<number | string> {
  return new Promise((resolve) => {
    const child = childProcess().spawn("flock", ["-n", "3"], { stdio: ["ignore", "ignore", "ignore", fd] });
    child.on("error", (error) => resolve(error.message));
    child.on("exit", (code, signal) => resolve(code ?? signal ?? "ended without a status"));
  });
}

async function refusal(answer: number | string, file: FileHandle, path: string): Promise<AppError> {
  if (answer !== 1) {
    return new AppError({
      code: "internal",
      message: `The host's lock could not be taken: flock answered ${answer}.`,
      remedy: "Install flock (util-linux) on this host.",
      evidence: { command: ["flock", "-n", "3"], details: path },
    });
  }
  const buffer = Buffer.alloc(1_000);
  const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
  const words = buffer.subarray(0, bytesRead).toString("utf8").trim();
  return new AppError({
    code: "locked",
    message: "Another operation is changing the GPUs of this host.",
    remedy: "Wait until it has ended, then try again.",
    evidence: { details: words === "" ? `${path} is locked; its holder left no words.` : words },
  });
}

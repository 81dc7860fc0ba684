import { AppError } from "../../../../shared/errors.ts";
import { type System, stateDirectory } from "../system.ts";

export const journalDirectory = `${stateDirectory}/journal`;
export const layoutsDirectory = `${stateDirectory}/layouts`;
const lockPath = `${stateDirectory}/partition.lock`;

/** Readable by root alone: journals name users and what they run. */
const directoryMode = 0o700;

/**
 * Takes the lock under which MIG is changed on this host; one for all GPUs, since the driver serialises such changes
 * anyway and the order of two operations on one host should never be a matter of luck.
 * Throws AppError `locked` with the holder's words, `permission`, `disk-full`.
 */
export async function lockHost(system: System, what: string): Promise<AsyncDisposable> {
  await prepareStateDirectory(system);
  const holder = JSON.stringify({
    what,
    user: system.caller.user ?? system.caller.uid,
    since: system.now().toISOString(),
    host: system.hostName,
  });
  return system.files.lock(lockPath, holder);
}

/** Whether an operation is under way on this host, by whichever console. */
export function isHostLocked(system: System): Promise<boolean> {
  return system.files.isLocked(lockPath);
}

/** Makes the state directory, and refuses one that somebody else could write into. */
async function prepareStateDirectory(system: System): Promise<void> {
  for (const path of [stateDirectory, journalDirectory, layoutsDirectory]) {
    await system.files.makeDirectory(path, directoryMode);
    const status = await system.files.status(path);
    if (status !== null && status.kind === "directory" && (!system.root || status.uid === 0)) continue;
    throw new AppError({
      code: "permission",
      message: `${path} is not a directory that belongs to root.`,
      remedy: `Look at what stands there, then remove it or run chown root:root ${path}.`,
      evidence: { host: system.hostName, details: JSON.stringify(status) },
    });
  }
}

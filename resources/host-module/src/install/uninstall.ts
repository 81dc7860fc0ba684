import { dirname, join } from "node:path";
import { AppError } from "../../../../shared/errors.ts";
import { fileSystem } from "../operating-system/builtin.ts";
import { writeError } from "../operating-system/file-error.ts";
import type { System } from "../system.ts";
import { type InstallPaths, installPaths, marker, program } from "./paths.ts";

export interface UninstallRequest {
  /** One version, which must not be the current one; everything when absent. */
  readonly version?: string;
  readonly root?: string;
}

/**
 * Removes what `install` wrote, and nothing else: journals and saved layouts stay. Answers what was removed, a line each.
 * Throws AppError `permission`, `not-found`, `in-use` (the current version while others could not take its place).
 */
export async function uninstall(system: System, request: UninstallRequest): Promise<readonly string[]> {
  const paths = installPaths(request.root ?? "/");
  if (request.root === undefined && !system.root) {
    throw new AppError({ code: "permission", message: "Uninstalling needs root.", remedy: "Run it with sudo." });
  }
  try {
    return request.version === undefined
      ? await removeAll(system, paths, request.root === undefined)
      : await removeVersion(paths, request.version);
  } catch (error) {
    throw error instanceof AppError ? error : writeError(error, paths.versions);
  }
}

async function removeVersion(paths: InstallPaths, version: string): Promise<readonly string[]> {
  const installed: readonly string[] = await fileSystem()
    .readdir(paths.versions)
    .catch(() => []);
  if (!installed.includes(version)) {
    throw new AppError({
      code: "not-found",
      message: `Version ${version} is not installed here.`,
      remedy: `Installed are: ${installed.join(", ") || "none"}.`,
    });
  }
  if (
    (await fileSystem()
      .readlink(paths.current)
      .catch(() => null)) === `versions/${version}`
  ) {
    throw new AppError({
      code: "in-use",
      message: `Version ${version} is the current one.`,
      remedy: "Install another version first, or remove everything with --all.",
    });
  }
  const path = join(paths.versions, version);
  await fileSystem().rm(path, { recursive: true });
  return [`${path} removed`];
}

async function removeAll(system: System, paths: InstallPaths, onThisHost: boolean): Promise<readonly string[]> {
  const removed: string[] = [];
  const unlink = async (path: string) => {
    await fileSystem().rm(path, { recursive: true });
    removed.push(`${path} removed`);
  };
  // Ways in first, the program last: an interrupted run never leaves a rule for a program that is gone.
  const wantedBy = new Map([
    [paths.unit, paths.unitWanted],
    [paths.timer, paths.timerWanted],
  ]);
  for (const path of [paths.sudoRule, paths.cron, paths.timer, paths.timerService, paths.unit]) {
    const content = await fileSystem()
      .readFile(path, "utf8")
      .catch(() => null);
    if (content?.startsWith(marker) !== true) continue;
    const wanted = wantedBy.get(path);
    if (wanted !== undefined && (await isThere(wanted))) await unlink(wanted);
    await unlink(path);
  }
  if (
    (await fileSystem()
      .readlink(paths.link)
      .catch(() => null)) === program
  )
    await unlink(paths.link);
  if (
    (
      await fileSystem()
        .lstat(paths.current)
        .catch(() => null)
    )?.isSymbolicLink() === true
  )
    await unlink(paths.current);
  if (
    (
      await fileSystem()
        .lstat(paths.versions)
        .catch(() => null)
    )?.isDirectory() === true
  )
    await unlink(paths.versions);
  await fileSystem()
    .rmdir(dirname(paths.versions))
    .catch(() => undefined);
  if (onThisHost && removed.some((line) => line.startsWith("/etc/systemd/"))) {
    await system.run(["systemctl", "daemon-reload"], { timeoutMs: 30_000 });
  }
  return removed;
}

async function isThere(path: string): Promise<boolean> {
  return fileSystem()
    .lstat(path)
    .then(
      () => true,
      () => false,
    );
}

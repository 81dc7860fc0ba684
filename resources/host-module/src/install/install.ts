import { createReadStream } from "node:fs";
import { dirname, join } from "node:path";
import { AppError } from "../../../../shared/errors.ts";
import { crypto, fileSystem, streams } from "../operating-system/builtin.ts";
import { writeError } from "../operating-system/file-error.ts";
import type { System } from "../system.ts";
import { launcher, restoreUnit, sudoRule, timerCron, timerService, timerUnit } from "./content.ts";
import { type InstallPaths, installPaths, marker, program } from "./paths.ts";

export interface InstallRequest {
  readonly version: string;
  /** The bundle that is running. */
  readonly bundle: string;
  /** The Node runtime that runs it. */
  readonly runtime: string;
  /** Members of this group may run the rule's commands as root. */
  readonly sudoGroup?: string;
  readonly restoreOnBoot?: boolean;
  /** Everything goes below this directory instead of "/"; programs of the host are not asked then. */
  readonly root?: string;
}

/**
 * Puts this version beside the others under /opt/tessera, root-owned, and makes it the current one. Every change is
 * one rename, so that a killed installation leaves the old version or the new one. Answers what was done, a line each.
 * Throws AppError `permission`, `disk-full`, `bad-request` (no such group), `in-use` (a file there is not ours).
 */
export async function install(system: System, request: InstallRequest): Promise<readonly string[]> {
  const paths = installPaths(request.root ?? "/");
  const onThisHost = request.root === undefined;
  const done: string[] = [];
  if (onThisHost && !system.root) {
    throw new AppError({
      code: "permission",
      message: "Installing needs root.",
      remedy: "Run it with sudo, or as root.",
    });
  }
  if (request.sudoGroup !== undefined) await checkGroup(system, request.sudoGroup, onThisHost);
  try {
    done.push(await placeVersion(paths, request));
    await replaceLink(`versions/${request.version}`, paths.current);
    done.push(`${paths.current} -> versions/${request.version}`);
    await placeProgramLink(paths);
    done.push(`${paths.link} -> ${program}`);
    if (request.sudoGroup !== undefined) done.push(await placeSudoRule(system, paths, request.sudoGroup));
    done.push(await placeTimer(system, paths, onThisHost));
    if (request.restoreOnBoot === true) done.push(await placeUnit(system, paths, onThisHost));
  } catch (error) {
    throw error instanceof AppError ? error : writeError(error, paths.versions);
  }
  return done;
}

const remainsAgeMs = 3_600_000;

function uniqueName(): string {
  return crypto().randomBytes(6).toString("hex");
}

async function checkGroup(system: System, group: string, onThisHost: boolean): Promise<void> {
  // The name stands in a sudoers file: nothing but a plain name may.
  const plain = /^[A-Za-z_][A-Za-z0-9_-]{0,31}$/.test(group);
  const exists =
    plain && (!onThisHost || (await system.run(["getent", "group", group], { timeoutMs: 10_000 })).exitStatus === 0);
  if (exists) return;
  throw new AppError({
    code: "bad-request",
    message: `There is no group ${JSON.stringify(group)} on this host.`,
    remedy: "Create it first (groupadd), or name another one.",
  });
}

async function placeVersion(paths: InstallPaths, request: InstallRequest): Promise<string> {
  const target = join(paths.versions, request.version);
  const files = [
    { name: "node", from: request.runtime, mode: 0o755 },
    { name: "tessera-host.cjs", from: request.bundle, mode: 0o644 },
  ];
  const script = launcher(request.version);
  const same = await Promise.all([
    ...files.map(async ({ name, from }) => (await digest(join(target, name))) === (await digest(from))),
    fileSystem()
      .readFile(join(target, "tessera-host"), "utf8")
      .then(
        (text) => text === script,
        () => false,
      ),
  ]);
  await fileSystem().mkdir(paths.versions, { recursive: true, mode: 0o755 });
  await removeRemains(paths.versions);
  if (same.every(Boolean)) return `${target} is there already`;

  const staging = join(paths.versions, `.${request.version}.${uniqueName()}`);
  try {
    await fileSystem().mkdir(staging, { mode: 0o755 });
    for (const { name, from, mode } of files) {
      await fileSystem().copyFile(from, join(staging, name));
      await settle(join(staging, name), mode);
    }
    await writeSettled(join(staging, "tessera-host"), script, 0o755);
    await settle(staging, 0o755);
    if (await isDirectory(target)) {
      // A directory cannot be renamed over a full one, and between two renames the program would be gone: file by file it
      // always runs, for a while with the runtime of one and the bundle of the other.
      for (const name of [...files.map((file) => file.name), "tessera-host"]) {
        await fileSystem().rename(join(staging, name), join(target, name));
      }
      await settle(target, 0o755);
      await fileSystem().rmdir(staging);
    } else {
      await fileSystem().rename(staging, target);
    }
    await settle(paths.versions, 0o755);
  } catch (error) {
    await fileSystem().rm(staging, { recursive: true, force: true });
    throw error;
  }
  return `${target} written`;
}

async function isDirectory(path: string): Promise<boolean> {
  return fileSystem()
    .lstat(path)
    .then(
      (status) => status.isDirectory(),
      () => false,
    );
}

/** What killed installations left: names with a leading dot. Younger ones may belong to an installation that runs now. */
async function removeRemains(versions: string): Promise<void> {
  for (const name of await fileSystem().readdir(versions)) {
    if (!name.startsWith(".")) continue;
    const path = join(versions, name);
    const { mtimeMs } = await fileSystem().lstat(path);
    if (Date.now() - mtimeMs > remainsAgeMs) await fileSystem().rm(path, { recursive: true, force: true });
  }
}

async function digest(path: string): Promise<string | null> {
  const hash = crypto().createHash("sha256");
  try {
    await streams().pipeline(createReadStream(path), hash);
    return hash.digest("hex");
  } catch {
    return null;
  }
}

/** Mode, owner and disk: as root everything belongs to root, whoever built the bundle. */
async function settle(path: string, mode: number): Promise<void> {
  await fileSystem().chmod(path, mode);
  if (process.geteuid?.() === 0) await fileSystem().chown(path, 0, 0);
  const file = await fileSystem().open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

async function writeSettled(path: string, content: string, mode: number): Promise<void> {
  const file = await fileSystem().open(path, "wx", mode);
  try {
    await file.writeFile(content);
  } finally {
    await file.close();
  }
  await settle(path, mode);
}

async function replaceLink(target: string, path: string): Promise<void> {
  await fileSystem().mkdir(dirname(path), { recursive: true, mode: 0o755 });
  const temporary = `${path}.${uniqueName()}.tmp`;
  await fileSystem().symlink(target, temporary);
  try {
    await fileSystem().rename(temporary, path);
  } catch (error) {
    await fileSystem().rm(temporary, { force: true });
    throw error;
  }
}

async function placeProgramLink(paths: InstallPaths): Promise<void> {
  const present = await fileSystem()
    .lstat(paths.link)
    .catch(() => null);
  if (present !== null) {
    const target = present.isSymbolicLink() ? await fileSystem().readlink(paths.link) : null;
    if (target === program) return;
    throw notOurs(paths.link);
  }
  await replaceLink(program, paths.link);
}

async function placeSudoRule(system: System, paths: InstallPaths, group: string): Promise<string> {
  const content = sudoRule(group);
  await refuseForeign(paths.sudoRule);
  await fileSystem().mkdir(dirname(paths.sudoRule), { recursive: true, mode: 0o755 });
  // sudo skips names with a dot, so the file is without effect until it has been checked and renamed.
  const temporary = `${paths.sudoRule}.${uniqueName()}.tmp`;
  try {
    await writeSettled(temporary, content, 0o440);
    const check = await system.run(["visudo", "-c", "-f", temporary], { timeoutMs: 20_000 });
    if (check.exitStatus !== 0 && check.exitStatus !== 127) {
      throw new AppError({
        code: "internal",
        message: "visudo does not accept the sudo rule, so it was not installed.",
        remedy: "Report this together with the version of sudo.",
        evidence: {
          command: check.argv,
          exitStatus: check.exitStatus,
          stdout: Buffer.from(check.stdout).toString(),
          stderr: Buffer.from(check.stderr).toString(),
        },
      });
    }
    await fileSystem().rename(temporary, paths.sudoRule);
    const checked = check.exitStatus === 0 ? "checked by visudo" : "not checked: there is no visudo here";
    return `${paths.sudoRule} for group ${group} (${checked})`;
  } finally {
    await fileSystem().rm(temporary, { force: true });
  }
}

async function placeUnit(system: System, paths: InstallPaths, onThisHost: boolean): Promise<string> {
  await placeText(paths.unit, restoreUnit());
  await replaceLink("/etc/systemd/system/tessera-restore.service", paths.unitWanted);
  if (!onThisHost) return `${paths.unit} enabled for the next boot`;
  const reload = await system.run(["systemctl", "daemon-reload"], { timeoutMs: 30_000 });
  const words = reload.exitStatus === 0 ? "" : " (systemctl daemon-reload failed: it counts from the next boot)";
  return `${paths.unit} enabled${words}`;
}

/** On a host that was not started by systemd nothing would read its units. */
async function placeTimer(system: System, paths: InstallPaths, onThisHost: boolean): Promise<string> {
  if (onThisHost && !(await isDirectory("/run/systemd/system"))) {
    await placeText(paths.cron, timerCron());
    return `${paths.cron} written`;
  }
  await placeText(paths.timerService, timerService());
  await placeText(paths.timer, timerUnit());
  await replaceLink("/etc/systemd/system/tessera-timer.timer", paths.timerWanted);
  if (!onThisHost) return `${paths.timer} enabled for the next boot`;
  await system.run(["systemctl", "daemon-reload"], { timeoutMs: 30_000 });
  const start = await system.run(["systemctl", "start", "tessera-timer.timer"], { timeoutMs: 30_000 });
  return `${paths.timer} enabled${start.exitStatus === 0 ? "" : " (systemctl start failed: it counts from the next boot)"}`;
}

async function placeText(path: string, content: string): Promise<void> {
  await refuseForeign(path);
  await fileSystem().mkdir(dirname(path), { recursive: true, mode: 0o755 });
  const temporary = `${path}.${uniqueName()}.tmp`;
  await writeSettled(temporary, content, 0o644);
  await fileSystem().rename(temporary, path);
}

/** A file of that name which somebody else wrote is left alone. */
async function refuseForeign(path: string): Promise<void> {
  const content = await fileSystem()
    .readFile(path, "utf8")
    .catch(() => null);
  if (content !== null && !content.startsWith(marker)) throw notOurs(path);
}

function notOurs(path: string): AppError {
  return new AppError({
    code: "in-use",
    message: `${path} exists and was not written by tessera-host.`,
    remedy: "Look at it, and move it away if it is not needed.",
  });
}

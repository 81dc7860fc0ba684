import { readFileSync } from "node:fs";
import { hostname, machine } from "node:os";
import { isAbsolute } from "node:path";
import { type Caller, type Login, type System, stateDirectory } from "../system.ts";
import { realFiles } from "./files.ts";
import { readLogin } from "./login.ts";
import { runProgram } from "./run.ts";

/**
 * The machine this process runs on.
 *
 * `TESSERA_STATE_DIRECTORY` puts journal and saved layouts elsewhere, for tests and for trying things out without
 * root; `TESSERA_TIME_LIMIT_MS` shortens every time limit, for tests. Neither is honoured under sudo: whoever may run
 * tessera-host by a sudo rule must not choose where root writes, nor when the driver is cut off.
 */
export function realSystem(environment: NodeJS.ProcessEnv = process.env): System {
  const root = process.geteuid?.() === 0;
  const { TESSERA_STATE_DIRECTORY: otherState, TESSERA_TIME_LIMIT_MS: limit } =
    environment.SUDO_UID === undefined ? environment : {};
  const mostMs = limit !== undefined && /^\d{1,8}$/.test(limit) ? Number(limit) : Number.POSITIVE_INFINITY;
  const state = otherState !== undefined && isAbsolute(otherState) ? otherState : stateDirectory;
  const heldLocks = new Set<number>();
  const resolve = (path: string) =>
    path === stateDirectory || path.startsWith(`${stateDirectory}/`) ? state + path.slice(stateDirectory.length) : path;

  let caller: Caller | undefined;
  let login: Login | undefined;
  return {
    run: (argv, options) =>
      runProgram(argv, { ...options, timeoutMs: Math.min(options.timeoutMs, mostMs) }, [...heldLocks]),
    files: realFiles(resolve, heldLocks),
    now: () => new Date(),
    hostName: hostname(),
    architecture: machine(),
    root,
    ledgerPath: resolve(`${stateDirectory}/ledger.sqlite`),
    get caller() {
      caller ??= callerOf(environment, root);
      return caller;
    },
    get login() {
      login ??= readLogin(root);
      return login;
    },
  };
}

/** `SUDO_UID` counts only where we are root: anybody else could have set it by hand. */
function callerOf(environment: NodeJS.ProcessEnv, root: boolean): Caller {
  const sudoUid = environment.SUDO_UID;
  const uid = root && sudoUid !== undefined && /^\d{1,10}$/.test(sudoUid) ? Number(sudoUid) : (process.getuid?.() ?? 0);
  return { uid, user: userName(uid) };
}

/** From /etc/passwd; null for users of a directory service, which only the uid names then. */
function userName(uid: number): string | null {
  let passwd: string;
  try {
    passwd = readFileSync("/etc/passwd", "utf8");
  } catch {
    return null;
  }
  for (const line of passwd.split("\n")) {
    const [name, , id] = line.split(":");
    if (name !== undefined && id === String(uid)) return name;
  }
  return null;
}

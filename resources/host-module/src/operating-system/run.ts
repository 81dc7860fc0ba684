import type { ChildProcess } from "node:child_process";
import type { RunOptions, RunResult } from "../system.ts";
import { childProcess } from "./builtin.ts";

const defaultMaxOutputBytes = 32 * 1024 * 1024;
/** After SIGKILL. A process in uninterruptible sleep inside the driver outlives it. */
const graceAfterKillMs = 5_000;
/** A grandchild that left the process group may hold the pipes open for ever; its output is not ours to wait for. */
const graceAfterExitMs = 1_000;

/**
 * Runs a program by argument vector in a process group of its own, so that a Ctrl-C or a hang-up of the operator's
 * terminal never reaches a driver command in mid-step, and so that a time limit ends its children with it.
 *
 * `inheritedFds` are handed to the child. They carry the host's lock: flock(2) belongs to the open file, so the lock
 * stands until the last command started under it has ended, even if we are killed first.
 *
 * Never throws. A result with `exitStatus` and `signal` both null means that the process did not even die.
 */
export function runProgram(
  argv: readonly string[],
  options: RunOptions,
  inheritedFds: readonly number[] = [],
): Promise<RunResult> {
  const [program, ...args] = argv;
  const startedAt = performance.now();
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  let stdoutBytes = 0;
  let stderrBytes = 0;
  let timedOut = false;
  const maxOutputBytes = options.maxOutputBytes ?? defaultMaxOutputBytes;

  return new Promise((resolve) => {
    const timers = new Set<NodeJS.Timeout>();
    let settled = false;
    let ended: { code: number | null; signal: string | null } | null = null;

    const after = (milliseconds: number, action: () => void) => {
      timers.add(setTimeout(action, milliseconds));
    };
    const settle = (exitStatus: number | null, signal: string | null) => {
      if (settled) return;
      settled = true;
      for (const timer of timers) clearTimeout(timer);
      options.signal?.removeEventListener("abort", kill);
      resolve({
        argv,
        stdout: Buffer.concat(stdout),
        stderr: Buffer.concat(stderr),
        exitStatus,
        signal,
        timedOut,
        durationMs: Math.round(performance.now() - startedAt),
      });
    };
    const refuse = (status: number, words: string) => {
      stderr.push(Buffer.from(`${words}\n`));
      settle(status, null);
    };

    if (program === undefined) {
      refuse(127, "no program given");
      return;
    }
    let child: ChildProcess;
    try {
      child = childProcess().spawn(program, args, {
        stdio: ["ignore", "pipe", "pipe", ...inheritedFds],
        detached: true,
        env: { ...process.env, LC_ALL: "C", LANG: "C" },
      });
    } catch (error) {
      // An argument with a NUL byte, or one too long for the kernel.
      refuse(126, error instanceof Error ? error.message : String(error));
      return;
    }

    const kill = () => {
      if (settled || ended !== null || child.pid === undefined) return;
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        child.kill("SIGKILL");
      }
      after(graceAfterKillMs, () => settle(null, null));
    };

    child.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") refuse(127, `${program}: no such program`);
      else if (child.pid === undefined) refuse(126, `${program}: ${error.message}`);
    });
    child.stdout?.on("data", (chunk: Buffer) => {
      stdoutBytes += chunk.length;
      if (stdoutBytes <= maxOutputBytes) stdout.push(chunk);
      else kill();
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      stderrBytes += chunk.length;
      if (stderrBytes <= maxOutputBytes) stderr.push(chunk);
      else kill();
    });
    child.on("exit", (code, signal) => {
      ended = { code, signal };
      after(graceAfterExitMs, () => settle(code, signal));
    });
    child.on("close", (code, signal) => settle(code, signal));

    after(options.timeoutMs, () => {
      if (ended !== null) return;
      timedOut = true;
      kill();
    });
    if (options.signal?.aborted) kill();
    else options.signal?.addEventListener("abort", kill, { once: true });
  });
}

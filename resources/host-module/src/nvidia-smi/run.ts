/** Runs nvidia-smi: one at a time on a host, with a time limit, by argument vector. */
import type { RunResult, System } from "../system.ts";

/** A healthy driver answers in under a second, one with eight GPUs and persistence mode off in under ten. */
export const queryTimeoutMs = 30_000;

const queues = new WeakMap<System, Promise<unknown>>();

/**
 * Runs `nvidia-smi ARGS`. Calls on the same system wait for each other: the driver serialises them anyway, and two at
 * once make each other fail with "In use by another client" when one of them changes the MIG mode.
 */
export function runNvidiaSmi(
  system: System,
  args: readonly string[],
  options: { readonly timeoutMs?: number; readonly signal?: AbortSignal } = {},
): Promise<RunResult> {
  return inTurn(system, () =>
    system.run(["nvidia-smi", ...args], {
      timeoutMs: options.timeoutMs ?? queryTimeoutMs,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    }),
  );
}

/** Waits until no other command to this system's driver runs, then runs `task`. Not reentrant. */
export function inTurn<Value>(system: System, task: () => Promise<Value>): Promise<Value> {
  const before = queues.get(system) ?? Promise.resolve();
  const next = before.then(task, task);
  queues.set(
    system,
    next.catch(() => undefined),
  );
  return next;
}

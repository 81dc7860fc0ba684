import type { AppErrorData, ErrorCode } from "../../../shared/errors.ts";

/** Failures that no repetition cures: the host, its key or its configuration needs a person. */
const needsPerson: ReadonlySet<ErrorCode> = new Set([
  "ssh-auth",
  "ssh-config",
  "ssh-host-key-unknown",
  "ssh-host-key-changed",
  "ssh-host-key-revoked",
  "ssh-unsupported",
  "version-mismatch",
  "permission",
  "forbidden",
  "cancelled",
  "bad-request",
]);

export function refuses(error: AppErrorData): boolean {
  return needsPerson.has(error.code);
}

/** 1 s, 2 s, 4 s ... 60 s, each between half of it and the whole, so that a rack that lost its switch does not come back at once. */
export function retryDelayMs(failures: number, random: () => number = Math.random): number {
  const full = Math.min(60_000, 1_000 * 2 ** Math.min(failures, 6));
  return Math.round(full * (0.5 + random() / 2));
}

/** Resolves after that time or when the signal aborts, whichever comes first. Holds no process open. */
export function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, delayMs);
    timer.unref();
    signal.addEventListener("abort", done);
  });
}

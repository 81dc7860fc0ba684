/** From a run of nvidia-smi that failed to the AppError that an operator reads. */
import { AppError, type ErrorCode } from "../../../../shared/errors.ts";
import type { RunResult } from "../system.ts";
import { type FailureReason, failureIn } from "./messages.ts";
import { textOf } from "./text.ts";

const codes: Readonly<Record<FailureReason, ErrorCode>> = {
  "no-driver": "driver-missing",
  "no-library": "driver-missing",
  "version-mismatch": "driver-missing",
  blocked: "permission",
  permission: "permission",
  lost: "gpu-lost",
  "reset-required": "driver-failed",
  "in-use": "in-use",
  "insufficient-resources": "driver-failed",
  "invalid-argument": "driver-failed",
  "not-supported": "driver-failed",
  "not-found": "driver-failed",
  usage: "driver-failed",
  unknown: "driver-failed",
};

const remedies: Readonly<Record<FailureReason, string>> = {
  "no-driver": "Load the NVIDIA driver (modprobe nvidia) or install one that fits the running kernel.",
  "no-library": "Install the NVIDIA driver's user-space libraries.",
  "version-mismatch": "The driver was updated while the old one is still loaded: reload the nvidia modules or reboot.",
  blocked: "Allow this login or container to open the GPU's device files.",
  permission: "Run as root, or install the sudo rule for tessera-host.",
  lost: "The GPU has fallen off the bus: drain the host and reboot it.",
  "reset-required": "Stop what uses the GPU and reset it (nvidia-smi --gpu-reset), or reboot the host.",
  "in-use": "Stop what holds the GPU, monitoring agents included, and try again.",
  "insufficient-resources": "Free the slices that this profile needs, or choose another placement.",
  "invalid-argument": "Choose a profile and a placement that this GPU lists.",
  "not-supported": "Choose a GPU that supports it, and turn its MIG mode on first.",
  "not-found": "Read the host again: it has changed.",
  usage: "This driver does not know the option: update the driver.",
  unknown: "Look at the driver's words and at the kernel log.",
};

/** Exit statuses that speak for themselves when the words are missing (nvidia-smi(1), RETURN VALUE). */
const statusReasons: Readonly<Record<number, FailureReason>> = {
  2: "invalid-argument",
  3: "not-supported",
  4: "permission",
  6: "not-found",
  9: "no-driver",
  12: "no-library",
  14: "unknown",
  15: "lost",
  17: "blocked",
  18: "version-mismatch",
  19: "in-use",
  23: "insufficient-resources",
};

export function failureReasonOf(result: RunResult): FailureReason | null {
  const said = failureIn(result.stdout) ?? failureIn(result.stderr);
  if (said !== null && said.reason !== "unknown") return said.reason;
  const byStatus = result.exitStatus === null ? undefined : statusReasons[result.exitStatus];
  if (byStatus !== undefined) return byStatus;
  return said === null && result.exitStatus === 0 ? null : "unknown";
}

/**
 * The error of a run, null where it succeeded. Success here means only that the tool reported none: state that
 * was to change is to be read back. "There are none" (exit 6 with `No GPU instances found`) is a failure here;
 * callers for which empty is an answer look at `messagesOf` first.
 */
export function failureOf(result: RunResult, host?: string): AppError | null {
  const evidence = {
    ...(host === undefined ? {} : { host }),
    command: result.argv,
    exitStatus: result.exitStatus,
    ...(result.signal === null ? {} : { signal: result.signal }),
    stdout: textOf(result.stdout).slice(0, 4000),
    stderr: textOf(result.stderr).slice(0, 4000),
  };
  const tool = result.argv.join(" ");
  if (result.timedOut) {
    return new AppError({
      code: "driver-timeout",
      message: `${tool} did not answer within ${Math.round(result.durationMs / 1000)} s.`,
      remedy: "A hung driver usually means a failing GPU: look at the kernel log, and reboot the host if it stays.",
      evidence,
    });
  }
  if (result.exitStatus === 127) {
    return new AppError({
      code: "driver-missing",
      message: `There is no ${result.argv[0] ?? "nvidia-smi"} on this host.`,
      remedy: "Install the NVIDIA driver.",
      evidence,
    });
  }
  const reason = failureReasonOf(result);
  if (reason === null) return null;
  const said = failureIn(result.stdout) ?? failureIn(result.stderr);
  const words = said?.words ?? `exit status ${result.exitStatus ?? `missing, ${result.signal ?? "killed"}`}`;
  return new AppError({ code: codes[reason], message: `${tool}: ${words}`, remedy: remedies[reason], evidence });
}

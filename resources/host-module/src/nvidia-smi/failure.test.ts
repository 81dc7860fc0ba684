import { expect, test } from "vitest";
import type { RunResult } from "../system.ts";
import { failureOf } from "./failure.ts";

function result(stdout: string, exitStatus: number | null, more: Partial<RunResult> = {}): RunResult {
  return {
    argv: ["nvidia-smi", "-q"],
    stdout: new TextEncoder().encode(stdout),
    stderr: new Uint8Array(),
    exitStatus,
    signal: null,
    timedOut: false,
    durationMs: 20,
    ...more,
  };
}

test.each([
  ["Failed to initialize NVML: Driver/library version mismatch", 18, "driver-missing"],
  ["NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", 9, "driver-missing"],
  ["Failed to initialize NVML: Insufficient Permissions", 4, "permission"],
  ["Unable to determine the device handle for GPU0: GPU is lost.", 15, "gpu-lost"],
  ["Failed to destroy GPU instances: In use by another client", 19, "in-use"],
  ["", 255, "driver-failed"],
  ["", 139, "driver-failed"],
  ["", 15, "gpu-lost"],
] as const)("%j, exit status %i: %s", (words, exitStatus, code) => {
  expect(failureOf(result(words, exitStatus))?.code).toBe(code);
});

test("exit status 0 without a complaint is no failure, a missing one always is", () => {
  expect(failureOf(result("All done.\n", 0))).toBeNull();
  expect(failureOf(result("", null, { signal: "SIGKILL" }))?.message).toBe(
    "nvidia-smi -q: exit status missing, SIGKILL",
  );
});

test("exit status 0 does not hide a complaint", () => {
  const failure = failureOf(result("Unable to enable MIG Mode for GPU 00000000:1A:00.0: Not Supported\n", 0));
  expect(failure?.code).toBe("driver-failed");
});

test("a driver that hangs, and a host without one", () => {
  const hung = failureOf(result("", null, { timedOut: true, durationMs: 30_000, signal: "SIGKILL" }), "gpu-01");
  expect(hung?.toData()).toMatchObject({
    code: "driver-timeout",
    message: "nvidia-smi -q did not answer within 30 s.",
    evidence: { host: "gpu-01", command: ["nvidia-smi", "-q"], exitStatus: null },
  });
  expect(failureOf(result("", 127))?.message).toBe("There is no nvidia-smi on this host.");
});

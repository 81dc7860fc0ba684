import { expect, test } from "vitest";
import { failureIn, messagesOf } from "./messages.ts";

test("what was made before a create stopped at its third profile", () => {
  const output = `Successfully created GPU instance ID  7 on GPU  0 using profile MIG 1g.10gb (ID 19)
Successfully created compute instance ID  0 on GPU  0 GPU instance ID  7 using profile MIG 1g.10gb (ID  0)
Unable to create a GPU instance on GPU  0 using profile 1g.5gb: Invalid Argument
Failed to create GPU instances: Invalid Argument
`;
  expect(messagesOf(output)).toEqual([
    { kind: "created-gpu-instance", gpuIndex: 0, gpuInstanceId: 7, profile: "1g.10gb", profileId: 19 },
    {
      kind: "created-compute-instance",
      gpuIndex: 0,
      gpuInstanceId: 7,
      computeInstanceId: 0,
      profile: "1g.10gb",
      profileId: 0,
    },
    {
      kind: "failure",
      reason: "invalid-argument",
      words: "Unable to create a GPU instance on GPU  0 using profile 1g.5gb: Invalid Argument",
    },
    { kind: "failure", reason: "invalid-argument", words: "Failed to create GPU instances: Invalid Argument" },
  ]);
});

test("what was destroyed", () => {
  const output = `Successfully destroyed compute instance ID  1 from GPU  2 GPU instance ID 13
Successfully destroyed GPU instance ID 13 from GPU  2
`;
  const none = { profile: null, profileId: null };
  expect(messagesOf(output)).toEqual([
    { kind: "destroyed-compute-instance", gpuIndex: 2, gpuInstanceId: 13, computeInstanceId: 1, ...none },
    { kind: "destroyed-gpu-instance", gpuIndex: 2, gpuInstanceId: 13, ...none },
  ]);
});

test("a MIG mode that is set, and one that only waits", () => {
  const output = `Enabled MIG Mode for GPU 00000000:1A:00.0
Warning: MIG mode is in pending enable state for GPU 00000000:0B:00.0:In use by another client
All done.
`;
  expect(messagesOf(output)).toEqual([
    { kind: "mig-mode-set", enabled: true, pciBusId: "00000000:1A:00.0" },
    {
      kind: "mig-mode-pending",
      enabled: true,
      pciBusId: "00000000:0B:00.0",
      reason: "in-use",
      words: "In use by another client",
    },
    { kind: "note", words: "All done." },
  ]);
});

test.each([
  ["No GPU instances found: Not Found", "gpu-instances"],
  ["No compute instances found: Not Found", "compute-instances"],
  ["No MIG-enabled devices found.", "mig-devices"],
  ["No devices were found", "devices"],
])("%s is empty, not a failure", (words, of) => {
  expect(messagesOf(`${words}\n`)).toEqual([{ kind: "nothing", of, words }]);
  expect(failureIn(words)).toBeNull();
});

test.each([
  ["No devices were found. Please make sure /dev/nvidia* files are readable by current user.", "permission"],
  ["Failed to display compute instances: Insufficient Permissions", "permission"],
  ["Failed to initialize NVML: Driver/library version mismatch", "version-mismatch"],
  ["Failed to initialize NVML: GPU access blocked by the operating system", "blocked"],
  ["NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure ...", "no-driver"],
  ["NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.", "no-library"],
  ["Unable to destroy GPU instance ID  1 from GPU  0: In use by another client", "in-use"],
  ["Problem with GPU x: A GPU reset must occur before this GPU can be used again.", "reset-required"],
  ['Field "nosuch" is not a valid field to query.', "usage"],
  ["Failed to run topology matrix", "unknown"],
])("%s: %s", (words, reason) => {
  expect(failureIn(words)).toEqual({ reason, words });
});

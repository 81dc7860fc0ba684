import { describe, expect, it } from "vitest";
import { commandsOf } from "./commands.ts";
import { describeStep } from "./describe.ts";
import type { PlanStep } from "./types.ts";

const uuid = "GPU-11111111-2222-3333-4444-555555555555";
const half = { profileId: 9, profile: "3g.40gb", placement: { start: 4, size: 4 } };
const thirds = [0, 1].map((start) => ({ profileId: 0, start, id: start + 5 }));

const cases: readonly [PlanStep, readonly string[], string][] = [
  [
    { kind: "set-mig-mode", enabled: true, needsReset: true },
    [`nvidia-smi -i ${uuid} -mig 1`, `nvidia-smi --gpu-reset -i ${uuid}`],
    "Enable MIG mode and reset the GPU.",
  ],
  [{ kind: "set-mig-mode", enabled: false, needsReset: false }, [`nvidia-smi -i ${uuid} -mig 0`], "Disable MIG mode."],
  [
    { kind: "create-instance", ...half, computeInstances: [{ profileId: 2, start: 0 }], defaultComputeInstance: true },
    [`nvidia-smi mig -cgi 9:4 -C -i ${uuid}`],
    "Create 3g.40gb at memory slices 4 to 7.",
  ],
  [
    { kind: "create-instance", ...half, computeInstances: thirds, defaultComputeInstance: false },
    [
      `nvidia-smi mig -cgi 9:4 -i ${uuid}`,
      `nvidia-smi mig -cci 0 -gi <new> -i ${uuid}`,
      `nvidia-smi mig -cci 0 -gi <new> -i ${uuid}`,
    ],
    "Create 3g.40gb at memory slices 4 to 7 with 2 compute instances of its own.",
  ],
  [
    { kind: "create-instance", ...half, computeInstances: [], defaultComputeInstance: false },
    [`nvidia-smi mig -cgi 9:4 -i ${uuid}`],
    "Create 3g.40gb at memory slices 4 to 7 without a compute instance.",
  ],
  [
    {
      kind: "create-instance",
      profileId: -5,
      profile: "1g.24gb-me",
      placement: { start: 1, size: 1 },
      computeInstances: [{ profileId: 0, start: 0 }],
      defaultComputeInstance: true,
    },
    [`nvidia-smi mig -cgi 1g.24gb-me:1 -C -i ${uuid}`],
    "Create 1g.24gb-me at memory slice 1.",
  ],
  [
    { kind: "destroy-instance", gpuInstanceId: 2, ...half, computeInstances: thirds },
    [
      `nvidia-smi mig -dci -ci 5 -gi 2 -i ${uuid}`,
      `nvidia-smi mig -dci -ci 6 -gi 2 -i ${uuid}`,
      `nvidia-smi mig -dgi -gi 2 -i ${uuid}`,
    ],
    "Destroy 3g.40gb (GPU instance 2) at memory slices 4 to 7 and its 2 compute instances.",
  ],
  [
    { kind: "destroy-instance", gpuInstanceId: 2, ...half, computeInstances: [{ profileId: 2, start: 0 }] },
    [`nvidia-smi mig -dci -gi 2 -i ${uuid}`, `nvidia-smi mig -dgi -gi 2 -i ${uuid}`],
    "Destroy 3g.40gb (GPU instance 2) at memory slices 4 to 7 and its compute instance.",
  ],
  [
    { kind: "destroy-instance", gpuInstanceId: 2, ...half, computeInstances: [] },
    [`nvidia-smi mig -dgi -gi 2 -i ${uuid}`],
    "Destroy 3g.40gb (GPU instance 2) at memory slices 4 to 7.",
  ],
  [
    {
      kind: "destroy-compute-instance",
      gpuInstanceId: 2,
      profile: "3g.40gb",
      computeInstance: { profileId: 0, start: 1, id: 6 },
    },
    [`nvidia-smi mig -dci -ci 6 -gi 2 -i ${uuid}`],
    "Destroy the compute instance at compute slice 1 of 3g.40gb (GPU instance 2).",
  ],
  [
    {
      kind: "create-compute-instance",
      gpuInstanceId: 2,
      profile: "3g.40gb",
      computeInstance: { profileId: 1, start: 0 },
    },
    [`nvidia-smi mig -cci 1 -gi 2 -i ${uuid}`],
    "Create a compute instance at compute slice 0 of 3g.40gb (GPU instance 2).",
  ],
];

describe("commandsOf and describeStep", () => {
  it.each(cases)("%o", (step, commands, sentence) => {
    expect(commandsOf(step, uuid).map((words) => words.join(" "))).toEqual(commands);
    expect(describeStep(step)).toBe(sentence);
  });

  it("writes the ID of a new instance once it is known", () => {
    const step: PlanStep = {
      kind: "create-instance",
      ...half,
      computeInstances: [
        { profileId: 0, start: 0 },
        { profileId: 0, start: 1 },
      ],
      defaultComputeInstance: false,
    };
    expect(commandsOf(step, uuid, 13)[2]).toEqual(["nvidia-smi", "mig", "-cci", "0", "-gi", "13", "-i", uuid]);
  });

  it("names the GPU in every command, since the tool else acts on all of them", () => {
    const commands = cases.flatMap(([step]) => commandsOf(step, uuid));
    expect(commands.filter((words) => words[words.indexOf("-i") + 1] !== uuid)).toEqual([]);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { simulatedMachine } from "./describe.ts";
import type { SimulatedMachine } from "./machine.ts";
import { simulatedModelNames } from "./models.ts";
import { nvidiaSmi } from "./nvidia-smi.ts";

const a100 = "NVIDIA A100-SXM4-80GB";

function run(machine: SimulatedMachine, words: string, asRoot = true): { stdout: string; exitStatus: number } {
  const { stdout, exitStatus } = nvidiaSmi(machine, words.split(" "), asRoot);
  return { stdout, exitStatus };
}

function work(machine: SimulatedMachine, index: number, gpuInstanceId: number | null): number {
  return machine.startProcess({
    uid: 0,
    command: ["python3"],
    startedAtMs: 0,
    gpu: {
      uuid: machine.gpu(index).uuid,
      gpuInstanceId,
      computeInstanceId: gpuInstanceId === null ? null : 0,
      usedMemoryMiB: 100,
    },
  }).pid;
}

describe("MIG mode", () => {
  it("waits for a reset on Ampere and is there at once on Hopper", () => {
    const machine = simulatedMachine({ gpus: [{ model: a100 }, {}] });
    const answer = run(machine, "-mig 1");
    expect(answer.exitStatus).toBe(0);
    expect(answer.stdout).toContain("in pending enable state for GPU 00000000:1A:00.0:GPU requires reset");
    expect(answer.stdout).toContain("Enabled MIG Mode for GPU 00000000:1B:00.0");
    expect(run(machine, "--query-gpu=mig.mode.current,mig.mode.pending --format=csv,noheader").stdout).toBe(
      "Disabled, Enabled\nEnabled, Enabled\n",
    );
    run(machine, "--gpu-reset -i 0");
    expect(machine.gpu(0).migEnabled).toBe(true);
  });

  it("waits while a program holds the GPU", () => {
    const machine = simulatedMachine({ gpus: [{}] });
    const pid = work(machine, 0, null);
    expect(run(machine, "-i 0 -mig 1").stdout).toContain("In use by another client");
    expect(machine.gpu(0)).toMatchObject({ migEnabled: false, migPending: true });
    machine.endProcess(pid);
    expect(run(machine, "-i 0 -mig 1").stdout).toBe("Enabled MIG Mode for GPU 00000000:1A:00.0\nAll done.\n");
  });

  it("is refused to whoever is not root", () => {
    const machine = simulatedMachine({ gpus: [{}] });
    expect(run(machine, "-i 0 -mig 1", false).exitStatus).toBe(4);
    expect(machine.gpu(0).migPending).toBe(false);
  });
});

describe("instances", () => {
  it("in use are not destroyed", () => {
    const machine = simulatedMachine({ gpus: [{ instances: [{ profile: "3g.40gb", start: 4 }] }] });
    const pid = work(machine, 0, 2);
    expect(run(machine, "mig -dci -gi 2 -i 0").exitStatus).toBe(19);
    expect(run(machine, "mig -dgi -gi 2 -i 0").exitStatus).toBe(19);
    machine.endProcess(pid);
    expect(run(machine, "mig -dci -gi 2 -i 0").exitStatus).toBe(0);
    expect(run(machine, "mig -dgi -gi 2 -i 0").exitStatus).toBe(0);
  });

  it("with the same place have the same UUID again", () => {
    const machine = simulatedMachine({ gpus: [{ instances: [{ profile: 9, start: 4 }] }] });
    const before = run(machine, "-L").stdout;
    run(machine, "mig -dci -i 0");
    run(machine, "mig -dgi -i 0");
    expect(run(machine, "-L").stdout).not.toBe(before);
    run(machine, "mig -cgi 9:4 -C -i 0");
    expect(run(machine, "-L").stdout).toBe(before);
  });

  it("take media engines once", () => {
    const machine = simulatedMachine({ gpus: [{ instances: [] }] });
    expect(run(machine, "mig -cgi 20 -i 0").exitStatus).toBe(0);
    expect(run(machine, "mig -cgi 20 -i 0").exitStatus).toBe(23);
  });

  it("vanish at a reboot, and with them the mode of Hopper but not of Ampere", () => {
    const machine = simulatedMachine({ gpus: [{ instances: [{ profile: 0 }] }, { model: a100, instances: [] }] });
    const { bootId } = machine.state;
    machine.reboot();
    expect(machine.state.bootId).not.toBe(bootId);
    expect(machine.state.gpus.map((gpu) => [gpu.migEnabled, gpu.instances.length])).toEqual([
      [false, 0],
      [true, 0],
    ]);
  });
});

describe("a lost GPU", () => {
  it("fails whole-host reads and UUIDs, but not the others by index", () => {
    const machine = simulatedMachine({ gpus: [{ instances: [] }, {}] });
    machine.gpu(1).broken = "gpu-lost";
    expect(run(machine, "-q -x").exitStatus).toBe(15);
    expect(run(machine, "mig -cgi 9:0 -C -i 0").exitStatus).toBe(0);
    const byUuid = run(machine, `mig -cgi 9:4 -C -i ${machine.gpu(0).uuid}`);
    expect(byUuid.exitStatus).toBe(255);
    expect(byUuid.stdout).toContain("Problem with GPU");
  });
});

describe("whatever is asked", () => {
  const command = fc.oneof(
    fc
      .tuple(fc.constantFrom("-cgi", "-cci"), fc.integer({ min: 0, max: 25 }), fc.integer({ min: -1, max: 12 }))
      .map(([option, profile, start]) => ["mig", option, start < 0 ? `${profile}` : `${profile}:${start}`, "-i", "0"]),
    fc.integer({ min: 0, max: 25 }).map((profile) => ["mig", "-cgi", `${profile}`, "-C", "-i", "0"]),
    fc
      .tuple(fc.constantFrom("-dgi", "-dci"), fc.integer({ min: 0, max: 14 }))
      .map(([option, id]) => ["mig", option, "-gi", `${id}`, "-i", "0"]),
    fc.constantFrom(["-mig", "0"], ["-mig", "1"], ["--gpu-reset"]),
  );

  it("no two instances overlap, none exceeds the compute slices, and no ID is given twice", () => {
    fc.assert(
      fc.property(fc.constantFrom(...simulatedModelNames), fc.array(command, { maxLength: 30 }), (model, commands) => {
        const machine = simulatedMachine({ gpus: [{ model }] });
        const geometry = machine.geometry(0);
        for (const argv of [["-mig", "1"], ["--gpu-reset"], ...commands]) nvidiaSmi(machine, argv, true);
        const { instances, migEnabled } = machine.gpu(0);
        if (instances.length === 0) return;
        expect(migEnabled).toBe(true);
        const taken = new Set<number>();
        let computeSlices = 0;
        for (const instance of instances) {
          const profile = machine.profileOf(0, instance);
          computeSlices += profile.computeSlices;
          expect(profile.starts).toContain(instance.start);
          for (let slice = instance.start; slice < instance.start + profile.memorySlices; slice += 1) {
            expect(taken.has(slice)).toBe(false);
            taken.add(slice);
          }
          const inside = instance.computeInstances.reduce((sum, own) => {
            const found = profile.computeInstanceProfiles.find(({ id }) => id === own.profileId);
            return sum + (found?.computeSlices ?? Number.NaN);
          }, 0);
          expect(inside).toBeLessThanOrEqual(profile.computeSlices);
        }
        expect(Math.max(...taken)).toBeLessThan(geometry?.memorySlices ?? 0);
        expect(computeSlices).toBeLessThanOrEqual(geometry?.computeSlices ?? 0);
        expect(new Set(instances.map(({ id }) => id)).size).toBe(instances.length);
      }),
      { numRuns: 300 },
    );
  });
});

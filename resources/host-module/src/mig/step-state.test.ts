import { describe, expect, test } from "vitest";
import type { LayoutInstance, PlanStep } from "../../../../shared/mig/types.ts";
import type { GpuReading } from "./reading.ts";
import { stateOfStep } from "./step-state.ts";

function reading(instances: readonly LayoutInstance[], rest: Partial<GpuReading> = {}): GpuReading {
  return {
    uuid: "GPU-1",
    index: 0,
    name: "NVIDIA H100 80GB HBM3",
    geometry: null,
    mig: { current: "enabled", pending: "enabled" },
    layout: { migEnabled: true, instances },
    minorNumber: 0,
    processes: [],
    ...rest,
  };
}

const full = [{ profileId: 2, start: 0, id: 0 }];
const present: LayoutInstance = { profileId: 9, start: 4, id: 2, computeInstances: full, inUse: false };
const destroy: PlanStep = {
  kind: "destroy-instance",
  gpuInstanceId: 2,
  profileId: 9,
  profile: "3g.40gb",
  placement: { start: 4, size: 4 },
  computeInstances: full,
};
const create: PlanStep = {
  kind: "create-instance",
  profileId: 9,
  profile: "3g.40gb",
  placement: { start: 4, size: 4 },
  computeInstances: [{ profileId: 2, start: 0 }],
  defaultComputeInstance: true,
};
const enable: PlanStep = { kind: "set-mig-mode", enabled: true, needsReset: false };

describe("destroying an instance", () => {
  test("is done when it is gone, and ready while it is idle", () => {
    expect(stateOfStep(destroy, reading([]))).toEqual({ kind: "done" });
    expect(stateOfStep(destroy, reading([present]))).toEqual({ kind: "ready" });
  });

  test("is refused while something runs in it", () => {
    expect(stateOfStep(destroy, reading([{ ...present, inUse: true }])).kind).toBe("in-use");
  });

  test("is refused when the number belongs to another instance by now, or another stands in its place", () => {
    expect(stateOfStep(destroy, reading([{ ...present, start: 0 }])).kind).toBe("conflict");
    expect(stateOfStep(destroy, reading([{ ...present, profileId: 14 }])).kind).toBe("conflict");
    expect(stateOfStep(destroy, reading([{ ...present, id: 3 }])).kind).toBe("conflict");
  });
});

describe("creating an instance", () => {
  test("is done only with its compute instances: without them nothing can use it", () => {
    expect(stateOfStep(create, reading([]))).toEqual({ kind: "ready" });
    expect(stateOfStep(create, reading([present]))).toEqual({ kind: "done" });
    expect(stateOfStep(create, reading([{ ...present, computeInstances: [] }])).kind).toBe("partial");
  });
});

describe("changing MIG mode", () => {
  test("is not done while it is only pending", () => {
    const off = { migEnabled: false, instances: [] };
    const pending = reading([], { mig: { current: "disabled", pending: "enabled" }, layout: off });
    expect(stateOfStep(enable, pending)).toEqual({ kind: "ready" });
    expect(stateOfStep(enable, reading([]))).toEqual({ kind: "done" });
    expect(stateOfStep(enable, reading([], { mig: { current: "enabled", pending: "disabled" } }))).toEqual({
      kind: "ready",
    });
  });

  test("is refused while a process holds the GPU", () => {
    const process = {
      pid: 12,
      name: "python3",
      kind: "compute",
      usedMemoryMiB: 1,
      gpuInstanceId: null,
      computeInstanceId: null,
    } as const;
    const off = { migEnabled: false, instances: [] };
    const busy = reading([], { mig: { current: "disabled", pending: "disabled" }, layout: off, processes: [process] });
    expect(stateOfStep(enable, busy)).toEqual({ kind: "in-use", words: "the GPU is used by python3 (pid 12)" });
  });
});

import { sortedByStart } from "../../../../shared/mig/layout.ts";
import type { LayoutComputeInstance, LayoutInstance, PlanStep } from "../../../../shared/mig/types.ts";
import { type GpuReading, isUnplaced } from "./reading.ts";

/** How a step and the GPU as it was just read stand to each other. */
export type StepState =
  | { readonly kind: "done" }
  | { readonly kind: "ready" }
  /** A GPU instance that lacks some of its compute instances: an earlier attempt got half way. */
  | { readonly kind: "partial"; readonly instance: LayoutInstance }
  | { readonly kind: "in-use"; readonly words: string }
  /** What the step speaks of is no longer what it was. */
  | { readonly kind: "conflict"; readonly words: string };

const done: StepState = { kind: "done" };
const ready: StepState = { kind: "ready" };

function places(items: readonly LayoutComputeInstance[]): string {
  return sortedByStart(items)
    .map(({ profileId, start }) => `${profileId}@${start}`)
    .join();
}

function named(processes: GpuReading["processes"]): string {
  return processes.map(({ pid, name }) => `${name ?? "a process"} (pid ${pid})`).join(", ");
}

function usersOf(gpu: GpuReading, gpuInstanceId: number): string {
  const users = named(gpu.processes.filter((process) => process.gpuInstanceId === gpuInstanceId));
  const unplaced = gpu.processes.filter(isUnplaced);
  if (users === "" && unplaced.length > 0) {
    return `GPU instance ${gpuInstanceId} may be used by ${named(unplaced)}: the driver does not say in which instance`;
  }
  return `GPU instance ${gpuInstanceId} is used by ${users === "" ? "somebody" : users}`;
}

/**
 * Where a step stands. Pure: it is asked before a step runs (is there anything to do, may it be done) and after (was it
 * done), because nvidia-smi exits 0 where nothing was done and exits with an error where something was.
 */
export function stateOfStep(step: PlanStep, gpu: GpuReading): StepState {
  const { instances } = gpu.layout;
  switch (step.kind) {
    case "set-mig-mode": {
      const mode = step.enabled ? "enabled" : "disabled";
      const settled = gpu.mig.current === mode && (gpu.mig.pending === null || gpu.mig.pending === mode);
      if (settled) return done;
      const used = instances.find((instance) => instance.inUse);
      if (used !== undefined) return { kind: "in-use", words: usersOf(gpu, used.id ?? -1) };
      if (gpu.processes.length === 0) return ready;
      return { kind: "in-use", words: `the GPU is used by ${named(gpu.processes)}` };
    }
    case "destroy-instance": {
      const instance = instances.find(({ id }) => id === step.gpuInstanceId);
      if (instance === undefined) {
        const successor = instances.find(
          ({ profileId, start }) => profileId === step.profileId && start === step.placement.start,
        );
        if (successor === undefined) return done;
        return { kind: "conflict", words: `GPU instance ${step.gpuInstanceId} was replaced by ${successor.id}` };
      }
      if (instance.profileId !== step.profileId || instance.start !== step.placement.start) {
        return { kind: "conflict", words: `GPU instance ${step.gpuInstanceId} is another one by now` };
      }
      return instance.inUse ? { kind: "in-use", words: usersOf(gpu, step.gpuInstanceId) } : ready;
    }
    case "create-instance": {
      const instance = instances.find(
        ({ profileId, start }) => profileId === step.profileId && start === step.placement.start,
      );
      if (instance === undefined) return ready;
      const same = places(instance.computeInstances ?? []) === places(step.computeInstances);
      return same ? done : { kind: "partial", instance };
    }
    case "destroy-compute-instance": {
      const instance = instances.find(({ id }) => id === step.gpuInstanceId);
      if (instance === undefined) return { kind: "conflict", words: `GPU instance ${step.gpuInstanceId} is gone` };
      const wanted = step.computeInstance;
      const present = (instance.computeInstances ?? []).find(
        ({ id, profileId, start }) =>
          profileId === wanted.profileId && start === wanted.start && (wanted.id === undefined || wanted.id === id),
      );
      if (present === undefined) return done;
      return instance.inUse ? { kind: "in-use", words: usersOf(gpu, step.gpuInstanceId) } : ready;
    }
    case "create-compute-instance": {
      const instance = instances.find(({ id }) => id === step.gpuInstanceId);
      if (instance === undefined) return { kind: "conflict", words: `GPU instance ${step.gpuInstanceId} is gone` };
      const wanted = step.computeInstance;
      const present = (instance.computeInstances ?? []).some(
        ({ profileId, start }) => profileId === wanted.profileId && start === wanted.start,
      );
      return present ? done : ready;
    }
  }
}

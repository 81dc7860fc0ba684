import type { LayoutComputeInstance, PlanStep } from "./types.ts";

const startsOf = (computeInstances: readonly LayoutComputeInstance[]): string =>
  computeInstances.length === 1 ? "its compute instance" : `its ${computeInstances.length} compute instances`;

const slices = (start: number, size: number): string =>
  size === 1 ? `memory slice ${start}` : `memory slices ${start} to ${start + size - 1}`;

/** A step as a sentence in English, for terminals and logs. */
export function describeStep(step: PlanStep): string {
  switch (step.kind) {
    case "set-mig-mode": {
      const what = `${step.enabled ? "Enable" : "Disable"} MIG mode`;
      return step.needsReset ? `${what} and reset the GPU.` : `${what}.`;
    }
    case "destroy-instance": {
      const where = slices(step.placement.start, step.placement.size);
      const inside = step.computeInstances.length === 0 ? "" : ` and ${startsOf(step.computeInstances)}`;
      return `Destroy ${step.profile} (GPU instance ${step.gpuInstanceId}) at ${where}${inside}.`;
    }
    case "create-instance": {
      const where = slices(step.placement.start, step.placement.size);
      if (step.computeInstances.length === 0) return `Create ${step.profile} at ${where} without a compute instance.`;
      if (step.defaultComputeInstance) return `Create ${step.profile} at ${where}.`;
      const inside =
        step.computeInstances.length === 1
          ? "one compute instance"
          : `${step.computeInstances.length} compute instances`;
      return `Create ${step.profile} at ${where} with ${inside} of its own.`;
    }
    case "destroy-compute-instance":
      return `Destroy the compute instance at compute slice ${step.computeInstance.start} of ${step.profile} (GPU instance ${step.gpuInstanceId}).`;
    case "create-compute-instance":
      return `Create a compute instance at compute slice ${step.computeInstance.start} of ${step.profile} (GPU instance ${step.gpuInstanceId}).`;
  }
}

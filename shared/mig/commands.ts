import { isProfileIdKnown } from "./geometry.ts";
import type { PlanStep } from "./types.ts";

/** Stands in a shown command for the GPU instance ID that the driver will choose. */
export const newInstancePlaceholder = "<new>";

const tool = "nvidia-smi";

/**
 * The argument vectors that carry out a step, in order, without a shell. Always with `-i UUID`: without it the
 * tool acts on every MIG GPU of the host. One instance per command, since `-cgi A,B` keeps A when B fails.
 *
 * `gpuInstanceId` is that of an instance that this plan made, once it is known; until then `<new>` stands for it.
 * Syntax: `nvidia-smi mig --help` of 550. It gives `-cci` no placement; the planner orders accordingly.
 */
export function commandsOf(step: PlanStep, gpuUuid: string, gpuInstanceId?: number): readonly (readonly string[])[] {
  const mig = (...words: readonly string[]): readonly string[] => [tool, "mig", ...words, "-i", gpuUuid];
  switch (step.kind) {
    case "set-mig-mode": {
      const setMode = [tool, "-i", gpuUuid, "-mig", step.enabled ? "1" : "0"];
      return step.needsReset ? [setMode, [tool, "--gpu-reset", "-i", gpuUuid]] : [setMode];
    }
    case "destroy-instance": {
      const instance = String(step.gpuInstanceId);
      const ids = step.computeInstances.flatMap(({ id }) => (id === undefined ? [] : [String(id)]));
      // Where an ID is missing, all compute instances of this GPU instance go at once: the step wants that anyway.
      const inside =
        ids.length === step.computeInstances.length
          ? ids.map((id) => mig("-dci", "-ci", id, "-gi", instance))
          : [mig("-dci", "-gi", instance)];
      return [...inside, mig("-dgi", "-gi", instance)];
    }
    case "create-instance": {
      const profile = isProfileIdKnown(step.profileId) ? String(step.profileId) : step.profile;
      const where = `${profile}:${step.placement.start}`;
      if (step.defaultComputeInstance) return [mig("-cgi", where, "-C")];
      const instance = gpuInstanceId === undefined ? newInstancePlaceholder : String(gpuInstanceId);
      const inside = step.computeInstances.map(({ profileId }) => mig("-cci", String(profileId), "-gi", instance));
      return [mig("-cgi", where), ...inside];
    }
    case "destroy-compute-instance": {
      const { id } = step.computeInstance;
      const which = id === undefined ? newInstancePlaceholder : String(id);
      return [mig("-dci", "-ci", which, "-gi", String(step.gpuInstanceId))];
    }
    case "create-compute-instance":
      return [mig("-cci", String(step.computeInstance.profileId), "-gi", String(step.gpuInstanceId))];
  }
}

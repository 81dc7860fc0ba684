import type { PlanStep } from "../../../../shared/mig/types.ts";

/**
 * How long the driver may take. Creating or destroying an instance takes under a second on a healthy GPU; changing
 * MIG mode resets the GPU and has been seen to take half a minute with many GPUs on one board. The limits are far above, because a
 * command killed in mid-step costs more than one waited for.
 */
export const readLimitMs = 60_000;

export function commandLimitMs(step: PlanStep): number {
  return step.kind === "set-mig-mode" ? 300_000 : 120_000;
}

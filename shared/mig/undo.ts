import { asWish, layoutVersion } from "./layout.ts";
import { type PlanOutcome, type PlanRequest, planGpu } from "./plan.ts";
import type { GpuGeometry, GpuPlan, Layout } from "./types.ts";

/**
 * What `planGpu` needs to take a plan back. `present` is the layout as it is now: after the whole plan, or after some of its
 * steps. What the plan destroyed comes back under new IDs and UUIDs, for the driver gives none twice on request.
 */
export function inverseOf(plan: GpuPlan, present: Layout, geometry: GpuGeometry | null): PlanRequest {
  return {
    gpuUuid: plan.gpuUuid,
    gpuIndex: plan.gpuIndex,
    gpuName: plan.gpuName,
    geometry,
    current: present,
    wanted: asWish(plan.before),
  };
}

/** The plan that takes a plan back, or why it cannot be. */
export function undoPlan(plan: GpuPlan, present: Layout, geometry: GpuGeometry | null): PlanOutcome {
  return planGpu(inverseOf(plan, present, geometry));
}

/** Whether two layouts divide a GPU alike, whatever the IDs: what undo and restore reach. */
export function isSameDivision(a: Layout, b: Layout): boolean {
  return layoutVersion(asWish(a)) === layoutVersion(asWish(b));
}

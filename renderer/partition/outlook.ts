/** What a plan means: what fits afterwards, how long it takes, who feels it. */
import { whatFits } from "../../shared/mig/fit.ts";
import type { GpuGeometry, GpuPlan, Layout, PlanStep } from "../../shared/mig/types.ts";
import { holderName } from "./facts.ts";
import type { PlannedGpu } from "./plan.ts";

/** How many instances of each profile could be handed out: those that stand empty, and those that still fit. */
export function offers(geometry: GpuGeometry, layout: Layout): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const fits = whatFits(geometry, layout);
  for (const fit of fits) {
    const empty = layout.instances.filter(
      (instance) => instance.profileId === fit.profileId && instance.inUse !== true,
    ).length;
    counts.set(fit.profile, empty + fit.capacity);
  }
  return counts;
}

export interface Outlook {
  readonly profile: string;
  readonly before: number;
  readonly after: number;
}

/** Of the sizes whose number changes: the largest that is gained first, then the largest that is lost. At most two. */
export function outlookOf(gpus: readonly PlannedGpu[]): readonly Outlook[] {
  const sizes = new Map<string, { slices: number; before: number; after: number }>();
  for (const { plan, facts } of gpus) {
    if (plan === null || facts === null) continue;
    const before = offers(facts.geometry, plan.before);
    const after = offers(facts.geometry, plan.after);
    for (const profile of facts.geometry.profiles) {
      if (profile.media !== "default" || profile.graphics) continue;
      const size = sizes.get(profile.name) ?? {
        slices: profile.computeSlices * 16 + profile.memorySlices,
        before: 0,
        after: 0,
      };
      sizes.set(profile.name, {
        ...size,
        before: size.before + (before.get(profile.name) ?? 0),
        after: size.after + (after.get(profile.name) ?? 0),
      });
    }
  }
  const changed = [...sizes]
    .filter(([, size]) => size.before !== size.after)
    .sort(([, a], [, b]) => b.slices - a.slices)
    .map(([profile, { before, after }]) => ({ profile, before, after }));
  const gained = changed.find(({ before, after }) => after > before);
  const lost = changed.find(({ before, after }) => after < before);
  return [gained, lost].filter((outlook) => outlook !== undefined);
}

export type StepKind = PlanStep["kind"] | "reset";

/** First guesses, from nvidia-smi on H100; each step that is seen to run corrects them. */
const guessMs: Record<StepKind, number> = {
  "set-mig-mode": 2_500,
  reset: 9_000,
  "destroy-instance": 600,
  "create-instance": 700,
  "destroy-compute-instance": 300,
  "create-compute-instance": 350,
};

const seenMs = new Map<StepKind, number>();

export function kindOf(step: PlanStep): StepKind {
  return step.kind === "set-mig-mode" && step.needsReset ? "reset" : step.kind;
}

/** A step took this long: later estimates lean towards it. */
export function learn(step: PlanStep, durationMs: number): void {
  const kind = kindOf(step);
  const before = seenMs.get(kind);
  seenMs.set(kind, before === undefined ? durationMs : before * 0.7 + durationMs * 0.3);
}

/** Hosts work at the same time, the steps of one host one after the other. */
export function estimateMs(gpus: readonly PlannedGpu[]): number {
  const byHost = new Map<string, number>();
  for (const { entry, plan } of gpus) {
    const own = (plan?.steps ?? []).reduce((sum, step) => sum + (seenMs.get(kindOf(step)) ?? guessMs[kindOf(step)]), 0);
    byHost.set(entry.hostId, (byHost.get(entry.hostId) ?? 0) + own);
  }
  return Math.max(0, ...byHost.values());
}

export function resets(plan: GpuPlan): boolean {
  return plan.steps.some((step) => step.kind === "set-mig-mode" && step.needsReset);
}

/** Whose work a plan would interrupt. Instances in use are never touched; a reset takes the whole GPU away. */
export function interrupted(gpu: PlannedGpu): readonly string[] {
  if (gpu.plan === null || gpu.facts === null || !resets(gpu.plan)) return [];
  const names = new Set<string>();
  const whole = holderName(gpu.facts.gpu.holder, 2);
  if (whole !== null) names.add(whole);
  for (const process of gpu.facts.gpu.processes) names.add(process.user === null ? process.name : process.user);
  return [...names];
}

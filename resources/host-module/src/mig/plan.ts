import { AppError } from "../../../../shared/errors.ts";
import { asWish, layoutVersion } from "../../../../shared/mig/layout.ts";
import { planGpu } from "../../../../shared/mig/plan.ts";
import type { GpuPlan, Layout, LayoutInstance, PlanStep, Refusal } from "../../../../shared/mig/types.ts";
import { isSameDivision } from "../../../../shared/mig/undo.ts";
import type { WantedGpu } from "../../../../shared/protocol/contract.ts";
import { withoutUndefined } from "./plain.ts";
import type { GpuReading } from "./reading.ts";

/**
 * One plan for each GPU that is asked for, made from the layouts that stand. Throws AppError `illegal-layout` or
 * `in-use` with every refusal, `not-found`, `bad-request` where a GPU is named twice.
 */
export function plansFor(
  gpus: ReadonlyMap<string, GpuReading>,
  wanted: readonly WantedGpu[],
  host: string,
): readonly GpuPlan[] {
  const seen = new Set<string>();
  const plans: GpuPlan[] = [];
  const refusals: { readonly gpu: GpuReading; readonly refusal: Refusal }[] = [];
  for (const { gpuUuid, layout } of wanted) {
    if (seen.has(gpuUuid)) {
      throw new AppError({
        code: "bad-request",
        message: `GPU ${gpuUuid} is asked for twice.`,
        remedy: "Name each GPU once.",
      });
    }
    seen.add(gpuUuid);
    const gpu = gpus.get(gpuUuid);
    if (gpu === undefined) throw notThere(gpuUuid, host);
    const outcome = planOne(gpu, withoutUndefined<Layout>(layout));
    if (outcome.ok) plans.push(outcome.plan);
    else for (const refusal of outcome.refusals) refusals.push({ gpu, refusal });
  }
  if (refusals.length > 0) throw refused(refusals, host);
  return plans;
}

export function notThere(gpuUuid: string, host: string): AppError {
  return new AppError({
    code: "not-found",
    message: `Host ${host} has no GPU ${gpuUuid}, or the driver does not list it now.`,
    remedy: "Read the inventory again.",
    evidence: { host },
  });
}

function planOne(gpu: GpuReading, wanted: Layout) {
  return planGpu({
    gpuUuid: gpu.uuid,
    gpuIndex: gpu.index,
    gpuName: gpu.name,
    geometry: gpu.geometry,
    current: gpu.layout,
    wanted,
    wholeGpuInUse: !gpu.layout.migEnabled && gpu.processes.length > 0,
  });
}

function refused(refusals: readonly { readonly gpu: GpuReading; readonly refusal: Refusal }[], host: string): AppError {
  const inUse = refusals.every(({ refusal: { violation } }) =>
    ["instance-in-use", "mig-mode-in-use"].includes(violation.rule),
  );
  const lines = refusals.map(({ gpu, refusal }) => {
    const words = refusal.driverWords === null ? "" : ` [nvidia-smi: ${refusal.driverWords}]`;
    return `GPU ${gpu.index} (${gpu.uuid}): ${refusal.sentence}${words}`;
  });
  const [first] = refusals;
  const more = refusals.length > 1 ? ` (and ${refusals.length - 1} more)` : "";
  return new AppError({
    code: inUse ? "in-use" : "illegal-layout",
    message: `GPU ${first?.gpu.index}: ${first?.refusal.sentence}${more}`,
    remedy: inUse
      ? "Wait until it has ended or stop it, or leave that instance where it is."
      : "Choose a layout that this GPU can have.",
    evidence: { host, details: lines.join("\n") },
  });
}

const place = ({ profileId, start }: LayoutInstance) => `${profileId}@${start}`;

/**
 * The steps from what stands now to one end of an operation. Instances that belong to neither end were made by somebody
 * else meanwhile and stay. A MIG mode that was asked for and is still pending is taken back as well.
 * Throws AppError `in-use` or `illegal-layout` where the way is barred.
 */
export function planTowards(gpu: GpuReading, plan: GpuPlan, end: "before" | "after"): GpuPlan {
  const target = asWish(plan[end]);
  const ours = new Set([...plan.before.instances, ...plan.after.instances].map(place));
  const foreign = asWish(gpu.layout).instances.filter((instance) => !ours.has(place(instance)));
  const wanted: Layout = target.migEnabled
    ? { migEnabled: true, instances: [...target.instances, ...foreign] }
    : { migEnabled: foreign.length > 0, instances: foreign };
  const outcome = planOne(gpu, wanted);
  if (!outcome.ok)
    throw refused(
      outcome.refusals.map((refusal) => ({ gpu, refusal })),
      "",
    );
  const mode = wanted.migEnabled ? "enabled" : "disabled";
  const settled = gpu.mig.pending === null || gpu.mig.pending === mode || gpu.mig.pending === "not-supported";
  if (settled || outcome.plan.steps.some((step) => step.kind === "set-mig-mode")) return outcome.plan;
  const takeBack: PlanStep = { kind: "set-mig-mode", enabled: wanted.migEnabled, needsReset: false };
  return { ...outcome.plan, steps: [takeBack, ...outcome.plan.steps] };
}

/**
 * The plans of a request, or `stale-plan` saying what is different where a GPU is not as the operator saw it: also when
 * what stands by now forbids the wish, since that was not the operator's question. A plan without steps passes: what is
 * wanted stands already, and a request that is sent again after a lost answer is no conflict.
 */
export function plansOnBasis(
  gpus: ReadonlyMap<string, GpuReading>,
  wanted: readonly WantedGpu[],
  host: string,
): readonly GpuPlan[] {
  const outdated = wanted.flatMap(({ gpuUuid, basedOn }) => {
    const gpu = gpus.get(gpuUuid);
    if (gpu === undefined || basedOn === undefined || basedOn === layoutVersion(gpu.layout)) return [];
    return [{ gpu, basedOn }];
  });
  const stale = (changed: typeof outdated) =>
    stalePlan(
      changed.map(({ gpu, basedOn }) =>
        describeChange({ gpuIndex: gpu.index, gpuUuid: gpu.uuid }, basedOn, layoutVersion(gpu.layout)),
      ),
      host,
    );
  let plans: readonly GpuPlan[];
  try {
    plans = plansFor(gpus, wanted, host);
  } catch (error) {
    const refused = error instanceof AppError && (error.code === "illegal-layout" || error.code === "in-use");
    if (refused && outdated.length > 0) throw stale(outdated);
    throw error;
  }
  const changing = new Set(plans.filter(({ steps }) => steps.length > 0).map(({ gpuUuid }) => gpuUuid));
  const changed = outdated.filter(({ gpu }) => changing.has(gpu.uuid));
  if (changed.length > 0) throw stale(changed);
  return plans;
}

/**
 * Whether a GPU is divided as a saved layout asks, judged as a plan judges it: where the driver puts compute instances
 * elsewhere than they once stood (it takes no placement for them), what restoring reaches counts as the layout.
 */
export function stands(gpu: GpuReading, layout: Layout): boolean {
  const outcome = planOne(gpu, asWish(layout));
  return outcome.ok ? outcome.plan.steps.length === 0 : isSameDivision(gpu.layout, layout);
}

export function stalePlan(details: readonly string[], host: string): AppError {
  return new AppError({
    code: "stale-plan",
    message: `The layout on ${host} has changed since the plan was made.`,
    remedy: "Look at what changed and plan again.",
    evidence: { host, details: details.join("\n") },
  });
}

/** What differs between two layout versions of a GPU, in words. */
export function describeChange(gpu: { readonly gpuIndex: number; readonly gpuUuid: string }, from: string, to: string) {
  const before = new Set(from.split(" "));
  const after = new Set(to.split(" "));
  const gone = [...before].filter((part) => !after.has(part));
  const come = [...after].filter((part) => !before.has(part));
  return `GPU ${gpu.gpuIndex} (${gpu.gpuUuid}): gone ${gone.join(" ") || "nothing"}; come ${come.join(" ") || "nothing"}. It was planned on "${from}", now it is "${to}".`;
}

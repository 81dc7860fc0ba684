import { commandsOf } from "../../../../shared/mig/commands.ts";
import { describeStep } from "../../../../shared/mig/describe.ts";
import { geometryFor } from "../../../../shared/mig/geometry.ts";
import type { GpuPlan } from "../../../../shared/mig/types.ts";
import type {
  ApplyResult,
  HostPlan,
  MigStatus,
  Operation,
  StepProgress,
} from "../../../../shared/protocol/contract.ts";
import { drawLayout, table } from "./drawing.ts";

export function planText(plan: HostPlan): string {
  return plan.gpus.map(gpuPlanText).join("\n");
}

function gpuPlanText(plan: GpuPlan): string {
  const geometry = geometryFor({ name: plan.gpuName });
  const indent = (lines: readonly string[]) => lines.map((line) => `    ${line}`);
  const steps = plan.steps.flatMap((step, at) => [
    `  ${String(at + 1).padStart(2)}. ${describeStep(step)}`,
    ...commandsOf(step, plan.gpuUuid).map((command) => `        ${command.join(" ")}`),
  ]);
  return [
    `GPU ${plan.gpuIndex}  ${plan.gpuName}  ${plan.gpuUuid}`,
    "  now",
    ...indent(drawLayout(plan.before, geometry)),
    ...(plan.steps.length === 0
      ? ["  Nothing to do: it is so already."]
      : [
          "  then",
          ...indent(drawLayout(plan.after, geometry)),
          `  ${plan.steps.length} step${plan.steps.length === 1 ? "" : "s"}, ${plan.kept.length} instance${plan.kept.length === 1 ? "" : "s"} untouched`,
          ...steps,
        ]),
    "",
  ].join("\n");
}

export function progressText(progress: StepProgress): string | null {
  const { outcome } = progress;
  if (outcome.kind === "started") return null;
  const way = progress.rollingBack ? "back " : "";
  const head = `${way}${progress.stepIndex + 1}/${progress.stepCount} ${describeStep(progress.step).replace(/\.$/, "")}`;
  return outcome.kind === "done"
    ? `${head}: done in ${(outcome.durationMs / 1000).toFixed(1)} s`
    : `${head}: FAILED: ${outcome.message}`;
}

export function resultText(result: ApplyResult): string {
  const commands = result.commands.map((command) => `  ${command.join(" ")}`).join("\n");
  switch (result.outcome) {
    case "dry-run":
      return result.commands.length === 0
        ? "Nothing would be done: it is so already."
        : `These commands would be run, and nothing was:\n${commands}`;
    case "unchanged":
      return "Nothing to do: it is so already.";
    case "applied":
      return `Applied as operation ${result.operationId} with ${result.commands.length} commands. Undo: tessera-host mig undo ${result.operationId}`;
    case "cancelled":
      return `Operation ${result.operationId} was cancelled and rolled back: the layout is as before.`;
    case "rolled-back":
      return `Operation ${result.operationId} was rolled back: the layout is as before.`;
  }
}

export function statusText(status: MigStatus): string {
  const open = status.operations.filter(({ state }) => state === "open");
  const lines = open.flatMap((operation) => [
    `OPEN  ${operation.id}  ${gpusOf(operation)}`,
    `  ${operation.statement ?? ""}`,
    `  tessera-host mig recover ${operation.id} --way finish      to the wanted layout`,
    `  tessera-host mig recover ${operation.id} --way roll-back   to the layout before`,
    "",
  ]);
  const rows = status.operations.map((operation) => [
    operation.id,
    operation.kind,
    operation.state,
    operation.startedAt.replace("T", " ").slice(0, 19),
    operation.caller.user ?? String(operation.caller.uid),
    gpusOf(operation),
    operation.reason ?? "",
  ]);
  const saved = status.saved.map(
    ({ gpuUuid, matches }) => `  ${gpuUuid}  ${matches ? "is what stands now" : "differs from what stands now"}`,
  );
  return [
    ...lines,
    ...(rows.length === 0
      ? ["No operation is on record."]
      : table(["OPERATION", "KIND", "STATE", "STARTED (UTC)", "BY", "GPU", "REASON"], rows)),
    "",
    ...(saved.length === 0 ? ["No layout is saved for the next boot."] : ["Saved for the next boot:", ...saved]),
    ...(status.restoreOffered ? ["The host has rebooted since: tessera-host mig restore brings them back."] : []),
  ].join("\n");
}

function gpusOf(operation: Operation): string {
  return operation.gpus.map(({ gpuIndex }) => gpuIndex).join(",");
}

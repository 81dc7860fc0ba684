/** The steps of a plan, host by host and GPU by GPU; while it is applied, with how far each has come. */
import { useState } from "react";
import { commandsOf } from "../../shared/mig/commands.ts";
import type { LayoutInstance, PlanStep } from "../../shared/mig/types.ts";
import type { StepProgress } from "../../shared/protocol/contract.ts";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { type Format, useFormat } from "../i18n/format.ts";
import { type Translate, useText } from "../i18n/index.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import { profileOf } from "./edits.ts";
import { instanceOf, usersOf } from "./facts.ts";
import styles from "./partition.module.css";
import type { PlannedGpu, PlannedHost } from "./plan.ts";
import { type RunHost, stepKey } from "./run.ts";
import { refusalWords } from "./words.ts";

const chips = {
  "destroy-instance": { key: "plan.destroy", tone: "bad" },
  "create-instance": { key: "plan.create", tone: "good" },
  "destroy-compute-instance": { key: "plan.destroyCompute", tone: "bad" },
  "create-compute-instance": { key: "plan.createCompute", tone: "good" },
} as const;

export function stepChip(t: Translate, step: PlanStep): { readonly label: string; readonly tone: string } {
  if (step.kind === "set-mig-mode") {
    return { label: t(step.enabled ? "plan.enableMig" : "plan.disableMig"), tone: step.needsReset ? "warning" : "" };
  }
  const { key, tone } = chips[step.kind];
  return { label: t(key), tone };
}

export function stepWords(t: Translate, step: PlanStep): string {
  switch (step.kind) {
    case "set-mig-mode":
      return t(step.needsReset ? "plan.modeReset" : "plan.mode");
    case "destroy-instance":
      return t("plan.atEmpty", { profile: step.profile, start: step.placement.start });
    case "create-instance": {
      const where = t("plan.atSize", {
        profile: step.profile,
        start: step.placement.start,
        size: step.placement.size,
      });
      return step.computeInstances.length > 1
        ? `${where}${t("common.separator")}${t("plan.withCompute", { count: step.computeInstances.length })}`
        : where;
    }
    case "destroy-compute-instance":
    case "create-compute-instance":
      return t("plan.computeIn", { profile: step.profile, start: step.computeInstance.start });
  }
}

interface StepState {
  readonly words: string;
  readonly state: "waiting" | "started" | "done" | "failed" | "back";
}

function stepState(t: Translate, format: Format, progress: StepProgress | undefined, ended: boolean): StepState {
  if (progress === undefined) return { words: t(ended ? "apply.notRun" : "apply.waiting"), state: "waiting" };
  const { outcome } = progress;
  switch (outcome.kind) {
    case "started":
      // The answers stopped: whether it was done, the host's journal knows.
      if (ended) return { words: t("apply.stepUnknown"), state: "failed" };
      return { words: t(progress.rollingBack ? "apply.rollingBack" : "apply.atWork"), state: "started" };
    case "done":
      return {
        words: `${t("apply.stepDone")}${t("common.separator")}${format.measured(outcome.durationMs)}`,
        state: "done",
      };
    case "failed":
      return { words: `${t("apply.stepFailed")}: ${outcome.message}`, state: "failed" };
  }
}

function StepRow({
  number,
  step,
  commands,
  state,
}: {
  readonly number: number;
  readonly step: PlanStep;
  readonly commands: readonly (readonly string[])[];
  /** Null before the plan is applied. */
  readonly state: StepState | null;
}) {
  const t = useText();
  const chip = stepChip(t, step);
  return (
    <li className={styles.step}>
      <span className={styles.number}>{number}</span>
      <span className={styles.chipCell}>
        <span className={`tag ${chip.tone}`}>{chip.label}</span>
      </span>
      <span className={styles.stepWords}>{stepWords(t, step)}</span>
      {/* Whole, one a line: what runs is read before it is applied, and what is selected here is what a shell takes. */}
      <code className={styles.command}>{commands.map((command) => command.join(" ")).join("\n")}</code>
      {state === null ? null : (
        <span className={`truncate ${styles.stepState}`} data-state={state.state} title={state.words}>
          {state.words}
        </span>
      )}
    </li>
  );
}

/** Steps that are known only from what the host says of them: rolling back, undoing, recovering. */
function ReportedSteps({ steps, ended }: { readonly steps: readonly StepProgress[]; readonly ended: boolean }) {
  const t = useText();
  const format = useFormat();
  return (
    <ol>
      {steps.map((progress) => (
        <StepRow
          key={stepKey(progress)}
          number={progress.stepIndex + 1}
          step={progress.step}
          commands={progress.commands}
          state={stepState(t, format, progress, ended)}
        />
      ))}
    </ol>
  );
}

function KeptRow({ gpu, kept }: { readonly gpu: PlannedGpu; readonly kept: readonly LayoutInstance[] }) {
  const t = useText();
  const format = useFormat();
  const { facts } = gpu;
  if (facts === null || kept.length === 0) return null;
  const names = kept.map((instance) =>
    t("plan.at", {
      profile: profileOf(facts.geometry, instance.profileId)?.name ?? `#${instance.profileId}`,
      start: instance.start,
    }),
  );
  const users = new Set<string>();
  for (const { start, inUse } of kept) {
    const instance = instanceOf(facts.gpu, start);
    if (inUse === true && instance !== null) users.add(usersOf(facts.gpu, instance) ?? t("rule.someone"));
  }
  const words = names.join(t("common.listSeparator"));
  const who = users.size === 0 ? t("plan.sameUuids") : t("plan.inUseBy", { names: format.list([...users]) });
  return (
    <li className={styles.step}>
      <span />
      <span className={styles.chipCell}>
        <span className="tag">{t("plan.keep")}</span>
      </span>
      <span className={styles.stepWords}>{words}</span>
      <span className={styles.command}>{who}</span>
    </li>
  );
}

function Refusals({ gpu }: { readonly gpu: PlannedGpu }) {
  const t = useText();
  const format = useFormat();
  return (
    <>
      {gpu.refusals.map((refusal) => {
        const { rule, instead, driverWords } = refusalWords(t, format, refusal, gpu.facts);
        return (
          <li key={refusal.sentence} className={styles.refusal}>
            <p>{rule}</p>
            {instead === null ? null : <p>{instead}</p>}
            {driverWords === null ? null : <p className="muted">{t("rule.driverWords", { words: driverWords })}</p>}
          </li>
        );
      })}
    </>
  );
}

function GpuSteps({
  gpu,
  run,
  ended,
  named,
}: {
  readonly gpu: PlannedGpu;
  readonly run: RunHost | null;
  readonly ended: boolean;
  readonly named: boolean;
}) {
  const t = useText();
  const format = useFormat();
  const { plan, facts } = gpu;
  const { gpuUuid } = gpu.entry;
  return (
    <>
      {named && facts !== null ? (
        <div className={styles.gpuHead}>
          GPU {facts.gpu.index}
          <span className="muted">{facts.gpu.name}</span>
        </div>
      ) : null}
      <ol>
        <Refusals gpu={gpu} />
        {plan?.steps.map((step, index) => {
          const key = stepKey({ gpuUuid, stepIndex: index, rollingBack: false });
          const progress = run?.steps.get(key);
          return (
            <StepRow
              key={key}
              number={index + 1}
              step={step}
              commands={progress?.commands ?? commandsOf(step, gpuUuid)}
              state={run === null ? null : stepState(t, format, progress, ended)}
            />
          );
        })}
        {plan === null ? null : <KeptRow gpu={gpu} kept={plan.kept} />}
      </ol>
      {plan !== null && plan.steps.length === 0 ? <p className="muted">{t("plan.empty")}</p> : null}
    </>
  );
}

function HostSteps({
  host,
  run,
  ended,
  grouped,
  initiallyOpen,
}: {
  readonly host: PlannedHost;
  readonly run: RunHost | null;
  readonly ended: boolean;
  readonly grouped: boolean;
  readonly initiallyOpen: boolean;
}) {
  const t = useText();
  const [open, setOpen] = useState(initiallyOpen);
  const name = useSnapshot((state) => state.hosts.get(host.hostId)?.name ?? host.hostId);
  const stepCount = host.gpus.reduce((sum, gpu) => sum + (gpu.plan?.steps.length ?? 0), 0);
  const error = run?.error ?? run?.result?.failure ?? host.error;
  const planned = new Set(host.gpus.map((gpu) => gpu.entry.gpuUuid));
  const unplanned = [...(run?.steps.values() ?? [])].filter(
    (progress) => progress.rollingBack || !planned.has(progress.gpuUuid),
  );
  const inside = (
    <>
      {error === null || error === undefined ? null : <ErrorText error={error} />}
      {host.gpus.map((gpu) => (
        <GpuSteps key={gpu.entry.gpuUuid} gpu={gpu} run={run} ended={ended} named={grouped || host.gpus.length > 1} />
      ))}
      {unplanned.length === 0 ? null : <ReportedSteps steps={unplanned} ended={ended} />}
    </>
  );
  if (!grouped) return inside;
  const done = run === null ? 0 : [...run.steps.values()].filter(({ outcome }) => outcome.kind === "done").length;
  return (
    <details className={styles.group} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {name}
        <span>
          {run === null ? t("plan.steps", { count: stepCount }) : `${done} / ${stepCount}`},{" "}
          {t("common.gpus", { count: host.gpus.length })}
        </span>
        {error === null || error === undefined ? null : <span className="tag bad">{t(`error.${error.code}`)}</span>}
      </summary>
      {open ? inside : null}
    </details>
  );
}

export function PlanSteps({
  hosts,
  runHosts,
  ended,
}: {
  readonly hosts: readonly PlannedHost[];
  /** While the plan is applied and after. */
  readonly runHosts: ReadonlyMap<string, RunHost> | null;
  readonly ended: boolean;
}) {
  return (
    <>
      {hosts.map((host) => (
        <HostSteps
          key={host.hostId}
          host={host}
          run={runHosts?.get(host.hostId) ?? null}
          ended={ended}
          grouped={hosts.length > 1}
          initiallyOpen={hosts.length <= 3}
        />
      ))}
    </>
  );
}

/** An operation under way or just ended, in the place of the plan. */
import { useEffect, useRef, useState } from "react";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { type Format, useFormat } from "../i18n/format.ts";
import { type Translate, useText } from "../i18n/index.ts";
import { useDraft } from "./draft.ts";
import { PlanSteps } from "./PlanSteps.tsx";
import styles from "./partition.module.css";
import type { PlannedGpu, PlannedHost } from "./plan.ts";
import { closeRun, isUnknown, operationsOf, type Run, stepCounts, stopRun, undoRun } from "./run.ts";

function hostsOf(run: Run): readonly PlannedHost[] {
  const byHost = new Map<string, PlannedGpu[]>([...run.hosts.keys()].map((hostId) => [hostId, []]));
  for (const gpu of run.gpus) byHost.set(gpu.entry.hostId, [...(byHost.get(gpu.entry.hostId) ?? []), gpu]);
  return [...byHost].map(([hostId, gpus]) => ({ hostId, gpus, check: "confirmed", error: null }));
}

function runningTitle(t: Translate, run: Run): string {
  const { done, total } = stepCounts(run);
  const values = { done: Math.min(done + 1, Math.max(1, total)), total };
  switch (run.kind) {
    case "apply":
      return run.hosts.size > 1
        ? t("apply.runningHosts", { ...values, hosts: t("common.hosts", { count: run.hosts.size }) })
        : t("apply.running", values);
    case "undo":
      return t("apply.undoing", values);
    case "recover":
      return t("apply.recovering", values);
    case "restore":
      return t("apply.restoring", values);
  }
}

function endedTitle(t: Translate, format: Format, run: Run): { readonly words: string; readonly good: boolean } {
  const hosts = [...run.hosts.values()];
  const failed = hosts.filter(({ error }) => error !== null).length;
  const endedAt = run.endedAt ?? Date.now();
  const time = format.clock(new Date(endedAt).toISOString(), endedAt);
  if (isUnknown(run)) return { words: t("apply.unknown", stepCounts(run)), good: false };
  if (run.error !== null || (failed > 0 && failed === hosts.length)) return { words: t("apply.failed"), good: false };
  if (failed > 0) return { words: t("apply.partly", { count: failed }), good: false };
  const outcomes = new Set(hosts.map(({ result }) => result?.outcome));
  if (outcomes.has("rolled-back") && run.kind === "apply") return { words: t("apply.rolledBack"), good: false };
  if (outcomes.has("cancelled")) {
    return { words: t(run.kind === "undo" ? "apply.undoStopped" : "apply.cancelled"), good: false };
  }
  if (outcomes.size === 1 && outcomes.has("unchanged")) return { words: t("apply.unchanged"), good: true };
  switch (run.kind) {
    case "apply":
      return {
        words: t("apply.done", {
          time,
          steps: t("plan.steps", { count: stepCounts(run).done }),
          duration: format.measured(endedAt - run.startedAt),
        }),
        good: true,
      };
    case "undo":
      return { words: t("apply.undone", { time }), good: true };
    case "recover":
      return { words: t("apply.recovered", { time }), good: true };
    case "restore":
      return { words: t("apply.restored", { time }), good: true };
  }
}

/** Whether the services said that the layout was no longer the planned one: then the draft can be carried over. */
function isStaleRun(run: Run): boolean {
  return run.error?.code === "stale-plan" || [...run.hosts.values()].some(({ error }) => error?.code === "stale-plan");
}

/** The button that stops stands where the one that began stood: the second half of a double click is no wish to stop. */
const unstoppableMs = 800;

/** The change goes on without the page, but nobody would see it end: the browser asks before it leaves. */
function warn(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

export function RunPanel({ run }: { readonly run: Run }) {
  const t = useText();
  const format = useFormat();
  const ended = run.endedAt !== null;
  const title = ended ? endedTitle(t, format, run) : { words: runningTitle(t, run), good: true };
  const [, tick] = useState(0);
  const first = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (ended) return;
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [ended]);
  useEffect(() => {
    if (ended) return;
    const timer = setInterval(() => tick((count) => count + 1), 500);
    return () => clearInterval(timer);
  }, [ended]);
  useEffect(() => {
    // The button that had the focus is gone with the plan: the next one to press gets it.
    if (ended && (document.activeElement === null || document.activeElement === document.body)) first.current?.focus();
  }, [ended]);
  const canUndo = operationsOf(run).length > 0;
  const stopBlocked = run.stopping || Date.now() - run.startedAt < unstoppableMs;
  const stale = ended && isStaleRun(run);
  const { done, total } = stepCounts(run);
  return (
    <div className={styles.content}>
      <div className={styles.bar}>
        <h2 className="truncate" data-good={title.good} title={title.words}>
          {title.words}
        </h2>
        {ended ? null : <progress aria-label={title.words} value={done} max={Math.max(1, total)} />}
        <span className={styles.spacer} />
        {ended ? (
          <>
            {stale ? (
              <button
                ref={first}
                type="button"
                className="button primary"
                onClick={() => {
                  useDraft.getState().rebase();
                  closeRun();
                }}
              >
                {t("stale.replan")}
              </button>
            ) : null}
            {canUndo ? (
              <button ref={first} type="button" className="button" onClick={() => void undoRun(run)}>
                {t("apply.undo")}
              </button>
            ) : null}
            <button ref={canUndo || stale ? null : first} type="button" className="button" onClick={closeRun}>
              {t("apply.close")}
            </button>
          </>
        ) : (
          <button
            type="button"
            className="button"
            title={t("apply.stopTitle")}
            disabled={stopBlocked}
            onClick={stopRun}
          >
            {t(run.stopping ? "apply.stopping" : "apply.stop")}
          </button>
        )}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className={`${styles.steps} ${styles.runSteps}`} tabIndex={0} aria-label={t("plan.stepsLabel")}>
        {run.error === null ? null : <ErrorText error={run.error} />}
        <PlanSteps hosts={hostsOf(run)} runHosts={run.hosts} ended={ended} />
      </section>
    </div>
  );
}

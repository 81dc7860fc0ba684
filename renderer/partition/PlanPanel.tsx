/** Under the board: the plan of the draft, its application step by step, and what came of it. */
import { useEffect, useMemo, useState } from "react";
import { registerKey } from "../app/keys.ts";
import { RedoIcon, UndoIcon } from "../design/icons.tsx";
import { useFormat } from "../i18n/format.ts";
import { useText } from "../i18n/index.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import { useAnnouncement } from "./announce.ts";
import { HostBanners, StaleBanner } from "./Banners.tsx";
import { useDraft } from "./draft.ts";
import { factsFor } from "./facts.ts";
import { followKeyboardMove, openPlaces, startMove } from "./keyboard.ts";
import { useMayPartition } from "./may-partition.ts";
import { interrupted } from "./outlook.ts";
import { PlanAfter } from "./PlanAfter.tsx";
import { PlanSteps } from "./PlanSteps.tsx";
import styles from "./partition.module.css";
import { followDraft, type PlannedHost, planDraft, usePlanAnswers, withAnswers } from "./plan.ts";
import { RunPanel } from "./RunPanel.tsx";
import { useRun } from "./run.ts";
import { TargetPicker } from "./TargetPicker.tsx";

function usePlan(): readonly PlannedHost[] {
  const draft = useDraft((state) => state.history.present);
  const hosts = useSnapshot((state) => state.hosts);
  const answered = usePlanAnswers();
  return useMemo(() => {
    const planned = planDraft(draft, (gpuUuid) => factsFor(gpuUuid, hosts));
    const current = answered.draft === draft;
    return withAnswers(planned, current ? answered.answers : null, current ? answered.asking : draft.size > 0);
  }, [draft, hosts, answered]);
}

function History() {
  const t = useText();
  const canUndo = useDraft((state) => state.history.past.length > 0);
  const canRedo = useDraft((state) => state.history.future.length > 0);
  return (
    <>
      <button
        type="button"
        className="button quiet icon"
        aria-label={t("plan.undo")}
        title={`${t("plan.undo")} (Ctrl Z)`}
        disabled={!canUndo}
        onClick={() => useDraft.getState().undo()}
      >
        <UndoIcon />
      </button>
      <button
        type="button"
        className="button quiet icon"
        aria-label={t("plan.redo")}
        title={`${t("plan.redo")} (Ctrl Shift Z)`}
        disabled={!canRedo}
        onClick={() => useDraft.getState().redo()}
      >
        <RedoIcon />
      </button>
    </>
  );
}

function useTitle(hosts: readonly PlannedHost[]): string {
  const t = useText();
  const format = useFormat();
  const gpus = hosts.flatMap((host) => host.gpus);
  const steps = gpus.reduce((sum, gpu) => sum + (gpu.plan?.steps.length ?? 0), 0);
  const kept = gpus.reduce((sum, gpu) => sum + (gpu.plan?.kept.length ?? 0), 0);
  const refused = gpus.filter((gpu) => gpu.refusals.length > 0).length;
  const names = new Set(gpus.flatMap(interrupted));
  const values = {
    steps: t("plan.steps", { count: steps }),
    gpus: t("common.gpus", { count: gpus.length }),
    hosts: t("common.hosts", { count: hosts.length }),
  };
  return [
    t(hosts.length > 1 ? "plan.titleHosts" : "plan.title", values),
    kept > 0 ? t("plan.kept", { count: kept }) : null,
    refused > 0 ? t("plan.refused", { count: refused }) : null,
    names.size === 0 ? t("plan.nobody") : t("plan.affects", { names: format.list([...names]) }),
  ]
    .filter((part) => part !== null)
    .join(useListSeparator());
}

/** Between parts of a heading. */
function useListSeparator(): string {
  return useText()("common.separator");
}

function Check({ hosts }: { readonly hosts: readonly PlannedHost[] }) {
  const t = useText();
  const confirmed = hosts.filter(({ check }) => check === "confirmed").length;
  if (hosts.some(({ check }) => check === "asking")) {
    return <span className={styles.check}>{t("plan.checking")}</span>;
  }
  if (confirmed === hosts.length) {
    return (
      <span className={styles.check} data-check="confirmed">
        {t("plan.checked", { count: confirmed })}
      </span>
    );
  }
  return <span className={styles.check}>{t("plan.local")}</span>;
}

function DraftPlan() {
  const hosts = usePlan();
  const title = useTitle(hosts);
  const t = useText();
  const stale = hosts.flatMap((host) => host.gpus).filter((gpu) => gpu.stale);
  if (hosts.length === 0) {
    return (
      <div className={styles.bar}>
        <History />
        <p className={styles.hint}>{t("plan.hint")}</p>
      </div>
    );
  }
  return (
    <>
      <StaleBanner gpus={stale} />
      <div className={styles.content}>
        <div className={styles.bar}>
          <h2 className={styles.planTitle}>{title}</h2>
          <Check hosts={hosts} />
          <History />
        </div>
        <div className={styles.body}>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
          <section className={styles.steps} tabIndex={0} aria-label={t("plan.stepsLabel")}>
            <PlanSteps hosts={hosts} runHosts={null} ended={false} />
          </section>
          <PlanAfter hosts={hosts} />
        </div>
      </div>
    </>
  );
}

function LiveRegion() {
  const { message, count } = useAnnouncement();
  const [spoken, speak] = useState("");
  useEffect(() => {
    // A pause between two sayings, so that the same words are heard again.
    speak("");
    const timer = setTimeout(() => speak(message), count === 0 ? 0 : 60);
    return () => clearTimeout(timer);
  }, [message, count]);
  return (
    <div className="visually-hidden" role="status" aria-live="polite">
      {spoken}
    </div>
  );
}

function useKeys(may: boolean): void {
  useEffect(() => {
    if (!may) return;
    const keys = [
      registerKey({ keys: "m", title: "keys.move", run: startMove }),
      registerKey({ keys: "shift+m", title: "keys.moveTo", run: openPlaces }),
      registerKey({
        keys: "ctrl+z",
        title: "keys.undo",
        run: () => {
          useDraft.getState().undo();
          return true;
        },
      }),
      registerKey({
        keys: "ctrl+shift+z",
        title: "keys.redo",
        run: () => {
          useDraft.getState().redo();
          return true;
        },
      }),
      registerKey({
        keys: "p",
        title: "keys.plan",
        run: () => {
          const panel = document.getElementById("plan-panel");
          // One selector with a comma would give whichever comes first on the page: the undo arrow.
          const target =
            panel?.querySelector<HTMLElement>("[data-apply]") ?? panel?.querySelector("button:not(:disabled)");
          if (target instanceof HTMLElement) target.focus();
          return panel !== null;
        },
      }),
      followKeyboardMove(),
    ];
    return () => {
      for (const remove of keys) remove();
    };
  }, [may]);
}

export function PlanPanel() {
  const t = useText();
  const run = useRun((state) => state.run);
  const may = useMayPartition();
  useKeys(may);
  useEffect(followDraft, []);
  // What runs is shown to its end, whatever the operator's role becomes meanwhile.
  if (!may && run === null) return <LiveRegion />;
  return (
    <section id="plan-panel" className={styles.panel} aria-label={t("plan.label")}>
      <HostBanners />
      {run === null ? <DraftPlan /> : <RunPanel run={run} />}
      <LiveRegion />
      <TargetPicker />
    </section>
  );
}

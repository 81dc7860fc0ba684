/** What the plan leads to, and the buttons. A confirmation stands only where something running would be touched. */
import { useEffect, useState } from "react";
import { commandsOf, newInstancePlaceholder } from "../../shared/mig/commands.ts";
import { registerKey } from "../app/keys.ts";
import { useFormat } from "../i18n/format.ts";
import { useText } from "../i18n/index.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import { announce } from "./announce.ts";
import { useDraft } from "./draft.ts";
import { estimateMs, interrupted, outlookOf, resets } from "./outlook.ts";
import styles from "./partition.module.css";
import { canApply, type PlannedGpu, type PlannedHost } from "./plan.ts";
import { applyPlan } from "./run.ts";

/** The commands of the whole plan, for a shell; a comment before each GPU says where they belong. */
export function planCommands(hosts: readonly PlannedHost[], nameOf: (hostId: string) => string): string {
  const lines: string[] = [];
  for (const host of hosts) {
    for (const { plan } of host.gpus) {
      if (plan === null || plan.steps.length === 0) continue;
      lines.push(`# ${nameOf(host.hostId)}, GPU ${plan.gpuIndex}: ${plan.gpuName}`);
      for (const step of plan.steps) {
        for (const command of commandsOf(step, plan.gpuUuid)) lines.push(command.join(" "));
      }
    }
  }
  return `${lines.join("\n")}\n`;
}

function Outlook({ gpus }: { readonly gpus: readonly PlannedGpu[] }) {
  const t = useText();
  const format = useFormat();
  const outlook = outlookOf(gpus);
  const hosts = useSnapshot((state) => state.hosts);
  const takenAt = gpus.map(({ entry }) => hosts.get(entry.hostId)?.asOf ?? null).find((at) => at !== null) ?? null;
  return (
    <dl className="facts">
      <dt>{t("plan.fitsNow")}</dt>
      <dd>
        {outlook.length === 0
          ? t("plan.fitsSame")
          : outlook.map(({ profile, before, after }) => (
              <div key={profile}>
                {after === 0
                  ? t("plan.fitsGone", { profile, before })
                  : before === 0
                    ? t("plan.fitsFirst", { profile, count: after })
                    : t("plan.fits", { profile, count: after, before })}
              </div>
            ))}
      </dd>
      <dt>{t("plan.takes")}</dt>
      <dd>{t("plan.takesAbout", { duration: format.duration(Math.ceil(estimateMs(gpus) / 1_000) * 1_000) })}</dd>
      {takenAt === null ? null : (
        <>
          <dt>{t("plan.undoTo")}</dt>
          <dd title={format.exact(takenAt)}>{t("plan.undoToTime", { time: format.clock(takenAt, Date.now()) })}</dd>
        </>
      )}
    </dl>
  );
}

function gpuNames(gpus: readonly PlannedGpu[]): readonly string[] {
  return gpus.flatMap(({ facts }) => (facts === null ? [] : [`${facts.hostName} / GPU ${facts.gpu.index}`]));
}

export function PlanAfter({ hosts }: { readonly hosts: readonly PlannedHost[] }) {
  const t = useText();
  const format = useFormat();
  const views = useSnapshot((state) => state.hosts);
  const clusterId = useSnapshot((state) => state.activeClusterId);
  const [confirming, setConfirming] = useState(false);
  const [copied, setCopied] = useState(false);

  const nameOf = (hostId: string) => views.get(hostId)?.name ?? hostId;
  const gpus = hosts.flatMap((host) => host.gpus);
  const away = hosts.filter(({ hostId }) => views.get(hostId)?.state.kind !== "live");
  const forbidden = hosts.filter(({ hostId }) => views.get(hostId)?.canChange === false);
  const ready = hosts
    .filter((host) => host.check !== "refused" && !away.includes(host) && !forbidden.includes(host))
    .flatMap((host) => host.gpus.filter(canApply));
  const changing = gpus.filter((gpu) => gpu.plan === null || gpu.plan.steps.length > 0);
  const resetting = ready.filter((gpu) => gpu.plan !== null && resets(gpu.plan));
  const names = [...new Set(resetting.flatMap(interrupted))];

  const apply = (): boolean => {
    if (ready.length === 0 || clusterId === null) return false;
    if (resetting.length > 0 && !confirming) {
      setConfirming(true);
      return true;
    }
    setConfirming(false);
    void applyPlan(clusterId, ready);
    return true;
  };
  // Registered anew with every render: the key applies what is on the screen.
  useEffect(() => registerKey({ keys: "ctrl+enter", title: "keys.apply", run: apply }));

  const copy = async () => {
    const text = planCommands(hosts, nameOf);
    await navigator.clipboard.writeText(text);
    setCopied(true);
    announce(t("common.copied"));
    setTimeout(() => setCopied(false), 2_000);
  };
  const commands = planCommands(hosts, nameOf);

  return (
    <section className={styles.after} aria-labelledby="plan-after">
      <h3 id="plan-after">{t("plan.after")}</h3>
      <Outlook gpus={gpus} />
      {away.length === 0 ? null : <p className={styles.problem}>{t("plan.notLive", { count: away.length })}</p>}
      {forbidden.length === 0 ? null : (
        <p className={styles.problem}>
          {t("plan.cannotChange", { hosts: format.list(forbidden.slice(0, 3).map(({ hostId }) => nameOf(hostId))) })}
        </p>
      )}
      {confirming ? (
        <div className={styles.confirm} role="alert">
          <p>
            {names.length === 0
              ? t("plan.confirmResetNobody", { gpus: format.list(gpuNames(resetting).slice(0, 6)) })
              : t("plan.confirmReset", {
                  gpus: format.list(gpuNames(resetting).slice(0, 6)),
                  names: format.list(names),
                })}
          </p>
          <div className={styles.actions}>
            <button type="button" className="button" onClick={() => setConfirming(false)}>
              {t("plan.confirmBack")}
            </button>
            <button type="button" className="button danger" onClick={apply}>
              {t("plan.confirmGo")}
            </button>
          </div>
        </div>
      ) : (
        <div className={styles.actions}>
          <button
            type="button"
            className="button primary"
            data-apply=""
            title={t("plan.applyTitle")}
            disabled={ready.length === 0}
            onClick={apply}
          >
            {t(ready.length > 0 && ready.length < changing.length ? "plan.applySome" : "plan.apply")}
          </button>
          <button type="button" className="button" onClick={() => void copy()}>
            {copied ? t("common.copied") : t("plan.copy")}
          </button>
          <button type="button" className="button quiet" onClick={() => useDraft.getState().discard()}>
            {t("plan.discard")}
          </button>
        </div>
      )}
      {commands.includes(newInstancePlaceholder) ? (
        <p className={styles.reason}>{t("plan.instanceIds", { id: newInstancePlaceholder })}</p>
      ) : null}
    </section>
  );
}

/** For administrators: where the ledger and the engine differ, a choice on each, and what the engine's own setting lacks. */
import { useCallback, useEffect, useState } from "react";
import { create, useStore } from "zustand";
import { type AppErrorData, toErrorData } from "../../shared/errors.ts";
import type { Drift, EngineStatus, QuotaProgress } from "../../shared/protocol/control.ts";
import { client } from "../client/index.ts";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { type Translate, useText } from "../i18n/index.ts";
import { Copyable } from "./Copyable.tsx";
import { useLook } from "./look.ts";
import type { QuotaModel } from "./model.ts";
import styles from "./quota.module.css";
import { driftSideWords, driftWords, pathWords } from "./words.ts";

interface Checked {
  readonly clusterId: string | null;
  readonly drift: readonly Drift[];
  readonly status: EngineStatus | null;
  readonly error: AppErrorData | null;
}

const useChecked = create<Checked>(() => ({ clusterId: null, drift: [], status: null, error: null }));

async function check(clusterId: string, signal: AbortSignal): Promise<void> {
  try {
    const input = { clusterId, input: {} };
    const [drift, status] = await Promise.all([
      client().request("engine.drift", input, signal),
      client().request("engine.status", input, signal),
    ]);
    if (!signal.aborted) useChecked.setState({ clusterId, drift, status, error: null });
  } catch (error) {
    if (!signal.aborted) useChecked.setState({ clusterId, drift: [], status: null, error: toErrorData(error) });
  }
}

export function EngineBanner() {
  const t = useText();
  const { clusterId, answer, desk } = useLook();
  const showsEngine = useStore(desk, (state) => state.showsEngine);
  const checked = useChecked();
  const { revision } = answer;
  useEffect(() => {
    const end = new AbortController();
    // Asked anew with every change of the ledger; the answer itself does not name the revision it is of.
    if (revision >= 0) void check(clusterId, end.signal);
    return () => end.abort();
  }, [clusterId, revision]);
  if (checked.clusterId !== clusterId) return null;
  const findings = checked.status?.findings.filter(({ level }) => level !== "ok") ?? [];
  if (checked.drift.length === 0 && findings.length === 0 && checked.error === null && !showsEngine) return null;
  const words = [
    checked.error === null ? null : t("quota.notChecked"),
    checked.drift.length === 0 ? null : t("quota.drift", { count: checked.drift.length }),
    findings.length === 0 ? null : t("quota.findings", { count: findings.length }),
  ].filter((part) => part !== null);
  return (
    <div className={styles.banner} role="status">
      <strong>{words.length === 0 ? t("quota.noDrift") : words.join(t("common.separator"))}</strong>
      <button type="button" className="button" onClick={() => desk.setState({ showsEngine: !showsEngine })}>
        {t(showsEngine ? "quota.backToTable" : "quota.compare")}
      </button>
    </div>
  );
}

export function EngineCheck() {
  const t = useText();
  const { status, error } = useChecked();
  const findings = status?.findings.filter(({ level }) => level !== "ok") ?? [];
  return (
    <div className={styles.engine}>
      {error === null ? null : <ErrorText error={error} />}
      <Differences />
      {findings.length === 0 ? null : (
        <section className={styles.part}>
          <h2>{t("quota.findings", { count: findings.length })}</h2>
          <ul className={styles.findings}>
            {findings.map((finding) => (
              <li key={`${finding.check} ${finding.message}`}>
                <p>
                  <span className={`tag ${finding.level === "problem" ? "bad" : "warning"}`}>{finding.check}</span>{" "}
                  {finding.message} <span className="muted">{finding.remedy}</span>
                </p>
                {finding.change === undefined ? null : (
                  <>
                    <p className="mono">{finding.change.file}</p>
                    <Copyable text={finding.change.lines.join("\n")} label={t("quota.copyChange")} />
                  </>
                )}
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

function driftPlace(t: Translate, model: QuotaModel, { subject }: Drift): string {
  return subject === null ? t("quota.outside") : pathWords(t, model, subject);
}

type Way = Drift["ways"][number];

function Differences() {
  const t = useText();
  const { clusterId, model, store } = useLook();
  const { drift } = useChecked();
  const [choices, setChoices] = useState<ReadonlyMap<string, Way>>(new Map());
  const [progress, setProgress] = useState<QuotaProgress | null>(null);
  const [failures, setFailures] = useState<readonly { readonly id: string; readonly error: AppErrorData | null }[]>([]);
  const [error, setError] = useState<AppErrorData | null>(null);
  const chosen = drift.flatMap(({ id, ways }) => {
    const take = choices.get(id);
    return take !== undefined && ways.includes(take) ? [{ id, take }] : [];
  });
  const choose = (each: readonly Drift[], way: Way): void => {
    const able = each.filter(({ ways }) => ways.includes(way)).map(({ id }) => [id, way] as const);
    setChoices((before) => new Map([...before, ...able]));
  };
  const apply = useCallback(async () => {
    setError(null);
    setProgress({ done: 0, total: chosen.length });
    try {
      const input = { clusterId, input: { resolutions: chosen } };
      const { outcomes } = await client().task("engine.resolve", input, setProgress);
      setFailures(
        outcomes
          .filter(({ outcome }) => outcome !== "done")
          .map((each) => ({ id: each.id, error: each.error ?? null })),
      );
      await check(clusterId, new AbortController().signal);
      await store.load();
    } catch (thrown) {
      setError(toErrorData(thrown));
    } finally {
      setProgress(null);
    }
  }, [chosen, clusterId, store]);
  if (drift.length === 0) return <p className="muted">{t("quota.noDrift")}</p>;
  return (
    <section className={styles.part}>
      <h2>{t("quota.drift", { count: drift.length })}</h2>
      <table className="plain-table">
        <thead>
          <tr>
            <th scope="col">{t("quota.name")}</th>
            <th scope="col">{t("quota.driftWhat")}</th>
            {(["ledger", "engine"] as const).map((way) => (
              <th key={way} scope="col">
                {t(`quota.side-${way}`)}{" "}
                <button type="button" className={styles.link} onClick={() => choose(drift, way)}>
                  {t("quota.takeAll")}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {drift.map((each) => {
            const failure = failures.find(({ id }) => id === each.id);
            return (
              <tr key={each.id}>
                <td>
                  {driftPlace(t, model, each)}
                  {failure === undefined ? null : failure.error === null ? (
                    <p className={styles.problem}>{t("quota.outcome-unknown")}</p>
                  ) : (
                    <ErrorText error={failure.error} />
                  )}
                </td>
                <td className="muted">{driftWords(t, each.what)}</td>
                {(["ledger", "engine"] as const).map((way) => (
                  <td key={way}>
                    <label>
                      <input
                        type="radio"
                        name={`drift-${each.id}`}
                        disabled={!each.ways.includes(way)}
                        checked={choices.get(each.id) === way}
                        onChange={() => choose([each], way)}
                      />{" "}
                      {driftSideWords(t, each[way])}
                    </label>
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
      {error === null ? null : <ErrorText error={error} />}
      <div className={styles.actions}>
        <button
          type="button"
          className="button primary"
          disabled={chosen.length === 0 || progress !== null}
          onClick={() => void apply()}
        >
          {t("quota.resolve", { count: chosen.length })}
        </button>
        {progress === null ? null : (
          <span className="muted">{t("quota.progress", { done: progress.done, total: progress.total })}</span>
        )}
      </div>
    </section>
  );
}

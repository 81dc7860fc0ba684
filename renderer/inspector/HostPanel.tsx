/** Everything known about one host, its state and what to do about it. */
import { useState } from "react";
import type { HostView } from "../../shared/api/snapshot.ts";
import { type AppErrorData, toErrorData } from "../../shared/errors.ts";
import type { DoctorFinding } from "../../shared/protocol/contract.ts";
import { client } from "../client/index.ts";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { useFormat } from "../i18n/format.ts";
import { useText } from "../i18n/index.ts";
import { LeaseList } from "../leases/LeaseList.tsx";
import { useMayPartition } from "../partition/may-partition.ts";
import { useSelection } from "../stores/selection.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import { Facts } from "./Facts.tsx";
import styles from "./inspector.module.css";
import { useNow } from "./now.ts";
import { Operations } from "./Operations.tsx";

function State({ host }: { readonly host: HostView }) {
  const t = useText();
  const format = useFormat();
  const now = useNow();
  const clusterId = useSnapshot((state) => state.activeClusterId);
  const { state } = host;
  const error = "error" in state ? state.error : null;
  const retryAt = state.kind === "unreachable" ? state.retryAt : null;
  const age = format.since(host.asOf, now);
  const retriable = state.kind === "unreachable" || state.kind === "refused" || state.kind === "stale";
  return (
    <div className={styles.state} data-state={state.kind}>
      <p>
        <strong>{t(`inspector.state-${state.kind}`)}</strong>
        {age === null || state.kind === "live" ? null : (
          <span title={host.asOf === null ? undefined : format.exact(host.asOf)}>
            {" "}
            {t("inspector.stateStale", { age })}
          </span>
        )}
      </p>
      {error === null ? null : <ErrorText error={error} />}
      {retriable && clusterId !== null ? (
        <p className={styles.actions}>
          <button
            type="button"
            className="button"
            onClick={() => void client().request("clusters.retry", { clusterId, hostId: host.id })}
          >
            {t("inspector.retry")}
          </button>
          {retryAt === null ? null : (
            <span className="muted">{t("inspector.retryAt", { time: format.clock(retryAt, now) })}</span>
          )}
        </p>
      ) : null}
    </div>
  );
}

function Checks({ host }: { readonly host: HostView }) {
  const t = useText();
  const clusterId = useSnapshot((state) => state.activeClusterId);
  const [findings, setFindings] = useState<readonly DoctorFinding[] | null>(null);
  const [saved, setSaved] = useState<number | null>(null);
  const [error, setError] = useState<AppErrorData | null>(null);
  const [busy, setBusy] = useState(false);
  if (clusterId === null || host.state.kind !== "live") return null;
  const run = async (work: () => Promise<void>) => {
    setBusy(true);
    setError(null);
    try {
      await work();
    } catch (thrown) {
      setError(toErrorData(thrown));
    } finally {
      setBusy(false);
    }
  };
  const where = { clusterId, hostId: host.id };
  return (
    <section className={styles.section}>
      <div className={styles.actions}>
        <button
          type="button"
          className="button"
          disabled={busy}
          onClick={() => void run(async () => setFindings(await client().request("host.doctor", where)))}
        >
          {t(busy ? "inspector.doctorRunning" : "inspector.doctor")}
        </button>
        <button
          type="button"
          className="button"
          disabled={busy || host.canChange === false}
          title={t("inspector.saveTitle")}
          onClick={() => void run(async () => setSaved((await client().request("partition.save", where)).savedGpus))}
        >
          {t("inspector.save")}
        </button>
        {saved === null ? null : <span className="muted">{t("inspector.savedNow", { count: saved })}</span>}
      </div>
      {error === null ? null : <ErrorText error={error} />}
      {findings === null ? null : (
        <>
          <h3>{t("inspector.doctorTitle")}</h3>
          <ul className={styles.findings}>
            {findings.map((finding) => (
              <li key={finding.check} data-level={finding.level}>
                <span className={`tag ${{ ok: "good", warning: "warning", problem: "bad" }[finding.level]}`}>
                  {finding.check}
                </span>
                <span>
                  {finding.message} <span className="muted">{finding.remedy}</span>
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

export function HostPanel({ host }: { readonly host: HostView }) {
  const t = useText();
  const format = useFormat();
  const select = useSelection((state) => state.select);
  const may = useMayPartition();
  const { inventory } = host;
  const facts = inventory?.host;
  const models = new Map<string, number>();
  for (const gpu of inventory?.gpus ?? []) models.set(gpu.name, (models.get(gpu.name) ?? 0) + 1);
  return (
    <>
      <h2 className={styles.title}>{host.name}</h2>
      <State host={host} />
      {inventory === null || facts === undefined ? null : (
        <>
          <Facts
            rows={[
              [t("inspector.rack"), host.rack === "" ? t("common.none") : host.rack],
              [
                t("inspector.gpus"),
                models.size === 0
                  ? t("common.none")
                  : [...models].map(([name, count]) => `${count} × ${name}`).join(t("common.separator")),
              ],
              [
                t("inspector.driver"),
                `${inventory.driver.version ?? t("common.unknown")}, ${inventory.driver.cudaVersion ?? t("common.unknown")}`,
              ],
              [t("inspector.kernel"), [facts.kernel, facts.architecture].filter((part) => part !== null).join(", ")],
              [
                t("inspector.cpus"),
                t("inspector.cpusValue", {
                  count: facts.cpuCount ?? t("common.unknown"),
                  memory: format.memory(facts.memoryMiB),
                }),
              ],
              [
                t("inspector.numa"),
                facts.numaNodes.length === 0
                  ? null
                  : facts.numaNodes.map(({ id, cpus }) => <div key={id}>{`${id}: ${cpus}`}</div>),
              ],
              [
                t("inspector.nics"),
                facts.nics.length === 0 ? t("common.none") : facts.nics.map(({ name }) => name).join(", "),
              ],
              ...(may
                ? ([
                    [
                      t("inspector.mayChange"),
                      host.canChange === null
                        ? null
                        : t(host.canChange ? "inspector.mayChangeYes" : "inspector.mayChangeNo"),
                    ],
                  ] as const)
                : []),
              [
                t("inspector.managers"),
                facts.managers.length === 0 ? (
                  t("common.none")
                ) : (
                  <span key="managers" title={t("inspector.managersHint")}>
                    {facts.managers.map(({ name }) => name).join(", ")}
                  </span>
                ),
              ],
            ]}
          />
          <LeaseList hostId={host.id} />
          {may ? (
            <>
              <Checks key={host.id} host={host} />
              <Operations key={`operations of ${host.id}`} host={host} />
            </>
          ) : null}
          <section className={styles.section}>
            <h3>{t("inspector.gpus")}</h3>
            <ul className={styles.rows}>
              {inventory.gpus.map((gpu) => (
                <li key={gpu.uuid}>
                  <button
                    type="button"
                    className={styles.row}
                    onClick={() => select({ kind: "gpu", hostId: host.id, gpuUuid: gpu.uuid })}
                  >
                    <span className="muted">GPU {gpu.index}</span>
                    <span className="truncate">
                      {gpu.state.kind === "failed"
                        ? gpu.state.words
                        : `${format.watts(gpu.power.drawWatts)}, ${format.celsius(gpu.temperatureCelsius)}`}
                    </span>
                  </button>
                </li>
              ))}
            </ul>
          </section>
          {inventory.unread.length === 0 ? null : (
            <section className={styles.section}>
              <h3>{t("inspector.unread")}</h3>
              <ul className={styles.findings}>
                {inventory.unread.map((unread) => (
                  <li key={`${unread.source} ${unread.field}`} title={unread.raw}>
                    <span>
                      {unread.source} {unread.field}: {unread.reason}
                    </span>
                  </li>
                ))}
              </ul>
            </section>
          )}
        </>
      )}
    </>
  );
}

/** What was changed on a host, by whom, and how it ended; from the host's own journal, whichever console asked. */
import { useEffect, useState } from "react";
import type { HostView } from "../../shared/api/snapshot.ts";
import { type AppErrorData, toErrorData } from "../../shared/errors.ts";
import type { MigStatus, Operation } from "../../shared/protocol/contract.ts";
import { client } from "../client/index.ts";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { useFormat } from "../i18n/format.ts";
import { useText } from "../i18n/index.ts";
import { undo, useRun } from "../partition/run.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import styles from "./inspector.module.css";
import { useNow } from "./now.ts";

const shown = 6;
const tags = { open: "warning", applied: "good", "rolled-back": "warning", cancelled: "" } as const;

export function Operations({ host }: { readonly host: HostView }) {
  const t = useText();
  const clusterId = useSnapshot((state) => state.activeClusterId);
  const running = useRun(({ run }) => run !== null && run.endedAt === null);
  const [status, setStatus] = useState<MigStatus | null>(null);
  const [error, setError] = useState<AppErrorData | null>(null);
  const live = host.state.kind === "live";
  // A change by whatever console shows as other instances or modes, its end as another open operation.
  const layouts = JSON.stringify(
    host.inventory?.gpus.map(({ mig, instances }) => [
      mig.current,
      instances.map(({ id, profileId, placement }) => [id, profileId, placement.start]),
    ]),
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked anew when one of these has changed
  useEffect(() => {
    if (clusterId === null || !live || running) return;
    const controller = new AbortController();
    client()
      .request("partition.status", { clusterId, hostId: host.id }, controller.signal)
      .then(
        (answer) => {
          setStatus(answer);
          setError(null);
        },
        (thrown: unknown) => {
          if (!controller.signal.aborted) setError(toErrorData(thrown));
        },
      );
    return () => controller.abort();
  }, [clusterId, host.id, live, running, host.openOperationId, host.runningOperationId, layouts]);
  if (clusterId === null || !live || (status === null && error === null)) return null;
  const undoable = status?.open === null ? status.undoable : null;
  return (
    <section className={styles.section}>
      <h3>{t("operations.title")}</h3>
      {error === null ? null : <ErrorText error={error} />}
      {status?.operations.length === 0 ? <p className="muted">{t("operations.none")}</p> : null}
      <ul className={styles.rows}>
        {status?.operations.slice(0, shown).map((operation) => (
          <OperationRow key={operation.id} operation={operation} />
        ))}
      </ul>
      {undoable === null ? null : (
        <div className={styles.actions}>
          <button
            type="button"
            className="button"
            disabled={running || host.canChange === false}
            onClick={() => void undo(clusterId, [{ hostId: host.id, operationId: undoable }])}
          >
            {t("operations.undo")}
          </button>
        </div>
      )}
    </section>
  );
}

function OperationRow({ operation }: { readonly operation: Operation }) {
  const t = useText();
  const format = useFormat();
  const now = useNow();
  const { kind, state, startedAt, caller, gpus, reason } = operation;
  const user = caller.user ?? String(caller.uid);
  const title = [format.exact(startedAt), user, reason, operation.id].filter((part) => part !== null).join(", ");
  return (
    <li className={styles.row} title={title}>
      <span className="truncate">
        {t("operations.what", {
          kind: t(`operations.kind-${kind}`),
          gpus: gpus.map(({ gpuIndex }) => gpuIndex).join(", "),
        })}
      </span>
      <span className="truncate">
        <span className="muted">{t("operations.when", { time: format.clock(startedAt, now), user })}</span>{" "}
        <span className={`tag ${tags[state]}`}>{t(`operations.state-${state}`)}</span>
      </span>
    </li>
  );
}

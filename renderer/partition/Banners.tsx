/** What waits for a decision before or beside the plan: drafts gone stale, operations that did not finish, lost layouts. */
import { useEffect, useState } from "react";
import type { HostView } from "../../shared/api/snapshot.ts";
import { type AppErrorData, toErrorData } from "../../shared/errors.ts";
import type { MigStatus, Operation } from "../../shared/protocol/contract.ts";
import { client } from "../client/index.ts";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { useFormat } from "../i18n/format.ts";
import { useText } from "../i18n/index.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import { useDraft } from "./draft.ts";
import { forgetRunning, leftRunning } from "./left-running.ts";
import { stepChip, stepWords } from "./PlanSteps.tsx";
import styles from "./partition.module.css";
import type { PlannedGpu } from "./plan.ts";
import { recover, restore, undo, useRun } from "./run.ts";
import { layoutWords } from "./words.ts";

export function StaleBanner({ gpus }: { readonly gpus: readonly PlannedGpu[] }) {
  const t = useText();
  if (gpus.length === 0) return null;
  const uuids = new Set(gpus.map(({ entry }) => entry.gpuUuid));
  return (
    <div className={styles.banner} role="alert">
      <div>
        <strong>{t("stale.title", { count: gpus.length })}</strong>
        <ul className={styles.differences}>
          {gpus.slice(0, 4).map(({ entry, facts }) =>
            facts === null ? null : (
              <li key={entry.gpuUuid}>
                {facts.hostName} / GPU {facts.gpu.index}:{" "}
                {t("stale.was", { layout: layoutWords(t, facts, entry.baseline) })}
                {t("common.separator")}
                {t("stale.is", { layout: layoutWords(t, facts, facts.current) })}
              </li>
            ),
          )}
        </ul>
      </div>
      <button type="button" className="button primary" onClick={() => useDraft.getState().rebase(uuids)}>
        {t("stale.replan")}
      </button>
      <button type="button" className="button" onClick={() => useDraft.getState().discard(uuids)}>
        {t("stale.drop")}
      </button>
    </div>
  );
}

interface Known {
  readonly operation: Operation | null;
  readonly error: AppErrorData | null;
}

/** Asks the host about its unfinished operation, once for each. */
function useOperation(clusterId: string | null, hostId: string, operationId: string): Known {
  const [known, setKnown] = useState<Known>({ operation: null, error: null });
  useEffect(() => {
    if (clusterId === null) return;
    const controller = new AbortController();
    client()
      .request("partition.status", { clusterId, hostId }, controller.signal)
      .then(
        ({ open }) => setKnown({ operation: open?.id === operationId ? open : null, error: null }),
        (error: unknown) => {
          if (!controller.signal.aborted) setKnown({ operation: null, error: toErrorData(error) });
        },
      );
    return () => controller.abort();
  }, [clusterId, hostId, operationId]);
  return known;
}

function RecoverBanner({ host, operationId }: { readonly host: HostView; readonly operationId: string }) {
  const t = useText();
  const clusterId = useSnapshot((state) => state.activeClusterId);
  const wordsOf = useOperationWords();
  const { operation, error } = useOperation(clusterId, host.id, operationId);
  if (clusterId === null) return null;
  const begun = operation?.begunStep?.step ?? null;
  return (
    <div className={styles.banner} role="alert">
      <div>
        <strong>{t("recover.title", { host: host.name })}</strong>
        {operation === null ? null : (
          <p>
            {t("recover.text", wordsOf(operation))}{" "}
            {begun === null ? null : t("recover.begun", { step: `${stepChip(t, begun).label} ${stepWords(t, begun)}` })}
          </p>
        )}
        {error === null ? null : <ErrorText error={error} />}
      </div>
      <button type="button" className="button" onClick={() => void recover(clusterId, host.id, operationId, "finish")}>
        {t("recover.finish")}
      </button>
      <button
        type="button"
        className="button"
        onClick={() => void recover(clusterId, host.id, operationId, "roll-back")}
      >
        {t("recover.rollBack")}
      </button>
    </div>
  );
}

/** How the words of an operation are filled, whether it runs, waits or has ended. */
function useOperationWords() {
  const t = useText();
  const format = useFormat();
  return (operation: Operation) => ({
    what: t(`recover.kind-${operation.kind}`),
    time: format.clock(operation.startedAt, Date.now()),
    user: operation.caller.user ?? String(operation.caller.uid),
    done: operation.doneSteps,
    total: operation.gpus.reduce((sum, gpu) => sum + gpu.steps.length, 0),
  });
}

const runningPollMs = 1_000;

/** Of an operation under way the steps; of one that ended how, and the way back. */
function OperationBanner({
  host,
  operationId,
  onClose,
}: {
  readonly host: HostView;
  readonly operationId: string;
  readonly onClose: () => void;
}) {
  const t = useText();
  const wordsOf = useOperationWords();
  const clusterId = useSnapshot((state) => state.activeClusterId);
  const [status, setStatus] = useState<MigStatus | null>(null);
  const running = host.runningOperationId === operationId;
  useEffect(() => {
    if (clusterId === null) return;
    const controller = new AbortController();
    const ask = () =>
      client()
        .request("partition.status", { clusterId, hostId: host.id }, controller.signal)
        .then(setStatus, () => undefined);
    void ask();
    const timer = running ? setInterval(ask, runningPollMs) : undefined;
    return () => {
      controller.abort();
      clearInterval(timer);
    };
  }, [clusterId, host.id, running]);
  const operation = status?.operations.find(({ id }) => id === operationId);
  if (clusterId === null || operation === undefined) return null;
  const words = wordsOf(operation);
  if (running || operation.state === "open") {
    return (
      <div className={styles.banner} role="status">
        <div>
          <strong>{t("running.title", { host: host.name })}</strong>
          <p>{t("running.text", words)}</p>
        </div>
      </div>
    );
  }
  return (
    <div className={styles.banner} role="status">
      <div>
        <p>{t("running.ended", { ...words, host: host.name, outcome: t(`operations.state-${operation.state}`) })}</p>
      </div>
      {status?.undoable === operationId ? (
        <button
          type="button"
          className="button"
          onClick={() => {
            onClose();
            void undo(clusterId, [{ hostId: host.id, operationId }]);
          }}
        >
          {t("apply.undo")}
        </button>
      ) : null}
      <button type="button" className="button quiet" onClick={onClose}>
        {t("apply.close")}
      </button>
    </div>
  );
}

/** Operations that this page saw under way without having begun them: it was loaded anew, or somebody else began them. */
function useWatched(hosts: ReadonlyMap<string, HostView>, ownRun: boolean) {
  const clusterId = useSnapshot((state) => state.activeClusterId);
  const [watched, setWatched] = useState<ReadonlyMap<string, string>>(new Map());
  useEffect(() => setWatched(leftRunning(clusterId)), [clusterId]);
  useEffect(() => {
    if (ownRun) return;
    const met = [...hosts.values()].flatMap(({ id, runningOperationId }): readonly [string, string][] =>
      runningOperationId === null || watched.get(id) === runningOperationId ? [] : [[id, runningOperationId]],
    );
    if (met.length > 0) setWatched(new Map([...watched, ...met]));
  }, [hosts, ownRun, watched]);
  const close = (hostId: string) => {
    forgetRunning();
    setWatched(new Map([...watched].filter(([id]) => id !== hostId)));
  };
  return { watched, close };
}

/** Offers that the operator has put off, until the console is closed or the host reboots again. */
const putOff = new Set<string>();

function RestoreBanner({ host, onLater }: { readonly host: HostView; readonly onLater: () => void }) {
  const t = useText();
  const clusterId = useSnapshot((state) => state.activeClusterId);
  if (clusterId === null) return null;
  return (
    <div className={styles.banner}>
      <div>
        <strong>{t("restore.title", { host: host.name })}</strong>
      </div>
      <button type="button" className="button" onClick={() => void restore(clusterId, host.id)}>
        {t("restore.go")}
      </button>
      <button type="button" className="button quiet" onClick={onLater}>
        {t("restore.later")}
      </button>
    </div>
  );
}

export function HostBanners() {
  const hosts = useSnapshot((state) => state.hosts);
  const running = useRun(({ run }) => run !== null && run.endedAt === null);
  const [, setLater] = useState(0);
  const { watched, close } = useWatched(hosts, running);
  if (running) return null;
  const followed = [...watched].flatMap(([hostId, operationId]) => {
    const host = hosts.get(hostId);
    // One that was left behind asks for a decision below.
    return host === undefined || host.openOperationId === operationId ? [] : [{ host, operationId }];
  });
  const waiting = [...hosts.values()].filter(
    (host) => host.state.kind === "live" && (host.openOperationId !== null || host.restoreOffered),
  );
  if (waiting.length === 0 && followed.length === 0) return null;
  const keyOf = (host: HostView) => `${host.id} ${host.inventory?.host.bootId ?? ""}`;
  return (
    <div className={styles.banners}>
      {followed.map(({ host, operationId }) => (
        <OperationBanner
          key={`${host.id} ${operationId}`}
          host={host}
          operationId={operationId}
          onClose={() => close(host.id)}
        />
      ))}
      {waiting.map((host) =>
        host.openOperationId !== null ? (
          <RecoverBanner key={host.id} host={host} operationId={host.openOperationId} />
        ) : putOff.has(keyOf(host)) ? null : (
          <RestoreBanner
            key={host.id}
            host={host}
            onLater={() => {
              putOff.add(keyOf(host));
              setLater((count) => count + 1);
            }}
          />
        ),
      )}
    </div>
  );
}

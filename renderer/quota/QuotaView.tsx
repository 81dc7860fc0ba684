/** Limits of tenants, projects and people: the table, the selected row and the draft beside it. */
import { useDeferredValue, useEffect, useMemo } from "react";
import { useStore } from "zustand";
import type { ControlState } from "../../shared/api/contract.ts";
import type { Me } from "../../shared/protocol/control.ts";
import { registerKey } from "../app/keys.ts";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { useText } from "../i18n/index.ts";
import { LedgerGate, ViewNotice } from "../ledger/LedgerGate.tsx";
import { useSnapshot } from "../stores/snapshot.ts";
import { BulkBar } from "./BulkBar.tsx";
import { DraftPanel } from "./DraftPanel.tsx";
import { deskFor } from "./desk.ts";
import { emptyDraft, mayEditAny } from "./draft.ts";
import { EngineBanner, EngineCheck } from "./EngineCheck.tsx";
import { FilePreview } from "./FilePreview.tsx";
import { LookContext, useLook, useMakeLook } from "./look.ts";
import { rowsOf, situationIn } from "./model.ts";
import { NodePanel } from "./NodePanel.tsx";
import { QuotaBar } from "./QuotaBar.tsx";
import { QuotaTable } from "./QuotaTable.tsx";
import styles from "./quota.module.css";
import { quotaStoreFor, useFreshQuotas } from "./services.ts";
import type { QuotaStore } from "./store.ts";

export function QuotaView() {
  const clusterName = useSnapshot((state) => state.clusterName);
  return (
    <LedgerGate>
      {({ clusterId, control, me }) => (
        <Quotas
          key={`${clusterId} ${me.uid}`}
          clusterId={clusterId}
          clusterName={clusterName ?? clusterId}
          control={control}
          me={me}
          store={quotaStoreFor(clusterId, me.uid)}
        />
      )}
    </LedgerGate>
  );
}

function Quotas({
  clusterId,
  clusterName,
  control,
  me,
  store,
}: {
  readonly clusterId: string;
  readonly clusterName: string;
  readonly control: ControlState;
  readonly me: Me;
  readonly store: QuotaStore;
}) {
  const t = useText();
  const desk = deskFor(clusterId);
  const isWriting = useStore(desk, (state) => state.writing !== null);
  const error = useStore(store, (state) => state.error);
  useFreshQuotas(store, control, isWriting);
  const look = useMakeLook(clusterId, clusterName, me, store, desk);
  const isEditor = mayEditAny(me);
  const model = look?.model ?? null;
  // Ready before the first edit asks for it.
  useEffect(() => {
    if (model === null || !isEditor) return;
    const waiting = requestIdleCallback(() => situationIn(model));
    return () => cancelIdleCallback(waiting);
  }, [model, isEditor]);
  useEffect(() => {
    if (!isEditor) return;
    const step = (keys: string, title: "keys.undo" | "keys.redo", run: () => void) =>
      registerKey({
        keys,
        title,
        run: () => {
          run();
          return true;
        },
      });
    const keys = [
      step("ctrl+z", "keys.undo", () => store.undo()),
      step("ctrl+y", "keys.redo", () => store.redo()),
      step("ctrl+shift+z", "keys.redo", () => store.redo()),
    ];
    return () => {
      for (const remove of keys) remove();
    };
  }, [store, isEditor]);
  if (look === null) {
    if (error === null) return <ViewNotice title={t("quota.loading")} />;
    const again = (
      <button type="button" className="button" onClick={() => void store.load()}>
        {t("quota.again")}
      </button>
    );
    return <ViewNotice title={t("quota.failed")} error={error} action={again} />;
  }
  return (
    <LookContext value={look}>
      <Desk />
    </LookContext>
  );
}

function Desk() {
  const t = useText();
  const { desk, model, tree, draft, me, store } = useLook();
  const error = useStore(store, (state) => state.error);
  const expanded = useStore(desk, (state) => state.expanded);
  const search = useDeferredValue(useStore(desk, (state) => state.search));
  const filter = useStore(desk, (state) => state.filter);
  const file = useStore(desk, (state) => state.file);
  const showsEngine = useStore(desk, (state) => state.showsEngine);
  // Without a filter the rows are the same whatever the draft is, and 20,000 of them need not be found with each edit.
  const filtered = filter === "all" ? model.tree : tree;
  const filteredDraft = filter === "drafts" ? draft : emptyDraft;
  const rows = useMemo(
    () => rowsOf(model, filtered, { expanded, search, filter, drafted: new Set(filteredDraft.keys()) }),
    [model, filtered, expanded, search, filter, filteredDraft],
  );
  const isAdministrator = me.role === "administrator" || me.open;
  return (
    <div className={styles.view}>
      <div className={styles.main}>
        {/* With a draft it stands there, beside what was to be applied. */}
        {error !== null && draft.size === 0 ? (
          <div className={styles.banner} role="alert">
            <ErrorText error={error} />
            <button type="button" className="button" onClick={() => void store.load()}>
              {t("quota.again")}
            </button>
          </div>
        ) : null}
        {isAdministrator ? <EngineBanner /> : null}
        {isAdministrator && showsEngine ? (
          <EngineCheck />
        ) : (
          <>
            <QuotaBar count={rows.length} />
            <BulkBar />
            {file === null ? null : <FilePreview file={file} />}
            <QuotaTable rows={rows} />
          </>
        )}
      </div>
      <aside className={styles.side}>
        <div className={styles.nodeArea}>
          <NodePanel />
        </div>
        <DraftPanel />
      </aside>
    </div>
  );
}

/** The clusters this console knows. Nothing is contacted before somebody asks. */
import { useState } from "react";
import type { ClusterInfo } from "../../shared/api/contract.ts";
import { type AppErrorData, toErrorData } from "../../shared/errors.ts";
import { openCluster, refreshClusters } from "../app/session.ts";
import { go } from "../app/views.ts";
import { client } from "../client/index.ts";
import { PlusIcon } from "../design/icons.tsx";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { useText } from "../i18n/index.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import { ClusterEditor } from "./ClusterEditor.tsx";
import styles from "./page.module.css";

function Row({
  cluster,
  active,
  onEdit,
  onError,
}: {
  readonly cluster: ClusterInfo;
  readonly active: boolean;
  readonly onEdit: () => void;
  readonly onError: (error: AppErrorData | null) => void;
}) {
  const t = useText();
  const [removing, setRemoving] = useState(false);
  const ask = async (name: "clusters.connect" | "clusters.disconnect" | "clusters.remove") => {
    onError(null);
    try {
      await client().request(name, { clusterId: cluster.id });
      await refreshClusters();
      if (name === "clusters.connect") {
        openCluster(cluster.id);
        go("board");
      }
    } catch (thrown) {
      onError(toErrorData(thrown));
    }
  };
  return (
    <li className={styles.cluster} data-active={active ? "" : undefined}>
      <button
        type="button"
        className={styles.name}
        aria-current={active ? "true" : undefined}
        onClick={() => {
          openCluster(cluster.id);
          go("board");
        }}
      >
        <strong>{cluster.name}</strong>
        <span className={styles.small}>
          {t("common.hosts", { count: cluster.hostCount })}
          {t("common.separator")}
          {cluster.kind === "demo"
            ? t("clusters.demo")
            : t(cluster.connected ? "clusters.connected" : "clusters.notConnected")}
        </span>
      </button>
      <button
        type="button"
        className={cluster.connected ? "button" : "button primary"}
        onClick={() => void ask(cluster.connected ? "clusters.disconnect" : "clusters.connect")}
      >
        {t(cluster.connected ? "clusters.disconnect" : "clusters.connect")}
      </button>
      {cluster.kind === "demo" ? (
        <span />
      ) : (
        <span className={styles.row}>
          <button
            type="button"
            className="button quiet"
            aria-label={t("clusters.editTitle", { name: cluster.name })}
            onClick={onEdit}
          >
            {t("common.edit")}
          </button>
          <button
            type="button"
            className="button quiet"
            aria-label={t("clusters.removeTitle", { name: cluster.name })}
            onClick={() => setRemoving(true)}
          >
            {t("common.remove")}
          </button>
        </span>
      )}
      {removing ? (
        <div className={styles.confirm} role="alert">
          <span>{t("clusters.removeAsk", { name: cluster.name })}</span>
          <button type="button" className="button" onClick={() => setRemoving(false)}>
            {t("clusters.keep")}
          </button>
          <button type="button" className="button danger" onClick={() => void ask("clusters.remove")}>
            {t("common.remove")}
          </button>
        </div>
      ) : null}
    </li>
  );
}

export function ClustersView() {
  const t = useText();
  const clusters = useSnapshot((state) => state.clusters);
  const activeId = useSnapshot((state) => state.activeClusterId);
  const [editing, setEditing] = useState<ClusterInfo | "new" | null>(null);
  const [error, setError] = useState<AppErrorData | null>(null);
  if (clusters === null) return <div className={styles.page} />;
  const empty = clusters.length === 0 && editing === null;
  return (
    <div className={styles.page}>
      <div className={styles.head}>
        <h2>{t("app.clusters")}</h2>
        <span className={styles.spacer} />
        {empty ? null : (
          <button type="button" className="button" onClick={() => setEditing("new")}>
            <PlusIcon /> {t("clusters.add")}
          </button>
        )}
      </div>
      {error === null ? null : <ErrorText error={error} />}
      {empty ? (
        <div className={styles.empty}>
          <h2>{t("clusters.emptyTitle")}</h2>
          <p className="muted">{t("clusters.emptyText")}</p>
          <button type="button" className="button primary" onClick={() => setEditing("new")}>
            {t("clusters.add")}
          </button>
          <p className={styles.small}>{t("clusters.emptyDemo")}</p>
        </div>
      ) : (
        <div className={styles.split}>
          <ul className={styles.list} aria-label={t("app.clusters")}>
            {clusters.map((cluster) => (
              <Row
                key={cluster.id}
                cluster={cluster}
                active={cluster.id === activeId}
                onEdit={() => setEditing(cluster)}
                onError={setError}
              />
            ))}
          </ul>
          {editing === null ? null : (
            <ClusterEditor
              key={editing === "new" ? "new" : editing.id}
              cluster={editing === "new" ? null : editing}
              onDone={() => setEditing(null)}
            />
          )}
        </div>
      )}
    </div>
  );
}

/** What stands where the board would be while there is nothing to draw. Loading, empty and not connected never look alike. */
import { useShallow } from "zustand/shallow";
import { toErrorData } from "../../shared/errors.ts";
import { go } from "../app/views.ts";
import { client } from "../client/index.ts";
import { Notice } from "../design/controls.tsx";
import { useText } from "../i18n/index.ts";
import { type SnapshotState, useSnapshot } from "../stores/snapshot.ts";

function toldOf({ link, clusters, activeClusterId, clusterName, hostIds, error }: SnapshotState) {
  return { link, clusters, activeClusterId, clusterName, hostIds, error };
}

function isUntouched({ hosts }: SnapshotState): boolean {
  for (const host of hosts.values()) if (host.state.kind !== "not-connected" || host.inventory !== null) return false;
  return true;
}

export function BoardNotice() {
  const text = useText();
  const { link, clusters, activeClusterId, clusterName, hostIds, error } = useSnapshot(useShallow(toldOf));
  const untouched = useSnapshot(isUntouched);
  if (hostIds.length > 0) {
    if (link === "refused") {
      return (
        <div className="board-banner" data-tone="bad" role="alert">
          <span>
            {text("app.servicesRefused")}. {text("board.servicesRefusedHint")}
          </span>
        </div>
      );
    }
    if (!untouched || activeClusterId === null) return null;
    return (
      <div className="board-banner" data-tone="calm">
        <span>{text("board.clusterNotConnected", { count: hostIds.length })}</span>
        <button
          type="button"
          className="button primary"
          onClick={() => {
            client()
              .request("clusters.connect", { clusterId: activeClusterId })
              .catch((reason: unknown) => useSnapshot.setState({ error: toErrorData(reason) }));
          }}
        >
          {text("board.connect")}
        </button>
      </div>
    );
  }
  const body = (() => {
    if (link === "refused") {
      return (
        <Notice title={text("app.servicesRefused")} tone="bad">
          {text("board.servicesRefusedHint")}
        </Notice>
      );
    }
    if (link === "lost") {
      return (
        <Notice title={text("app.servicesLost")} tone="bad">
          {text("board.servicesLostHint")}
        </Notice>
      );
    }
    // After the link: what a lost link broke off says less than that it is lost, and nothing of what helps.
    if (error !== null) {
      return (
        <Notice title={error.message} tone="bad">
          {error.remedy}
        </Notice>
      );
    }
    if (clusters === null) return <Notice title={text("board.starting")} />;
    if (activeClusterId === null) {
      return (
        <Notice
          title={text("board.noClusters")}
          action={
            <button type="button" className="button primary" onClick={() => go("clusters")}>
              {text("board.addCluster")}
            </button>
          }
        >
          {text("board.noClustersHint")}
        </Notice>
      );
    }
    if (clusterName === null) return <Notice title={text("board.loadingCluster")} />;
    return (
      <Notice
        title={text("board.noHosts", { name: clusterName })}
        action={
          <button type="button" className="button" onClick={() => go("clusters")}>
            {text("app.clusters")}
          </button>
        }
      />
    );
  })();
  return <div className="board-notice">{body}</div>;
}

/** What stands where the board would be while there is nothing to draw. Loading, empty and not connected never look alike. */
import { toErrorData } from "../../shared/errors.ts";
import { go } from "../app/views.ts";
import { client } from "../client/index.ts";
import { Notice } from "../design/controls.tsx";
import { useText } from "../i18n/index.ts";
import { useSnapshot } from "../stores/snapshot.ts";

export function BoardNotice() {
  const text = useText();
  const { link, clusters, activeClusterId, clusterName, hostIds, hosts, error } = useSnapshot();
  if (hostIds.length > 0) {
    const untouched = [...hosts.values()].every(
      (host) => host.state.kind === "not-connected" && host.inventory === null,
    );
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
    if (error !== null) {
      return (
        <Notice title={error.message} tone="bad">
          {error.remedy}
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

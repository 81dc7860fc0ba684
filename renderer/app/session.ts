/** Ties the services to the stores: the list of clusters, the snapshot of the active one, the settings. */
import type { SnapshotEvent } from "../../shared/api/snapshot.ts";
import { toErrorData } from "../../shared/errors.ts";
import { client } from "../client/index.ts";
import { setLanguage } from "../i18n/index.ts";
import { applySnapshotEvent, chooseCluster, showUnseen, useSnapshot } from "../stores/snapshot.ts";
import { applyTheme } from "./theme.ts";

const lastClusterKey = "tessera.cluster";

/** Asks for the clusters anew; views call it after they added or removed one. */
export async function refreshClusters(): Promise<void> {
  try {
    const clusters = await client().request("clusters.list", {});
    useSnapshot.setState({ clusters, error: null });
    const { activeClusterId } = useSnapshot.getState();
    if (activeClusterId !== null && clusters.some((cluster) => cluster.id === activeClusterId)) return;
    const last = window.localStorage.getItem(lastClusterKey);
    openCluster((clusters.find((cluster) => cluster.id === last) ?? clusters[0])?.id ?? null);
  } catch (error) {
    useSnapshot.setState({ error: toErrorData(error) });
  }
}

let closeSnapshot: (() => void) | null = null;

/** Shows another cluster. Nothing is connected by it: connecting is asked for on its own. */
export function openCluster(clusterId: string | null): void {
  closeSnapshot?.();
  closeSnapshot = null;
  chooseCluster(clusterId);
  if (clusterId === null) return;
  window.localStorage.setItem(lastClusterKey, clusterId);
  watch(clusterId);
}

function watch(clusterId: string): void {
  closeSnapshot?.();
  closeSnapshot = client().subscribe(
    "snapshot",
    { clusterId },
    (event) => receive(clusterId, event),
    (error) => useSnapshot.setState({ error }),
  );
}

function receive(clusterId: string, event: SnapshotEvent): void {
  try {
    applySnapshotEvent(event, !document.hidden);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // Something was lost on the way: told anew from the beginning. What is shown stays until then.
    watch(clusterId);
  }
}

export function startSession(): void {
  const services = client();
  services.onLink((link) => {
    useSnapshot.setState({ link });
    if (link === "open") void refreshClusters();
  });
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) showUnseen();
  });
  services.request("settings.get", {}).then(
    (settings) => {
      applyTheme(settings.theme);
      setLanguage(settings.language);
    },
    () => {}, // Without an answer the system's own look stays.
  );
}

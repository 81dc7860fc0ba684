/** What the services say about the clusters. A host that did not change keeps its identity, so that views can compare by `===`. */
import { create } from "zustand";
import type { ClusterInfo } from "../../shared/api/contract.ts";
import type { HostView, SnapshotEvent } from "../../shared/api/snapshot.ts";
import type { AppErrorData } from "../../shared/errors.ts";
import type { Gpu } from "../../shared/protocol/inventory.ts";
import { withSnapshotEvent } from "../../shared/snapshot/follow.ts";
import { same } from "../../shared/snapshot/same.ts";
import type { LinkState } from "../client/index.ts";
import { meetTenants } from "./colouring.ts";

export interface SnapshotState {
  /** Of the page to the console's own services. */
  readonly link: LinkState;
  /** Null until the services have answered. */
  readonly clusters: readonly ClusterInfo[] | null;
  readonly activeClusterId: string | null;
  /** Null until the first snapshot of the active cluster: loading, not empty. */
  readonly clusterName: string | null;
  readonly revision: number;
  /** In the operator's order. */
  readonly hostIds: readonly string[];
  readonly hosts: ReadonlyMap<string, HostView>;
  /** Why there is no snapshot. */
  readonly error: AppErrorData | null;
}

const noCluster = {
  clusterName: null,
  revision: -1,
  hostIds: [] as readonly string[],
  hosts: new Map<string, HostView>() as ReadonlyMap<string, HostView>,
  error: null,
};

export const useSnapshot = create<SnapshotState>(() => ({
  link: "connecting",
  clusters: null,
  activeClusterId: null,
  ...noCluster,
}));

/** The state after an event. Throws RangeError where the event does not follow on what is held. */
export function withEvent(state: SnapshotState, event: SnapshotEvent): SnapshotState {
  const { activeClusterId, clusterName, revision } = state;
  if (event.kind === "begin" && event.clusterId !== activeClusterId) return state;
  if (activeClusterId === null) return state;
  const held =
    clusterName === null ? null : { clusterId: activeClusterId, name: clusterName, revision, hosts: state.hosts };
  const next = withSnapshotEvent(held, event);
  const sameList = next.hosts.size === state.hostIds.length && state.hostIds.every((id) => next.hosts.has(id));
  const listed = event.kind === "begin" || !sameList;
  const hostIds = listed ? [...next.hosts.keys()] : state.hostIds;
  return {
    ...state,
    clusterName: next.name,
    revision: next.revision,
    hostIds: same(hostIds, state.hostIds) ? state.hostIds : hostIds,
    hosts: next.hosts,
    error: null,
  };
}

/** Events that arrive while nobody looks are put together but not shown, so that a hidden window costs no drawing. */
let unseen: SnapshotState | null = null;

/** Throws RangeError where the event does not follow on what is held. */
export function applySnapshotEvent(event: SnapshotEvent, looking: boolean): void {
  const shown = useSnapshot.getState();
  // Link and clusters are shown at once, whoever looks.
  const held = unseen?.activeClusterId === shown.activeClusterId ? unseen : shown;
  const next = withEvent(held, event);
  if (looking) showSnapshot(next);
  else unseen = next;
}

/** Somebody looks again. */
export function showUnseen(): void {
  if (unseen !== null) showSnapshot(unseen);
}

function showSnapshot(next: SnapshotState): void {
  unseen = null;
  if (next.activeClusterId !== useSnapshot.getState().activeClusterId) return;
  const { clusterName, revision, hostIds, hosts, error } = next;
  meetTenants(hosts, useSnapshot.getState().hosts);
  useSnapshot.setState({ clusterName, revision, hostIds, hosts, error });
}

/** Another cluster: nothing of the one before stays on the screen. */
export function chooseCluster(clusterId: string | null): void {
  useSnapshot.setState((state) =>
    state.activeClusterId === clusterId ? state : { ...state, ...noCluster, activeClusterId: clusterId },
  );
}

export function gpuOf(host: HostView | undefined, gpuUuid: string): Gpu | null {
  return host?.inventory?.gpus.find((gpu) => gpu.uuid === gpuUuid) ?? null;
}

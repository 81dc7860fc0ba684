/** What the services say about the clusters. A host that did not change keeps its identity, so that views can compare by `===`. */
import { create } from "zustand";
import type { ClusterInfo } from "../../shared/api/contract.ts";
import type { HostView, SnapshotEvent } from "../../shared/api/snapshot.ts";
import type { AppErrorData } from "../../shared/errors.ts";
import type { Gpu } from "../../shared/protocol/inventory.ts";
import type { LinkState } from "../client/index.ts";
import { same } from "./same.ts";

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

/** The host as told now, or the one we hold where it says the same; the inventory keeps its identity on its own. */
export function keepIdentity(before: HostView | undefined, after: HostView): HostView {
  if (before === undefined) return after;
  const sameInventory = same(before.inventory, after.inventory);
  const kept =
    sameInventory && before.inventory !== after.inventory ? { ...after, inventory: before.inventory } : after;
  const { inventory: _a, ...restBefore } = before;
  const { inventory: _b, ...restAfter } = kept;
  return sameInventory && same(restBefore, restAfter) ? before : kept;
}

/** The state after an event; the same state where nothing changed but the revision. */
export function withEvent(state: SnapshotState, event: SnapshotEvent): SnapshotState {
  if (event.kind === "snapshot") {
    if (event.snapshot.clusterId !== state.activeClusterId) return state;
    const hosts = new Map(
      event.snapshot.hosts.map((host) => [host.id, keepIdentity(state.hosts.get(host.id), host)] as const),
    );
    const ids = [...hosts.keys()];
    return {
      ...state,
      clusterName: event.snapshot.name,
      revision: event.snapshot.revision,
      hostIds: same(ids, state.hostIds) ? state.hostIds : ids,
      hosts,
      error: null,
    };
  }
  let hosts: Map<string, HostView> | null = null;
  for (const host of event.hosts) {
    const before = state.hosts.get(host.id);
    const after = keepIdentity(before, host);
    if (after === before) continue;
    hosts ??= new Map(state.hosts);
    hosts.set(host.id, after);
  }
  if (hosts === null) return { ...state, revision: event.revision };
  const hostIds = hosts.size === state.hosts.size ? state.hostIds : [...hosts.keys()];
  return { ...state, revision: event.revision, hosts, hostIds };
}

export function applySnapshotEvent(event: SnapshotEvent): void {
  useSnapshot.setState((state) => withEvent(state, event));
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

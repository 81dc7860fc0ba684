/** What the console holds of a cluster: the contract between the services and every view. */
import type { AppErrorData } from "../errors.ts";
import type { HostInventory } from "../protocol/inventory.ts";

export type ConnectPhase = "resolving" | "handshake" | "authenticating" | "installing" | "starting";

/** States that never look alike. Which inventory is shown with them stands in HostView. */
export type HostState =
  /** Nobody has asked to connect yet; what is shown, if anything, is from the local store. */
  | { readonly kind: "not-connected" }
  | { readonly kind: "connecting"; readonly phase: ConnectPhase }
  /** Connected, the first inventory is under way. */
  | { readonly kind: "loading" }
  | { readonly kind: "live" }
  /** Connected or not: the last inventory is older than it should be. */
  | { readonly kind: "stale"; readonly error: AppErrorData | null }
  /** Cannot be reached; tried again by itself at `retryAt` (ISO 8601). */
  | { readonly kind: "unreachable"; readonly error: AppErrorData; readonly retryAt: string | null }
  /** Reached, but it or its keys refused: needs a person. */
  | { readonly kind: "refused"; readonly error: AppErrorData };

export interface HostView {
  readonly id: string;
  readonly name: string;
  readonly rack: string;
  readonly state: HostState;
  readonly inventory: HostInventory | null;
  /** ISO 8601, the console's clock: when the inventory was last known to be true. */
  readonly asOf: string | null;
  /** Whether the host module may change the driver's state; null while unknown. */
  readonly canChange: boolean | null;
  /** An operation that did not come to its end waits on this host. */
  readonly openOperationId: string | null;
  /** The layouts saved before a reboot are not what stands now. */
  readonly restoreOffered: boolean;
}

export interface ClusterSnapshot {
  readonly clusterId: string;
  readonly name: string;
  /** Raised by one with every event. */
  readonly revision: number;
  /** In the operator's order. */
  readonly hosts: readonly HostView[];
}

export type SnapshotEvent =
  | { readonly kind: "snapshot"; readonly snapshot: ClusterSnapshot }
  /** These hosts are as given now; the others did not change. */
  | { readonly kind: "hosts"; readonly revision: number; readonly hosts: readonly HostView[] };

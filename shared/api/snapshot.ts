/** What the console holds of a cluster: the contract between the services and every view. */
import type { AppErrorData } from "../errors.ts";
import type { GpuGeometry } from "../mig/types.ts";
import type { Change } from "../protocol/changes.ts";
import type { HostInventory, TopologyLink } from "../protocol/inventory.ts";

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
  /** An operation is under way, from whichever console. */
  readonly runningOperationId: string | null;
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

/** A host without what is known of its GPUs. */
export type HostHead = Omit<HostView, "inventory">;

/**
 * An inventory on its way: what many hosts say alike (the geometry of a model, the links of a board) stands once
 * in the event's table, and the inventory has its number there.
 */
export interface PackedInventory extends Omit<HostInventory, "geometries" | "links"> {
  readonly geometries: Readonly<Record<string, number>>;
  readonly links: number;
}

export interface PackedHost extends HostHead {
  readonly inventory: PackedInventory | null;
}

export interface SharedParts {
  readonly geometries: readonly GpuGeometry[];
  readonly links: readonly (readonly TopologyLink[])[];
}

/**
 * A subscription starts with `begin` and goes on with `hosts` until each host was told of; then only what changes
 * travels. shared/snapshot packs and follows these events.
 */
export type SnapshotEvent =
  /** Forget what was told before. All hosts by name; what is known of their GPUs follows at once, in parts. */
  | {
      readonly kind: "begin";
      readonly clusterId: string;
      readonly name: string;
      readonly revision: number;
      readonly hosts: readonly HostHead[];
    }
  /** These hosts are as given now. */
  | {
      readonly kind: "hosts";
      readonly revision: number;
      readonly shared: SharedParts;
      readonly hosts: readonly PackedHost[];
    }
  /** What is different about hosts that were told of; paths are into HostView. */
  | {
      readonly kind: "changes";
      readonly revision: number;
      readonly hosts: readonly { readonly hostId: string; readonly changes: readonly Change[] }[];
    }
  /** Nothing new from these hosts but that what is known still holds: their `asOf`. */
  | { readonly kind: "ages"; readonly revision: number; readonly asOf: Readonly<Record<string, string>> };

/** One cluster: its hosts in the operator's order, its snapshot, and what of it is kept for the next start. */
import type { ClusterDraft, ClusterInfo } from "../../../shared/api/contract.ts";
import { AppError } from "../../../shared/errors.ts";
import { Interner } from "../snapshot/intern.ts";
import { SnapshotPublisher } from "../snapshot/publisher.ts";
import type { Store, StoredInventory } from "../store/store.ts";
import type { TroubleLog } from "../troubleshooting/events.ts";
import type { HostConnector } from "./connector.ts";
import { hostNameOf } from "./destination.ts";
import { refreshSecondsOf } from "./draft.ts";
import { HostManager } from "./host-manager.ts";
import { Opening } from "./opening.ts";
import { rackOf } from "./racks.ts";

/** Last inventories are for the next start: losing half a minute of them is no loss. */
const keepEveryMs = 30_000;

export interface ClusterOptions {
  readonly id: string;
  readonly kind: ClusterInfo["kind"];
  readonly draft: ClusterDraft;
  readonly connector: HostConnector;
  /** Null where nothing of the cluster is kept. */
  readonly store: Store | null;
  readonly trouble: TroubleLog;
}

export class Cluster {
  readonly id: string;
  readonly kind: ClusterInfo["kind"];
  readonly publisher: SnapshotPublisher;
  readonly #options: ClusterOptions;
  readonly #interner = new Interner();
  readonly #opening = new Opening();
  readonly #unkept = new Set<string>();
  #draft: ClusterDraft;
  /** Made when somebody first looks: the last inventories of a large cluster take a second to unpack. */
  #made: Map<string, HostManager> | null = null;
  #connected = false;
  #keepTimer: NodeJS.Timeout | null = null;

  constructor(options: ClusterOptions) {
    this.id = options.id;
    this.kind = options.kind;
    this.#options = options;
    this.#draft = options.draft;
    this.publisher = new SnapshotPublisher({
      clusterId: this.id,
      name: () => this.#draft.name,
      hosts: () => [...this.#hosts.values()].map((host) => host.view()),
      host: (hostId) => this.#hosts.get(hostId)?.view() ?? null,
    });
  }

  get #hosts(): Map<string, HostManager> {
    if (this.#made === null) {
      const { store } = this.#options;
      const kept = new Map(store?.inventories(this.id).map((entry) => [entry.hostId, entry]));
      this.#made = this.#makeHosts(new Map(), kept);
    }
    return this.#made;
  }

  get draft(): ClusterDraft {
    return this.#draft;
  }

  info(): ClusterInfo {
    return {
      id: this.id,
      name: this.#draft.name,
      kind: this.kind,
      hostCount: this.#draft.hosts.length,
      connected: this.#connected,
    };
  }

  /** Throws `not-found`. */
  host(hostId: string): HostManager {
    const host = this.#hosts.get(hostId);
    if (host !== undefined) return host;
    throw new AppError({
      code: "not-found",
      message: `The cluster ${this.#draft.name} has no host '${hostId}'.`,
      remedy: "",
    });
  }

  connect(): void {
    this.#connected = true;
    for (const host of this.#hosts.values()) host.connect();
  }

  async disconnect(): Promise<void> {
    this.#connected = false;
    if (this.#made === null) return;
    await Promise.all([...this.#hosts.values()].map((host) => host.disconnect()));
    this.#keep();
  }

  /** Hosts that stay as they were keep their connection. */
  async update(draft: ClusterDraft): Promise<void> {
    const before = this.#draft;
    const earlier = this.#hosts;
    const sameWays =
      refreshSecondsOf(draft) === refreshSecondsOf(before) && draft.keepaliveSeconds === before.keepaliveSeconds;
    const oldRack = rackOf(before.racks);
    const newRack = rackOf(draft.racks);
    const staying = new Set(draft.hosts);
    const reusable = new Map(
      [...earlier].filter(([hostId]) => sameWays && oldRack(hostId) === newRack(hostId) && staying.has(hostId)),
    );
    const lasts = new Map<string, StoredInventory>();
    for (const [hostId, host] of earlier) {
      const { inventory, asOf } = host.view();
      if (inventory !== null && asOf !== null) lasts.set(hostId, { hostId, inventory, asOf });
    }
    this.#draft = draft;
    this.#made = this.#makeHosts(reusable, lasts);
    await Promise.all([...earlier].filter(([id]) => !reusable.has(id)).map(([, host]) => host.disconnect()));
    if (this.#connected) for (const host of this.#hosts.values()) host.connect();
    this.publisher.listChanged();
  }

  async close(): Promise<void> {
    await this.disconnect();
    if (this.#keepTimer !== null) clearTimeout(this.#keepTimer);
    this.publisher.close();
  }

  #makeHosts(
    reusable: ReadonlyMap<string, HostManager>,
    lasts: ReadonlyMap<string, StoredInventory>,
  ): Map<string, HostManager> {
    const rack = rackOf(this.#draft.racks);
    const refreshMs = refreshSecondsOf(this.#draft) * 1_000;
    return new Map(
      this.#draft.hosts.map((hostId): [string, HostManager] => {
        const reused = reusable.get(hostId);
        if (reused !== undefined) return [hostId, reused];
        const last = lasts.get(hostId);
        const host = new HostManager({
          target: {
            clusterId: this.id,
            hostId,
            destination: hostId,
            keepaliveSeconds: this.#draft.keepaliveSeconds,
          },
          name: hostNameOf(hostId),
          rack: rack(hostId),
          refreshMs,
          connector: this.#options.connector,
          trouble: this.#options.trouble,
          opening: this.#opening,
          share: (inventory) => this.#interner.inventory(inventory),
          changed: () => this.publisher.hostChanged(hostId),
          inventoryChanged: () => this.#keepSoon(hostId),
          last: last === undefined ? null : { ...last, inventory: this.#interner.inventory(last.inventory) },
        });
        return [hostId, host];
      }),
    );
  }

  #keepSoon(hostId: string): void {
    if (this.#options.store === null) return;
    this.#unkept.add(hostId);
    this.#keepTimer ??= setTimeout(() => this.#keep(), keepEveryMs);
    this.#keepTimer.unref();
  }

  #keep(): void {
    if (this.#keepTimer !== null) clearTimeout(this.#keepTimer);
    this.#keepTimer = null;
    const entries = [...this.#unkept].flatMap((hostId): readonly StoredInventory[] => {
      const view = this.#hosts.get(hostId)?.view();
      if (view?.inventory == null || view.asOf === null) return [];
      return [{ hostId, asOf: view.asOf, inventory: view.inventory }];
    });
    this.#unkept.clear();
    if (entries.length === 0) return;
    try {
      this.#options.store?.putInventories(this.id, entries);
    } catch {
      // The store has said so to the troubleshooting log; what is on the screen is not touched by it.
    }
  }
}

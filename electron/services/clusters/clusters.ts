/** The operator's clusters. Nothing here connects until asked. */
import { randomUUID } from "node:crypto";
import type { ClusterDraft, ClusterInfo } from "../../../shared/api/contract.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Store } from "../store/store.ts";
import type { TroubleLog } from "../troubleshooting/events.ts";
import { Cluster } from "./cluster.ts";
import type { HostConnector } from "./connector.ts";
import { checkDraft } from "./draft.ts";

export interface BuiltInCluster {
  readonly id: string;
  readonly draft: ClusterDraft;
  readonly connector: HostConnector;
}

export class Clusters {
  readonly #clusters = new Map<string, Cluster>();
  readonly #store: Store;
  readonly #connector: HostConnector;
  readonly #trouble: TroubleLog;

  constructor(store: Store, connector: HostConnector, trouble: TroubleLog, builtIn: readonly BuiltInCluster[]) {
    this.#store = store;
    this.#connector = connector;
    this.#trouble = trouble;
    for (const { id, draft, connector: own } of builtIn) {
      this.#clusters.set(id, new Cluster({ id, kind: "demo", draft, connector: own, store: null, trouble }));
    }
    for (const { id, draft } of store.clusters()) this.#make(id, draft);
  }

  list(): readonly ClusterInfo[] {
    return [...this.#clusters.values()].map((cluster) => cluster.info());
  }

  /** Throws `not-found`. */
  get(id: string): Cluster {
    const cluster = this.#clusters.get(id);
    if (cluster !== undefined) return cluster;
    throw new AppError({ code: "not-found", message: "That cluster is no longer there.", remedy: "" });
  }

  /** By id or by name, for command lines. Throws `not-found` with the names there are. */
  named(name: string): Cluster {
    const all = [...this.#clusters.values()];
    const found = this.#clusters.get(name) ?? all.find((cluster) => cluster.draft.name === name);
    if (found !== undefined) return found;
    throw new AppError({
      code: "not-found",
      message: `There is no cluster '${name}'.`,
      remedy:
        all.length === 0
          ? "Add one in the console first."
          : `There are: ${all.map((cluster) => cluster.draft.name).join(", ")}.`,
    });
  }

  add(draft: ClusterDraft): ClusterInfo {
    const checked = this.#checked(draft, null);
    const id = randomUUID();
    this.#keep(id, checked);
    return this.#make(id, checked).info();
  }

  async update(id: string, draft: ClusterDraft): Promise<ClusterInfo> {
    const cluster = this.#own(id);
    const checked = this.#checked(draft, id);
    this.#keep(id, checked);
    await cluster.update(checked);
    return cluster.info();
  }

  async remove(id: string): Promise<void> {
    const cluster = this.#own(id);
    this.#store.removeCluster(id);
    this.#clusters.delete(id);
    await cluster.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#clusters.values()].map((cluster) => cluster.close()));
  }

  #make(id: string, draft: ClusterDraft): Cluster {
    const cluster = new Cluster({
      id,
      kind: "ssh",
      draft,
      connector: this.#connector,
      store: this.#store,
      trouble: this.#trouble,
    });
    this.#clusters.set(id, cluster);
    return cluster;
  }

  /** In memory, with the trouble shown, where the store cannot take it: the operator can still work. */
  #keep(id: string, draft: ClusterDraft): void {
    try {
      this.#store.putCluster({ id, draft });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
    }
  }

  #own(id: string): Cluster {
    const cluster = this.get(id);
    if (cluster.kind !== "demo") return cluster;
    throw new AppError({
      code: "forbidden",
      message: "The demo cluster cannot be changed or removed.",
      remedy: "Start the console with --no-demo to be without it.",
    });
  }

  #checked(draft: ClusterDraft, id: string | null): ClusterDraft {
    const checked = checkDraft(draft);
    for (const cluster of this.#clusters.values()) {
      if (cluster.id === id || cluster.draft.name !== checked.name) continue;
      throw new AppError({
        code: "bad-request",
        message: `There is a cluster named '${checked.name}' already.`,
        remedy: "Choose another name.",
      });
    }
    return checked;
  }
}

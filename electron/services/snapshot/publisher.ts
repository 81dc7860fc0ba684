/**
 * Tells subscribers of a cluster what changed: first the whole, then only hosts that are not what they were,
 * gathered over a short while. Where nobody listens nothing is computed.
 */
import type { ClusterSnapshot, HostView, SnapshotEvent } from "../../../shared/api/snapshot.ts";

export const coalesceMs = 250;

export interface SnapshotSource {
  readonly clusterId: string;
  name(): string;
  hosts(): readonly HostView[];
  host(hostId: string): HostView | null;
}

export class SnapshotPublisher {
  readonly #source: SnapshotSource;
  readonly #listeners = new Set<(event: SnapshotEvent) => void>();
  readonly #changed = new Set<string>();
  #revision = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(source: SnapshotSource) {
    this.#source = source;
  }

  current(): ClusterSnapshot {
    return {
      clusterId: this.#source.clusterId,
      name: this.#source.name(),
      revision: this.#revision,
      hosts: this.#source.hosts(),
    };
  }

  /** Until the signal aborts. */
  subscribe(listener: (event: SnapshotEvent) => void, signal: AbortSignal): void {
    if (signal.aborted) return;
    // What is pending goes to the earlier ones first: the newcomer's whole holds it already.
    this.#flush();
    listener({ kind: "snapshot", snapshot: this.current() });
    this.#listeners.add(listener);
    signal.addEventListener("abort", () => this.#listeners.delete(listener), { once: true });
  }

  hostChanged(hostId: string): void {
    if (this.#listeners.size === 0) return;
    this.#changed.add(hostId);
    this.#timer ??= setTimeout(() => this.#flush(), coalesceMs);
  }

  /** Hosts came, went or moved: everything anew. */
  listChanged(): void {
    this.#changed.clear();
    this.#revision += 1;
    const event: SnapshotEvent = { kind: "snapshot", snapshot: this.current() };
    for (const listener of this.#listeners) listener(event);
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#listeners.clear();
  }

  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#changed.size === 0) return;
    const hosts = [...this.#changed].flatMap((hostId): readonly HostView[] => {
      const view = this.#source.host(hostId);
      return view === null ? [] : [view];
    });
    this.#changed.clear();
    if (hosts.length === 0 || this.#listeners.size === 0) return;
    this.#revision += 1;
    for (const listener of this.#listeners) listener({ kind: "hosts", revision: this.#revision, hosts });
  }
}

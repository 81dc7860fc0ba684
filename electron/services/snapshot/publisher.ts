/**
 * Tells subscribers of a cluster what changed: first the whole, in parts, then only differences, gathered over a
 * short while. Where nobody listens nothing is computed.
 */
import type { ClusterSnapshot, HostView, SnapshotEvent } from "../../../shared/api/snapshot.ts";
import { eventsBetween, snapshotEvents } from "../../../shared/snapshot/pack.ts";

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
  /** What the listeners hold: all of them the same. Shares everything with the source but what changed since. */
  #told = new Map<string, HostView>();
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
    this.flush();
    this.#tell([listener], this.#whole());
    this.#listeners.add(listener);
    signal.addEventListener(
      "abort",
      () => {
        this.#listeners.delete(listener);
        if (this.#listeners.size === 0) this.#told.clear();
      },
      { once: true },
    );
  }

  hostChanged(hostId: string): void {
    if (this.#listeners.size === 0) return;
    this.#changed.add(hostId);
    this.#timer ??= setTimeout(() => this.flush(), coalesceMs);
  }

  /** Hosts came, went or moved: everything anew. */
  listChanged(): void {
    this.#changed.clear();
    this.#revision += 1;
    if (this.#listeners.size > 0) this.#tell(this.#listeners, this.#whole());
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#listeners.clear();
    this.#told.clear();
  }

  #whole(): readonly SnapshotEvent[] {
    const snapshot = this.current();
    this.#told = new Map(snapshot.hosts.map((host) => [host.id, host]));
    return snapshotEvents(snapshot);
  }

  /** Tells what was gathered at once: before an answer that presupposes it. */
  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const pairs = [...this.#changed].flatMap((hostId): readonly (readonly [HostView | undefined, HostView])[] => {
      const view = this.#source.host(hostId);
      return view === null ? [] : [[this.#told.get(hostId), view]];
    });
    this.#changed.clear();
    if (pairs.length === 0 || this.#listeners.size === 0) return;
    const events = eventsBetween(pairs, this.#revision);
    for (const [, after] of pairs) this.#told.set(after.id, after);
    this.#revision += events.length;
    this.#tell(this.#listeners, events);
  }

  #tell(listeners: Iterable<(event: SnapshotEvent) => void>, events: readonly SnapshotEvent[]): void {
    for (const event of events) for (const listener of listeners) listener(event);
  }
}

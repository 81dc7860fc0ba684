/** Puts what is known of a cluster into events: what many hosts say alike travels once, the rest in parts. */
import type { ClusterSnapshot, HostView, PackedHost, SharedParts, SnapshotEvent } from "../api/snapshot.ts";
import type { GpuGeometry } from "../mig/types.ts";
import { type Change, changesBetween, type Json } from "../protocol/changes.ts";
import type { TopologyLink } from "../protocol/inventory.ts";

/** Small enough that a page reads a part within a frame or two, large enough that tables pay. */
const hostsInPart = 50;

/** Numbers things by identity: the caller has made equal ones the same object before. */
class Table<T> {
  readonly rows: T[] = [];
  readonly #numbers = new Map<T, number>();

  numberOf(row: T): number {
    const known = this.#numbers.get(row);
    if (known !== undefined) return known;
    this.#numbers.set(row, this.rows.length);
    return this.rows.push(row) - 1;
  }
}

/** The event that says these hosts as they are now. Geometries and links that are the same object travel once. */
export function packHosts(hosts: readonly HostView[], revision: number): SnapshotEvent {
  const geometries = new Table<GpuGeometry>();
  const links = new Table<readonly TopologyLink[]>();
  const packed = hosts.map(
    (host): PackedHost => ({
      ...host,
      inventory:
        host.inventory === null
          ? null
          : {
              ...host.inventory,
              geometries: Object.fromEntries(
                Object.entries(host.inventory.geometries).map(([key, row]) => [key, geometries.numberOf(row)]),
              ),
              links: links.numberOf(host.inventory.links),
            },
    }),
  );
  const shared: SharedParts = { geometries: geometries.rows, links: links.rows };
  return { kind: "hosts", revision, shared, hosts: packed };
}

/** Everything, from the beginning: `begin`, then the hosts in parts. */
export function snapshotEvents(snapshot: ClusterSnapshot): readonly SnapshotEvent[] {
  const { clusterId, name, revision, hosts } = snapshot;
  const events: SnapshotEvent[] = [
    { kind: "begin", clusterId, name, revision, hosts: hosts.map(({ inventory: _later, ...head }) => head) },
  ];
  for (let from = 0; from < hosts.length; from += hostsInPart) {
    events.push(packHosts(hosts.slice(from, from + hostsInPart), revision));
  }
  return events;
}

/** The shortest way to say what hosts became: none to three events, each with a revision of its own after `revision`. */
export function eventsBetween(
  pairs: Iterable<readonly [before: HostView | undefined, after: HostView]>,
  revision: number,
): readonly SnapshotEvent[] {
  const whole: HostView[] = [];
  const changed: { hostId: string; changes: readonly Change[] }[] = [];
  const asOf: Record<string, string> = {};
  for (const [before, after] of pairs) {
    if (before === after) continue;
    if (before === undefined || sharedPartsChanged(before, after)) {
      whole.push(after);
      continue;
    }
    const changes = changesBetween(asJson(before), asJson(after));
    const [first] = changes;
    if (first === undefined) continue;
    if (changes.length === 1 && first.path.length === 1 && first.path[0] === "asOf" && after.asOf !== null) {
      asOf[after.id] = after.asOf;
    } else changed.push({ hostId: after.id, changes });
  }
  const events: SnapshotEvent[] = [];
  const next = (): number => revision + events.length + 1;
  if (whole.length > 0) events.push(packHosts(whole, next()));
  if (changed.length > 0) events.push({ kind: "changes", revision: next(), hosts: changed });
  if (Object.keys(asOf).length > 0) events.push({ kind: "ages", revision: next(), asOf });
  return events;
}

/** A first inventory, other models or other links: said whole, so that their tables are packed. */
function sharedPartsChanged(before: HostView, after: HostView): boolean {
  const a = before.inventory;
  const b = after.inventory;
  if (a === b || b === null) return false;
  if (a === null || a.links !== b.links) return true;
  const keys = Object.keys(b.geometries);
  return (
    keys.length !== Object.keys(a.geometries).length || keys.some((key) => a.geometries[key] !== b.geometries[key])
  );
}

/** A host's view is plain data by its contract, which an interface cannot say. */
function asJson(host: HostView): Json {
  return host as unknown as Json;
}

/** Puts the events of a snapshot together into what they describe. What did not change keeps its identity. */
import type { HostView, PackedHost, SharedParts, SnapshotEvent } from "../api/snapshot.ts";
import { type Json, withChanges } from "../protocol/changes.ts";
import { same } from "./same.ts";

export interface HeldCluster {
  readonly clusterId: string;
  readonly name: string;
  readonly revision: number;
  /** By id, in the operator's order. */
  readonly hosts: ReadonlyMap<string, HostView>;
}

/**
 * The cluster after an event. After `begin` the hosts that were held before keep their inventory until the part
 * with the new one is there; others have none yet. Throws RangeError where the event does not follow on what is
 * held: something was lost, and the subscription must begin again.
 */
export function withSnapshotEvent(held: HeldCluster | null, event: SnapshotEvent): HeldCluster {
  if (event.kind === "begin") {
    const known = held?.clusterId === event.clusterId ? held.hosts : null;
    const hosts = event.hosts.map((head): [string, HostView] => {
      const before = known?.get(head.id);
      return [head.id, keepIdentity(before, { ...head, inventory: before?.inventory ?? null })];
    });
    return { clusterId: event.clusterId, name: event.name, revision: event.revision, hosts: new Map(hosts) };
  }
  if (held === null) throw new RangeError("an event before the beginning");
  const hosts = new Map(held.hosts);
  const before = (hostId: string): HostView => {
    const host = hosts.get(hostId);
    if (host === undefined) throw new RangeError(`no host ${hostId} was told of`);
    return host;
  };
  switch (event.kind) {
    case "hosts":
      for (const host of event.hosts) hosts.set(host.id, keepIdentity(hosts.get(host.id), unpack(host, event.shared)));
      break;
    case "changes":
      for (const { hostId, changes } of event.hosts) {
        // A host's view is plain data by its contract, which an interface cannot say; so is what the changes make of it.
        hosts.set(hostId, withChanges(before(hostId) as unknown as Json, changes) as unknown as HostView);
      }
      break;
    case "ages":
      for (const [hostId, asOf] of Object.entries(event.asOf)) hosts.set(hostId, { ...before(hostId), asOf });
      break;
  }
  return { ...held, revision: event.revision, hosts };
}

function unpack(host: PackedHost, shared: SharedParts): HostView {
  const { inventory } = host;
  if (inventory === null) return { ...host, inventory };
  const geometries = Object.entries(inventory.geometries).map(([key, row]) => [key, rowOf(shared.geometries, row)]);
  return {
    ...host,
    inventory: {
      ...inventory,
      geometries: Object.fromEntries(geometries),
      links: rowOf(shared.links, inventory.links),
    },
  };
}

function rowOf<T>(rows: readonly T[], row: number): T {
  const found = rows[row];
  if (found === undefined) throw new RangeError(`no row ${row} in the table of the event`);
  return found;
}

/** The host as told now, or the one we hold where it says the same; the inventory keeps its identity on its own. */
function keepIdentity(before: HostView | undefined, after: HostView): HostView {
  if (before === undefined) return after;
  const sameInventory = same(before.inventory, after.inventory);
  const kept =
    sameInventory && before.inventory !== after.inventory ? { ...after, inventory: before.inventory } : after;
  const { inventory: _a, ...restBefore } = before;
  const { inventory: _b, ...restAfter } = kept;
  return sameInventory && same(restBefore, restAfter) ? before : kept;
}

import { describe, expect, it } from "vitest";
import { syntheticCluster } from "../../e2e/support/synthetic-cluster.ts";
import type { SnapshotEvent } from "../../shared/api/snapshot.ts";
import { snapshotEvents } from "../../shared/snapshot/pack.ts";
import { type SnapshotState, withEvent } from "./snapshot.ts";

const snapshot = syntheticCluster({ hosts: 3, now: "2026-06-01T08:00:00.000Z" });
const empty: SnapshotState = {
  link: "open",
  clusters: [],
  activeClusterId: "synthetic",
  clusterName: null,
  revision: -1,
  hostIds: [],
  hosts: new Map(),
  error: null,
};
const [begin] = snapshotEvents(snapshot);
if (begin?.kind !== "begin") throw new Error("a snapshot that does not begin");
const told = (state: SnapshotState, events: readonly SnapshotEvent[]) =>
  structuredClone(events).reduce(withEvent, state);
const loaded = told(empty, snapshotEvents(snapshot));

describe("withEvent", () => {
  it("takes a snapshot of the active cluster only", () => {
    expect(loaded.hostIds).toEqual(["gpu-01", "gpu-02", "gpu-03"]);
    expect([...loaded.hosts.values()]).toEqual(snapshot.hosts);
    expect(withEvent({ ...empty, activeClusterId: "other" }, { ...begin }).hosts.size).toBe(0);
  });

  it("keeps the identity of what says the same, host by host and inventory by inventory", () => {
    const again = told(loaded, snapshotEvents(snapshot));
    expect([...again.hosts.values()].every((host) => host === loaded.hosts.get(host.id))).toBe(true);
    const next = told(loaded, [{ kind: "ages", revision: 1, asOf: { "gpu-01": "2026-06-01T08:00:05.000Z" } }]);
    expect(next.hosts.get("gpu-01")).toMatchObject({ asOf: "2026-06-01T08:00:05.000Z" });
    expect(next.hosts.get("gpu-01")?.inventory).toBe(loaded.hosts.get("gpu-01")?.inventory);
    expect(next.hosts.get("gpu-02")).toBe(loaded.hosts.get("gpu-02"));
    expect(next.hostIds).toBe(loaded.hostIds);
  });

  it("keeps showing what it held while the same cluster is told anew", () => {
    const next = told(loaded, [begin]);
    expect(next.hosts.get("gpu-03")?.inventory).toBe(loaded.hosts.get("gpu-03")?.inventory);
  });

  it("says so where an event does not follow on what is held", () => {
    expect(() => told(loaded, [{ kind: "ages", revision: 1, asOf: { "gpu-99": "" } }])).toThrow(RangeError);
    expect(() => told(empty, [{ kind: "ages", revision: 1, asOf: {} }])).toThrow(RangeError);
  });
});

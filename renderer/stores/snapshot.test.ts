import { describe, expect, it } from "vitest";
import { syntheticCluster } from "../../e2e/support/synthetic-cluster.ts";
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
const loaded = withEvent(empty, { kind: "snapshot", snapshot });

describe("withEvent", () => {
  it("takes a snapshot of the active cluster only", () => {
    expect(loaded.hostIds).toEqual(["gpu-01", "gpu-02", "gpu-03"]);
    expect(withEvent({ ...empty, activeClusterId: "other" }, { kind: "snapshot", snapshot }).hosts.size).toBe(0);
  });

  it("keeps the identity of what says the same, host by host and inventory by inventory", () => {
    const again = withEvent(loaded, { kind: "snapshot", snapshot: structuredClone(snapshot) });
    expect([...again.hosts.values()].every((host) => host === loaded.hosts.get(host.id))).toBe(true);
    const [first] = structuredClone(snapshot.hosts);
    if (first === undefined) throw new Error("no host");
    const next = withEvent(loaded, {
      kind: "hosts",
      revision: 1,
      hosts: [{ ...first, asOf: "2026-06-01T08:00:05.000Z" }],
    });
    expect(next.hosts.get("gpu-01")).not.toBe(loaded.hosts.get("gpu-01"));
    expect(next.hosts.get("gpu-01")?.inventory).toBe(loaded.hosts.get("gpu-01")?.inventory);
    expect(next.hosts.get("gpu-02")).toBe(loaded.hosts.get("gpu-02"));
    expect(next.hostIds).toBe(loaded.hostIds);
  });
});

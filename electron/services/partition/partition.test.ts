import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { PartitionDraft, PartitionProgress } from "../../../shared/api/contract.ts";
import { layoutOf, layoutVersion } from "../../../shared/mig/index.ts";
import { Clusters } from "../clusters/clusters.ts";
import { openStore, type Store } from "../store/store.ts";
import { FakeHost, fakeConnector } from "../testing/fake-hosts.ts";
import { profileIdOf, wish } from "../testing/fake-inventory.ts";
import { TroubleLog } from "../troubleshooting/events.ts";
import { mapLimited } from "./limit.ts";
import { hostsAtOnce, Partition } from "./partition.ts";

const never = new AbortController().signal;
let directory: string;
let store: Store;
let clusters: Clusters;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tessera-partition-"));
  store = openStore(directory, () => undefined);
});
afterEach(async () => {
  await clusters.close();
  store.close();
  rmSync(directory, { recursive: true, force: true });
});

/** A cluster of these hosts, as far as they come. */
async function connected(hosts: readonly FakeHost[]): Promise<{ partition: Partition; clusterId: string }> {
  const trouble = new TroubleLog();
  clusters = new Clusters(store, fakeConnector(hosts), trouble, []);
  const { id } = clusters.add({ name: "lab", hosts: hosts.map((host) => host.name), racks: { kind: "none" } });
  clusters.get(id).connect();
  await vi.waitFor(() => {
    const kinds = clusters
      .get(id)
      .publisher.current()
      .hosts.map((host) => host.state.kind);
    expect(kinds.every((kind) => kind === "live" || kind === "unreachable")).toBe(true);
  });
  return { partition: new Partition(clusters, trouble), clusterId: id };
}

const hostsNamed = (...names: readonly string[]) => names.map((name) => new FakeHost(name, [wish()]));

function draftOf(clusterId: string, hosts: readonly FakeHost[]): PartitionDraft {
  const layout = { migEnabled: true, instances: [{ profileId: profileIdOf("3g.40gb"), start: 4 }] };
  return {
    clusterId,
    hosts: hosts.map((host) => ({ hostId: host.name, gpus: [{ gpuUuid: `GPU-${host.name}-0`, layout }] })),
  };
}

test("a dead host has its own error; the others are planned, applied and reported as they come", async () => {
  const hosts = hostsNamed("a", "dead", "b");
  const dead = hosts[1];
  if (dead !== undefined) dead.refuses = { code: "ssh-unreachable", message: "no route" };
  const { partition, clusterId } = await connected(hosts);
  const draft = draftOf(clusterId, hosts);
  expect(await partition.plan(draft, never)).toMatchObject([
    { hostId: "a", ok: true, plan: { gpus: [{ steps: [{ kind: "create-instance" }] }] } },
    { hostId: "dead", ok: false, error: { code: "ssh-unreachable" } },
    { hostId: "b", ok: true },
  ]);
  const progress: PartitionProgress[] = [];
  const results = await partition.apply(draft, (one) => progress.push(one), never);
  expect(results).toMatchObject([
    { hostId: "a", ok: true, result: { outcome: "applied" } },
    { hostId: "dead", ok: false, error: { code: "ssh-unreachable" } },
    { hostId: "b", ok: true, result: { outcome: "applied" } },
  ]);
  const kindsOf = (hostId: string) => progress.filter((one) => one.hostId === hostId).map((one) => one.kind);
  expect([kindsOf("a"), kindsOf("dead"), kindsOf("b")]).toEqual([
    ["step", "host-done"],
    ["host-failed"],
    ["step", "host-done"],
  ]);
});

test("whoever looks meanwhile sees that the host is being changed, and afterwards that it is not", async () => {
  const hosts = hostsNamed("a");
  const { partition, clusterId } = await connected(hosts);
  const running = () => clusters.get(clusterId).host("a").view().runningOperationId;
  const seen: (string | null)[] = [];
  const onProgress = ({ kind }: PartitionProgress) => kind === "step" && seen.push(running());
  const [result] = await partition.apply(draftOf(clusterId, hosts), onProgress, new AbortController().signal);
  const operationId = result?.ok === true ? result.result.operationId : null;
  expect(operationId).not.toBeNull();
  expect(new Set(seen)).toEqual(new Set([operationId]));
  expect(running()).toBeNull();
});

test("a host that dies during apply fails alone", async () => {
  const hosts = hostsNamed("a", "b");
  const [a] = hosts;
  if (a !== undefined) {
    a.betweenSteps = async () => {
      a.cut();
      await new Promise(() => undefined);
    };
  }
  const { partition, clusterId } = await connected(hosts);
  expect(await partition.apply(draftOf(clusterId, hosts), () => undefined, never)).toMatchObject([
    { hostId: "a", ok: false, error: { code: "ssh-closed" } },
    { hostId: "b", ok: true },
  ]);
});

test("at most eight hosts change at the same time", async () => {
  const hosts = hostsNamed(...Array.from({ length: 20 }, (_, index) => `h${index}`));
  let now = 0;
  let most = 0;
  for (const host of hosts) {
    host.betweenSteps = async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setTimeout(resolve, 5));
      now -= 1;
    };
  }
  const { partition, clusterId } = await connected(hosts);
  const results = await partition.apply(draftOf(clusterId, hosts), () => undefined, never);
  expect([most, results.filter((result) => result.ok).length]).toEqual([hostsAtOnce, 20]);
});

test("cancelling stops the running hosts between steps and leaves the others untouched", async () => {
  const hosts = hostsNamed(...Array.from({ length: 10 }, (_, index) => `h${index}`));
  const cancel = new AbortController();
  const begun = new Set<string>();
  for (const host of hosts) {
    host.betweenSteps = async () => {
      begun.add(host.name);
      if (begun.size === hostsAtOnce) cancel.abort();
      await new Promise((resolve) => setTimeout(resolve, 5));
    };
  }
  const { partition, clusterId } = await connected(hosts);
  const results = await partition.apply(draftOf(clusterId, hosts), () => undefined, cancel.signal);
  expect(results.map((result) => (result.ok ? result.result.outcome : result.error.code))).toEqual(
    Array.from({ length: 10 }, () => "cancelled"),
  );
  expect(results.filter((result) => !result.ok).map((result) => result.hostId)).toEqual(["h8", "h9"]);
  expect(hosts.every((host) => host.inventory.gpus[0]?.instances.length === 0)).toBe(true);
});

test("a layout that changed since is `stale-plan`; undo brings the layout before back", async () => {
  const hosts = hostsNamed("a");
  const [host] = hosts;
  const { partition, clusterId } = await connected(hosts);
  const gpu = host?.inventory.gpus[0];
  const [wanted] = draftOf(clusterId, hosts).hosts;
  if (gpu === undefined || wanted === undefined) throw new Error("one GPU");
  const basedOn = layoutVersion(layoutOf(gpu));
  const draft = { clusterId, hosts: [{ ...wanted, gpus: wanted.gpus.map((one) => ({ ...one, basedOn })) }] };
  const [applied] = await partition.apply(draft, () => undefined, never);
  expect(applied).toMatchObject({ ok: true });
  expect(await partition.plan(draft, never)).toMatchObject([{ ok: false, error: { code: "stale-plan" } }]);
  const operationId = applied?.ok ? (applied.result.operationId ?? "") : "";
  const undone = await partition.undo(
    { clusterId, operations: [{ hostId: "a", operationId }] },
    () => undefined,
    never,
  );
  expect(undone).toMatchObject([{ ok: true, result: { outcome: "applied" } }]);
  expect(host?.inventory.gpus[0]?.instances).toEqual([]);
});

test("a host named twice is refused before anything begins", async () => {
  const hosts = hostsNamed("a");
  const { partition, clusterId } = await connected(hosts);
  const draft = draftOf(clusterId, [...hosts, ...hosts]);
  expect(() => partition.apply(draft, () => undefined, never)).toThrow(
    expect.objectContaining({ code: "bad-request" }),
  );
  await expect(partition.plan(draft, never)).rejects.toMatchObject({ code: "bad-request" });
});

test("mapLimited keeps the order of the items", async () => {
  const waits = [30, 1, 20, 1, 10];
  const results = await mapLimited(waits, 2, async (ms) => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return ms * 2;
  });
  expect(results).toEqual(waits.map((ms) => ms * 2));
  expect(await mapLimited([], 3, async () => 1)).toEqual([]);
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DemoCluster } from "../../resources/demo-cluster/index.ts";
import type { ApiInput, PartitionProgress } from "../../shared/api/contract.ts";
import type { HostView } from "../../shared/api/snapshot.ts";
import { asWish, layoutOf, layoutVersion } from "../../shared/mig/index.ts";
import type { Layout } from "../../shared/mig/types.ts";
import type { Gpu } from "../../shared/protocol/inventory.ts";
import type { Cluster } from "./clusters/cluster.ts";
import { type Services, startServices } from "./main.ts";

const never = new AbortController().signal;
const directory = mkdtempSync(join(tmpdir(), "tessera-demo-"));
let services: Services;
let cluster: Cluster;
let demo: DemoCluster;

beforeAll(async () => {
  const demoOptions = { hostCount: 3, live: false, durationScale: 0 };
  services = startServices({ version: "0.1.0", desktop: false, demo: true, dataDirectory: directory, demoOptions });
  cluster = services.clusters.named("demo");
  if (services.demo === null) throw new Error("a demo cluster");
  demo = await services.demo.running();
  cluster.connect();
  await until((hosts) => hosts.every(({ state }) => state.kind === "live"));
});
afterAll(async () => {
  await services.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Resolves once the hosts are as asked for, by events, not by looking again and again. */
function until(done: (hosts: readonly HostView[]) => boolean): Promise<void> {
  const stop = new AbortController();
  return new Promise<void>((resolve) => {
    cluster.publisher.subscribe(() => {
      if (done(cluster.publisher.current().hosts)) resolve();
    }, stop.signal);
  }).finally(() => stop.abort());
}

const viewOf = (name: string): HostView => cluster.host(name).view();
const hostNames = () => cluster.draft.hosts;

/** A GPU that nobody is in, and what is on it. */
function freeGpu(name: string): { gpu: Gpu; layout: Layout } {
  const inventory = viewOf(name).inventory;
  const gpu = inventory?.gpus.find((one) => one.processes.length === 0 && one.state.kind === "ok");
  if (inventory === null || gpu === undefined) throw new Error(`${name} has no free GPU`);
  return { gpu, layout: layoutOf(gpu, gpu.geometry === null ? null : inventory.geometries[gpu.geometry]) };
}

const sevenths: Layout = {
  migEnabled: true,
  instances: [0, 1, 2, 3, 4, 5, 6].map((start) => ({ profileId: 19, start })),
};

function draftFor(names: readonly string[], layout: Layout): ApiInput<"partition.apply"> {
  const hosts = names.map((hostId) => {
    const { gpu, layout: before } = freeGpu(hostId);
    return { hostId, gpus: [{ gpuUuid: gpu.uuid, layout, basedOn: layoutVersion(before) }] };
  });
  return JSON.parse(JSON.stringify({ clusterId: "demo", hosts }));
}

const operationOf = (result: { ok: boolean; result?: { operationId: string | null } } | undefined): string =>
  result?.result?.operationId ?? "";

test("a driver that fails on one host rolls that host back; the others are applied, and undone together", async () => {
  const [a = "", b = "", c = ""] = hostNames();
  const before = freeGpu(b).layout;
  const draft = draftFor([a, b, c], sevenths);
  demo.control(b).failNext("-cgi 19:3");
  const progress: PartitionProgress[] = [];
  const results = await services.partition.apply(draft, (one) => progress.push(one), never);
  expect(results.map((one) => (one.ok ? one.result.outcome : one.error.code))).toEqual([
    "applied",
    "rolled-back",
    "applied",
  ]);
  const rolledBack = progress.some((one) => one.hostId === b && one.kind === "step" && one.progress.rollingBack);
  expect(rolledBack).toBe(true);
  const gpuUuid = draft.hosts[1]?.gpus[0]?.gpuUuid;
  await until((hosts) => {
    const host = hosts.find((one) => one.id === b);
    const gpu = host?.inventory?.gpus.find((one) => one.uuid === gpuUuid);
    if (gpu === undefined) return false;
    return layoutVersion(asWish(layoutOf(gpu))) === layoutVersion(asWish(before));
  });
  const undone = await services.partition.undo(
    {
      clusterId: "demo",
      operations: [
        { hostId: a, operationId: operationOf(results[0]) },
        { hostId: c, operationId: operationOf(results[2]) },
      ],
    },
    () => undefined,
    never,
  );
  expect(undone.map((one) => (one.ok ? one.result.outcome : one.error.code))).toEqual(["applied", "applied"]);
});

test("a host that is cut off comes back by itself, and the others never notice", async () => {
  const [a = "", b = ""] = hostNames();
  demo.control(a).cut();
  await until((hosts) => hosts.find((one) => one.id === a)?.state.kind === "unreachable");
  expect(viewOf(a).inventory).not.toBe(null);
  expect(viewOf(b).state.kind).toBe("live");
  await until((hosts) => hosts.find((one) => one.id === a)?.state.kind === "live");
});

test("layouts that a reboot took are offered again, and come back", async () => {
  const [, , name = ""] = hostNames();
  const saved = await services.partition.save("demo", name, never);
  expect(saved.savedGpus).toBeGreaterThan(0);
  const bootId = viewOf(name).inventory?.host.bootId;
  await demo.control(name).reboot(10);
  demo.control(name).cut();
  await until((hosts) => {
    const host = hosts.find((one) => one.id === name);
    return host?.state.kind === "live" && host.inventory?.host.bootId !== bootId && host.restoreOffered;
  });
  const [restored] = await services.partition.restore({ clusterId: "demo", hostId: name }, () => undefined, never);
  expect(restored).toMatchObject({ ok: true, result: { outcome: "applied" } });
  await until((hosts) => hosts.find((one) => one.id === name)?.restoreOffered === false);
});

test("doctor and status answer through the same connection", async () => {
  const [a = ""] = hostNames();
  const findings = await services.handlers["host.doctor"]({ clusterId: "demo", hostId: a }, never);
  expect(findings.map((one) => one.level)).not.toContain(undefined);
  expect((await services.partition.status("demo", a, never)).operations.length).toBeGreaterThan(0);
});

import { describe, expect, it } from "vitest";
import { describeCluster, summaryOf } from "./describe.ts";
import { HostServer } from "./host-server.ts";
import { ClusterLife } from "./life.ts";

const nowMs = Date.UTC(2026, 2, 2, 10, 0, 0);
const seed = 6;
const options = { user: "ops", authorizedKey: "", caller: { uid: 1000, user: "ops" }, delayMs: () => 0 };

describe("the described cluster", () => {
  it("is the same for the same seed and another for another", () => {
    const states = (from: number) => describeCluster(24, from, nowMs).hosts.map(({ machine }) => machine.state);
    expect(states(seed)).toEqual(states(seed));
    expect(states(seed)).not.toEqual(states(seed + 1));
  });

  it("has the size of the drawing: racks of eight hosts, 192 GPUs, whole ones free, one lost", () => {
    const cluster = describeCluster(24, seed, nowMs);
    expect(cluster.racks).toEqual(["A1", "A2", "A3"]);
    expect(cluster.hosts.map(({ name }) => name).slice(0, 2)).toEqual(["gpu-01", "gpu-02"]);
    expect(summaryOf(cluster)).toMatchObject({ hosts: 24, gpus: 192, brokenGpus: 1, tenants: 7 });
    expect(summaryOf(cluster).freeGpus).toBeGreaterThan(20);
    expect(summaryOf(cluster).recoverableGpus).toBeGreaterThan(4);
  });

  it("gives every host of a thousand a name and a rack of its own kind", () => {
    const { hosts, racks } = describeCluster(1000, seed, nowMs);
    expect(new Set(hosts.map(({ name }) => name)).size).toBe(1000);
    expect(racks).toHaveLength(125);
  });
});

describe("its life", () => {
  function alive() {
    const servers = describeCluster(8, seed, nowMs).hosts.map((host) => new HostServer(host, options));
    return { servers, life: new ClusterLife(servers, seed) };
  }
  const pids = (server: HostServer | undefined) =>
    server?.described.machine.state.processes.map(({ pid, startedAtMs }) => `${pid} ${startedAtMs}`);

  it("starts and ends work in instances that exist, and nowhere else", () => {
    const { servers, life } = alive();
    const before = servers.map(pids);
    for (let tick = 0; tick < 400; tick += 1) life.tick();
    expect(servers.map(pids)).not.toEqual(before);
    for (const { described } of servers) {
      for (const { gpu } of described.machine.state.processes) {
        if (gpu === null || gpu.gpuInstanceId === null) continue;
        const holder = described.machine.state.gpus.find(({ uuid }) => uuid === gpu.uuid);
        const instance = holder?.instances.find(({ id }) => id === gpu.gpuInstanceId);
        expect(instance?.computeInstances.map(({ id }) => id)).toContain(gpu.computeInstanceId);
      }
    }
  });

  it("leaves hosts alone that are held still or were changed just now", async () => {
    const { servers, life } = alive();
    const [still, edited] = servers;
    life.holdStill("gpu-01");
    await edited?.system().run(["nvidia-smi", "-pm", "1"], { timeoutMs: 1_000 });
    const before = [pids(still), pids(edited)];
    for (let tick = 0; tick < 400; tick += 1) life.tick();
    expect([pids(still), pids(edited)]).toEqual(before);
  });

  it("keeps power below the limit and temperature in a believable range", () => {
    const { servers, life } = alive();
    for (let tick = 0; tick < 400; tick += 1) life.tick();
    for (const { described } of servers) {
      for (const [index, gpu] of described.machine.state.gpus.entries()) {
        expect(gpu.powerWatts).toBeLessThanOrEqual(described.machine.model(index).powerLimitWatts);
        expect(gpu.temperatureCelsius).toBeGreaterThan(20);
        expect(gpu.temperatureCelsius).toBeLessThan(80);
      }
    }
  });
});

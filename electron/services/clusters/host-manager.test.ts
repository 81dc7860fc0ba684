import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { HostState } from "../../../shared/api/snapshot.ts";
import { FakeHost, fakeConnector } from "../testing/fake-hosts.ts";
import { wish } from "../testing/fake-inventory.ts";
import { TroubleLog } from "../troubleshooting/events.ts";
import { HostManager, silenceLimitMs } from "./host-manager.ts";
import { Opening } from "./opening.ts";
import { retryDelayMs } from "./retry.ts";

const refreshMs = 5_000;

function manage(host: FakeHost) {
  const states: HostState[] = [];
  const manager: HostManager = new HostManager({
    target: { clusterId: "c", hostId: host.name, destination: host.name, keepaliveSeconds: undefined },
    name: host.name,
    rack: "",
    refreshMs,
    connector: fakeConnector([host]),
    trouble: new TroubleLog(),
    opening: new Opening(),
    share: (inventory) => inventory,
    changed: () => {
      const { state } = manager.view();
      if (states.at(-1) !== state) states.push(state);
    },
    inventoryChanged: () => undefined,
    last: null,
  });
  return { manager, states, kinds: () => states.map(describeState) };
}

function describeState(state: HostState): string {
  return state.kind === "connecting" ? `connecting:${state.phase}` : state.kind;
}

const settle = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 1), toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

test("nothing is connected until asked; then every state is passed in order", async () => {
  const host = new FakeHost("h", [wish("3g.40gb@4")]);
  const { manager, kinds } = manage(host);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([host.connections, manager.view().state]).toEqual([0, { kind: "not-connected" }]);
  manager.connect();
  await settle();
  expect(kinds()).toEqual(["connecting:resolving", "connecting:handshake", "connecting:starting", "loading", "live"]);
  expect(manager.view()).toMatchObject({ inventory: host.inventory, canChange: true, openOperationId: null });
  expect(host.requests).toContain("watch.complete");
  await manager.disconnect();
  expect(kinds().at(-1)).toBe("not-connected");
  expect(manager.view().inventory).toEqual(host.inventory);
});

test("what changes on the host is what is shown, and what did not change is the same object", async () => {
  const host = new FakeHost("h", [wish("3g.40gb@4"), wish()]);
  const { manager } = manage(host);
  manager.connect();
  await settle();
  const before = manager.view().inventory;
  const warmer = host.inventory.gpus.map((gpu) => (gpu.index === 0 ? { ...gpu, temperatureCelsius: 77 } : gpu));
  host.become({ ...host.inventory, gpus: warmer });
  await settle();
  const after = manager.view().inventory;
  expect(after?.gpus[0]?.temperatureCelsius).toBe(77);
  expect(after?.gpus[1]).toBe(before?.gpus[1]);
  expect(after?.geometries).toBe(before?.geometries);
  await manager.disconnect();
});

test("a lost push starts the watch again, and the picture is the host's", async () => {
  const host = new FakeHost("h", [wish()]);
  const { manager } = manage(host);
  manager.connect();
  await settle();
  host.push([{ path: ["gpus", 0, "temperatureCelsius"], value: 99 }], 3);
  host.inventory = { ...host.inventory, driver: { version: "999", cudaVersion: null } };
  await vi.advanceTimersByTimeAsync(2_000);
  expect(manager.view()).toMatchObject({ state: { kind: "live" }, inventory: { driver: { version: "999" } } });
  expect([host.watchers, host.connections]).toEqual([1, 1]);
  await manager.disconnect();
});

test("silence shows as stale with its age, then makes the connection anew", async () => {
  const host = new FakeHost("h", [wish()]);
  const { manager, kinds } = manage(host);
  manager.connect();
  await settle();
  const { asOf } = manager.view();
  const limitMs = silenceLimitMs(refreshMs);
  await vi.advanceTimersByTimeAsync(limitMs - 10);
  expect(manager.view().state.kind).toBe("live");
  await vi.advanceTimersByTimeAsync(20);
  expect(manager.view()).toMatchObject({ state: { kind: "stale", error: { code: "timeout" } }, asOf });
  await vi.advanceTimersByTimeAsync(limitMs + 5_000);
  expect(kinds().slice(5)).toEqual([
    "stale",
    "unreachable",
    "connecting:resolving",
    "connecting:handshake",
    "connecting:starting",
    "loading",
    "live",
  ]);
  await manager.disconnect();
});

test("a heartbeat keeps a quiet host live and young, and its inventory the same", async () => {
  const host = new FakeHost("h", [wish()]);
  const { manager, kinds } = manage(host);
  manager.connect();
  await vi.advanceTimersByTimeAsync(2_000);
  const { inventory } = manager.view();
  for (let beat = 0; beat < 20; beat += 1) {
    await vi.advanceTimersByTimeAsync(20_000);
    host.push([]);
  }
  expect(manager.view()).toMatchObject({ state: { kind: "live" }, asOf: new Date().toISOString() });
  expect(manager.view().inventory).toBe(inventory);
  expect(kinds().filter((kind) => kind === "live")).toHaveLength(1);
  await manager.disconnect();
});

test("a cut line comes back by itself, and the last inventory stays in sight", async () => {
  const host = new FakeHost("h", [wish("7g.80gb@0")]);
  const { manager, kinds } = manage(host);
  manager.connect();
  await settle();
  host.refuses = { code: "ssh-unreachable", message: "no route" };
  host.cut();
  await settle();
  expect(manager.view()).toMatchObject({
    state: { kind: "unreachable", error: { code: "ssh-closed" }, retryAt: expect.stringMatching(/^2026-01-01T00:00:/) },
    inventory: { host: { name: "h" } },
  });
  await vi.advanceTimersByTimeAsync(30_000);
  expect(manager.view().state).toMatchObject({ kind: "unreachable", error: { message: "no route" } });
  host.refuses = null;
  const before = kinds().length;
  // The pauses are drawn by lot, the longest is a minute; live it may then fall silent again, which is not the matter here.
  await vi.advanceTimersByTimeAsync(60_000);
  expect(kinds().slice(before)).toContain("live");
  await manager.disconnect();
});

test("what needs a person is not tried again by itself, but at once when asked", async () => {
  const host = new FakeHost("h", [wish()]);
  host.refuses = { code: "ssh-auth", message: "no" };
  const { manager, kinds } = manage(host);
  manager.connect();
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(kinds().filter((kind) => kind === "refused")).toHaveLength(1);
  expect(() => manager.link()).toThrow(expect.objectContaining({ code: "ssh-auth" }));
  host.refuses = null;
  manager.retry();
  await settle();
  expect(manager.view().state).toEqual({ kind: "live" });
  await manager.disconnect();
});

test("an operation that waits on the host is in its view, also after one from elsewhere changed the layout", async () => {
  const host = new FakeHost("h", [wish()]);
  const { manager } = manage(host);
  manager.connect();
  await settle();
  const open = { kind: "apply", state: "open", startedAt: "", endedAt: null, reason: null, gpus: [] } as const;
  host.operations.push({ ...open, id: "op-1", caller: { uid: 0, user: null }, doneSteps: 0, begunStep: null });
  host.become({ ...host.inventory, gpus: host.inventory.gpus.map((gpu) => ({ ...gpu, instances: [] })) });
  host.push([{ path: ["gpus", 0, "mig", "pending"], value: "disabled" }]);
  await vi.advanceTimersByTimeAsync(1_500);
  expect(manager.view().openOperationId).toBe("op-1");
  await manager.disconnect();
});

test("an operation that somebody is at work on is followed until it has ended, and asks for no decision", async () => {
  const host = new FakeHost("h", [wish()]);
  const open = { kind: "apply", state: "open", startedAt: "", endedAt: null, reason: null, gpus: [] } as const;
  host.operations.push({ ...open, id: "op-1", caller: { uid: 0, user: null }, doneSteps: 0, begunStep: null });
  host.running = true;
  const { manager } = manage(host);
  manager.connect();
  await settle();
  expect(manager.view()).toMatchObject({ openOperationId: null, runningOperationId: "op-1" });
  // Whoever was at work died.
  host.running = false;
  await vi.advanceTimersByTimeAsync(1_500);
  expect(manager.view()).toMatchObject({ openOperationId: "op-1", runningOperationId: null });
  await manager.disconnect();
});

describe("the pause before another try", () => {
  test("doubles up to a minute and is never the same for all", () => {
    expect([0, 1, 2, 3, 10, 1_000].map((failures) => retryDelayMs(failures, () => 1))).toEqual([
      1_000, 2_000, 4_000, 8_000, 60_000, 60_000,
    ]);
    expect(retryDelayMs(2, () => 0)).toBe(2_000);
  });
});

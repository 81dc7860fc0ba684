import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ClusterDraft } from "../../../shared/api/contract.ts";
import type { SnapshotEvent } from "../../../shared/api/snapshot.ts";
import { openStore, type Store } from "../store/store.ts";
import { FakeHost, fakeConnector } from "../testing/fake-hosts.ts";
import { wish } from "../testing/fake-inventory.ts";
import { TroubleLog } from "../troubleshooting/events.ts";
import { Clusters } from "./clusters.ts";
import type { HostConnector } from "./connector.ts";

const hosts = () => ["r1-a", "r1-b", "r2-a"].map((name) => new FakeHost(name, [wish("3g.40gb@4")]));
const draft: ClusterDraft = {
  name: "lab",
  hosts: ["r1-a", "r1-b", "r2-a"],
  racks: { kind: "pattern", pattern: "^(r\\d+)-" },
};

let directory: string;
let store: Store;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tessera-clusters-"));
  store = openStore(directory, () => undefined);
});
afterEach(() => {
  store.close();
  rmSync(directory, { recursive: true, force: true });
});

const open = (connector: HostConnector): Clusters => new Clusters(store, connector, new TroubleLog(), []);
const untilLive = (clusters: Clusters, id: string) =>
  vi.waitFor(() => {
    const { hosts: views } = clusters.get(id).publisher.current();
    expect(views.map((view) => view.state.kind)).toEqual(views.map(() => "live"));
  });

test("a cluster that was added is there at the next start, with its last known state, and nothing connects", async () => {
  const first = open(fakeConnector(hosts()));
  const { id } = first.add(draft);
  first.get(id).connect();
  await untilLive(first, id);
  await first.close();

  const connector = { connect: vi.fn(fakeConnector(hosts()).connect) };
  const second = open(connector);
  expect(second.list()).toEqual([{ id, name: "lab", kind: "ssh", hostCount: 3, connected: false }]);
  expect(second.get(id).publisher.current().hosts).toMatchObject([
    { id: "r1-a", rack: "r1", state: { kind: "not-connected" }, inventory: { gpus: [{ index: 0 }] } },
    { id: "r1-b", rack: "r1", state: { kind: "not-connected" }, asOf: expect.stringMatching(/^\d{4}-/) },
    { id: "r2-a", rack: "r2", state: { kind: "not-connected" } },
  ]);
  expect(connector.connect).not.toHaveBeenCalled();
  await second.close();
});

test("hosts of one model share one geometry", async () => {
  const clusters = open(fakeConnector(hosts()));
  const { id } = clusters.add(draft);
  clusters.get(id).connect();
  await untilLive(clusters, id);
  const geometries = clusters
    .get(id)
    .publisher.current()
    .hosts.map((host) => {
      return Object.values(host.inventory?.geometries ?? {})[0];
    });
  expect(new Set(geometries).size).toBe(1);
  await clusters.close();
});

test("one dead host leaves the others live", async () => {
  const [a, b, c] = hosts();
  if (a === undefined || b === undefined || c === undefined) throw new Error("three hosts");
  b.refuses = { code: "ssh-unreachable", message: "no route" };
  const clusters = open(fakeConnector([a, b, c]));
  const { id } = clusters.add(draft);
  clusters.get(id).connect();
  await vi.waitFor(() => {
    const kinds = clusters
      .get(id)
      .publisher.current()
      .hosts.map((host) => host.state.kind);
    expect(kinds).toEqual(["live", "unreachable", "live"]);
  });
  await clusters.close();
});

test("subscribers get the whole once, then only what changed, with revisions in a row", async () => {
  const all = hosts();
  const clusters = open(fakeConnector(all));
  const { id } = clusters.add(draft);
  clusters.get(id).connect();
  await untilLive(clusters, id);
  const events: SnapshotEvent[] = [];
  const stop = new AbortController();
  clusters.get(id).publisher.subscribe((event) => events.push(event), stop.signal);
  const [first] = all;
  const hotter = (celsius: number) =>
    first?.become({
      ...first.inventory,
      gpus: first.inventory.gpus.map((gpu) => ({ ...gpu, temperatureCelsius: celsius })),
    });
  for (const celsius of [40, 50, 60]) hotter(celsius);
  await vi.waitFor(() => expect(events).toHaveLength(3));
  hotter(70);
  await vi.waitFor(() => expect(events).toHaveLength(4));
  const [begin, whole] = events;
  expect([begin?.kind, whole?.kind]).toEqual(["begin", "hosts"]);
  const base = begin?.revision ?? -1;
  const told = (celsius: number) => [
    {
      hostId: "r1-a",
      changes: expect.arrayContaining([{ path: ["inventory", "gpus", 0, "temperatureCelsius"], value: celsius }]),
    },
  ];
  expect(events.slice(2)).toEqual([
    { kind: "changes", revision: base + 1, hosts: told(60) },
    { kind: "changes", revision: base + 2, hosts: told(70) },
  ]);
  stop.abort();
  hotter(80);
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect(events).toHaveLength(4);
  await clusters.close();
});

describe("changing a cluster", () => {
  test("keeps the connection of hosts that stay, ends those that go, begins those that come", async () => {
    const all = [...hosts(), new FakeHost("r3-a", [wish()])];
    const clusters = open(fakeConnector(all));
    const { id } = clusters.add(draft);
    clusters.get(id).connect();
    await untilLive(clusters, id);
    await clusters.update(id, { ...draft, hosts: ["r3-a", "r1-a", "r1-b"] });
    await untilLive(clusters, id);
    expect(all.map((host) => [host.name, host.connections, host.watchers])).toEqual([
      ["r1-a", 1, 1],
      ["r1-b", 1, 1],
      ["r2-a", 1, 0],
      ["r3-a", 1, 1],
    ]);
    expect(
      clusters
        .get(id)
        .publisher.current()
        .hosts.map((host) => host.id),
    ).toEqual(["r3-a", "r1-a", "r1-b"]);
    await clusters.close();
  });

  test("to another rack rule keeps what is known", async () => {
    const clusters = open(fakeConnector(hosts()));
    const { id } = clusters.add(draft);
    clusters.get(id).connect();
    await untilLive(clusters, id);
    await clusters.update(id, { ...draft, racks: { kind: "map", racks: { "r1-a": "left" } } });
    const views = clusters.get(id).publisher.current().hosts;
    expect(views.map((host) => host.rack)).toEqual(["left", "", ""]);
    expect(views.every((host) => host.inventory !== null)).toBe(true);
    await clusters.close();
  });

  test.each<[string, Partial<ClusterDraft>]>([
    ["a host that ssh would read as an option", { hosts: ["-oProxyCommand=x"] }],
    ["a user in front of such a host", { hosts: ["root@-x"] }],
    ["a password in a host", { hosts: ["root:hunter2@x"] }],
    ["a host with a line break", { hosts: ["a\nb"] }],
    ["a pattern that is none", { racks: { kind: "pattern", pattern: "(" } }],
    ["a name that is taken", { name: "taken" }],
  ])("%s is refused, and nothing changes", async (_what, change) => {
    const clusters = open(fakeConnector([]));
    clusters.add({ ...draft, name: "taken" });
    const { id } = clusters.add(draft);
    await expect(clusters.update(id, { ...draft, ...change })).rejects.toMatchObject({ code: "bad-request" });
    expect(clusters.get(id).draft).toEqual(draft);
    expect(store.clusters()).toContainEqual({ id, draft });
    await clusters.close();
  });

  test("removing it ends its connections and forgets it", async () => {
    const all = hosts();
    const clusters = open(fakeConnector(all));
    const { id } = clusters.add(draft);
    clusters.get(id).connect();
    await untilLive(clusters, id);
    await clusters.remove(id);
    expect(all.map((host) => host.watchers)).toEqual([0, 0, 0]);
    expect([clusters.list(), store.clusters(), store.inventories(id)]).toEqual([[], [], []]);
    expect(() => clusters.get(id)).toThrow(expect.objectContaining({ code: "not-found" }));
    await clusters.close();
  });
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ControlState } from "../../../shared/api/contract.ts";
import { AppError } from "../../../shared/errors.ts";
import type { ControlEvent, Me, Organisation } from "../../../shared/protocol/control.ts";
import { Clusters } from "../clusters/clusters.ts";
import { openStore, type Store } from "../store/store.ts";
import { FakeHost, fakeConnector } from "../testing/fake-hosts.ts";
import { wish } from "../testing/fake-inventory.ts";
import { TroubleLog } from "../troubleshooting/events.ts";
import { Control } from "./control.ts";
import { ControlHostFinder } from "./finder.ts";
import { RolesCopier } from "./roles.ts";

const never = new AbortController().signal;
let directory: string;
let store: Store;
let clusters: Clusters;
let follow: AbortController;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tessera-control-"));
  store = openStore(directory, () => undefined);
  follow = new AbortController();
});
afterEach(async () => {
  follow.abort();
  await clusters.close();
  store.close();
  rmSync(directory, { recursive: true, force: true });
});

const me = (more: Partial<Me>): Me => ({
  uid: 0,
  user: "root",
  role: "administrator",
  leads: [],
  projects: [],
  open: false,
  ledger: false,
  rolesRevision: null,
  rolesConfirmedAt: null,
  engine: null,
  ...more,
});

const organisation: Organisation = {
  revision: 7,
  administrators: [{ uid: 0, user: "root", version: 1 }],
  tenants: [],
};

/** A host with a ledger; `push` is what its watch sends. */
function ledgerHost(name: string): { host: FakeHost; push: (event: ControlEvent) => void; watches: () => number } {
  const host = new FakeHost(name, [wish()]);
  let progress: (event: ControlEvent) => void = () => undefined;
  let watches = 0;
  host.answers.set("identity.me", () => me({ ledger: true, rolesRevision: 7, engine: "local" }));
  host.answers.set("organisation.get", () => organisation);
  host.answers.set("control.watch", (_input, push, signal) => {
    watches += 1;
    progress = push;
    push({ ledgerRevision: 1, usageRevision: 1 });
    return new Promise((resolve) => signal?.addEventListener("abort", () => resolve(null)));
  });
  return { host, push: (event) => progress(event), watches: () => watches };
}

function otherHost(name: string, rolesRevision: number | null): { host: FakeHost; put: unknown[] } {
  const host = new FakeHost(name, [wish()]);
  const put: unknown[] = [];
  host.answers.set("identity.me", () => me({ rolesRevision, rolesConfirmedAt: new Date().toISOString() }));
  host.answers.set("roles.put", (roles) => {
    put.push(roles);
    return null;
  });
  return { host, put };
}

/** A tessera-host from before these commands. */
function oldHost(name: string): FakeHost {
  const host = new FakeHost(name, [wish()]);
  host.answers.set("identity.me", () => {
    throw new AppError({ code: "bad-request", message: "Unhandled method identity.me", remedy: "" });
  });
  return host;
}

async function connected(hosts: readonly FakeHost[], controlHost?: string) {
  const trouble = new TroubleLog();
  clusters = new Clusters(store, fakeConnector(hosts), trouble, []);
  const names = hosts.map((host) => host.name);
  const draft = { name: "lab", hosts: names, racks: { kind: "none" as const } };
  const { id } = clusters.add(controlHost === undefined ? draft : { ...draft, controlHost });
  clusters.get(id).connect();
  await vi.waitFor(() => {
    const { hosts: views } = clusters.get(id).publisher.current();
    expect(views.every(({ state }) => state.kind === "live")).toBe(true);
  });
  const control = new Control(clusters, trouble);
  const states: ControlState[] = [];
  return { control, id, states, start: () => control.subscribe(id, (state) => states.push(state), follow.signal) };
}

test("the host that says it has the ledger is the control host, wherever it stands in the list", async () => {
  const ledger = ledgerHost("b");
  const { control, id } = await connected([oldHost("a"), ledger.host, otherHost("c", null).host]);
  expect(await control.request("organisation.get", { clusterId: id, input: {} }, never)).toEqual(organisation);
});

test("the configured host comes before one that has a ledger", async () => {
  const { host } = otherHost("c", null);
  host.answers.set("organisation.get", () => ({ ...organisation, revision: 99 }));
  const { control, id } = await connected([ledgerHost("b").host, host], "c");
  expect(await control.request("organisation.get", { clusterId: id, input: {} }, never)).toMatchObject({
    revision: 99,
  });
});

test("what the control host refuses arrives as it said it", async () => {
  const { host } = ledgerHost("a");
  host.answers.set("tenant.create", () => {
    throw new AppError({ code: "forbidden", message: "Only administrators.", remedy: "" });
  });
  const { control, id } = await connected([host]);
  const call = { clusterId: id, input: { displayName: "vision" } };
  await expect(control.request("tenant.create", call, never)).rejects.toMatchObject({ code: "forbidden" });
});

test("changes of the ledger are told, and after the link was lost they are again", async () => {
  const ledger = ledgerHost("a");
  const { states, start } = await connected([ledger.host]);
  start();
  await vi.waitFor(() => expect(states.at(-1)).toMatchObject({ state: "ready", ledgerRevision: 1 }));
  ledger.push({ ledgerRevision: 2, usageRevision: 5 });
  await vi.waitFor(() => expect(states.at(-1)).toMatchObject({ ledgerRevision: 2, usageRevision: 5 }));
  ledger.host.cut();
  await vi.waitFor(() => expect(ledger.watches()).toBe(2), { timeout: 10_000 });
  ledger.push({ ledgerRevision: 3, usageRevision: 6 });
  await vi.waitFor(() => expect(states.at(-1)).toMatchObject({ state: "ready", ledgerRevision: 3 }));
});

test("roles are copied once to hosts whose copy is older, and to no other", async () => {
  const [behind, even] = [otherHost("b", 3), otherHost("c", 7)];
  const { states, start } = await connected([ledgerHost("a").host, behind.host, even.host, oldHost("d")]);
  start();
  await vi.waitFor(() => expect(behind.put).toEqual([{ revision: 7, administrators: [0], tenants: [] }]));
  expect(even.put).toEqual([]);
  expect(states.at(-1)).toMatchObject({ state: "ready", controlHostId: "a" });
});

const day = 24 * 3_600_000;

/** One host beside the control host, with a copier whose clock is `clock.ms`. */
async function copying(other: FakeHost) {
  const { id } = await connected([ledgerHost("a").host, other]);
  const cluster = clusters.get(id);
  const trouble = new TroubleLog();
  const clock = { ms: Date.parse("2026-12-03T00:00:00Z") };
  const copier = new RolesCopier(cluster, new ControlHostFinder(cluster), trouble, () => clock.ms);
  const [control = ""] = cluster.draft.hosts;
  return { copier, clock, trouble, control };
}

test("a copy is confirmed daily, though its revision stands", async () => {
  const { host, put } = otherHost("b", 7);
  host.answers.set("identity.me", () => me({ rolesRevision: 7, rolesConfirmedAt: "2026-12-02T12:00:00.000Z" }));
  const { copier, clock, control } = await copying(host);
  expect(await copier.isDue(control, 7)).toBe(false);
  clock.ms += day;
  expect(await copier.isDue(control, 7)).toBe(true);
  await copier.copy(control, organisation);
  expect(put).toHaveLength(1);
  expect(await copier.isDue(control, 7)).toBe(false);
  clock.ms += day;
  expect(await copier.isDue(control, 7)).toBe(true);
});

test("a host that did not take the roles is named, told of once, and tried again after a while", async () => {
  const { host, put } = otherHost("b", 3);
  const take = host.answers.get("roles.put");
  host.answers.set("roles.put", () => {
    throw new AppError({ code: "disk-full", message: "No space left.", remedy: "" });
  });
  const { copier, clock, trouble, control } = await copying(host);
  await copier.copy(control, organisation);
  expect(copier.behind(control)).toEqual(["b"]);
  expect(await copier.isDue(control, 7)).toBe(false);
  clock.ms += 5 * 60_000;
  expect(await copier.isDue(control, 7)).toBe(true);
  await copier.copy(control, organisation);
  const told: string[] = [];
  trouble.subscribe((events) => told.push(...events.map(({ what }) => what)), follow.signal);
  expect(told).toEqual(["Copying the roles"]);
  if (take !== undefined) host.answers.set("roles.put", take);
  clock.ms += 5 * 60_000;
  await copier.copy(control, organisation);
  expect(put).toHaveLength(1);
  expect(copier.behind(control)).toEqual([]);
});

test("where no host has a ledger the first is offered; one ledger made through us makes it ready", async () => {
  const { host } = otherHost("a", null);
  const ledger = ledgerHost("a");
  host.answers.set("ledger.create", () => {
    for (const [name, answer] of ledger.host.answers) host.answers.set(name, answer);
    return me({ ledger: true });
  });
  const { control, id, states, start } = await connected([host]);
  start();
  await vi.waitFor(() => expect(states.at(-1)).toMatchObject({ state: "no-ledger", controlHostId: "a" }));
  await control.request("ledger.create", { clusterId: id, input: { engine: "local" } }, never);
  await vi.waitFor(() => expect(states.at(-1)).toMatchObject({ state: "ready" }));
});

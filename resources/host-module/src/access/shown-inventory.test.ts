import { expect, test } from "vitest";
import type { Roles } from "../../../../shared/protocol/control.ts";
import type { Holder, HostInventory } from "../../../../shared/protocol/inventory.ts";
import { readInventory } from "../inventory/read.ts";
import { capturedSystem } from "../testing/captured-system.ts";
import { hostFiles, hostRuns } from "../testing/reports.ts";
import { accessOf } from "./access.ts";
import { cutInventory } from "./shown-inventory.ts";

const roles: Roles = {
  revision: 1,
  administrators: [1],
  tenants: [
    { id: "t1", displayName: "Alpha", leads: [2], projects: [{ id: "t1_p01", displayName: "asr", members: [3] }] },
    { id: "t2", displayName: "Bravo", leads: [4], projects: [{ id: "t2_p01", displayName: "asr", members: [5] }] },
  ],
};
const users: Readonly<Record<number, string>> = { 3: "max", 5: "mia" };

async function heldBy(holder: Holder): Promise<HostInventory> {
  const inventory = await readInventory(capturedSystem({ runs: hostRuns, files: hostFiles }));
  return { ...inventory, gpus: inventory.gpus.map((gpu) => ({ ...gpu, holder })) };
}

async function seenBy(uid: number, holder: Holder): Promise<Holder | null | undefined> {
  const sight = { access: accessOf(uid, roles), places: new Map(), own: users[uid] ?? null, seen: new Set<string>() };
  return cutInventory(await heldBy(holder), sight).gpus[1]?.holder;
}

const job: Holder = {
  tenant: null,
  project: "t1_p01",
  user: "max",
  by: "job",
  allocation: "7",
  since: "2026-03-01T11:00:00.000Z",
};
const named = { ...job, tenant: "Alpha", project: "asr" };
const occupied = { tenant: null, project: null, user: null, by: "process", allocation: null, since: null };

test.each([
  ["an administrator", 1, named],
  ["the tenant's lead", 2, named],
  ["a member of the project", 3, named],
  ["the lead of another tenant, whose project has the same name", 4, occupied],
  ["a member of another tenant", 5, occupied],
  ["somebody without a role", 6, occupied],
])("a job's holder for %s", async (_name, uid, expected) => {
  expect(await seenBy(uid, job)).toEqual(expected);
});

test("a job of an account that is no project is shown to administrators and to whose it is", async () => {
  const foreign = { ...job, project: "physics" };
  expect(await Promise.all([1, 3, 2, 5].map((uid) => seenBy(uid, foreign)))).toEqual([
    foreign,
    foreign,
    occupied,
    occupied,
  ]);
});

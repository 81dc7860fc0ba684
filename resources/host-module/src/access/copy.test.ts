import { expect, test } from "vitest";
import type { Roles } from "../../../../shared/protocol/control.ts";
import type { Files, System } from "../system.ts";
import { capturedSystem } from "../testing/captured-system.ts";
import { forbidden } from "./access.ts";
import { accessOfCopy, putRoles, rolesPath } from "./copy.ts";

const roles: Roles = {
  revision: 7,
  administrators: [900],
  tenants: [
    {
      id: "t3f2k",
      displayName: "Alpha",
      leads: [1000],
      projects: [{ id: "t3f2k_p01", displayName: "one", members: [1001] }],
    },
  ],
};

/** A host that keeps files in memory, with a clock to be set. */
function host(): { as: (uid: number) => System; clock: { now: Date }; files: Map<string, Uint8Array> } {
  const kept = new Map<string, Uint8Array>();
  const clock = { now: new Date("2026-12-03T08:00:00.000Z") };
  const base = capturedSystem();
  const files: Files = {
    ...base.files,
    read: async (path) => kept.get(path) ?? null,
    makeDirectory: async () => undefined,
    replace: async (path, content) => void kept.set(path, content),
  };
  const as = (uid: number): System => ({
    ...base,
    files,
    now: () => clock.now,
    caller: { ...base.caller, uid },
  });
  return { as, clock, files: kept };
}

test("a copy lets in whom it names for seven days after it was confirmed, then administrators alone", async () => {
  const { as, clock } = host();
  await putRoles(as(900), roles);
  clock.now = new Date("2026-12-10T08:00:00.000Z");
  expect((await accessOfCopy(as(1000))).leads).toEqual(new Set(["t3f2k"]));
  clock.now = new Date("2026-12-10T08:00:00.001Z");
  const lead = await accessOfCopy(as(1000));
  expect(lead).toMatchObject({ leads: new Set(), projects: new Set(), outdated: true, administrator: false });
  expect((await accessOfCopy(as(1001))).projects).toEqual(new Set());
  expect(await accessOfCopy(as(900))).toMatchObject({ administrator: true, outdated: false });
  expect(forbidden("mig.status", lead).message).toContain("2026-12-03");
  await putRoles(as(900), roles);
  expect((await accessOfCopy(as(1001))).projects).toEqual(new Set(["t3f2k_p01"]));
});

test("a copy from the future is as good as an old one", async () => {
  const { as, clock } = host();
  await putRoles(as(900), roles);
  clock.now = new Date("2026-11-20T08:00:00.000Z");
  expect((await accessOfCopy(as(1000))).leads).toEqual(new Set());
});

test("older roles than those here are refused and confirm nothing", async () => {
  const { as, clock, files } = host();
  await putRoles(as(900), roles);
  const before = files.get(rolesPath);
  clock.now = new Date("2026-12-04T08:00:00.000Z");
  await expect(putRoles(as(900), { ...roles, revision: 6, tenants: [] })).rejects.toMatchObject({ code: "conflict" });
  expect(files.get(rolesPath)).toBe(before);
});

test("a copy without its time, or with another thing in its place, lets nobody in", async () => {
  const { as, files } = host();
  for (const content of [JSON.stringify(roles), JSON.stringify({ ...roles, confirmedAt: "soon" }), "null", "{"]) {
    files.set(rolesPath, new TextEncoder().encode(content));
    await expect(accessOfCopy(as(900))).rejects.toMatchObject({ code: "unreadable" });
  }
});

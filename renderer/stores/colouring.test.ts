import { expect, test } from "vitest";
import { syntheticCluster } from "../../e2e/support/synthetic-cluster.ts";
import { colouredBy, markOf, meetLedger, meetTenants, tenantMark, tenants, useColouring } from "./colouring.ts";

test("tenants of one look at a cluster are numbered by name; a later one takes the next number and moves nobody", () => {
  const { hosts } = syntheticCluster({ hosts: 8, now: "2026-06-01T08:00:00.000Z" });
  const byId = new Map(hosts.map((host) => [host.id, host]));
  meetTenants(byId, new Map());
  const names = Array.from({ length: tenants.size }, (_, at) => tenants.nameOf(at + 1));
  expect(names.length).toBeGreaterThan(1);
  expect(names).toEqual(names.toSorted());
  // Whichever view asks first.
  const marks = names.map((name) => tenantMark(name ?? ""));
  tenantMark("aardvark");
  meetTenants(byId, byId);
  expect(names.map((name) => tenantMark(name ?? ""))).toEqual(marks);
  expect(tenants.idOf("aardvark")).toBe(names.length + 1);
});

test("the ledger's order of creation decides the hues, whoever was met first; numbers stay and the board is told", () => {
  const known = tenants.size;
  const [met] = [tenants.idOf("met on a host")];
  const { order } = useColouring.getState();
  const made = [
    { displayName: "younger", createdAt: "2026-06-02T08:00:00.000Z" },
    { displayName: "met on a host", createdAt: "2026-06-01T08:00:00.000Z" },
  ];
  meetLedger(made);
  expect(tenants.idOf("met on a host")).toBe(met);
  expect(met).toBe(known + 1);
  expect([markOf(met), tenantMark("younger")]).toEqual([
    { hue: 1, mark: 0 },
    { hue: 2, mark: 0 },
  ]);
  expect(tenantMark(tenants.nameOf(1) ?? "")).toEqual({ hue: 3, mark: 0 });
  meetLedger(made.toReversed());
  expect(useColouring.getState().order).toBe(order + 1);
});

test("a lead sees the own tenant in the colour that administrators see; what is only occupied is quiet", () => {
  const made = Array.from({ length: 4 }, (_, place) => ({
    ...{ displayName: `of the ledger ${place}`, createdAt: `2026-06-0${place + 1}T08:00:00.000Z`, place },
  }));
  meetLedger(made);
  const seenByAll = tenantMark("of the ledger 2");
  expect(seenByAll.hue).toBe(3);
  meetLedger(made.slice(2, 3));
  expect(tenantMark("of the ledger 2")).toEqual(seenByAll);
  expect(tenantMark(colouredBy({ tenant: null, project: null, user: null }))).toEqual({ hue: 0, mark: 0 });
});

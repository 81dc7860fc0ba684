import { expect, test } from "vitest";
import { syntheticCluster } from "../../e2e/support/synthetic-cluster.ts";
import { meetTenants, tenantMark, tenants } from "./colouring.ts";

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

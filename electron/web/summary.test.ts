import { expect, test } from "vitest";
import type { HostState, HostView } from "../../shared/api/snapshot.ts";
import type { HostInventory } from "../../shared/protocol/inventory.ts";
import { fakeInventory, wish } from "../services/testing/fake-inventory.ts";
import { isSettled, summaryOf } from "./summary.ts";

const error = { code: "ssh-unreachable", message: "No route to b.", remedy: "" } as const;
const view = (name: string, state: HostState, inventory: HostInventory | null = null): HostView => ({
  id: name,
  name,
  rack: "",
  state,
  inventory,
  asOf: null,
  canChange: null,
  openOperationId: null,
  runningOperationId: null,
  restoreOffered: false,
});
const snapshotOf = (...hosts: readonly HostView[]) => ({ clusterId: "c", name: "lab", revision: 0, hosts });
const inventory = fakeInventory("a", [wish("3g.40gb@4", "1g.10gb@0"), wish(), { migEnabled: false, instances: [] }]);

test("a line a host, a total, and the reason of those that are not there", () => {
  const unreachable: HostState = { kind: "unreachable", error, retryAt: null };
  expect(summaryOf(snapshotOf(view("a", { kind: "live" }, inventory), view("b", unreachable)))).toBe(
    [
      "Cluster lab: 1 of 2 hosts live",
      "",
      "HOST   STATE        GPU MODEL       GPUS  MIG ON  INSTANCES  FREE  WHOLE CARDS FREE",
      "a      live         H100 80GB HBM3     3       2          2     2                 2",
      "b      unreachable  -                  -       -          -     -                 -",
      "total                                  3       2          2     2                 2",
      "",
      "b: No route to the host.",
    ].join("\n"),
  );
});

test("long clusters are cut, and the total counts all", () => {
  const hosts = Array.from({ length: 100 }, (_, index) => view(`h${index}`, { kind: "live" }, inventory));
  const lines = summaryOf(snapshotOf(...hosts)).split("\n");
  expect(lines).toHaveLength(29);
  expect(lines.at(-2)).toBe("... 76 more");
  expect(lines.at(-1)).toMatch(/^total +300 +200 +200 +200 +200$/);
});

test.each<[HostState, boolean]>([
  [{ kind: "not-connected" }, false],
  [{ kind: "connecting", phase: "handshake" }, false],
  [{ kind: "loading" }, false],
  [{ kind: "live" }, true],
  [{ kind: "stale", error: null }, true],
  [{ kind: "unreachable", error, retryAt: null }, true],
  [{ kind: "refused", error }, true],
])("a host that is %j has come to where it stays: %s", (state, settled) => {
  expect(isSettled(snapshotOf(view("a", state)))).toBe(settled);
});

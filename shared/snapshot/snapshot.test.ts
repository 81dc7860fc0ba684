import fc from "fast-check";
import { expect, test } from "vitest";
import type { HostState, HostView, SnapshotEvent } from "../api/snapshot.ts";
import { geometryOfKey } from "../mig/geometry.ts";
import type { GpuGeometry } from "../mig/types.ts";
import { type HostInventory, inventorySchema, type TopologyLink } from "../protocol/inventory.ts";
import { type HeldCluster, withSnapshotEvent } from "./follow.ts";
import { eventsBetween, snapshotEvents } from "./pack.ts";

function geometry(key: string): GpuGeometry {
  const found = geometryOfKey(key);
  if (found === null) throw new Error(`no ${key}`);
  return found;
}
const models = [geometry("H100-SXM5-80GB"), geometry("A100-80GB")];
const boards: readonly (readonly TopologyLink[])[] = [[], [{ a: "GPU0", b: "GPU1", kind: "NVLINK", nvlinkCount: 18 }]];

const model = fc.constantFrom(...models);
const inventory = fc
  .record({
    model,
    links: fc.constantFrom(...boards),
    takenAt: fc.constantFrom("2026-06-01T08:00:00Z", "2026-06-01T08:00:05Z"),
    version: fc.constantFrom(null, "550.163.01", "570.10"),
    numaNodes: fc.array(
      fc.record({ id: fc.nat(3), cpus: fc.constantFrom("0-3", "4-7"), memoryMiB: fc.constant(null) }),
      {
        maxLength: 2,
      },
    ),
  })
  .map(
    ({ model: { key }, links, takenAt, version, numaNodes }): HostInventory => ({
      schema: inventorySchema,
      takenAt,
      host: {
        name: "a",
        bootId: null,
        kernel: null,
        architecture: null,
        cpuCount: null,
        memoryMiB: null,
        numaNodes,
        nics: [],
        managers: [],
      },
      driver: { version, cudaVersion: null },
      geometries: Object.fromEntries(models.filter((one) => one.key === key).map((one) => [key, one])),
      gpus: [],
      links,
      unread: [],
    }),
  );
const state: fc.Arbitrary<HostState> = fc.constantFrom<HostState>(
  { kind: "live" },
  { kind: "loading" },
  { kind: "connecting", phase: "handshake" },
  { kind: "stale", error: null },
  { kind: "unreachable", error: { code: "timeout", message: "Silence.", remedy: "" }, retryAt: null },
);
const hostIds = ["a", "b", "c"] as const;
const what = fc.record({
  state,
  inventory: fc.option(inventory),
  asOf: fc.constantFrom(null, "2026-06-01T08:00:00Z", "2026-06-01T08:00:05Z", "2026-06-01T08:00:10Z"),
  canChange: fc.constantFrom(null, true),
});
const view = (
  id: string,
  values: Omit<HostView, "id" | "name" | "rack" | "openOperationId" | "runningOperationId" | "restoreOffered">,
): HostView => ({
  id,
  name: id,
  rack: "",
  openOperationId: null,
  runningOperationId: null,
  restoreOffered: false,
  ...values,
});
/** One flush: the hosts that become something else. A change of the age alone is the usual case. */
const step = fc.dictionary(
  fc.constantFrom(...hostIds),
  fc.oneof(what, fc.record({ asOf: what.map(({ asOf }) => asOf) })),
);

test("whoever follows the events holds what the services hold, and keeps what did not change", () => {
  fc.assert(
    fc.property(fc.tuple(what, what, what), fc.array(step, { maxLength: 8 }), (first, steps) => {
      let told = new Map(hostIds.map((id, at) => [id as string, view(id, first[at] ?? first[0])]));
      let revision = 0;
      let held: HeldCluster | null = null;
      const follow = (events: readonly SnapshotEvent[]) => {
        for (const event of events) held = withSnapshotEvent(held, structuredClone(event));
        return held;
      };
      const cluster = { clusterId: "one", name: "One" };
      const begun = follow(snapshotEvents({ ...cluster, revision, hosts: [...told.values()] }));
      expect(begun).toEqual({ ...cluster, revision, hosts: told });
      for (const changes of steps) {
        const next = new Map(told);
        for (const [id, values] of Object.entries(changes))
          next.set(id, { ...view(id, first[0]), ...told.get(id), ...values });
        const events = eventsBetween(
          Object.keys(changes).flatMap((id): [HostView | undefined, HostView][] => {
            const after = next.get(id);
            return after === undefined ? [] : [[told.get(id), after]];
          }),
          revision,
        );
        expect(events.map((event) => event.revision)).toEqual(events.map((_, at) => revision + at + 1));
        revision += events.length;
        const before: ReadonlyMap<string, HostView> = held === null ? new Map() : (held as HeldCluster).hosts;
        const after = follow(events);
        expect(after).toEqual({ ...cluster, revision, hosts: next });
        for (const id of hostIds) if (!(id in changes)) expect(after?.hosts.get(id)).toBe(before.get(id));
        told = next;
      }
    }),
  );
});

test("a thousand heartbeats travel as ages alone", () => {
  const hosts = Array.from({ length: 1_000 }, (_, at) =>
    view(`gpu-${at}`, { state: { kind: "live" }, inventory: null, asOf: "2026-06-01T08:00:00Z", canChange: true }),
  );
  const asOf = "2026-06-01T08:00:05Z";
  expect(
    eventsBetween(
      hosts.map((host) => [host, { ...host, asOf }] as const),
      4,
    ),
  ).toEqual([{ kind: "ages", revision: 5, asOf: Object.fromEntries(hosts.map(({ id }) => [id, asOf])) }]);
});

test("geometries and links that hosts share stand once in a part", () => {
  const [h100] = models;
  const [inventoryOfOne] = fc.sample(inventory, 1);
  if (h100 === undefined || inventoryOfOne === undefined) throw new Error("no sample");
  const hosts = ["a", "b", "c"].map((id) =>
    view(id, {
      state: { kind: "live" },
      asOf: null,
      canChange: null,
      inventory: { ...inventoryOfOne, geometries: { [h100.key]: h100 } },
    }),
  );
  const parts = snapshotEvents({ clusterId: "one", name: "One", revision: 0, hosts }).slice(1);
  expect(parts).toMatchObject([{ kind: "hosts", shared: { geometries: [h100], links: [inventoryOfOne.links] } }]);
});

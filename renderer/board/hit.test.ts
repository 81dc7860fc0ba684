import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { syntheticCluster } from "../../e2e/support/synthetic-cluster.ts";
import { createNames } from "../stores/colouring.ts";
import { cellsOf, type HostCells } from "./cells.ts";
import { cellAt, hitTest, hostsIn } from "./hit.ts";
import { layoutBoard, stripBox } from "./layout.ts";

const snapshot = syntheticCluster({ hosts: 24 });
const names = { tenants: createNames(), profiles: createNames() };
const layout = layoutBoard(
  snapshot.hosts.map(({ id, rack }) => ({ id, rack, gpuCount: 8 })),
  1044,
  700,
);
const byId = new Map(snapshot.hosts.map((host) => [host.id, host]));
const cells = layout.hostIds.map((id): HostCells | null => {
  const inventory = byId.get(id)?.inventory ?? null;
  return inventory === null ? null : cellsOf(inventory, names.tenants, names.profiles);
});
const cellsAt = (index: number) => cells[index] ?? null;

describe("hitTest", () => {
  it("finds the host, GPU and slice whose box holds the point, at every level", () => {
    fc.assert(
      fc.property(fc.nat(23), fc.nat(7), fc.nat(7), fc.boolean(), (hostIndex, gpu, slice, compact) => {
        const box = stripBox(gpu, 8, layout, compact);
        const x = (layout.hostX[hostIndex] ?? 0) + box.x + (box.width * (slice + 0.5)) / 8;
        const y = (layout.hostY[hostIndex] ?? 0) + box.y + box.height / 2;
        expect(hitTest(layout, cellsAt, x, y, compact)).toEqual({ hostIndex, gpu, slice });
      }),
    );
  });

  it("finds only the host beside its strips, and nothing between hosts", () => {
    const x = layout.hostX[3] ?? 0;
    const y = layout.hostY[3] ?? 0;
    expect(hitTest(layout, cellsAt, x + 20, y + 8, false)).toEqual({ hostIndex: 3, gpu: null, slice: null });
    expect(hitTest(layout, cellsAt, x + 20, y - 3, false)).toBeNull();
    expect(hitTest(layout, cellsAt, -5, -5, false)).toBeNull();
  });

  it("hits only the card of a host that is not known", () => {
    const x = (layout.hostX[0] ?? 0) + 30;
    const y = (layout.hostY[0] ?? 0) + 30;
    expect(hitTest(layout, () => null, x, y, false)).toEqual({ hostIndex: 0, gpu: null, slice: null });
  });
});

describe("cellAt", () => {
  it("answers the instance over a slice, for every slice of every GPU", () => {
    for (const [index, host] of layout.hostIds.entries()) {
      const own = cellsAt(index);
      if (own === null) continue;
      for (const [at, gpu] of (byId.get(host)?.inventory?.gpus ?? []).entries()) {
        for (let slice = 0; slice < (own.gpuSlices[at] ?? 0); slice++) {
          const cell = cellAt(own, at, slice);
          const instance = gpu.instances.find(
            ({ placement }) => slice >= placement.start && slice < placement.start + placement.size,
          );
          const expected = instance?.id ?? (gpu.holder === null ? null : -1);
          expect(cell === null ? null : own.cellInstance[cell]).toBe(expected);
        }
      }
    }
  });
});

describe("hostsIn", () => {
  it("finds all in the whole world and none outside it", () => {
    expect(hostsIn(layout, 0, 0, layout.width, layout.height)).toHaveLength(24);
    expect(hostsIn(layout, layout.width + 50, 0, 100, 100)).toEqual([]);
  });
});

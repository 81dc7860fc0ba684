import { describe, expect, it } from "vitest";
import { syntheticCluster } from "../../e2e/support/synthetic-cluster.ts";
import { createNames } from "../stores/colouring.ts";
import { cellsOf, type HostCells } from "./cells.ts";
import { layoutBoard } from "./layout.ts";
import { ascend, descend, type Focus, walk } from "./walk.ts";

const snapshot = syntheticCluster({ hosts: 16, fill: "full" });
const layout = layoutBoard(
  snapshot.hosts.map(({ id, rack }) => ({ id, rack, gpuCount: 8 })),
  800,
  700,
);
const cells = snapshot.hosts.map((host): HostCells | null =>
  host.inventory === null ? null : cellsOf(host.inventory, createNames(), createNames()),
);
const cellsAt = (index: number) => cells[index] ?? null;
const host = (hostIndex: number): Focus => ({ hostIndex, gpu: null, slice: null });
const gpu = (hostIndex: number, at: number): Focus => ({ hostIndex, gpu: at, slice: null });

describe("walk", () => {
  it("goes from host to host in rows and columns, and stays at the rim", () => {
    expect(walk(layout, cellsAt, host(0), "down")).toEqual(host(1));
    expect(walk(layout, cellsAt, host(0), "right")).toEqual(host(8));
    expect(walk(layout, cellsAt, host(0), "up")).toEqual(host(0));
  });

  it("goes through the GPUs of a host and on into the next", () => {
    expect(walk(layout, cellsAt, gpu(0, 1), "right")).toEqual(gpu(0, 2));
    expect(walk(layout, cellsAt, gpu(0, 1), "down")).toEqual(gpu(0, 5));
    expect(walk(layout, cellsAt, gpu(0, 5), "down")).toEqual(gpu(1, 1));
    expect(walk(layout, cellsAt, gpu(0, 7), "right")).toEqual(gpu(8, 4));
  });

  it("goes from instance to instance, over free slices one by one, into the next GPU", () => {
    expect(walk(layout, cellsAt, { hostIndex: 0, gpu: 0, slice: 6 }, "right")).toEqual({
      hostIndex: 0,
      gpu: 0,
      slice: 7,
    });
    expect(walk(layout, cellsAt, { hostIndex: 0, gpu: 0, slice: 7 }, "right")).toEqual({
      hostIndex: 0,
      gpu: 1,
      slice: 0,
    });
    expect(walk(layout, cellsAt, { hostIndex: 0, gpu: 1, slice: 0 }, "left")).toEqual({
      hostIndex: 0,
      gpu: 0,
      slice: 7,
    });
  });

  it("goes in with Enter and out with Escape", () => {
    expect(descend(cellsAt, host(2))).toEqual(gpu(2, 0));
    expect(descend(cellsAt, gpu(2, 3))).toEqual({ hostIndex: 2, gpu: 3, slice: 0 });
    expect(descend(cellsAt, { hostIndex: 2, gpu: 3, slice: 0 })).toBeNull();
    expect(descend(() => null, host(2))).toBeNull();
    expect(ascend({ hostIndex: 2, gpu: 3, slice: 0 })).toEqual(gpu(2, 3));
    expect(ascend(host(2))).toBeNull();
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitZoom } from "./camera.ts";
import { type BoardLayout, cardHeight, type LayoutHost, layoutBoard, metrics, stripBox, stripWidth } from "./layout.ts";

function cluster(racks: readonly number[], gpuCount = 8): LayoutHost[] {
  return racks.flatMap((size, rack) =>
    Array.from({ length: size }, (_, at) => ({ id: `${rack}-${at}`, rack: `Rack ${rack + 1}`, gpuCount })),
  );
}

function boxes(layout: BoardLayout) {
  return layout.hostIds.map((id, index) => ({
    id,
    left: layout.hostX[index] ?? Number.NaN,
    top: layout.hostY[index] ?? Number.NaN,
    right: (layout.hostX[index] ?? 0) + layout.cardWidth,
    bottom: (layout.hostY[index] ?? 0) + (layout.hostHeight[index] ?? 0),
  }));
}

describe("layoutBoard", () => {
  it.each([
    [1440, 800],
    [448, 480],
  ])("leaves a line for the names of racks where 5,000 hosts fit into %i x %i", (width, height) => {
    const layout = layoutBoard(cluster([5_000]), width, height);
    expect(layout.rackHeader * fitZoom(layout, { width, height }, metrics.maxFitZoom)).toBeGreaterThan(11);
  });

  it("puts three racks of eight side by side, each in one column, as drawn", () => {
    const layout = layoutBoard(cluster([8, 8, 8]), 1044, 700);
    expect(new Set(layout.hostX).size).toBe(3);
    expect(layout.racks.map(({ name, from, to }) => ({ name, from, to }))).toEqual([
      { name: "Rack 1", from: 0, to: 8 },
      { name: "Rack 2", from: 8, to: 16 },
      { name: "Rack 3", from: 16, to: 24 },
    ]);
  });

  it("shows 24 hosts with legible names at 1280 x 800, and 200 on a 4K screen", () => {
    for (const [racks, width, height] of [
      [3, 884, 660],
      [25, 3440, 2060],
    ] as const) {
      const layout = layoutBoard(cluster(Array(racks).fill(8)), width, height);
      expect(fitZoom(layout, { width, height }, metrics.maxFitZoom)).toBeGreaterThan(0.78);
    }
  });

  it("spreads one rack of a thousand hosts over the window", () => {
    const layout = layoutBoard(cluster([1_000]), 1400, 800);
    expect(layout.width / layout.height).toBeGreaterThan(1);
    expect(layout.width / layout.height).toBeLessThan(3);
  });

  it("sorts racks as people count", () => {
    const hosts = ["Rack 10", "Rack 9", "Rack 1"].map((rack, at) => ({ id: String(at), rack, gpuCount: 8 }));
    expect(layoutBoard(hosts, 1000, 800).racks.map(({ name }) => name)).toEqual(["Rack 1", "Rack 9", "Rack 10"]);
  });

  it("places every host once, inside the world, over no other", () => {
    const racks = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 12 });
    const gpus = fc.integer({ min: 1, max: 16 });
    fc.assert(
      fc.property(
        racks,
        gpus,
        fc.integer({ min: 300, max: 4000 }),
        fc.integer({ min: 200, max: 2200 }),
        (sizes, gpuCount, width, height) => {
          const hosts = cluster(sizes, gpuCount);
          const layout = layoutBoard(hosts, width, height);
          expect([...layout.hostIds].sort()).toEqual(hosts.map(({ id }) => id).sort());
          const placed = boxes(layout);
          for (const [at, a] of placed.entries()) {
            expect(a.left >= 0 && a.top >= 0 && a.right <= layout.width + 1 && a.bottom <= layout.height + 1).toBe(
              true,
            );
            for (const b of placed.slice(at + 1)) {
              const apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
              if (!apart) throw new Error(`${a.id} lies over ${b.id}`);
            }
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it("keeps the strips inside their card, at every level", () => {
    const shapes = [metrics.stripHeight, metrics.maxStripHeight].flatMap((stripHeight) =>
      [1, 4, 8, 16].map((gpuCount) => ({ stripHeight, gpuCount })),
    );
    for (const compact of [false, true]) {
      for (const { stripHeight, gpuCount } of shapes) {
        for (let gpu = 0; gpu < gpuCount; gpu++) {
          const box = stripBox(gpu, gpuCount, { cardWidth: 328, stripHeight }, compact);
          expect(box.width).toBeCloseTo(stripWidth(328));
          expect(box.x + box.width).toBeLessThanOrEqual(328 - metrics.cardPadding + 0.01);
          expect(box.y + box.height).toBeLessThanOrEqual(cardHeight(gpuCount, stripHeight));
        }
      }
    }
  });
});

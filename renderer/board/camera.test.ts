import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clamp, fitCamera, inSight, inSightWhole, panBy, reveal, within, zoomAt } from "./camera.ts";

const world = { width: 1048, height: 648 };
const view = { width: 1044, height: 700 };

describe("camera", () => {
  it("keeps the point under the pointer while zooming", () => {
    const anywhere = fc.double({ min: 0, max: 1000, noNaN: true });
    fc.assert(
      fc.property(anywhere, anywhere, fc.double({ min: 0.6, max: 1.6, noNaN: true }), (x, y, factor) => {
        const before = { x: 10, y: 20, zoom: 1 };
        const after = zoomAt(before, factor, x, y);
        expect(after.x + x / after.zoom).toBeCloseTo(before.x + x / before.zoom, 6);
        expect(after.y + y / after.zoom).toBeCloseTo(before.y + y / before.zoom, 6);
      }),
    );
  });

  it("pans by what the pointer moved on the screen", () => {
    expect(panBy({ x: 0, y: 0, zoom: 2 }, 10, -4)).toEqual({ x: 5, y: -2, zoom: 2 });
  });

  it("shows the whole world when fitted", () => {
    const camera = fitCamera(world, view, 1.2);
    expect(camera.x).toBeLessThanOrEqual(0);
    expect(camera.x + view.width / camera.zoom).toBeGreaterThanOrEqual(world.width - 0.001);
    expect(camera.y + view.height / camera.zoom).toBeGreaterThanOrEqual(world.height - 0.001);
  });

  it("never loses the world out of sight", () => {
    const far = fc.double({ min: -1e6, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(far, far, fc.double({ min: 0.001, max: 50, noNaN: true }), (x, y, zoom) => {
        const camera = clamp({ x, y, zoom }, world, view, 1.2);
        expect(camera.x).toBeLessThan(world.width);
        expect(camera.y).toBeLessThan(world.height);
        expect(camera.x + view.width / camera.zoom).toBeGreaterThan(0);
        expect(camera.y + view.height / camera.zoom).toBeGreaterThan(0);
      }),
    );
  });

  it("keeps scale and place while a panel takes part of the window, and is back at the top when it gives it back", () => {
    const before = fitCamera(world, view, 1.2);
    const open = { width: view.width, height: view.height - 250 };
    expect(within(before, world, open)).toEqual({ ...before, x: expect.closeTo(before.x, 9) });
    const moved = reveal(before, { x: 16, y: 560, width: 300, height: 70 }, open);
    expect(moved.zoom).toBe(before.zoom);
    expect(within(moved, world, view)).toEqual({ ...before, x: expect.closeTo(before.x, 9) });
  });

  it("tells what is in sight, in part and whole", () => {
    const camera = { x: 0, y: 0, zoom: 1 };
    const box = (y: number) => ({ x: 10, y, width: 50, height: 20 });
    const seen = [100, 690, 701].map((y) => [inSight(camera, box(y), view), inSightWhole(camera, box(y), view)]);
    expect(seen).toEqual([
      [true, true],
      [true, false],
      [false, false],
    ]);
  });

  it("does not move for what is in sight already", () => {
    const camera = { x: 0, y: 0, zoom: 1 };
    expect(reveal(camera, { x: 100, y: 100, width: 50, height: 20 }, view)).toEqual(camera);
    expect(reveal(camera, { x: 100, y: 900, width: 50, height: 20 }, view).y).toBe(900 + 20 + 24 - 700);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clamp, fitCamera, panBy, reveal, zoomAt } from "./camera.ts";

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

  it("does not move for what is in sight already", () => {
    const camera = { x: 0, y: 0, zoom: 1 };
    expect(reveal(camera, { x: 100, y: 100, width: 50, height: 20 }, view)).toEqual(camera);
    expect(reveal(camera, { x: 100, y: 900, width: 50, height: 20 }, view).y).toBe(900 + 20 + 24 - 700);
  });
});

/** The part of the world that is on the screen. */
export interface Camera {
  /** World point in the top left corner. */
  readonly x: number;
  readonly y: number;
  /** CSS pixels a world unit. */
  readonly zoom: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Past this the focused host is shown as the host view. */
export const maxZoom = 4;

export interface Beyond {
  /** Whether this step of the wheel, on top of those before it, means more than the nearest zoom. */
  of(zoom: number, factor: number): boolean;
}

/** Arriving at the nearest zoom is not yet going beyond it: that takes a push as far again as this. */
const beyondFactor = 1.6;

export function createBeyond(): Beyond {
  let pushed = 1;
  return {
    of: (zoom, factor) => {
      pushed = zoom >= maxZoom && factor > 1 ? pushed * factor : 1;
      if (pushed < beyondFactor) return false;
      pushed = 1;
      return true;
    },
  };
}

export function fitZoom(world: Size, view: Size, most: number): number {
  if (world.width <= 0 || world.height <= 0) return 1;
  return Math.max(0.01, Math.min(most, view.width / world.width, view.height / world.height));
}

export function fitCamera(world: Size, view: Size, most: number): Camera {
  return clamp({ x: 0, y: 0, zoom: fitZoom(world, view, most) }, world, view, most);
}

/** Keeps the world in sight: where it is smaller than the window it lies centred across and at the top. */
export function clamp(camera: Camera, world: Size, view: Size, most: number): Camera {
  const least = Math.min(fitZoom(world, view, most), 1) * 0.8;
  return within({ ...camera, zoom: Math.max(least, Math.min(maxZoom, camera.zoom)) }, world, view);
}

/** The same at the camera's own zoom: what a panel that opens or closes under the board asks for. */
export function within(camera: Camera, world: Size, view: Size): Camera {
  const { zoom } = camera;
  const along = (at: number, worldLength: number, viewLength: number, small: number) => {
    const shown = viewLength / zoom;
    if (worldLength <= shown) return small * (worldLength - shown);
    // Half a window of room beyond the edge, so that a host at the rim can be looked at in the middle.
    const room = Math.min(shown / 3, 160 / zoom);
    return Math.max(-room, Math.min(worldLength - shown + room, at));
  };
  return { zoom, x: along(camera.x, world.width, view.width, 0.5), y: along(camera.y, world.height, view.height, 0) };
}

/** Zooms by a factor; the world point under (viewX, viewY) stays there. */
export function zoomAt(camera: Camera, factor: number, viewX: number, viewY: number): Camera {
  const zoom = Math.max(0.01, Math.min(maxZoom, camera.zoom * factor));
  return {
    zoom,
    x: camera.x + viewX / camera.zoom - viewX / zoom,
    y: camera.y + viewY / camera.zoom - viewY / zoom,
  };
}

export function panBy(camera: Camera, viewX: number, viewY: number): Camera {
  return { ...camera, x: camera.x + viewX / camera.zoom, y: camera.y + viewY / camera.zoom };
}

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Whether any of the box (world) is on the screen. */
export function inSight(camera: Camera, box: Box, view: Size): boolean {
  return (
    box.x < camera.x + view.width / camera.zoom &&
    box.x + box.width > camera.x &&
    box.y < camera.y + view.height / camera.zoom &&
    box.y + box.height > camera.y
  );
}

export function inSightWhole(camera: Camera, box: Box, view: Size): boolean {
  const least = reveal(camera, box, view, 0);
  return least.x === camera.x && least.y === camera.y;
}

/** The smallest move that brings the box (world) into sight with a margin. */
export function reveal(camera: Camera, box: Box, view: Size, marginPx = 24): Camera {
  const margin = marginPx / camera.zoom;
  const along = (at: number, shown: number, from: number, length: number) => {
    if (from - margin < at) return from - margin;
    if (from + length + margin > at + shown) return Math.min(from - margin, from + length + margin - shown);
    return at;
  };
  return {
    ...camera,
    x: along(camera.x, view.width / camera.zoom, box.x, box.width),
    y: along(camera.y, view.height / camera.zoom, box.y, box.height),
  };
}

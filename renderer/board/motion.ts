/** Where the camera is, and how it gets elsewhere: at once under the hand, in a short glide on a command. */
import type { Camera } from "./camera.ts";

export interface Motion {
  /** Where it is in this frame. Setting it says nothing about movement: for a board or a window that changed. */
  camera: Camera;
  /** Where a glide ends; where it is when there is none. */
  readonly target: Camera;
  /** Something follows the hand or glides: frames must be short. */
  readonly moving: boolean;
  /** The scale is changing: what was painted at another one is good enough. */
  readonly zooming: boolean;
  /** One step of a glide. */
  advance(now: number): void;
  moveTo(to: Camera): void;
  glideTo(to: Camera): void;
  /** A glide ends where it was to end. */
  arrive(): void;
  /** Something else on the board follows the hand. */
  follow(): void;
  /** What lies on the screen lies elsewhere now: `onRest` is called once that is over. */
  moved(): void;
  stop(): void;
}

const movingMs = 200;
const zoomSettleMs = 110;
const glideMs = 120;
const restMs = 120;

/** `ask` wants a frame. `onRest` comes after a movement: boxes on the screen are not laid out in every frame of it. */
export function createMotion(ask: () => void, onRest: () => void): Motion {
  let camera: Camera = { x: 0, y: 0, zoom: 1 };
  let glide: { from: Camera; to: Camera; startedAt: number } | null = null;
  let zoomingUntil = 0;
  let movingUntil = 0;
  let settleTimer = 0;
  let restTimer = 0;

  const follow = () => {
    movingUntil = performance.now() + movingMs;
  };
  const zooms = () => {
    zoomingUntil = performance.now() + zoomSettleMs;
    window.clearTimeout(settleTimer);
    settleTimer = window.setTimeout(ask, zoomSettleMs + 10);
  };
  const moved = () => {
    window.clearTimeout(restTimer);
    restTimer = window.setTimeout(onRest, restMs);
  };

  return {
    get camera() {
      return camera;
    },
    set camera(next) {
      camera = next;
    },
    get target() {
      return glide?.to ?? camera;
    },
    get moving() {
      return performance.now() < movingUntil;
    },
    get zooming() {
      return performance.now() < zoomingUntil;
    },
    advance: (now) => {
      if (glide === null) return;
      const { from, to, startedAt } = glide;
      const part = Math.min(1, (now - startedAt) / glideMs);
      if (part >= 1) {
        camera = to;
        glide = null;
        return;
      }
      camera = between(from, to, 1 - (1 - part) ** 3);
      ask();
    },
    moveTo: (to) => {
      const scales = to.zoom !== camera.zoom;
      glide = null;
      camera = to;
      follow();
      if (scales) zooms();
      moved();
      ask();
    },
    glideTo: (to) => {
      if (window.matchMedia("(prefers-reduced-motion: reduce)").matches) camera = to;
      else {
        glide = { from: camera, to, startedAt: performance.now() };
        follow();
        if (to.zoom !== camera.zoom) zooms();
      }
      moved();
      ask();
    },
    arrive: () => {
      if (glide !== null) camera = glide.to;
      glide = null;
    },
    follow,
    moved,
    stop: () => {
      window.clearTimeout(settleTimer);
      window.clearTimeout(restTimer);
    },
  };
}

/** Scale changes by equal factors, so that a glide looks even. */
function between(from: Camera, to: Camera, part: number): Camera {
  return {
    zoom: from.zoom * (to.zoom / from.zoom) ** part,
    x: from.x + (to.x - from.x) * part,
    y: from.y + (to.y - from.y) * part,
  };
}

/**
 * Measures the board from inside its page. The benchmark puts this there before any of the page's own code runs;
 * no build of the console contains it.
 */

import type { SnapshotEvent } from "../../../shared/api/snapshot.ts";
import type {} from "../../testing/probe-page.ts";

interface Wheel {
  readonly deltaX?: number;
  readonly deltaY?: number;
  readonly ctrlKey?: boolean;
}

const probe = {
  /** The first message with data was handed over, as text. */
  arrivedAt: 0,
  /** The last one was parsed and taken over. */
  toldAt: 0,
  /** Milliseconds of parsing, in all. */
  parseMs: 0,
  /** The first frame with something of the cluster in it was finished. */
  firstPaintAt: 0,
  /** The last frame in which a tile was painted was finished: the whole board stands. */
  paintedAt: 0,

  /** Until the first paint is over. */
  measuring: true,

  canvas(): HTMLCanvasElement {
    const canvas = document.querySelector<HTMLCanvasElement>(".board-canvas");
    if (canvas === null) throw new Error("no board");
    return canvas;
  },

  /** Milliseconds from frame to frame; `each` runs in every frame. */
  intervals(count: number, each: (frame: number) => void = () => {}): Promise<number[]> {
    return new Promise((resolve) => {
      const times: number[] = [];
      let last = 0;
      const step = (now: number) => {
        if (last > 0) times.push(now - last);
        last = now;
        if (times.length >= count) resolve(times);
        else {
          each(times.length);
          requestAnimationFrame(step);
        }
      };
      requestAnimationFrame(step);
    });
  },

  /** Frames in which an empty canvas of the board's size is redrawn in the board's place. */
  async emptyFrames(count: number): Promise<number[]> {
    const board = probe.canvas();
    const canvas = document.createElement("canvas");
    canvas.width = board.width;
    canvas.height = board.height;
    canvas.className = board.className;
    const context = canvas.getContext("2d", { alpha: false });
    if (context === null) throw new Error("no canvas 2D");
    board.replaceWith(canvas);
    const intervals = await probe.intervals(count, (frame) => {
      context.fillStyle = frame % 2 === 0 ? "#f4f6f8" : "#f3f5f7";
      context.fillRect(0, 0, canvas.width, canvas.height);
    });
    canvas.replaceWith(board);
    return intervals;
  },

  wheel(wheel: Wheel, viewX: number, viewY: number): void {
    const canvas = probe.canvas();
    const box = canvas.getBoundingClientRect();
    canvas.dispatchEvent(
      new WheelEvent("wheel", {
        ...wheel,
        clientX: box.left + viewX,
        clientY: box.top + viewY,
        bubbles: true,
        cancelable: true,
      }),
    );
  },

  /** Frames with one step of the wheel in each, forth and back. */
  wheelFrames(count: number, wheel: Wheel): Promise<number[]> {
    const { clientWidth, clientHeight } = probe.canvas();
    return probe.intervals(count, (frame) => {
      const sign = Math.floor(frame / 25) % 2 === 0 ? 1 : -1;
      const step = { ...wheel, deltaX: (wheel.deltaX ?? 0) * sign, deltaY: (wheel.deltaY ?? 0) * sign };
      probe.wheel(step, clientWidth / 2, clientHeight / 2);
    });
  },

  /** Down to where names are legible, around the upper left, where there are hosts for certain. */
  async zoomIn(steps: number): Promise<void> {
    for (let step = 0; step < steps; step++) {
      probe.wheel({ deltaY: -10, ctrlKey: true }, 200, 120);
      await new Promise(requestAnimationFrame);
    }
  },

  /** Milliseconds from the choice of another colouring to the end of the frame that shows it. */
  async recolour(rounds: number): Promise<number[]> {
    const radios = [...document.querySelectorAll<HTMLInputElement>(".top-bar .segments input")];
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const others = radios.filter((radio) => !radio.checked);
      const radio = others[round % others.length];
      if (radio === undefined) throw new Error("no colour switch");
      await new Promise((resolve) => setTimeout(resolve, 60));
      const started = performance.now();
      radio.click();
      times.push((await window.probePage.endOfFrame()) - started);
    }
    return times;
  },
};

declare global {
  interface Window {
    boardProbe: typeof probe;
  }
}
window.boardProbe = probe;

/**
 * The snapshot comes over a bridge, as in the desktop window. Over the WebSocket, browser automation would copy the
 * whole message to its own process at the moment that is measured.
 */
const { say } = window.probePage;

/** Each message in a task of its own, as they come off a socket or port. */
async function sendSnapshot(id: number): Promise<void> {
  const answer = await fetch("./snapshot-events.json");
  const texts: string[] = await answer.json();
  // What follows the reading of the answer (copies, collection) is not the board's.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  probe.arrivedAt = performance.now();
  const channel = new MessageChannel();
  channel.port1.onmessage = ({ data: seq }: MessageEvent<number>) => {
    const started = performance.now();
    const event: SnapshotEvent = JSON.parse(texts[seq] ?? "");
    texts[seq] = "";
    probe.parseMs += performance.now() - started;
    say({ kind: "event", id, seq, event });
    if (seq === texts.length - 1) probe.toldAt = performance.now();
  };
  for (const seq of texts.keys()) channel.port2.postMessage(seq);
}

const answers: Readonly<Record<string, unknown>> = {
  "app.info": { version: "0.1.0", platform: "linux", desktop: true, secrets: "memory", demo: false },
  "settings.get": { language: "en", theme: "system" },
  "clusters.list": [{ id: "synthetic", name: "synthetic", kind: "ssh", hostCount: 1_000, connected: true }],
};

window.probePage.bridge(({ id, name }) => {
  if (name === "snapshot") void sendSnapshot(id);
  const value = answers[name];
  if (value !== undefined) queueMicrotask(() => say({ kind: "end", id, ok: true, value }));
});

/** Tiles of the whole cluster are painted as pixels; the next frame begins when the one with them is finished. */
const put = OffscreenCanvasRenderingContext2D.prototype.putImageData;
OffscreenCanvasRenderingContext2D.prototype.putImageData = function (
  this: OffscreenCanvasRenderingContext2D,
  ...given: unknown[]
) {
  if (probe.arrivedAt > 0 && probe.measuring) {
    requestAnimationFrame(() => {
      const now = performance.now();
      if (probe.firstPaintAt === 0) probe.firstPaintAt = now;
      if (probe.toldAt > 0) probe.paintedAt = now;
    });
  }
  return Reflect.apply(put, this, given);
};

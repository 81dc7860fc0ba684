/**
 * The board with 1,000 hosts x 8 GPUs x 7 slices in a real Chromium: first paint, panning, zooming, dragging,
 * recolouring, heap. Frame times stand beside those of an empty canvas of the same size, redrawn in every frame of
 * the same page and the same run, so that the machine's own speed falls out of the ratio.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { chromium, type Page } from "playwright";
import { chromiumArguments, chromium as chromiumPath } from "../support/chromium.ts";
import { probeScript } from "../support/probe.ts";
import { serveSnapshot } from "../support/snapshot-server.ts";
import { syntheticCluster } from "../support/synthetic-cluster.ts";
import type { Metric } from "./metric.ts";

const root = join(import.meta.dirname, "..", "..");
const directory = join(root, "dist", "renderer");
const view = { width: 1440, height: 900 };
const frames = 150;

interface Gesture {
  readonly name: string;
  /** Milliseconds from frame to frame. */
  readonly intervals: readonly number[];
  /** What the main thread worked in all of them. */
  readonly busyMs: number;
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/** Asks the probe in the page; what it answers are milliseconds. */
async function times(page: Page, call: string): Promise<number[]> {
  const value: unknown = await page.evaluate(`boardProbe.${call}`);
  if (!Array.isArray(value)) throw new TypeError(`${call} answered no list`);
  return value.map(Number);
}

async function moment(
  page: Page,
  name: "arrivedAt" | "toldAt" | "parseMs" | "firstPaintAt" | "paintedAt",
): Promise<number> {
  return Number(await page.evaluate(`boardProbe.${name}`));
}

/** A real drag of an instance across the board, with the mouse. */
async function dragFrames(page: Page): Promise<number[]> {
  const canvas = page.locator(".board-canvas");
  const box = await canvas.boundingBox();
  if (box === null) throw new Error("no board");
  // The pointer says where something can be lifted.
  for (let y = box.y + 60; y < box.y + box.height - 80; y += 9) {
    for (let x = box.x + 60; x < box.x + 420; x += 14) {
      await page.mouse.move(x, y);
      if (!(await canvas.getAttribute("style"))?.includes("grab")) continue;
      await page.mouse.down();
      await page.mouse.move(x + 12, y + 12, { steps: 3 });
      let running = true;
      const measured = times(page, `intervals(${frames})`).finally(() => {
        running = false;
      });
      for (let step = 0; running; step++) {
        const angle = step / 9;
        await page.mouse.move(
          box.x + box.width * (0.5 + 0.35 * Math.cos(angle)),
          box.y + box.height * (0.5 + 0.35 * Math.sin(angle)),
        );
      }
      const intervals = await measured;
      await page.mouse.up();
      return intervals;
    }
  }
  throw new Error("nothing on the board could be dragged");
}

export async function run(): Promise<Metric[]> {
  if (chromiumPath === undefined) throw new Error("The board is measured in Chromium, and none was found.");
  if (!existsSync(join(directory, "index.html"))) throw new Error("There is no built page: run `npm run build`.");
  const probe = probeScript("renderer/board/testing/probe.ts");
  const snapshot = syntheticCluster({ hosts: 1_000, fill: "full", tenants: 12, now: new Date().toISOString() });
  const server = await serveSnapshot(directory, snapshot);
  const browser = await chromium.launch({ executablePath: chromiumPath, args: [...chromiumArguments] });
  try {
    const page = await browser.newPage({ viewport: view });
    await page.addInitScript(probe);
    await page.goto(server.url);
    while ((await moment(page, "paintedAt")) === 0) await page.waitForTimeout(100);
    const arrivedAt = await moment(page, "arrivedAt");
    const toldAt = await moment(page, "toldAt");
    await page.waitForTimeout(1_000);
    await page.evaluate("boardProbe.measuring = false");
    const firstMs = (await moment(page, "firstPaintAt")) - arrivedAt;
    const paintedAt = await moment(page, "paintedAt");
    const parseMs = await moment(page, "parseMs");

    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable");
    const counter = async (wanted: string): Promise<number> => {
      const { metrics } = await session.send("Performance.getMetrics");
      return metrics.find(({ name }) => name === wanted)?.value ?? Number.NaN;
    };
    const gestures: Gesture[] = [];
    const empty: Gesture[] = [];
    // The display paces the frames; how long the main thread worked for each shows what is left of them.
    const gesture = async (to: Gesture[], name: string, frames: () => Promise<number[]>): Promise<void> => {
      const before = await counter("TaskDuration");
      const intervals = await frames();
      to.push({ name, intervals, busyMs: ((await counter("TaskDuration")) - before) * 1_000 });
    };
    const emptyFrames = () => gesture(empty, "empty canvas", () => times(page, `emptyFrames(${frames})`));
    const wheel = (name: string, step: string) =>
      gesture(gestures, name, () => times(page, `wheelFrames(${frames}, ${step})`));

    await emptyFrames();
    const recolours: [string, number[]][] = [["whole cluster", await times(page, "recolour(15)")]];
    await wheel("pan, whole cluster", "{ deltaX: 14, deltaY: 9 }");
    await wheel("zoom, whole cluster", "{ deltaY: -9, ctrlKey: true }");
    await emptyFrames();
    await page.evaluate("boardProbe.zoomIn(32)");
    await page.waitForTimeout(400);
    recolours.push(["hosts legible", await times(page, "recolour(15)")]);
    await wheel("pan, hosts legible", "{ deltaX: 24, deltaY: 31 }");
    await wheel("zoom, hosts legible", "{ deltaY: -7, ctrlKey: true }");
    await gesture(gestures, "drag, hosts legible", () => dragFrames(page));
    await emptyFrames();

    await session.send("HeapProfiler.enable");
    await session.send("HeapProfiler.collectGarbage");
    const heapMB = (await counter("JSHeapUsedSize")) / 1_048_576;

    const emptyIntervals = empty.flatMap(({ intervals }) => intervals);
    const emptyMedian = quantile(emptyIntervals, 0.5);
    const emptyTail = quantile(emptyIntervals, 0.95);
    const busyOf = (of: readonly Gesture[]) =>
      of.reduce((sum, { busyMs }) => sum + busyMs, 0) / of.reduce((sum, { intervals }) => sum + intervals.length, 0);
    return [
      beside("parsing the snapshot (1,000 hosts, in parts), in all", parseMs),
      beside("first paint after the first data, parsing included", firstMs),
      within("first paint of the whole board after the last data", paintedAt - toldAt, "ms", 300),
      beside("whole board after the first data, parsing included", paintedAt - arrivedAt),
      beside("empty canvas, frame, median", emptyMedian),
      beside("empty canvas, frame, p95", emptyTail),
      beside("empty canvas, main thread a frame, mean", busyOf(empty)),
      ...gestures.flatMap(({ name, intervals, busyMs }) => [
        within(`${name}, frame to empty, median`, quantile(intervals, 0.5) / emptyMedian, "x", 1.2),
        within(`${name}, frame to empty, p95`, quantile(intervals, 0.95) / emptyTail, "x", 2),
        beside(`${name}, main thread a frame, mean`, busyMs / intervals.length),
      ]),
      ...recolours.map(([name, list]) => within(`recolour, ${name}, median`, quantile(list, 0.5), "ms", 40)),
      within("heap after collection", heapMB, "MB", 150),
    ];
  } finally {
    await browser.close();
    await server.close();
  }
}

function within(metric: string, value: number, unit: string, most: number): Metric {
  return { metric, value, unit, target: `at most ${most} ${unit}`, ok: value <= most };
}

function beside(metric: string, value: number): Metric {
  return { metric, value, unit: "ms", target: "", ok: true };
}

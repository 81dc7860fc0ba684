/**
 * Draws hosts too small for names straight into pixels: whole racks as heat maps. A thousand hosts are some
 * sixty thousand small rectangles, for which canvas calls would cost more than the pixels.
 */
import { gpuBroken, type HostCells, unknown } from "./cells.ts";
import { stripBox } from "./layout.ts";
import { abgr, type Shade, type Tones } from "./palette.ts";
import { type Scene, shadeFor } from "./scene.ts";

export interface Pixels {
  readonly data: Uint32Array;
  readonly size: number;
  readonly scale: number;
  readonly originX: number;
  readonly originY: number;
}

interface Words {
  readonly solid: readonly number[];
  readonly tint: readonly number[];
  readonly flat: readonly number[];
  readonly free: number;
  readonly unheld: number;
  readonly unheldFill: number;
  readonly hatch: number;
  readonly surface: number;
  readonly line: number;
  readonly warning: number;
  readonly bad: number;
  readonly ground: number;
}

const words = new WeakMap<Tones, Words>();

/** The colours of a shade as they stand in memory. */
export function wordsOf(shade: Shade): Words {
  const known = words.get(shade.rgb);
  if (known !== undefined) return known;
  const { rgb } = shade;
  const made: Words = {
    solid: rgb.solid.map(abgr),
    tint: rgb.tint.map(abgr),
    flat: rgb.flat.map(abgr),
    free: abgr(rgb.free),
    unheld: abgr(rgb.unheld),
    unheldFill: abgr(rgb.unheldFill),
    hatch: abgr(rgb.hatch),
    surface: abgr(rgb.surface),
    line: abgr(rgb.line),
    warning: abgr(rgb.warning),
    bad: abgr(rgb.bad),
    ground: abgr(rgb.ground),
  };
  words.set(rgb, made);
  return made;
}

function fill(pixels: Pixels, x0: number, y0: number, x1: number, y1: number, word: number): void {
  const { data, size } = pixels;
  const left = Math.max(0, x0);
  const right = Math.min(size, x1);
  if (left >= right) return;
  const bottom = Math.min(size, y1);
  for (let y = Math.max(0, y0); y < bottom; y++) {
    const row = y * size;
    if (right - left > 16) data.fill(word, row + left, row + right);
    else for (let at = row + left; at < row + right; at++) data[at] = word;
  }
}

export function paintHeat(pixels: Pixels, scene: Scene, index: number): void {
  const host = scene.host(index);
  if (host === undefined) return;
  const { layout, palette } = scene;
  const plain = wordsOf(palette.plain);
  const look = scene.look(index);
  const left = layout.hostX[index] ?? 0;
  const top = layout.hostY[index] ?? 0;
  const x = (world: number) => Math.round(world * pixels.scale) - pixels.originX;
  const y = (world: number) => Math.round(world * pixels.scale) - pixels.originY;
  const x0 = x(left);
  const y0 = y(top);
  const x1 = x(left + layout.cardWidth);
  const y1 = y(top + (layout.hostHeight[index] ?? 0));
  const tone = scene.label(index)?.tone ?? "calm";
  fill(pixels, x0, y0, x1, y1, tone === "bad" ? plain.bad : tone === "warning" ? plain.warning : plain.line);
  fill(
    pixels,
    x0 + 1,
    y0 + 1,
    x1 - 1,
    y1 - 1,
    look.body === "none" || look.body === "waiting" ? plain.ground : plain.surface,
  );
  const cells = scene.cells(index);
  if (look.body === "shut") fillHatched(pixels, x0 + 1, y0 + 1, x1 - 1, y1 - 1, plain.surface, plain.hatch);
  if (cells === null || look.body !== "strips") return;
  for (let gpu = 0; gpu < cells.gpuCount; gpu++) {
    const box = stripBox(gpu, cells.gpuCount, layout, true);
    const stripLeft = x(left + box.x);
    const stripRight = Math.max(stripLeft + 1, x(left + box.x + box.width));
    const stripTop = y(top + box.y);
    const stripBottom = Math.max(stripTop + 1, y(top + box.y + box.height));
    paintGpu(pixels, scene, index, cells, gpu, stripLeft, stripTop, stripRight, stripBottom);
  }
}

function fillHatched(pixels: Pixels, x0: number, y0: number, x1: number, y1: number, back: number, line: number): void {
  fill(pixels, x0, y0, x1, y1, back);
  for (let y = Math.max(0, y0); y < Math.min(pixels.size, y1); y++) {
    const phase = (y + pixels.originY) % 4;
    for (let x = Math.max(0, x0); x < Math.min(pixels.size, x1); x++) {
      if ((x + pixels.originX + phase) % 4 === 0) pixels.data[y * pixels.size + x] = line;
    }
  }
}

function paintGpu(
  pixels: Pixels,
  scene: Scene,
  index: number,
  cells: HostCells,
  gpu: number,
  x0: number,
  y0: number,
  x1: number,
  y1: number,
): void {
  const match = scene.match(index);
  const { inks } = scene;
  const shade = wordsOf(shadeFor(scene, index, match === null || match.whole || match.gpus[gpu] === 1));
  if (((cells.gpuFlags[gpu] ?? 0) & gpuBroken) !== 0) {
    fillHatched(pixels, x0, y0, x1, y1, shade.unheldFill, shade.hatch);
    return;
  }
  const under = inks.gpuInkOf(cells, gpu);
  fill(pixels, x0, y0, x1, y1, under < 0 ? shade.free : (shade.tint[under] ?? shade.free));
  const slices = cells.gpuSlices[gpu] ?? 1;
  const width = x1 - x0;
  const height = y1 - y0;
  const gap = width >= 4 * slices ? 1 : 0;
  const to = cells.cellFrom[gpu + 1] ?? 0;
  for (let cell = cells.cellFrom[gpu] ?? 0; cell < to; cell++) {
    const start = cells.cellStart[cell] ?? 0;
    const end = start + (cells.cellSize[cell] ?? 0);
    const from = x0 + Math.round((width * start) / slices);
    const until = Math.max(from + 1, x0 + Math.round((width * end) / slices) - (end < slices ? gap : 0));
    const own = match === null ? shade : wordsOf(shadeFor(scene, index, match.whole || match.cells[cell] === 1));
    if (cells.cellTenant[cell] === 0) {
      fill(pixels, from, y0, until, y1, own.unheld);
      fill(pixels, from + 1, y0 + 1, until - 1, y1 - 1, own.unheldFill);
      continue;
    }
    const colour = inks.inkOf(cells, gpu, cell);
    const use = inks.fillOf(cells, cell);
    if (use === unknown) {
      fill(pixels, from, y0, until, y1, own.flat[colour] ?? 0);
      continue;
    }
    const full = y1 - Math.max(1, Math.round((height * use) / 100));
    fill(pixels, from, y0, until, full, own.tint[colour] ?? 0);
    fill(pixels, from, full, until, y1, own.solid[colour] ?? 0);
  }
}

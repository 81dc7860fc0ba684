/** Draws hosts as cards with the strips of their GPUs: the level at which names are legible. */
import { gpuBroken, gpuDivided, type HostCells, unknown } from "./cells.ts";
import { metrics, stripBox } from "./layout.ts";
import type { Shade } from "./palette.ts";
import { type Scene, shadeFor, toneColour } from "./scene.ts";
import { type Context, fitted, fontOf, widthOf } from "./text.ts";

/** World to device pixels of the thing drawn on. Rounded against the world's origin, so that tiles meet without seams. */
export interface Frame {
  readonly ctx: Context;
  /** Device pixels a world unit. */
  readonly scale: number;
  readonly originX: number;
  readonly originY: number;
  /** Device pixels a CSS pixel. */
  readonly ratio: number;
  readonly fontFamily: string;
}

export function deviceX(frame: Frame, world: number): number {
  return Math.round(world * frame.scale) - frame.originX;
}

export function deviceY(frame: Frame, world: number): number {
  return Math.round(world * frame.scale) - frame.originY;
}

/** Type follows the zoom within legible bounds. */
export function fontPx(frame: Frame, size: number): number {
  const zoom = frame.scale / frame.ratio;
  return Math.max(9, Math.min(size * 1.1, size * zoom)) * frame.ratio;
}

export function paintCard(frame: Frame, scene: Scene, index: number): void {
  const host = scene.host(index);
  if (host === undefined) return;
  const { layout, palette } = scene;
  const { ctx, ratio } = frame;
  const match = scene.match(index);
  const look = scene.look(index);
  const anyMatch = match === null || match.whole || match.gpus.includes(1);
  const shade = anyMatch ? palette.plain : palette.dimmed;
  const left = layout.hostX[index] ?? 0;
  const top = layout.hostY[index] ?? 0;
  const x = deviceX(frame, left);
  const y = deviceY(frame, top);
  const width = deviceX(frame, left + layout.cardWidth) - x;
  const height = deviceY(frame, top + (layout.hostHeight[index] ?? 0)) - y;

  const label = scene.label(index);
  const labelTone = label?.tone ?? "calm";
  const radius = 5 * frame.scale;
  ctx.beginPath();
  ctx.roundRect(x + 0.5, y + 0.5, width - 1, height - 1, radius);
  if (look.body !== "none") {
    ctx.fillStyle = palette.plain.css.surface;
    ctx.fill();
  }
  ctx.strokeStyle =
    anyMatch && labelTone === "bad"
      ? shade.css.hatch
      : look.body === "none"
        ? palette.lineStrong
        : palette.plain.css.line;
  ctx.lineWidth = Math.max(1, Math.round(ratio));
  // Broken off where the network is; whole where the host itself says no.
  const away = host.state.kind === "unreachable";
  if (look.body === "none" || look.body === "waiting" || away) ctx.setLineDash([4 * ratio, 3 * ratio]);
  ctx.stroke();
  ctx.setLineDash([]);

  paintHead(frame, scene, index, shade, x, y, width);
  const cells = scene.cells(index);
  if (cells === null || look.body !== "strips") paintBody(frame, scene, index, look.body);
  else for (let gpu = 0; gpu < cells.gpuCount; gpu++) paintStrip(frame, scene, index, cells, gpu);
}

function paintHead(frame: Frame, scene: Scene, index: number, shade: Shade, x: number, y: number, width: number): void {
  const { ctx, ratio, scale } = frame;
  const host = scene.host(index);
  if (host === undefined) return;
  const padding = Math.round(metrics.cardPadding * scale);
  const baseline = y + Math.round(12 * scale);
  const size = fontPx(frame, 12);
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  const label = scene.label(index);
  let right = x + width - padding;
  const small = fontOf(400, fontPx(frame, 11.5), frame.fontFamily);
  ctx.font = small.css;
  if (label !== null) {
    const text = fitted(ctx, small, label.label, width * 0.62);
    right -= widthOf(ctx, small, text);
    ctx.fillStyle = toneColour(shade, label.tone);
    ctx.fillText(text, right, baseline);
    right -= 10 * ratio;
  }
  const bold = fontOf(600, size, frame.fontFamily);
  ctx.font = bold.css;
  const name = fitted(ctx, bold, host.name, right - x - padding);
  ctx.fillStyle = shade.css.text;
  ctx.fillText(name, x + padding, baseline);
  const after = x + padding + widthOf(ctx, bold, name) + Math.max(6 * ratio, 10 * scale);
  ctx.font = small.css;
  const model = fitted(ctx, small, scene.model(index), right - after);
  if (model === "") return;
  ctx.fillStyle = shade.css.muted;
  ctx.fillText(model, after, baseline);
}

/** What a card holds while nothing is known of its GPUs. */
function paintBody(frame: Frame, scene: Scene, index: number, body: string): void {
  if (body !== "unread") return;
  const { ctx } = frame;
  const { layout, palette } = scene;
  // Empty frames where the strips will be: their number is not known yet, so nothing is promised beyond one row.
  ctx.strokeStyle = palette.plain.css.line;
  ctx.lineWidth = Math.max(1, Math.round(frame.ratio));
  for (let gpu = 0; gpu < metrics.gpuColumns; gpu++) {
    const box = stripBox(gpu, metrics.gpuColumns, layout, false);
    const x = deviceX(frame, (layout.hostX[index] ?? 0) + box.x);
    const y = deviceY(frame, (layout.hostY[index] ?? 0) + box.y);
    ctx.strokeRect(x + 0.5, y + 0.5, Math.round(box.width * frame.scale) - 1, Math.round(box.height * frame.scale) - 1);
  }
}

function paintStrip(frame: Frame, scene: Scene, index: number, cells: HostCells, gpu: number): void {
  const { ctx, ratio } = frame;
  const { layout, inks, palette } = scene;
  const box = stripBox(gpu, cells.gpuCount, layout, false);
  const left = (layout.hostX[index] ?? 0) + box.x;
  const x = deviceX(frame, left);
  const y = deviceY(frame, (layout.hostY[index] ?? 0) + box.y);
  const width = deviceX(frame, left + box.width) - x;
  const height = deviceY(frame, (layout.hostY[index] ?? 0) + box.y + box.height) - y;
  const match = scene.match(index);
  const flags = cells.gpuFlags[gpu] ?? 0;
  const stripShade = shadeFor(scene, index, match === null || match.whole || match.gpus[gpu] === 1);
  if ((flags & gpuBroken) !== 0) {
    paintHatched(frame, stripShade, x, y, width, height);
    return;
  }
  const under = inks.gpuInkOf(cells, gpu);
  ctx.fillStyle = under < 0 ? stripShade.css.free : (stripShade.css.tint[under] ?? stripShade.css.free);
  ctx.fillRect(x, y, width, height);

  const slices = cells.gpuSlices[gpu] ?? 1;
  if ((flags & gpuDivided) !== 0 && frame.scale / ratio >= 1.4) {
    ctx.fillStyle = palette.freeLine;
    for (let slice = 1; slice < slices; slice++) {
      ctx.fillRect(
        deviceX(frame, left + (box.width * slice) / slices) - Math.round(ratio),
        y,
        Math.round(ratio),
        height,
      );
    }
  }
  const gap = Math.max(1, Math.round(ratio));
  const to = cells.cellFrom[gpu + 1] ?? 0;
  for (let cell = cells.cellFrom[gpu] ?? 0; cell < to; cell++) {
    const start = cells.cellStart[cell] ?? 0;
    const end = start + (cells.cellSize[cell] ?? 0);
    const from = deviceX(frame, left + (box.width * start) / slices);
    const wide = Math.max(1, deviceX(frame, left + (box.width * end) / slices) - from - (end < slices ? gap : 0));
    const shade = shadeFor(scene, index, match === null || match.whole || match.cells[cell] === 1);
    paintCell(frame, scene, shade, cells, gpu, cell, from, y, wide, height);
    paintCellText(frame, scene, shade, index, cells, gpu, cell, from, y, wide, height);
  }
}

function paintCell(
  frame: Frame,
  scene: Scene,
  shade: Shade,
  cells: HostCells,
  gpu: number,
  cell: number,
  x: number,
  y: number,
  width: number,
  height: number,
): void {
  const { ctx, ratio } = frame;
  const hairline = Math.max(1, Math.round(ratio));
  if (cells.cellTenant[cell] === 0) {
    // An outline without fill: an instance that nobody holds.
    ctx.fillStyle = shade.css.unheld;
    ctx.fillRect(x, y, width, height);
    ctx.fillStyle = shade.css.unheldFill;
    ctx.fillRect(x + hairline, y + hairline, width - 2 * hairline, height - 2 * hairline);
    return;
  }
  const colour = scene.inks.inkOf(cells, gpu, cell);
  const fill = scene.inks.fillOf(cells, cell);
  if (fill === unknown) {
    ctx.fillStyle = shade.css.flat[colour] ?? "";
    ctx.fillRect(x, y, width, height);
  } else {
    // Even an idle holder has a floor line: its use is known, and it is zero.
    const full = Math.max(hairline, Math.round((height * fill) / 100));
    if (full < height) {
      ctx.fillStyle = shade.css.tint[colour] ?? "";
      ctx.fillRect(x, y, width, height - full);
    }
    ctx.fillStyle = shade.css.solid[colour] ?? "";
    ctx.fillRect(x, y + height - full, width, full);
  }
  const mark = scene.inks.markOf(cells, cell);
  if (mark === 0) return;
  ctx.fillStyle = shade.css.surface;
  const thick = Math.max(1, Math.round(1.5 * ratio));
  if (mark !== 2) ctx.fillRect(x, y + Math.round(height * 0.3), width, thick);
  if (mark !== 1) ctx.fillRect(x + Math.round(width / 2 - thick / 2), y, thick, height);
}

function paintCellText(
  frame: Frame,
  scene: Scene,
  shade: Shade,
  index: number,
  cells: HostCells,
  gpu: number,
  cell: number,
  x: number,
  y: number,
  width: number,
  height: number,
): void {
  const zoom = frame.scale / frame.ratio;
  if (height < 13 * frame.ratio || width < (scene.letters ? 9 : 14) * frame.ratio || (!scene.letters && zoom < 1.6))
    return;
  const { ctx } = frame;
  const font = fontOf(600, Math.min(12, Math.max(9, height / frame.ratio - 8)) * frame.ratio, frame.fontFamily);
  ctx.font = font.css;
  const whole = scene.cellText(index, cell);
  let text = fitted(ctx, font, whole, width - 6 * frame.ratio);
  let inset = 4 * frame.ratio;
  if (text === "" && scene.letters) {
    // The first two letters, or one: never over the neighbour.
    inset = 2 * frame.ratio;
    const room = width - 2 * inset;
    text = [whole.slice(0, 2), whole.slice(0, 1)].find((part) => widthOf(ctx, font, part) <= room) ?? "";
  }
  if (text === "") return;
  const held = cells.cellTenant[cell] !== 0;
  const fill = scene.inks.fillOf(cells, cell);
  const onSolid = held && fill !== unknown && fill >= 70;
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  ctx.fillStyle = onSolid
    ? (shade.onSolid[scene.inks.inkOf(cells, gpu, cell)] ?? shade.css.text)
    : held
      ? shade.css.text
      : shade.css.muted;
  ctx.fillText(text, x + inset, y + height / 2 + 0.5 * frame.ratio);
}

function paintHatched(frame: Frame, shade: Shade, x: number, y: number, width: number, height: number): void {
  const { ctx, ratio } = frame;
  ctx.save();
  ctx.beginPath();
  ctx.rect(x, y, width, height);
  ctx.clip();
  ctx.fillStyle = shade.css.unheldFill;
  ctx.fillRect(x, y, width, height);
  ctx.strokeStyle = shade.css.hatch;
  ctx.lineWidth = ratio;
  ctx.beginPath();
  // Anchored to the world, so that the lines go on across the border of a tile.
  const step = 5 * ratio;
  const phase = (x + frame.originX + y + frame.originY + height) % step;
  for (let at = -height - phase; at < width; at += step) {
    ctx.moveTo(x + at, y + height);
    ctx.lineTo(x + at + height, y);
  }
  ctx.stroke();
  ctx.restore();
}

/** Name and size of a rack above its hosts. */
export function paintRackHead(frame: Frame, scene: Scene, rackIndex: number, summary: string): void {
  const rack = scene.layout.racks[rackIndex];
  if (rack === undefined) return;
  const { ctx, ratio, scale } = frame;
  const css = scene.palette.plain.css;
  const x = deviceX(frame, rack.x) + Math.round(2 * ratio);
  const width = Math.round(rack.width * scale);
  const middle = deviceY(frame, rack.y + scene.layout.rackHeader) - Math.max(6 * ratio, 11 * scale);
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  const bold = fontOf(600, fontPx(frame, 12.5), frame.fontFamily);
  ctx.font = bold.css;
  const name = fitted(ctx, bold, rack.name, width);
  ctx.fillStyle = css.text;
  ctx.fillText(name, x, middle);
  const after = x + widthOf(ctx, bold, name) + 10 * ratio;
  const plain = fontOf(400, fontPx(frame, 12), frame.fontFamily);
  ctx.font = plain.css;
  const rest = fitted(ctx, plain, summary, x + width - after);
  if (rest === "") return;
  ctx.fillStyle = css.muted;
  ctx.fillText(rest, after, middle);
}

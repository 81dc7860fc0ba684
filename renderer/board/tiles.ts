/**
 * The board painted once and kept in square tiles: panning copies them, and only tiles whose hosts changed are
 * painted again. While the zoom is under way, the tiles of the zoom before are stretched; sharp ones follow when
 * there is time, a few in each frame.
 */
import { hostsIn } from "./hit.ts";
import { compactZoom, type RackBox } from "./layout.ts";
import { type Frame, paintCard, paintRackHead } from "./paint-card.ts";
import { type Pixels, paintHeat, wordsOf } from "./paint-heat.ts";
import type { Scene } from "./scene.ts";

/** Device pixels. */
const tileSize = 512;

interface Tile {
  readonly canvas: OffscreenCanvas;
  readonly ctx: OffscreenCanvasRenderingContext2D;
  dirty: boolean;
  usedAt: number;
}

interface Generation {
  readonly scale: number;
  readonly tiles: Map<string, Tile>;
}

export interface View {
  /** World point in the top left corner. */
  readonly x: number;
  readonly y: number;
  /** Device pixels a world unit. */
  readonly scale: number;
  /** Device pixels. */
  readonly width: number;
  readonly height: number;
  readonly ratio: number;
}

export interface Tiles {
  /** Paints and copies what the view shows. Answers false while something is still to be painted. */
  draw(target: CanvasRenderingContext2D, view: View, scene: Scene, options: DrawOptions): boolean;
  /** Everything looks different now: other colours, another filter, another arrangement. */
  invalidate(): void;
  /** These hosts changed. */
  invalidateHosts(scene: Scene, hosts: Iterable<number>): void;
  /** The heads of these racks changed. */
  invalidateRacks(scene: Scene, racks: Iterable<number>): void;
}

export interface DrawOptions {
  /** The zoom is moving: stretch what there is instead of painting at every step. */
  readonly zooming: boolean;
  /** Milliseconds of painting a frame; Infinity paints all at once. */
  readonly budgetMs: number;
  readonly rackSummary: (rack: number) => string;
}

export function createTiles(): Tiles {
  let current: Generation = { scale: 0, tiles: new Map() };
  let before: Generation | null = null;
  let clock = 0;
  const spare: Tile[] = [];
  const heat = new ImageData(tileSize, tileSize);
  const heatWords = new Uint32Array(heat.data.buffer);

  const newTile = (): Tile => {
    const reused = spare.pop();
    if (reused !== undefined) {
      reused.dirty = true;
      return reused;
    }
    const canvas = new OffscreenCanvas(tileSize, tileSize);
    const ctx = canvas.getContext("2d", { alpha: false });
    if (ctx === null) throw new Error("no canvas 2D");
    return { canvas, ctx, dirty: true, usedAt: 0 };
  };

  const recycle = (generation: Generation | null) => {
    if (generation === null) return;
    for (const tile of generation.tiles.values()) if (spare.length < 24) spare.push(tile);
    generation.tiles.clear();
  };

  const paint = (tile: Tile, column: number, row: number, view: View, scene: Scene, options: DrawOptions) => {
    const { scale } = current;
    const originX = column * tileSize;
    const originY = row * tileSize;
    const frame: Frame = {
      ctx: tile.ctx,
      scale,
      originX,
      originY,
      ratio: view.ratio,
      fontFamily: scene.palette.fontFamily,
    };
    const left = originX / scale;
    const top = originY / scale;
    const side = tileSize / scale;
    const hosts = hostsIn(scene.layout, left - 2 / scale, top - 2 / scale, side + 4 / scale, side + 4 / scale);
    if (scale / view.ratio < compactZoom) {
      heatWords.fill(wordsOf(scene.palette.plain).ground);
      const pixels: Pixels = { data: heatWords, size: tileSize, scale, originX, originY };
      for (const index of hosts) paintHeat(pixels, scene, index);
      tile.ctx.putImageData(heat, 0, 0);
    } else {
      tile.ctx.fillStyle = scene.palette.plain.css.ground;
      tile.ctx.fillRect(0, 0, tileSize, tileSize);
      for (const index of hosts) paintCard(frame, scene, index);
    }
    for (const [at, rack] of scene.layout.racks.entries()) {
      const headTop = rack.y * scale - originY;
      const headBottom = (rack.y + scene.layout.rackHeader) * scale - originY;
      if (headBottom < 0 || headTop > tileSize) continue;
      if (rack.x * scale - originX > tileSize || (rack.x + rack.width) * scale - originX < 0) continue;
      paintRackHead(frame, scene, at, options.rackSummary(at));
    }
    tile.dirty = false;
  };

  /** What is painted there is to be painted again. */
  const soil = ({ x, y, width, height }: Pick<RackBox, "x" | "y" | "width" | "height">) => {
    const side = tileSize / current.scale;
    for (let row = Math.floor((y - 2) / side); row * side <= y + height + 2; row++) {
      for (let column = Math.floor((x - 2) / side); column * side <= x + width + 2; column++) {
        const tile = current.tiles.get(`${column},${row}`);
        if (tile !== undefined) tile.dirty = true;
      }
    }
  };

  /** Copies the tiles of a generation at the view's scale; those not painted are left out. */
  const copy = (target: CanvasRenderingContext2D, view: View, generation: Generation) => {
    const stretch = view.scale / generation.scale;
    const exact = stretch === 1;
    const offsetX = Math.round(view.x * view.scale);
    const offsetY = Math.round(view.y * view.scale);
    const side = tileSize * stretch;
    target.imageSmoothingEnabled = !exact;
    target.imageSmoothingQuality = "low";
    for (let row = Math.floor(offsetY / side); row * side < offsetY + view.height; row++) {
      for (let column = Math.floor(offsetX / side); column * side < offsetX + view.width; column++) {
        const tile = generation.tiles.get(`${column},${row}`);
        if (tile === undefined || (tile.dirty && tile.usedAt === 0)) continue;
        tile.usedAt = clock;
        if (exact) target.drawImage(tile.canvas, column * side - offsetX, row * side - offsetY);
        else {
          const x = Math.round(column * side - offsetX);
          const y = Math.round(row * side - offsetY);
          target.drawImage(
            tile.canvas,
            x,
            y,
            Math.round((column + 1) * side - offsetX) - x,
            Math.round((row + 1) * side - offsetY) - y,
          );
        }
      }
    }
  };

  const evict = (view: View) => {
    const wanted = Math.ceil(view.width / tileSize + 1) * Math.ceil(view.height / tileSize + 1);
    const most = wanted * 2 + 8;
    if (current.tiles.size <= most) return;
    const oldest = [...current.tiles].sort(([, a], [, b]) => a.usedAt - b.usedAt);
    for (const [key, tile] of oldest.slice(0, current.tiles.size - most)) {
      current.tiles.delete(key);
      if (spare.length < 24) spare.push(tile);
    }
  };

  return {
    draw: (target, view, scene, options) => {
      clock += 1;
      const usable = current.tiles.size > 0;
      const ratio = current.scale === 0 ? 1 : view.scale / current.scale;
      const stretched = options.zooming && usable && ratio < 1.8 && ratio > 0.55;
      if (view.scale !== current.scale && !stretched) {
        if (usable) {
          recycle(before);
          before = current;
        }
        current = { scale: view.scale, tiles: new Map() };
      }
      target.fillStyle = scene.palette.plain.css.ground;
      target.fillRect(0, 0, view.width, view.height);
      if (current.scale !== view.scale) {
        if (before !== null) copy(target, view, before);
        copy(target, view, current);
        return false;
      }
      const started = performance.now();
      let complete = true;
      let painted = 0;
      const offsetX = Math.round(view.x * view.scale);
      const offsetY = Math.round(view.y * view.scale);
      const budget = before === null && !usable ? Number.POSITIVE_INFINITY : options.budgetMs;
      for (let row = Math.floor(offsetY / tileSize); row * tileSize < offsetY + view.height; row++) {
        for (let column = Math.floor(offsetX / tileSize); column * tileSize < offsetX + view.width; column++) {
          const key = `${column},${row}`;
          let tile = current.tiles.get(key);
          if (tile !== undefined && !tile.dirty) continue;
          if (painted > 0 && performance.now() - started > budget) {
            complete = false;
            continue;
          }
          if (tile === undefined) {
            tile = newTile();
            current.tiles.set(key, tile);
          }
          paint(tile, column, row, view, scene, options);
          tile.usedAt = clock;
          painted += 1;
        }
      }
      if (!complete && before !== null) copy(target, view, before);
      copy(target, view, current);
      if (complete) {
        recycle(before);
        before = null;
        evict(view);
      }
      return complete;
    },
    invalidate: () => {
      for (const tile of current.tiles.values()) tile.dirty = true;
      recycle(before);
      before = null;
    },
    invalidateHosts: ({ layout }, hosts) => {
      for (const index of hosts) {
        const box = { x: layout.hostX[index] ?? 0, y: layout.hostY[index] ?? 0, width: layout.cardWidth };
        soil({ ...box, height: layout.hostHeight[index] ?? 0 });
      }
    },
    invalidateRacks: ({ layout }, racks) => {
      for (const at of racks) {
        const rack = layout.racks[at];
        if (rack !== undefined) soil({ ...rack, height: layout.rackHeader });
      }
    },
  };
}

/** Where the arrow keys lead. Three levels: hosts, their GPUs, and the slices of a GPU. */
import type { HostCells } from "./cells.ts";
import { cellAt } from "./hit.ts";
import { type BoardLayout, metrics } from "./layout.ts";

export interface Focus {
  readonly hostIndex: number;
  /** Null: the host itself. */
  readonly gpu: number | null;
  /** Memory slice; null: the GPU itself. */
  readonly slice: number | null;
}

export type Direction = "left" | "right" | "up" | "down";

type CellsAt = (hostIndex: number) => HostCells | null;

/** The nearest host in a direction, by centres; things off the axis count double. */
export function hostBeside(layout: BoardLayout, from: number, direction: Direction): number | null {
  const centreX = (index: number) => (layout.hostX[index] ?? 0) + layout.cardWidth / 2;
  const centreY = (index: number) => (layout.hostY[index] ?? 0) + (layout.hostHeight[index] ?? 0) / 2;
  const horizontal = direction === "left" || direction === "right";
  const sign = direction === "right" || direction === "down" ? 1 : -1;
  let best: number | null = null;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (let index = 0; index < layout.hostIds.length; index++) {
    const x = centreX(index) - centreX(from);
    const y = centreY(index) - centreY(from);
    const ahead = (horizontal ? x : y) * sign;
    if (ahead <= 1) continue;
    const distance = ahead + 2 * Math.abs(horizontal ? y : x);
    if (distance < bestDistance) {
      best = index;
      bestDistance = distance;
    }
  }
  return best;
}

export function walk(layout: BoardLayout, cellsAt: CellsAt, focus: Focus, direction: Direction): Focus {
  if (focus.gpu === null) {
    const hostIndex = hostBeside(layout, focus.hostIndex, direction);
    return hostIndex === null ? focus : { hostIndex, gpu: null, slice: null };
  }
  if (focus.slice !== null && (direction === "left" || direction === "right")) {
    return walkSlices(layout, cellsAt, { ...focus, gpu: focus.gpu, slice: focus.slice }, direction);
  }
  const next = walkGpus(layout, cellsAt, focus.hostIndex, focus.gpu, direction);
  if (next === null) return focus;
  if (focus.slice === null || next.gpu === null) return { ...next, slice: null };
  const slices = cellsAt(next.hostIndex)?.gpuSlices[next.gpu] ?? 1;
  return { ...next, slice: Math.min(focus.slice, slices - 1) };
}

function walkGpus(
  layout: BoardLayout,
  cellsAt: CellsAt,
  hostIndex: number,
  gpu: number,
  direction: Direction,
): { hostIndex: number; gpu: number | null } | null {
  const columns = metrics.gpuColumns;
  const count = cellsAt(hostIndex)?.gpuCount ?? 0;
  const column = gpu % columns;
  if (direction === "left" && column > 0) return { hostIndex, gpu: gpu - 1 };
  if (direction === "right" && column < columns - 1 && gpu + 1 < count) return { hostIndex, gpu: gpu + 1 };
  if (direction === "up" && gpu >= columns) return { hostIndex, gpu: gpu - columns };
  if (direction === "down" && gpu + columns < count) return { hostIndex, gpu: gpu + columns };
  const beside = hostBeside(layout, hostIndex, direction);
  if (beside === null) return null;
  const there = cellsAt(beside)?.gpuCount ?? 0;
  if (there === 0) return { hostIndex: beside, gpu: null };
  const row = Math.floor(gpu / columns);
  const rows = Math.ceil(there / columns);
  const target = {
    left: Math.min(row, rows - 1) * columns + columns - 1,
    right: Math.min(row, rows - 1) * columns,
    up: (rows - 1) * columns + column,
    down: column,
  }[direction];
  return { hostIndex: beside, gpu: Math.min(target, there - 1) };
}

function walkSlices(
  layout: BoardLayout,
  cellsAt: CellsAt,
  focus: { readonly hostIndex: number; readonly gpu: number; readonly slice: number },
  direction: "left" | "right",
): Focus {
  const cells = cellsAt(focus.hostIndex);
  if (cells === null) return focus;
  const cell = cellAt(cells, focus.gpu, focus.slice);
  const start = cell === null ? focus.slice : (cells.cellStart[cell] ?? 0);
  const end = cell === null ? focus.slice + 1 : start + (cells.cellSize[cell] ?? 1);
  const slice = direction === "right" ? end : start - 1;
  const slices = cells.gpuSlices[focus.gpu] ?? 1;
  if (slice >= 0 && slice < slices) return { ...focus, slice };
  const next = walkGpus(layout, cellsAt, focus.hostIndex, focus.gpu, direction);
  if (next === null) return focus;
  if (next.gpu === null) return { ...next, slice: null };
  const there = cellsAt(next.hostIndex)?.gpuSlices[next.gpu] ?? 1;
  return { ...next, slice: direction === "right" ? 0 : there - 1 };
}

/** One level down, as Enter does; null where there is nothing below. */
export function descend(cellsAt: CellsAt, focus: Focus): Focus | null {
  const cells = cellsAt(focus.hostIndex);
  if (cells === null || cells.gpuCount === 0) return null;
  if (focus.gpu === null) return { ...focus, gpu: 0 };
  if (focus.slice === null) return { ...focus, slice: 0 };
  return null;
}

/** One level up, as Escape does; null from a host. */
export function ascend(focus: Focus): Focus | null {
  if (focus.slice !== null) return { ...focus, slice: null };
  if (focus.gpu !== null) return { ...focus, gpu: null };
  return null;
}

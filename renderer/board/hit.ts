/** What lies at a point of the board: arithmetic on the layout, no search through drawn things. */
import type { HostCells } from "./cells.ts";
import { type BoardLayout, metrics, stripBox, stripRows, stripWidth } from "./layout.ts";

export interface Hit {
  readonly hostIndex: number;
  /** Null on the card beside the strips. */
  readonly gpu: number | null;
  /** Memory slice; null where gpu is. */
  readonly slice: number | null;
}

export function hostAt(layout: BoardLayout, x: number, y: number): number | null {
  for (const rack of layout.racks) {
    if (x < rack.x || x >= rack.x + rack.width || y < rack.y || y >= rack.y + rack.height) continue;
    for (let index = rack.from; index < rack.to; index++) {
      const left = layout.hostX[index] ?? 0;
      const top = layout.hostY[index] ?? 0;
      if (x >= left && x < left + layout.cardWidth && y >= top && y < top + (layout.hostHeight[index] ?? 0))
        return index;
    }
    return null;
  }
  return null;
}

/** `cellsAt` answers null for a host without inventory: only its card can be hit. */
export function hitTest(
  layout: BoardLayout,
  cellsAt: (hostIndex: number) => HostCells | null,
  x: number,
  y: number,
  compact: boolean,
): Hit | null {
  const hostIndex = hostAt(layout, x, y);
  if (hostIndex === null) return null;
  const nothing: Hit = { hostIndex, gpu: null, slice: null };
  const cells = cellsAt(hostIndex);
  if (cells === null) return nothing;
  const width = stripWidth(layout.cardWidth);
  const insideX = x - (layout.hostX[hostIndex] ?? 0) - metrics.cardPadding;
  const rows = stripRows(cells.gpuCount, compact, layout.stripHeight);
  const insideY = y - (layout.hostY[hostIndex] ?? 0) - rows.top;
  const column = Math.floor(insideX / (width + metrics.stripColumnGap));
  const row = Math.floor(insideY / (rows.height + rows.gap));
  if (column < 0 || column >= metrics.gpuColumns || row < 0) return nothing;
  const gpu = row * metrics.gpuColumns + column;
  if (gpu >= cells.gpuCount) return nothing;
  const box = stripBox(gpu, cells.gpuCount, layout, compact);
  const alongX = x - (layout.hostX[hostIndex] ?? 0) - box.x;
  const alongY = y - (layout.hostY[hostIndex] ?? 0) - box.y;
  if (alongX >= box.width || alongY >= box.height) return nothing;
  const slices = cells.gpuSlices[gpu] ?? 1;
  return { hostIndex, gpu, slice: Math.min(slices - 1, Math.floor((alongX / box.width) * slices)) };
}

/** The cell (index into HostCells) that covers a slice, or null where the slice is free. */
export function cellAt(cells: HostCells, gpu: number, slice: number): number | null {
  const to = cells.cellFrom[gpu + 1] ?? 0;
  for (let cell = cells.cellFrom[gpu] ?? 0; cell < to; cell++) {
    const start = cells.cellStart[cell] ?? 0;
    if (slice >= start && slice < start + (cells.cellSize[cell] ?? 0)) return cell;
  }
  return null;
}

/** The hosts whose cards touch a world rectangle, in order. */
export function hostsIn(layout: BoardLayout, x: number, y: number, width: number, height: number): number[] {
  const found: number[] = [];
  for (const rack of layout.racks) {
    if (rack.x > x + width || rack.x + rack.width < x || rack.y > y + height || rack.y + rack.height < y) continue;
    for (let index = rack.from; index < rack.to; index++) {
      const left = layout.hostX[index] ?? 0;
      const top = layout.hostY[index] ?? 0;
      if (left > x + width || left + layout.cardWidth < x) continue;
      if (top > y + height || top + (layout.hostHeight[index] ?? 0) < y) continue;
      found.push(index);
    }
  }
  return found;
}

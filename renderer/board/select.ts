/** From a place on the board to what is there. */
import type { Selection } from "../stores/selection.ts";
import type { Board } from "./engine.ts";
import { cellAt } from "./hit.ts";
import { stripWidth } from "./layout.ts";
import type { Focus } from "./walk.ts";

/** Slices narrower than this cannot be meant one by one: the GPU is. */
const minSlicePx = 3;

export function selectionAt(board: Board, place: Focus): Selection | null {
  const { scene } = board;
  const hostId = scene.layout.hostIds[place.hostIndex];
  if (hostId === undefined) return null;
  if (place.gpu === null) return { kind: "host", hostId };
  const gpu = scene.host(place.hostIndex)?.inventory?.gpus[place.gpu];
  const cells = scene.cells(place.hostIndex);
  if (gpu === undefined || cells === null) return { kind: "host", hostId };
  const whole: Selection = { kind: "gpu", hostId, gpuUuid: gpu.uuid };
  const slices = cells.gpuSlices[place.gpu] ?? 1;
  if (place.slice === null || (stripWidth(scene.layout.cardWidth) / slices) * board.camera.zoom < minSlicePx)
    return whole;
  const cell = cellAt(cells, place.gpu, place.slice);
  const instance = cell === null ? -1 : (cells.cellInstance[cell] ?? -1);
  return instance < 0 ? whole : { kind: "instance", hostId, gpuUuid: gpu.uuid, gpuInstanceId: instance };
}

/** Mouse, pen and trackpad on the board: pan, zoom, hover, select, open. */
import { go } from "../app/views.ts";
import { useSelection } from "../stores/selection.ts";
import type { Board } from "./engine.ts";
import type { Hit } from "./hit.ts";
import { selectionAt } from "./select.ts";
import { useBoardView } from "./view-state.ts";

const clickSlackPx = 4;

export function listenToPointer(canvas: HTMLCanvasElement, board: Board, canLift: (hit: Hit) => boolean): () => void {
  let pan: { pointerId: number; x: number; y: number; far: boolean } | null = null;
  let spaceHeld = false;
  const stop = new AbortController();
  const { signal } = stop;

  const at = (event: MouseEvent) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  canvas.addEventListener(
    "pointerdown",
    (event) => {
      const { x, y } = at(event);
      const hit = board.hitAt(x, y);
      const lifts = event.button === 0 && !spaceHeld && hit !== null && canLift(hit);
      if (event.button === 0 || event.button === 1) {
        pan = { pointerId: event.pointerId, x: event.clientX, y: event.clientY, far: false };
        // What can be lifted is not panned: the browser's own drag takes over there.
        if (lifts) pan = null;
        else canvas.setPointerCapture(event.pointerId);
      }
      if (event.button === 1) event.preventDefault();
    },
    { signal },
  );
  canvas.addEventListener(
    "pointermove",
    (event) => {
      const { x, y } = at(event);
      if (pan === null || pan.pointerId !== event.pointerId) {
        const hit = board.hitAt(x, y);
        board.setHover(hit === null ? null : { hit, x, y });
        canvas.style.cursor = hit !== null && canLift(hit) ? "grab" : "default";
        return;
      }
      const dx = event.clientX - pan.x;
      const dy = event.clientY - pan.y;
      if (!pan.far && Math.hypot(dx, dy) < clickSlackPx) return;
      if (!pan.far) {
        board.setHover(null);
        canvas.style.cursor = "grabbing";
      }
      pan = { ...pan, x: event.clientX, y: event.clientY, far: true };
      board.pan(-dx, -dy);
    },
    { signal },
  );
  let panned = false;
  const end = (event: PointerEvent) => {
    if (pan?.pointerId !== event.pointerId) return;
    panned = pan.far;
    pan = null;
    canvas.style.cursor = "default";
  };
  canvas.addEventListener("pointerup", end, { signal });
  canvas.addEventListener("pointercancel", end, { signal });
  canvas.addEventListener("pointerleave", () => board.setHover(null), { signal });

  canvas.addEventListener(
    "click",
    (event) => {
      if (panned) {
        panned = false;
        return;
      }
      const { x, y } = at(event);
      const hit = board.hitAt(x, y);
      const selection = useSelection.getState();
      if (hit === null) {
        selection.select(null);
        return;
      }
      const hostId = board.scene.layout.hostIds[hit.hostIndex] ?? "";
      const gpuUuid = hit.gpu === null ? null : board.scene.gpuUuid(hit.hostIndex, hit.gpu);
      useBoardView.setState({ focus: hit });
      if (gpuUuid !== null && (event.ctrlKey || event.metaKey)) selection.toggleMark(hostId, gpuUuid);
      else if (gpuUuid !== null && event.shiftKey) markRange(board, hit);
      else selection.select(selectionAt(board, hit));
    },
    { signal },
  );
  canvas.addEventListener(
    "dblclick",
    (event) => {
      const { x, y } = at(event);
      const hit = board.hitAt(x, y);
      if (hit === null) return;
      if (board.camera.zoom < 0.8) board.reveal({ ...hit, gpu: null, slice: null }, true);
      else go("host", board.scene.layout.hostIds[hit.hostIndex] ?? null);
    },
    { signal },
  );
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const { x, y } = at(event);
      const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
      board.setHover(null);
      if (event.ctrlKey || event.metaKey) {
        // A pinch comes as small steps with ctrl, a wheel as steps of a hundred: both end up at a like speed.
        const delta = Math.max(-60, Math.min(60, event.deltaY * unit));
        board.zoom(Math.exp(-delta * 0.006), x, y);
      } else if (event.shiftKey && event.deltaX === 0) board.pan(event.deltaY * unit, 0);
      else board.pan(event.deltaX * unit, event.deltaY * unit);
    },
    { signal, passive: false },
  );
  // With the space bar held, everything can be panned, as in drawing programs.
  const setSpace = (held: boolean) => (event: KeyboardEvent) => {
    if (event.key === " ") spaceHeld = held;
  };
  window.addEventListener("keydown", setSpace(true), { signal });
  window.addEventListener("keyup", setSpace(false), { signal });
  return () => stop.abort();
}

/** Everything between the GPU selected before and this one, in the order of the board. */
function markRange(board: Board, to: Hit): void {
  const selection = useSelection.getState();
  const { scene } = board;
  const { selected } = selection;
  if (selected === null || selected.kind === "host" || to.gpu === null) {
    selection.select(selectionAt(board, { ...to, slice: null }));
    return;
  }
  const fromHost = scene.layout.indexOf.get(selected.hostId) ?? to.hostIndex;
  const fromGpu = Math.max(
    0,
    (scene.host(fromHost)?.inventory?.gpus ?? []).findIndex(({ uuid }) => uuid === selected.gpuUuid),
  );
  const ends = [
    [fromHost, fromGpu],
    [to.hostIndex, to.gpu],
  ].sort((a, b) => (a[0] ?? 0) - (b[0] ?? 0) || (a[1] ?? 0) - (b[1] ?? 0));
  const [firstHost = 0, firstGpu = 0] = ends[0] ?? [];
  const [lastHost = 0, lastGpu = 0] = ends[1] ?? [];
  const marked: [string, string][] = [];
  for (let index = firstHost; index <= lastHost; index++) {
    const host = scene.host(index);
    for (const [gpu, { uuid }] of (host?.inventory?.gpus ?? []).entries()) {
      if ((index === firstHost && gpu < firstGpu) || (index === lastHost && gpu > lastGpu)) continue;
      marked.push([uuid, host?.id ?? ""]);
    }
  }
  selection.markAll(marked);
}

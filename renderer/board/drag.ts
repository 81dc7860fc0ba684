/** Drag and drop: one canvas is what is dragged and what is dropped on, and the hit test says which part of it. */
import { draggable, dropTargetForElements } from "@atlaskit/pragmatic-drag-and-drop/element/adapter";
import { disableNativeDragPreview } from "@atlaskit/pragmatic-drag-and-drop/element/disable-native-drag-preview";
import { type DragSource, useDraft } from "../partition/draft.ts";
import { mayPartition } from "../partition/may-partition.ts";
import type { Board } from "./engine.ts";
import type { Hit } from "./hit.ts";
import { compactZoom } from "./layout.ts";

/** What lies at a place as something to move: an instance that stands, or one of the draft. Nothing for who may not. */
export function sourceAt(board: Board, hit: Hit): DragSource | null {
  if (!mayPartition() || hit.gpu === null || hit.slice === null || board.camera.zoom < compactZoom) return null;
  const inventory = board.scene.host(hit.hostIndex)?.inventory;
  const gpu = inventory?.gpus[hit.gpu];
  if (gpu === undefined || gpu.geometry === null) return null;
  const geometry = inventory?.geometries[gpu.geometry];
  const { slice } = hit;
  const instances =
    useDraft.getState().wantedByGpu.get(gpu.uuid)?.instances ??
    gpu.instances.map(({ profileId, placement }) => ({ profileId, start: placement.start }));
  for (const instance of instances) {
    const profile = geometry?.profiles.find(({ id }) => id === instance.profileId);
    if (profile === undefined) continue;
    if (slice < instance.start || slice >= instance.start + profile.memorySlices) continue;
    return { kind: "instance", gpuUuid: gpu.uuid, start: instance.start, profile: profile.name };
  }
  return null;
}

export function makeDraggable(canvas: HTMLCanvasElement, board: Board): () => void {
  const pointOf = (input: { readonly clientX: number; readonly clientY: number }) => {
    const box = canvas.getBoundingClientRect();
    return { x: input.clientX - box.left, y: input.clientY - box.top };
  };
  const sourceUnder = (input: { readonly clientX: number; readonly clientY: number }) => {
    const { x, y } = pointOf(input);
    const hit = board.hitAt(x, y);
    return hit === null ? null : sourceAt(board, hit);
  };
  const stops = [
    draggable({
      element: canvas,
      canDrag: ({ input }) => sourceUnder(input) !== null,
      getInitialData: ({ input }) => ({ instance: sourceUnder(input) }),
      onGenerateDragPreview: ({ nativeSetDragImage }) => disableNativeDragPreview({ nativeSetDragImage }),
      onDragStart: ({ location }) => {
        const source = sourceUnder(location.initial.input);
        board.setHover(null);
        if (source !== null) useDraft.getState().begin(source);
      },
      // Dropped elsewhere, or given up with Escape: the draft is as it was.
      onDrop: () => useDraft.getState().cancel(),
    }),
    dropTargetForElements({
      element: canvas,
      canDrop: () => useDraft.getState().drag !== null,
      onDrag: ({ location }) => board.setDragPoint(pointOf(location.current.input)),
      onDragLeave: () => board.setDragPoint(null),
      onDrop: ({ location }) => {
        const { x, y } = pointOf(location.current.input);
        board.setDragPoint(null);
        const hit = board.hitAt(x, y);
        const uuid = hit === null || hit.gpu === null ? null : board.scene.gpuUuid(hit.hostIndex, hit.gpu);
        if (hit === null || uuid === null || hit.slice === null) return;
        const draft = useDraft.getState();
        const target = draft.targetAt(uuid, hit.slice);
        if (target.legal) draft.drop(uuid, target.start);
      },
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

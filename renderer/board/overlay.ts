/** What lies over the tiles and moves with every pointer event: rings, drafts, targets of a drag. */
import type { Layout } from "../../shared/mig/types.ts";
import type { Aim, DropTarget } from "../partition/draft.ts";
import type { Selection } from "../stores/selection.ts";
import { cellAt, type Hit } from "./hit.ts";
import { compactZoom, stripBox } from "./layout.ts";
import type { LiveScene } from "./live-scene.ts";
import { deviceX, deviceY, type Frame } from "./paint-card.ts";
import { fitted, fontOf } from "./text.ts";
import type { Focus } from "./walk.ts";

export interface Overlay {
  readonly visible: readonly number[];
  readonly selected: Selection | null;
  readonly marked: ReadonlyMap<string, string>;
  /** Only while the board has the keyboard's attention. */
  readonly focus: Focus | null;
  readonly hover: Hit | null;
  readonly wanted: ReadonlyMap<string, Layout>;
  readonly drag: DragOverlay | null;
}

export interface DragOverlay {
  /** Everything the drag could do on a GPU; null while not computed yet. */
  targets(gpuUuid: string): readonly DropTarget[] | null;
  readonly over: { readonly hit: Hit; readonly target: DropTarget } | null;
  /** Where the keyboard aims. */
  readonly aim: Aim | null;
  readonly label: string;
}

interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

function hostArea(frame: Frame, scene: LiveScene, index: number): Area {
  const { layout } = scene;
  const left = layout.hostX[index] ?? 0;
  const top = layout.hostY[index] ?? 0;
  const x = deviceX(frame, left);
  const y = deviceY(frame, top);
  return {
    x,
    y,
    width: deviceX(frame, left + layout.cardWidth) - x,
    height: deviceY(frame, top + (layout.hostHeight[index] ?? 0)) - y,
  };
}

/** A run of memory slices on a GPU's strip; the whole strip without `size`. */
function sliceArea(frame: Frame, scene: LiveScene, index: number, gpu: number, start = 0, size?: number): Area {
  const { layout } = scene;
  const cells = scene.cells(index);
  const compact = frame.scale / frame.ratio < compactZoom;
  const box = stripBox(gpu, cells?.gpuCount ?? 1, layout, compact);
  const slices = cells?.gpuSlices[gpu] ?? 1;
  const left = (layout.hostX[index] ?? 0) + box.x;
  const top = (layout.hostY[index] ?? 0) + box.y;
  const end = size === undefined ? slices : start + size;
  const x = deviceX(frame, left + (box.width * start) / slices);
  const y = deviceY(frame, top);
  // As painted: a hairline stays between neighbours.
  const gap = end < slices ? Math.max(1, Math.round(frame.ratio)) : 0;
  return {
    x,
    y,
    width: Math.max(2, deviceX(frame, left + (box.width * end) / slices) - x - gap),
    height: Math.max(2, deviceY(frame, top + box.height) - y),
  };
}

function ring(frame: Frame, area: Area, colour: string, width: number, outside: number): void {
  const { ctx, ratio } = frame;
  const line = width * ratio;
  const grow = outside * ratio + line / 2;
  ctx.strokeStyle = colour;
  ctx.lineWidth = line;
  ctx.strokeRect(area.x - grow, area.y - grow, area.width + 2 * grow, area.height + 2 * grow);
}

export function paintOverlay(frame: Frame, scene: LiveScene, overlay: Overlay): void {
  const zoom = frame.scale / frame.ratio;
  if (overlay.drag !== null && zoom >= compactZoom * 0.6) paintTargets(frame, scene, overlay, overlay.drag);
  if (overlay.wanted.size > 0) paintDrafts(frame, scene, overlay);
  if (overlay.drag?.over != null) paintDrop(frame, scene, overlay.drag, overlay.drag.over);
  if (overlay.drag?.aim != null) paintAim(frame, scene, overlay, overlay.drag, overlay.drag.aim);
  paintRings(frame, scene, overlay);
}

function paintRings(frame: Frame, scene: LiveScene, overlay: Overlay): void {
  const { palette } = scene;
  const { hover, selected, marked, focus } = overlay;
  if (hover !== null && overlay.drag === null) {
    const area =
      hover.gpu === null
        ? hostArea(frame, scene, hover.hostIndex)
        : sliceArea(
            frame,
            scene,
            hover.hostIndex,
            hover.gpu,
            ...spanOf(scene, hover.hostIndex, hover.gpu, hover.slice),
          );
    ring(frame, area, palette.lineStrong, 1, hover.gpu === null ? -1 : 1);
  }
  if (marked.size > 0) {
    for (const index of overlay.visible) {
      for (const [gpu, { uuid }] of (scene.host(index)?.inventory?.gpus ?? []).entries()) {
        if (marked.has(uuid)) ring(frame, sliceArea(frame, scene, index, gpu), palette.accent, 1.5, 1.5);
      }
    }
  }
  if (selected !== null) {
    const area = selectedArea(frame, scene, selected);
    if (area !== null) ring(frame, area, palette.accent, 2, selected.kind === "host" ? -1 : 2);
  }
  if (focus !== null) {
    const { ctx, ratio } = frame;
    const area =
      focus.gpu === null
        ? hostArea(frame, scene, focus.hostIndex)
        : sliceArea(
            frame,
            scene,
            focus.hostIndex,
            focus.gpu,
            ...spanOf(scene, focus.hostIndex, focus.gpu, focus.slice),
          );
    ctx.setLineDash([3 * ratio, 2 * ratio]);
    ring(frame, area, palette.plain.css.text, 1, 4);
    ctx.setLineDash([]);
  }
}

/** The cell at a slice, or the free slice alone; nothing for a whole strip. */
function spanOf(scene: LiveScene, index: number, gpu: number, slice: number | null): [] | [number, number] {
  const cells = scene.cells(index);
  if (slice === null || cells === null) return [];
  const cell = cellAt(cells, gpu, slice);
  return cell === null ? [slice, 1] : [cells.cellStart[cell] ?? 0, cells.cellSize[cell] ?? 1];
}

function selectedArea(frame: Frame, scene: LiveScene, selected: Selection): Area | null {
  const index = scene.layout.indexOf.get(selected.hostId);
  if (index === undefined) return null;
  if (selected.kind === "host") return hostArea(frame, scene, index);
  const gpus = scene.host(index)?.inventory?.gpus ?? [];
  const at = gpus.findIndex(({ uuid }) => uuid === selected.gpuUuid);
  const gpu = gpus[at];
  if (gpu === undefined) return null;
  if (selected.kind === "gpu") return sliceArea(frame, scene, index, at);
  const instance = gpu.instances.find(({ id }) => id === selected.gpuInstanceId);
  return instance === undefined
    ? sliceArea(frame, scene, index, at)
    : sliceArea(frame, scene, index, at, instance.placement.start, instance.placement.size);
}

/** Everywhere the drag could land lights up; where it cannot land at all fades. */
function paintTargets(frame: Frame, scene: LiveScene, overlay: Overlay, drag: DragOverlay): void {
  const { ctx, ratio } = frame;
  const { palette } = scene;
  const veil = palette.plain.css.surface;
  for (const index of overlay.visible) {
    const gpus = scene.host(index)?.inventory?.gpus ?? [];
    for (const [gpu, { uuid }] of gpus.entries()) {
      const targets = drag.targets(uuid);
      if (targets === null) continue;
      const legal = targets.filter((target) => target.legal);
      if (legal.length === 0) {
        const area = sliceArea(frame, scene, index, gpu);
        ctx.globalAlpha = 0.66;
        ctx.fillStyle = veil;
        ctx.fillRect(area.x - ratio, area.y - ratio, area.width + 2 * ratio, area.height + 2 * ratio);
        ctx.globalAlpha = 1;
        continue;
      }
      for (const target of legal) {
        const area = sliceArea(frame, scene, index, gpu, target.start, target.size);
        ctx.globalAlpha = 0.22;
        ctx.fillStyle = palette.accent;
        ctx.fillRect(area.x, area.y, area.width, area.height);
        ctx.globalAlpha = 1;
        // A bracket under each start, since placements may overlap.
        ctx.fillRect(area.x, area.y + area.height, Math.max(2 * ratio, area.width - ratio), Math.round(1.5 * ratio));
        ctx.fillRect(area.x, area.y, Math.round(1.5 * ratio), area.height);
      }
    }
  }
}

function paintDrafts(frame: Frame, scene: LiveScene, overlay: Overlay): void {
  const { palette } = scene;
  const { ctx, ratio } = frame;
  for (const index of overlay.visible) {
    const inventory = scene.host(index)?.inventory;
    for (const [at, gpu] of (inventory?.gpus ?? []).entries()) {
      const wanted = overlay.wanted.get(gpu.uuid);
      if (wanted === undefined) continue;
      const geometry = gpu.geometry === null ? undefined : inventory?.geometries[gpu.geometry];
      const stays = (profileId: number, start: number) =>
        wanted.migEnabled &&
        wanted.instances.some((instance) => instance.profileId === profileId && instance.start === start);
      for (const { profileId, placement } of gpu.instances) {
        if (stays(profileId, placement.start)) continue;
        // What the plan destroys: only a faint outline of it is left.
        const area = sliceArea(frame, scene, index, at, placement.start, placement.size);
        ctx.fillStyle = palette.plain.css.free;
        ctx.fillRect(area.x, area.y, area.width, area.height);
        dashed(frame, area, palette.plain.css.unheld, 1);
      }
      for (const { profileId, start } of wanted.instances) {
        const stands = gpu.instances.some(
          (instance) => instance.profileId === profileId && instance.placement.start === start,
        );
        if (stands) continue;
        const profile = geometry?.profiles.find(({ id }) => id === profileId);
        const area = sliceArea(frame, scene, index, at, start, profile?.memorySlices ?? 1);
        ctx.fillStyle = palette.accentGround;
        ctx.fillRect(area.x, area.y, area.width, area.height);
        dashed(frame, area, palette.accent, 1.5);
        if (profile !== undefined && area.height >= 13 * ratio) {
          const font = fontOf(600, 10 * ratio, palette.fontFamily);
          ctx.font = font.css;
          ctx.fillStyle = palette.accent;
          ctx.textAlign = "left";
          ctx.textBaseline = "middle";
          const text = fitted(ctx, font, profile.name, area.width - 6 * ratio);
          if (text !== "") ctx.fillText(text, area.x + 4 * ratio, area.y + area.height / 2 + ratio / 2);
        }
      }
      if (wanted.migEnabled !== (gpu.mig.current === "enabled")) {
        dashed(frame, sliceArea(frame, scene, index, at), palette.accent, 1.5);
      }
    }
  }
}

function dashed(frame: Frame, area: Area, colour: string, width: number): void {
  const { ctx, ratio } = frame;
  const line = width * ratio;
  ctx.setLineDash([4 * ratio, 2 * ratio]);
  ctx.strokeStyle = colour;
  ctx.lineWidth = line;
  ctx.strokeRect(area.x + line / 2, area.y + line / 2, area.width - line, area.height - line);
  ctx.setLineDash([]);
}

function paintDrop(
  frame: Frame,
  scene: LiveScene,
  drag: DragOverlay,
  over: { readonly hit: Hit; readonly target: DropTarget },
): void {
  const { hit, target } = over;
  if (hit.gpu === null) return;
  const { palette } = scene;
  const { ctx, ratio } = frame;
  if (!target.legal) {
    ring(frame, sliceArea(frame, scene, hit.hostIndex, hit.gpu), palette.plain.css.bad, 1.5, 1);
    return;
  }
  const area = sliceArea(frame, scene, hit.hostIndex, hit.gpu, target.start, target.size);
  ctx.fillStyle = palette.accentGround;
  ctx.fillRect(area.x, area.y, area.width, area.height);
  dashed(frame, area, palette.accent, 2);
  if (area.height < 12 * ratio) return;
  const font = fontOf(600, 10 * ratio, palette.fontFamily);
  ctx.font = font.css;
  ctx.fillStyle = palette.accent;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  const text = fitted(ctx, font, drag.label, area.width - 8 * ratio);
  if (text !== "") ctx.fillText(text, area.x + 4 * ratio, area.y + area.height / 2 + ratio / 2);
}

function paintAim(frame: Frame, scene: LiveScene, overlay: Overlay, drag: DragOverlay, aim: Aim): void {
  for (const hostIndex of overlay.visible) {
    const gpu = (scene.host(hostIndex)?.inventory?.gpus ?? []).findIndex(({ uuid }) => uuid === aim.gpuUuid);
    if (gpu < 0) continue;
    const target: DropTarget = { legal: true, start: aim.start, size: aim.size };
    paintDrop(frame, scene, drag, { hit: { hostIndex, gpu, slice: aim.start }, target });
    return;
  }
}

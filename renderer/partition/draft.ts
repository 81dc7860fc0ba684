/** The draft: what the operator wants the GPUs to become. Nothing here changes a host. */
import { create } from "zustand";
import type { GpuGeometry, GpuInstanceProfile, Layout, LayoutInstance, Refusal } from "../../shared/mig/types.ts";
import type { Gpu } from "../../shared/protocol/inventory.ts";
import { useSnapshot } from "../stores/snapshot.ts";

/** What hangs at the pointer, or was picked up with the keyboard. */
export type DragSource =
  | { readonly kind: "profile"; readonly profileId: number; readonly profile: string }
  | { readonly kind: "instance"; readonly gpuUuid: string; readonly start: number; readonly profile: string };

export type DropTarget =
  | { readonly legal: true; readonly start: number; readonly size: number }
  | { readonly legal: false; readonly refusal: Refusal };

export interface DraftState {
  /** Only GPUs whose wanted layout differs from the one that stands. */
  readonly wantedByGpu: ReadonlyMap<string, Layout>;
  readonly drag: DragSource | null;
  begin(source: DragSource): void;
  /** Where the source would come to lie when dropped at this slice, or why it cannot. Cheap: asked for many GPUs in a frame. */
  targetAt(gpuUuid: string, memorySlice: number): DropTarget;
  drop(gpuUuid: string, start: number): void;
  cancel(): void;
  remove(gpuUuid: string, start: number): void;
  undo(): void;
  redo(): void;
}

type Wanted = ReadonlyMap<string, Layout>;

function findGpu(gpuUuid: string): { gpu: Gpu; geometry: GpuGeometry } | null {
  for (const host of useSnapshot.getState().hosts.values()) {
    const gpu = host.inventory?.gpus.find((candidate) => candidate.uuid === gpuUuid);
    if (gpu === undefined) continue;
    const geometry = gpu.geometry === null ? undefined : host.inventory?.geometries[gpu.geometry];
    return geometry === undefined ? null : { gpu, geometry };
  }
  return null;
}

/** The layout that stands on the host. */
export function currentLayout(gpu: Gpu): Layout {
  return {
    migEnabled: gpu.mig.current === "enabled",
    instances: gpu.instances.map((instance) => ({
      profileId: instance.profileId,
      start: instance.placement.start,
      id: instance.id,
      inUse: instance.holder !== null,
    })),
  };
}

function refusal(sentence: string, model: string): DropTarget {
  return {
    legal: false,
    refusal: { violation: { rule: "not-mig-capable", model }, sentence, driverWords: null, instead: [] },
  };
}

const past: Wanted[] = [];
const future: Wanted[] = [];

export const useDraft = create<DraftState>((set, get) => {
  const profileOf = (source: DragSource, geometry: GpuGeometry): GpuInstanceProfile | undefined =>
    geometry.profiles.find((profile) =>
      source.kind === "profile" ? profile.id === source.profileId : profile.name === source.profile,
    );
  const edit = (wantedByGpu: Wanted) => {
    past.push(get().wantedByGpu);
    future.length = 0;
    set({ wantedByGpu, drag: null });
  };
  const layoutOf = (gpu: Gpu) => get().wantedByGpu.get(gpu.uuid) ?? currentLayout(gpu);
  const sizeOf = (geometry: GpuGeometry, instance: LayoutInstance) =>
    geometry.profiles.find((profile) => profile.id === instance.profileId)?.memorySlices ?? 1;

  return {
    wantedByGpu: new Map(),
    drag: null,
    begin: (source) => set({ drag: source }),
    targetAt: (gpuUuid, memorySlice) => {
      const source = get().drag;
      const found = findGpu(gpuUuid);
      if (source === null || found === null) return refusal("This GPU cannot be divided.", "");
      const { gpu, geometry } = found;
      const profile = profileOf(source, geometry);
      if (profile === undefined) return refusal(`${gpu.name} has no ${source.profile}.`, gpu.name);
      const starts = profile.starts.filter(
        (start) => start <= memorySlice && memorySlice < start + profile.memorySlices,
      );
      for (const start of starts) {
        const others = layoutOf(gpu).instances.filter(
          (instance) => !(source.kind === "instance" && source.gpuUuid === gpuUuid && instance.start === source.start),
        );
        const overlaps = others.some(
          (instance) =>
            start < instance.start + sizeOf(geometry, instance) && instance.start < start + profile.memorySlices,
        );
        if (!overlaps) return { legal: true, start, size: profile.memorySlices };
      }
      return refusal(`${profile.name} starts at slice ${profile.starts.join(", ")} only, where it is free.`, gpu.name);
    },
    drop: (gpuUuid, start) => {
      const source = get().drag;
      const found = findGpu(gpuUuid);
      if (source === null || found === null) return;
      const profile = profileOf(source, found.geometry);
      if (profile === undefined) return;
      const wanted = new Map(get().wantedByGpu);
      if (source.kind === "instance") {
        const from = findGpu(source.gpuUuid);
        if (from !== null) {
          const layout = layoutOf(from.gpu);
          wanted.set(source.gpuUuid, {
            ...layout,
            instances: layout.instances.filter((instance) => instance.start !== source.start),
          });
        }
      }
      const layout = wanted.get(gpuUuid) ?? currentLayout(found.gpu);
      wanted.set(gpuUuid, {
        migEnabled: true,
        instances: [...layout.instances, { profileId: profile.id, start }].sort((a, b) => a.start - b.start),
      });
      edit(wanted);
    },
    cancel: () => set({ drag: null }),
    remove: (gpuUuid, start) => {
      const found = findGpu(gpuUuid);
      if (found === null) return;
      const layout = layoutOf(found.gpu);
      const instances = layout.instances.filter((instance) => instance.start !== start);
      edit(new Map(get().wantedByGpu).set(gpuUuid, { ...layout, instances }));
    },
    undo: () => {
      const before = past.pop();
      if (before === undefined) return;
      future.push(get().wantedByGpu);
      set({ wantedByGpu: before });
    },
    redo: () => {
      const next = future.pop();
      if (next === undefined) return;
      past.push(get().wantedByGpu);
      set({ wantedByGpu: next });
    },
  };
});

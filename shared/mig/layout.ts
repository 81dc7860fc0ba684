import type { Gpu } from "../protocol/inventory.ts";
import { fillingComputeProfile } from "./compute-profiles.ts";
import { geometryFor, profileOf } from "./geometry.ts";
import type { GpuGeometry, GpuInstanceProfile, Layout, LayoutComputeInstance, LayoutInstance } from "./types.ts";

/** Stands for a compute instance profile or start that the driver did not give: it equals no wish. */
export const unknownNumber = -1;

const byStart = <T extends { readonly start: number; readonly profileId: number; readonly id?: number }>(a: T, b: T) =>
  a.start - b.start || a.profileId - b.profileId || (a.id ?? -1) - (b.id ?? -1);

/** The same list, ascending by start. */
export function sortedByStart<T extends { readonly start: number; readonly profileId: number; readonly id?: number }>(
  items: readonly T[],
): readonly T[] {
  return [...items].sort(byStart);
}

function computeInstancesOf(
  instance: Gpu["instances"][number],
  profile: GpuInstanceProfile | undefined,
): readonly LayoutComputeInstance[] {
  return sortedByStart(
    instance.computeInstances.map((computeInstance) => {
      const named = profile?.computeInstanceProfiles.find((candidate) => candidate.name === computeInstance.profile);
      const fills = computeInstance.profile === instance.profile;
      const known = named ?? (fills && profile !== undefined ? fillingComputeProfile(profile) : undefined);
      return {
        profileId: computeInstance.profileId ?? known?.id ?? unknownNumber,
        start: computeInstance.placement?.start ?? (fills ? 0 : unknownNumber),
        id: computeInstance.id,
      };
    }),
  );
}

/**
 * How a GPU of the inventory is divided now. An instance is in use when someone holds it or any process runs in it.
 * `geometry` names compute instances whose profile number the driver did not give; by default our table.
 */
export function layoutOf(gpu: Gpu, geometry: GpuGeometry | null = geometryFor(gpu)): Layout {
  const migEnabled = gpu.mig.current === "enabled";
  if (!migEnabled) return { migEnabled, instances: [] };
  const occupied = new Set(gpu.processes.map((process) => process.gpuInstanceId));
  const instances = gpu.instances.map((instance): LayoutInstance => {
    const profile = geometry === null ? undefined : profileOf(geometry, instance.profileId);
    return {
      profileId: instance.profileId,
      start: instance.placement.start,
      id: instance.id,
      computeInstances: computeInstancesOf(instance, profile),
      inUse: instance.holder !== null || occupied.has(instance.id),
    };
  });
  return { migEnabled, instances: sortedByStart(instances) };
}

function versionOfCompute(computeInstance: LayoutComputeInstance): string {
  const id = computeInstance.id === undefined ? "" : `#${computeInstance.id}`;
  return `${computeInstance.profileId}@${computeInstance.start}${id}`;
}

/** Also two at one start, which no driver has, come in one order only. */
function byStartThenText(a: { start: number; text: string }, b: { start: number; text: string }): number {
  return a.start - b.start || (a.text < b.text ? -1 : a.text > b.text ? 1 : 0);
}

function inOrder<T extends { readonly start: number }>(items: readonly T[], toText: (item: T) => string): string {
  return items
    .map((item) => ({ start: item.start, text: toText(item) }))
    .sort(byStartThenText)
    .map(({ text }) => text)
    .join(",");
}

/**
 * A layout as a line of text: `mig=on 9@0#1[2@0#0] 19@4#7[]` is profile 9 at memory slice 0 as GPU instance 1 with
 * compute instance 0 of profile 2, and an orphan of profile 19. `[*]` is a wish for one that fills. Two layouts have the
 * same version exactly when they are the same, in whatever order they are listed; who uses an instance does not count.
 */
export function layoutVersion(layout: Layout): string {
  const instances = layout.instances.map((instance) => {
    const id = instance.id === undefined ? "" : `#${instance.id}`;
    const inside = instance.computeInstances === undefined ? "*" : inOrder(instance.computeInstances, versionOfCompute);
    return { start: instance.start, text: `${instance.profileId}@${instance.start}${id}[${inside}]` };
  });
  const texts = instances.sort(byStartThenText).map(({ text }) => text);
  return [`mig=${layout.migEnabled ? "on" : "off"}`, ...texts].join(" ");
}

/**
 * The compute instances that a wish means: its own, ascending by start and without IDs, or the one that fills.
 * Empty for a profile that no compute instance profile fills.
 */
export function wantedComputeInstances(
  instance: LayoutInstance,
  profile: GpuInstanceProfile,
): readonly LayoutComputeInstance[] {
  if (instance.computeInstances !== undefined) {
    return sortedByStart(instance.computeInstances).map(({ profileId, start }) => ({ profileId, start }));
  }
  const filling = fillingComputeProfile(profile);
  return filling === undefined ? [] : [{ profileId: filling.id, start: 0 }];
}

/**
 * A layout as a wish: without IDs and without who uses it, so that it can be asked of any GPU of its kind. Where the
 * compute instances were not fully read, nothing is asked of them: those that exist stay, and new instances are filled.
 */
export function asWish(layout: Layout): Layout {
  return {
    migEnabled: layout.migEnabled,
    instances: sortedByStart(layout.instances).map(({ profileId, start, computeInstances }) => {
      const inside = computeInstances?.map((one) => ({ profileId: one.profileId, start: one.start }));
      const isWhole = inside?.every((one) => one.profileId !== unknownNumber && one.start !== unknownNumber) ?? false;
      return { profileId, start, ...(inside !== undefined && isWhole ? { computeInstances: inside } : {}) };
    }),
  };
}

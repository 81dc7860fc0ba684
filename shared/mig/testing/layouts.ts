/**
 * The rules of MIG a second time, written as plainly as can be and sharing nothing with the rules under test, and
 * lists of layouts made from them. For tests only.
 */
import type { GpuGeometry, GpuInstanceProfile, LayoutInstance } from "../types.ts";

export type Place = { readonly profileId: number; readonly start: number };

/** Whether these may exist together: slice by slice, count by count, engine by engine. */
export function mayExistTogether(geometry: GpuGeometry, places: readonly Place[]): boolean {
  const owner = new Map<number, number>();
  const profiles: GpuInstanceProfile[] = [];
  for (const [number, place] of places.entries()) {
    const profile = geometry.profiles.find((candidate) => candidate.id === place.profileId);
    if (profile === undefined || !profile.starts.includes(place.start)) return false;
    for (let slice = place.start; slice < place.start + profile.memorySlices; slice++) {
      if (owner.has(slice)) return false;
      owner.set(slice, number);
    }
    profiles.push(profile);
  }
  const whole = geometry.profiles.filter((profile) => profile.computeSlices === geometry.computeSlices);
  const enough = (amount: (profile: GpuInstanceProfile) => number | null) => {
    const limits = whole.map(amount);
    if (limits.some((limit) => limit === null)) return true;
    const asked = profiles.map((profile) => amount(profile) ?? 0).reduce((a, b) => a + b, 0);
    return asked <= Math.max(...limits.map((limit) => limit ?? 0));
  };
  return (
    profiles.every((profile) => profiles.filter((other) => other.id === profile.id).length <= profile.maxInstances) &&
    profiles.map((profile) => profile.computeSlices).reduce((a, b) => a + b, 0) <= geometry.computeSlices &&
    enough((profile) => profile.engines.decoder) &&
    enough((profile) => profile.engines.encoder) &&
    enough((profile) => profile.engines.jpeg) &&
    enough((profile) => profile.engines.opticalFlow)
  );
}

/** Every legal layout of a GPU, the empty one first. Thousands for the seven-slice models. */
export function allLayouts(geometry: GpuGeometry): readonly (readonly Place[])[] {
  const everyPlace = geometry.profiles.flatMap((profile) =>
    profile.starts.map((start) => ({ profileId: profile.id, start })),
  );
  const found: (readonly Place[])[] = [];
  const grow = (places: readonly Place[], from: number): void => {
    found.push(places);
    for (let next = from; next < everyPlace.length; next++) {
      const place = everyPlace[next];
      if (place === undefined) continue;
      const more = [...places, place];
      if (mayExistTogether(geometry, more)) grow(more, next + 1);
    }
  };
  grow([], 0);
  return found;
}

/** `count` of them, spread evenly over the list: the same ones in every run. */
export function spread<T>(items: readonly T[], count: number): readonly T[] {
  if (items.length <= count) return items;
  return Array.from({ length: count }, (_, n) => items[Math.floor((n * items.length) / count)]).filter(
    (item) => item !== undefined,
  );
}

/** Layouts as text, to compare them whatever their order and IDs. */
export function asText(instances: readonly LayoutInstance[]): string {
  return instances
    .map((instance) => {
      const inside = (instance.computeInstances ?? []).map(({ profileId, start }) => `${profileId}@${start}`).sort();
      return `${instance.profileId}@${instance.start}[${inside.join()}]`;
    })
    .sort()
    .join(" ");
}

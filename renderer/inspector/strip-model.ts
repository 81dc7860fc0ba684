/** What a strip draws: the instances of one layout over the memory slices of its GPU. */
import type { Layout } from "../../shared/mig/types.ts";
import { profileOf, sameInstance } from "../partition/edits.ts";
import { type GpuFacts, instanceOf, isInUse, usersOf } from "../partition/facts.ts";

export interface StripCell {
  readonly start: number;
  readonly size: number;
  readonly profile: string;
  readonly computeInstanceCount: number;
  /** `held`: in use. `empty`: nobody holds it. `new`: stands only in the draft. `leaving`: the draft takes it away. */
  readonly kind: "held" | "empty" | "new" | "leaving";
  /** Whose colour; null where nobody holds it or who is not known. */
  readonly tenant: string | null;
  readonly holder: string | null;
  /** How much of it works, 0 to 100; null where the driver does not say. */
  readonly usePercent: number | null;
  readonly gpuInstanceId: number | null;
}

export function cellsNow(facts: GpuFacts, wanted: Layout | null): readonly StripCell[] {
  return facts.gpu.instances.map((instance) => {
    const held = isInUse(facts.gpu, instance);
    const standing = facts.current.instances.find((other) => other.id === instance.id);
    const leaving =
      wanted !== null &&
      !held &&
      standing !== undefined &&
      !wanted.instances.some((other) => sameInstance(facts.geometry, other, standing));
    return {
      start: instance.placement.start,
      size: instance.placement.size,
      profile: instance.profile,
      computeInstanceCount: instance.computeInstances.length,
      kind: held ? "held" : leaving ? "leaving" : "empty",
      tenant:
        instance.holder === null ? null : (instance.holder.tenant ?? instance.holder.project ?? instance.holder.user),
      holder: usersOf(facts.gpu, instance),
      usePercent: instance.utilisationPercent,
      gpuInstanceId: instance.id,
    };
  });
}

export function cellsDrafted(facts: GpuFacts, wanted: Layout): readonly StripCell[] {
  const now = cellsNow(facts, null);
  return wanted.instances.map((wish) => {
    const profile = profileOf(facts.geometry, wish.profileId);
    const stays = facts.current.instances.some((other) => sameInstance(facts.geometry, other, wish));
    const standing = stays ? now.find((cell) => cell.start === wish.start) : undefined;
    if (standing !== undefined) return standing;
    return {
      start: wish.start,
      size: profile?.memorySlices ?? 1,
      profile: profile?.name ?? `#${wish.profileId}`,
      computeInstanceCount: wish.computeInstances?.length ?? 1,
      kind: "new",
      tenant: null,
      holder: null,
      usePercent: null,
      gpuInstanceId: instanceOf(facts.gpu, wish.start)?.id ?? null,
    };
  });
}

/** Memory slices that no instance covers. */
export function freeSlices(memorySlices: number, cells: readonly StripCell[]): readonly number[] {
  const free: number[] = [];
  for (let slice = 0; slice < memorySlices; slice += 1) {
    if (!cells.some((cell) => cell.start <= slice && slice < cell.start + cell.size)) free.push(slice);
  }
  return free;
}

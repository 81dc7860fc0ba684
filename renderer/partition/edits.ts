/**
 * What one edit of the draft does to a layout. Pure: a layout goes in, another comes out, or the rule that
 * forbids it. Instances in use are never touched; what nobody holds makes room for what is put there.
 */
import { placeProfiles } from "../../shared/mig/fit.ts";
import { parsePreset } from "../../shared/mig/preset.ts";
import { isRefusal, refuse } from "../../shared/mig/refusal.ts";
import { checkComputeInstances, checkLayout, explainPlacement } from "../../shared/mig/rules.ts";
import type {
  GpuGeometry,
  GpuInstanceProfile,
  Layout,
  LayoutComputeInstance,
  LayoutInstance,
  Refusal,
} from "../../shared/mig/types.ts";

export type Edit = { readonly ok: true; readonly layout: Layout } | { readonly ok: false; readonly refusal: Refusal };

export function profileOf(geometry: GpuGeometry, profileId: number): GpuInstanceProfile | null {
  return geometry.profiles.find((profile) => profile.id === profileId) ?? null;
}

export function profileNamed(geometry: GpuGeometry, name: string): GpuInstanceProfile | null {
  return geometry.profiles.find((profile) => profile.name === name) ?? null;
}

/** Memory slices that an instance covers; 1 where its profile is not known. */
export function sizeOf(geometry: GpuGeometry, instance: LayoutInstance): number {
  return profileOf(geometry, instance.profileId)?.memorySlices ?? 1;
}

export function instanceAt(layout: Layout, start: number): LayoutInstance | null {
  return layout.instances.find((instance) => instance.start === start) ?? null;
}

/** The instances that share a memory slice with [start, start + size). */
export function overlapping(
  geometry: GpuGeometry,
  layout: Layout,
  start: number,
  size: number,
): readonly LayoutInstance[] {
  return layout.instances.filter(
    (instance) => instance.start < start + size && start < instance.start + sizeOf(geometry, instance),
  );
}

function withInstances(layout: Layout, instances: readonly LayoutInstance[]): Layout {
  return { ...layout, instances: [...instances].sort((a, b) => a.start - b.start) };
}

function checked(geometry: GpuGeometry, layout: Layout): Edit {
  const [refusal] = checkLayout(geometry, layout);
  return refusal === undefined ? { ok: true, layout } : { ok: false, refusal };
}

function inUse(geometry: GpuGeometry, instance: LayoutInstance): Edit {
  const profile = profileOf(geometry, instance.profileId)?.name ?? String(instance.profileId);
  const gpuInstanceId = instance.id ?? null;
  return { ok: false, refusal: refuse({ rule: "instance-in-use", profile, start: instance.start, gpuInstanceId }) };
}

/** Puts a new instance there. Empty instances in its way go; one in use forbids it. Turns MIG on where it is off. */
export function place(
  geometry: GpuGeometry,
  layout: Layout,
  profileId: number,
  start: number,
  computeInstances?: readonly LayoutComputeInstance[],
): Edit {
  const profile = profileOf(geometry, profileId);
  const created: LayoutInstance = { profileId, start, ...(computeInstances === undefined ? {} : { computeInstances }) };
  const inTheWay = profile === null ? [] : overlapping(geometry, layout, start, profile.memorySlices);
  const staying = layout.instances.filter((instance) => instance.inUse === true || !inTheWay.includes(instance));
  const refusal =
    explainPlacement(geometry, { ...layout, instances: staying }, profileId, start) ??
    (profile === null ? undefined : checkComputeInstances(profile, created)[0]);
  if (refusal !== undefined) return { ok: false, refusal };
  return { ok: true, layout: { ...withInstances(layout, [...staying, created]), migEnabled: true } };
}

export function remove(geometry: GpuGeometry, layout: Layout, start: number): Edit {
  const instance = instanceAt(layout, start);
  if (instance === null) return { ok: true, layout };
  if (instance.inUse === true) return inUse(geometry, instance);
  return {
    ok: true,
    layout: withInstances(
      layout,
      layout.instances.filter((other) => other !== instance),
    ),
  };
}

/** Everything that nobody uses goes. */
export function clear(layout: Layout): Layout {
  return withInstances(
    layout,
    layout.instances.filter((instance) => instance.inUse === true),
  );
}

export type Move =
  | {
      readonly ok: true;
      /** The layout that the instance left; the same as `to` within one GPU. */
      readonly from: Layout;
      readonly to: Layout;
      /** The two changed places. */
      readonly swapped: boolean;
    }
  | { readonly ok: false; readonly refusal: Refusal };

export interface Side {
  readonly geometry: GpuGeometry;
  readonly layout: Layout;
}

/**
 * Moves within one GPU. Where exactly one empty instance is in the way and it fits where the moved one stood, the
 * two change places; otherwise what is in the way goes.
 */
export function moveWithin(geometry: GpuGeometry, layout: Layout, fromStart: number, toStart: number): Move {
  const moved = instanceAt(layout, fromStart);
  if (moved === null || fromStart === toStart) return { ok: true, from: layout, to: layout, swapped: false };
  if (moved.inUse === true) return asMove(inUse(geometry, moved));
  const without = withInstances(
    layout,
    layout.instances.filter((instance) => instance !== moved),
  );
  const displaced = overlapping(geometry, without, toStart, sizeOf(geometry, moved));
  const [other] = displaced;
  if (other !== undefined && displaced.length === 1 && other.inUse !== true) {
    const bare = without.instances.filter((instance) => instance !== other);
    const exchanged = checked(
      geometry,
      withInstances(layout, [...bare, standing(other, fromStart), standing(moved, toStart)]),
    );
    if (exchanged.ok) return { ok: true, from: exchanged.layout, to: exchanged.layout, swapped: true };
  }
  return asMove(place(geometry, without, moved.profileId, toStart, standing(moved, toStart).computeInstances));
}

function asMove(edit: Edit): Move {
  return edit.ok ? { ok: true, from: edit.layout, to: edit.layout, swapped: false } : edit;
}

/** The same instance somewhere else: a new one, without the ids of the old. */
function standing(instance: LayoutInstance, start: number): LayoutInstance {
  const computeInstances = instance.computeInstances
    ?.filter((_, __, all) => all.length > 0)
    .map(({ profileId, start: first }) => ({ profileId, start: first }));
  return {
    profileId: instance.profileId,
    start,
    ...(computeInstances === undefined || computeInstances.length === 0 ? {} : { computeInstances }),
  };
}

/** Moves to another GPU, where the profile of the same name is made; swaps as `moveWithin` does. */
export function moveBetween(from: Side, fromStart: number, to: Side, toStart: number): Move {
  const moved = instanceAt(from.layout, fromStart);
  if (moved === null) return { ok: true, from: from.layout, to: to.layout, swapped: false };
  if (moved.inUse === true) return asMove(inUse(from.geometry, moved));
  const there = translate(from.geometry, standing(moved, toStart), to.geometry);
  if (!there.ok) return there;
  const left = withInstances(
    from.layout,
    from.layout.instances.filter((instance) => instance !== moved),
  );
  const displaced = overlapping(to.geometry, to.layout, toStart, sizeOf(to.geometry, there.instance));
  const [other] = displaced;
  if (other !== undefined && displaced.length === 1 && other.inUse !== true) {
    const back = translate(to.geometry, standing(other, fromStart), from.geometry);
    const bare = to.layout.instances.filter((instance) => instance !== other);
    const first = back.ok ? checked(from.geometry, withInstances(left, [...left.instances, back.instance])) : back;
    const second = checked(to.geometry, withInstances(to.layout, [...bare, there.instance]));
    if (first.ok && second.ok) return { ok: true, from: first.layout, to: second.layout, swapped: true };
  }
  const placed = place(to.geometry, to.layout, there.instance.profileId, toStart, there.instance.computeInstances);
  return placed.ok ? { ok: true, from: left, to: placed.layout, swapped: false } : placed;
}

type Translation =
  | { readonly ok: true; readonly instance: LayoutInstance }
  | { readonly ok: false; readonly refusal: Refusal };

/** The instance in another model's words: profiles are the same when their names are. */
function translate(from: GpuGeometry, instance: LayoutInstance, to: GpuGeometry): Translation {
  const profile = profileOf(from, instance.profileId);
  const match = profile === null ? null : profileNamed(to, profile.name);
  if (match !== null) {
    const { computeInstances, ...rest } = instance;
    const keeps = from.key === to.key && computeInstances !== undefined;
    return { ok: true, instance: { ...rest, profileId: match.id, ...(keeps ? { computeInstances } : {}) } };
  }
  const known = to.profiles.map(({ name }) => name);
  const name = profile?.name ?? String(instance.profileId);
  return { ok: false, refusal: refuse({ rule: "unknown-profile-name", profile: name, known }) };
}

/** Divides one instance into these compute instances; undefined is one that fills it. */
export function divide(
  geometry: GpuGeometry,
  layout: Layout,
  start: number,
  computeInstances: readonly LayoutComputeInstance[] | undefined,
): Edit {
  const instance = instanceAt(layout, start);
  if (instance === null) return { ok: true, layout };
  if (instance.inUse === true) return inUse(geometry, instance);
  const { computeInstances: _before, ...bare } = instance;
  const divided = { ...bare, ...(computeInstances === undefined ? {} : { computeInstances }) };
  return checked(
    geometry,
    withInstances(
      layout,
      layout.instances.map((other) => (other === instance ? divided : other)),
    ),
  );
}

/** MIG on or off. Off needs that nobody uses an instance. */
export function setMig(geometry: GpuGeometry, layout: Layout, enabled: boolean): Edit {
  const held = layout.instances.find((instance) => instance.inUse === true);
  if (!enabled && held !== undefined) return inUse(geometry, held);
  return { ok: true, layout: { migEnabled: enabled, instances: enabled ? layout.instances : [] } };
}

/**
 * The GPU divided as the preset says (`7x1g.10gb`, `3g+4g`), counting what is in use towards it. Empty instances of a
 * wanted profile stay where they are if the rest fits around them, so that less has to change.
 * Throws AppError `bad-request` for text that is no preset.
 */
export function applyPreset(geometry: GpuGeometry, layout: Layout, preset: string): Edit {
  const whole = parsePreset(preset, geometry);
  if (isRefusal(whole)) return { ok: false, refusal: whole };
  const held = layout.instances.filter((instance) => instance.inUse === true);
  const missing = whole.instances.map((instance) => instance.profileId);
  const take = (instance: LayoutInstance): boolean => {
    const index = missing.indexOf(instance.profileId);
    if (index === -1) return false;
    missing.splice(index, 1);
    return true;
  };
  for (const instance of held) take(instance);
  const around = [...missing];
  const useful = layout.instances.filter(
    (instance) => instance.inUse !== true && fills(geometry, instance) && take(instance),
  );
  const sparing = placeProfiles(geometry, [...held, ...useful], missing);
  const placed = isRefusal(sparing) ? placeProfiles(geometry, held, around) : sparing;
  return isRefusal(placed) ? { ok: false, refusal: placed } : { ok: true, layout: placed };
}

/** One compute instance over the whole GPU instance: what a preset means. */
function fills(geometry: GpuGeometry, instance: LayoutInstance): boolean {
  const wish = { profileId: instance.profileId, start: instance.start };
  return sameInstance(geometry, instance, wish);
}

/** Another GPU's layout, besides what is in use here. */
export function copyOnto(from: Side, to: Side): Edit {
  if (!from.layout.migEnabled) return setMig(to.geometry, to.layout, false);
  let layout: Layout = { ...clear(to.layout), migEnabled: true };
  for (const instance of from.layout.instances) {
    const there = translate(from.geometry, standing(instance, instance.start), to.geometry);
    if (!there.ok) return there;
    const already = instanceAt(layout, instance.start);
    if (already !== null && already.profileId === there.instance.profileId) continue;
    const before = instanceAt(to.layout, instance.start);
    const unchanged =
      before?.profileId === there.instance.profileId && sameInstance(to.geometry, before, there.instance);
    const next = checked(
      to.geometry,
      withInstances(layout, [...layout.instances, unchanged ? before : there.instance]),
    );
    if (!next.ok) return next;
    layout = next.layout;
  }
  return { ok: true, layout };
}

/** Compute instances as one word, so that 'one that fills it' reads the same however it was written. */
function divisionOf(geometry: GpuGeometry, instance: LayoutInstance): string {
  const profile = profileOf(geometry, instance.profileId);
  const filling = profile?.computeInstanceProfiles.find((compute) => compute.computeSlices === profile.computeSlices);
  if (instance.computeInstances === undefined) return filling === undefined ? "full" : `${filling.id}@0`;
  return [...instance.computeInstances]
    .sort((a, b) => a.start - b.start)
    .map(({ profileId, start }) => `${profileId}@${start}`)
    .join(" ");
}

export function sameInstance(geometry: GpuGeometry, a: LayoutInstance, b: LayoutInstance): boolean {
  return a.profileId === b.profileId && a.start === b.start && divisionOf(geometry, a) === divisionOf(geometry, b);
}

/** Whether both wish the same of the GPU, whatever the ids. */
export function sameLayout(geometry: GpuGeometry, a: Layout, b: Layout): boolean {
  return (
    a.migEnabled === b.migEnabled &&
    a.instances.length === b.instances.length &&
    a.instances.every((instance) => b.instances.some((other) => sameInstance(geometry, instance, other)))
  );
}

export interface Rebased {
  readonly layout: Layout;
  /** Wishes that the new state of the GPU no longer allows. */
  readonly dropped: readonly LayoutInstance[];
  /** What the draft kept and somebody has removed since: it is not made again against their wish. */
  readonly gone: readonly LayoutInstance[];
}

/**
 * The wish of a draft that was made against `baseline`, on top of what stands now: removes what the draft removed
 * where it still stands and nobody uses it, then adds what the draft added where it still may stand.
 */
export function rebase(geometry: GpuGeometry, baseline: Layout, wanted: Layout, current: Layout): Rebased {
  const added = wanted.instances.filter(
    (instance) => !baseline.instances.some((other) => sameInstance(geometry, other, instance)),
  );
  const removed = baseline.instances.filter(
    (instance) => !wanted.instances.some((other) => sameInstance(geometry, other, instance)),
  );
  let layout: Layout = withInstances(
    current,
    current.instances.filter(
      (instance) => instance.inUse === true || !removed.some((other) => sameInstance(geometry, other, instance)),
    ),
  );
  const dropped: LayoutInstance[] = [];
  for (const instance of added) {
    const standingThere = instanceAt(layout, instance.start);
    if (standingThere !== null && sameInstance(geometry, standingThere, instance)) continue;
    const fresh = standing(instance, instance.start);
    const next = place(geometry, layout, fresh.profileId, fresh.start, fresh.computeInstances);
    if (next.ok) layout = next.layout;
    else dropped.push(instance);
  }
  if (!wanted.migEnabled && baseline.migEnabled) {
    const off = setMig(geometry, layout, false);
    if (off.ok) layout = off.layout;
  } else if (wanted.migEnabled && !baseline.migEnabled) layout = { ...layout, migEnabled: true };
  const gone = wanted.instances.filter(
    (instance) =>
      !added.includes(instance) && !layout.instances.some((other) => sameInstance(geometry, other, instance)),
  );
  return { layout, dropped, gone };
}

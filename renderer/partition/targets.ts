/** Where something that is being dragged, or was picked up with the keyboard, could come to lie. */
import { refuse } from "../../shared/mig/refusal.ts";
import type { GpuInstanceProfile, Layout, Refusal } from "../../shared/mig/types.ts";
import { type Draft, type FactsOf, wantedIn } from "./draft-model.ts";
import { instanceAt, moveBetween, moveWithin, place, profileNamed, profileOf } from "./edits.ts";
import type { GpuFacts } from "./facts.ts";

/** What hangs at the pointer, or was picked up with the keyboard. */
export type DragSource =
  | { readonly kind: "profile"; readonly profileId: number; readonly profile: string }
  | { readonly kind: "instance"; readonly gpuUuid: string; readonly start: number; readonly profile: string };

export type DropTarget =
  | { readonly legal: true; readonly start: number; readonly size: number }
  | { readonly legal: false; readonly refusal: Refusal };

export type DropOutcome =
  | {
      readonly ok: true;
      readonly layouts: ReadonlyMap<string, Layout>;
      readonly profile: string;
      readonly swapped: boolean;
    }
  | { readonly ok: false; readonly refusal: Refusal };

function profileHere(facts: GpuFacts, source: DragSource): GpuInstanceProfile | null {
  // By name: the same number can be another profile on another model.
  return profileNamed(facts.geometry, source.profile);
}

/** The layouts after a drop, or the rule against it. */
export function dropped(
  draft: Draft,
  factsOf: FactsOf,
  source: DragSource,
  gpuUuid: string,
  start: number,
): DropOutcome {
  const to = factsOf(gpuUuid);
  if (to === null) return { ok: false, refusal: refuse({ rule: "not-mig-capable", model: "GPU" }) };
  if (to.heldWhole) return { ok: false, refusal: refuse({ rule: "mig-mode-in-use", instances: 0 }) };
  const layout = wantedIn(draft, to);
  const profile = profileHere(to, source);
  if (profile === null) {
    const known = to.geometry.profiles.map(({ name }) => name);
    return { ok: false, refusal: refuse({ rule: "unknown-profile-name", profile: source.profile, known }) };
  }
  if (source.kind === "profile") {
    const edit = place(to.geometry, layout, profile.id, start);
    if (!edit.ok) return edit;
    return { ok: true, layouts: new Map([[gpuUuid, edit.layout]]), profile: profile.name, swapped: false };
  }
  const from = factsOf(source.gpuUuid);
  if (from === null) return { ok: false, refusal: refuse({ rule: "not-mig-capable", model: "GPU" }) };
  const move =
    source.gpuUuid === gpuUuid
      ? moveWithin(to.geometry, layout, source.start, start)
      : moveBetween(
          { geometry: from.geometry, layout: wantedIn(draft, from) },
          source.start,
          { geometry: to.geometry, layout },
          start,
        );
  if (!move.ok) return move;
  const layouts =
    source.gpuUuid === gpuUuid
      ? new Map([[gpuUuid, move.to]])
      : new Map([
          [source.gpuUuid, move.from],
          [gpuUuid, move.to],
        ]);
  return { ok: true, layouts, profile: profile.name, swapped: move.swapped };
}

/** Everything a drag could do on one GPU: for each start of the profile, whether it may lie there. */
export function targetsOn(draft: Draft, factsOf: FactsOf, source: DragSource, gpuUuid: string): readonly DropTarget[] {
  const facts = factsOf(gpuUuid);
  const profile = facts === null ? null : profileHere(facts, source);
  if (profile === null) {
    const outcome = dropped(draft, factsOf, source, gpuUuid, 0);
    return outcome.ok ? [] : [{ legal: false, refusal: outcome.refusal }];
  }
  return profile.starts.map((start) => {
    const outcome = dropped(draft, factsOf, source, gpuUuid, start);
    return outcome.ok ? { legal: true, start, size: profile.memorySlices } : { legal: false, refusal: outcome.refusal };
  });
}

/** The target under a memory slice: one that covers it, the nearest start first; else why there is none. */
export function targetUnder(
  targets: readonly DropTarget[],
  profile: GpuInstanceProfile | null,
  memorySlice: number,
): DropTarget {
  const covering: DropTarget[] = [];
  for (const [index, start] of (profile?.starts ?? []).entries()) {
    const target = targets[index];
    if (target === undefined || profile === null) continue;
    if (start <= memorySlice && memorySlice < start + profile.memorySlices) covering.unshift(target);
  }
  const legal = covering.find((target) => target.legal) ?? null;
  const first = covering[0] ?? targets.find((target) => !target.legal);
  if (legal !== null) return legal;
  if (first !== undefined && !first.legal) return first;
  const violation: Refusal["violation"] = {
    rule: "illegal-start",
    profile: profile?.name ?? "",
    start: memorySlice,
    legalStarts: profile?.starts ?? [],
  };
  const offers = targets.flatMap((target) =>
    target.legal && profile !== null ? [{ profile: profile.name, start: target.start }] : [],
  );
  return { legal: false, refusal: refuse(violation, offers) };
}

/** The profile's name of an instance of the draft. */
export function nameAt(facts: GpuFacts, layout: Layout, start: number): string | null {
  const instance = instanceAt(layout, start);
  return instance === null ? null : (profileOf(facts.geometry, instance.profileId)?.name ?? null);
}

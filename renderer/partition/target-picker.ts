/** The open 'Move to…' dialog, and the places it offers. */
import { create } from "zustand";
import { useSnapshot } from "../stores/snapshot.ts";
import { type DragSource, useDraft } from "./draft.ts";
import { wantedIn } from "./draft-model.ts";
import { copyOnto, overlapping, profileNamed, sameLayout } from "./edits.ts";
import { allFacts, type GpuFacts } from "./facts.ts";
import { dropped, nameAt } from "./targets.ts";

export type PickerRequest =
  | { readonly kind: "move"; readonly source: DragSource }
  | { readonly kind: "copy"; readonly fromGpuUuid: string };

export const usePicker = create<{ readonly request: PickerRequest | null }>(() => ({ request: null }));

export function openMoveTo(source: DragSource): void {
  usePicker.setState({ request: { kind: "move", source } });
}

export function openCopyTo(fromGpuUuid: string): void {
  usePicker.setState({ request: { kind: "copy", fromGpuUuid } });
}

export function closePicker(): void {
  usePicker.setState({ request: null });
}

export interface MovePlace {
  readonly facts: GpuFacts;
  readonly start: number;
  /** Empty instances that would go. */
  readonly replaces: number;
  /** The profile that would come back in exchange. */
  readonly swapsWith: string | null;
  readonly enablesMig: boolean;
}

function factsInOrder(): readonly GpuFacts[] {
  const { hostIds } = useSnapshot.getState();
  const order = new Map(hostIds.map((id, index) => [id, index]));
  return [...allFacts()].sort(
    (a, b) => (order.get(a.hostId) ?? 0) - (order.get(b.hostId) ?? 0) || a.gpu.index - b.gpu.index,
  );
}

/** How near another GPU is: the same, one of the same host, any. */
function distance(facts: GpuFacts, home: GpuFacts | undefined): number {
  if (home === undefined) return 0;
  if (facts.gpu.uuid === home.gpu.uuid) return 0;
  return facts.hostId === home.hostId ? 1 : 2;
}

/** Every place where the source may lie; those that touch nothing else first, the nearest first among them. */
export function movePlaces(source: DragSource, homeGpuUuid: string | null): readonly MovePlace[] {
  const draft = useDraft.getState().history.present;
  const all = factsInOrder();
  const byUuid = new Map(all.map((facts) => [facts.gpu.uuid, facts]));
  const factsOf = (gpuUuid: string) => byUuid.get(gpuUuid) ?? null;
  const home = byUuid.get(source.kind === "instance" ? source.gpuUuid : (homeGpuUuid ?? ""));
  const places: MovePlace[] = [];
  for (const facts of all) {
    const profile = profileNamed(facts.geometry, source.profile);
    if (profile === null || facts.heldWhole) continue;
    const layout = wantedIn(draft, facts);
    for (const start of profile.starts) {
      const itself = source.kind === "instance" && source.gpuUuid === facts.gpu.uuid;
      if (itself && source.start === start) continue;
      const outcome = dropped(draft, factsOf, source, facts.gpu.uuid, start);
      if (!outcome.ok) continue;
      // Two of a kind that change places leave everything as it was.
      const stands = nameAt(facts, layout, start);
      if (outcome.swapped && stands === profile.name) continue;
      const displaced = overlapping(facts.geometry, layout, start, profile.memorySlices).filter(
        (instance) => !(itself && instance.start === source.start),
      );
      places.push({
        facts,
        start,
        replaces: outcome.swapped ? 0 : displaced.length,
        swapsWith: outcome.swapped ? nameAt(facts, layout, displaced[0]?.start ?? start) : null,
        enablesMig: !layout.migEnabled,
      });
    }
  }
  const cost = (place: MovePlace) => place.replaces + (place.swapsWith === null ? 0 : 1) + (place.enablesMig ? 8 : 0);
  return places
    .map((place, index) => ({ place, index }))
    .sort(
      (a, b) =>
        distance(a.place.facts, home) - distance(b.place.facts, home) ||
        cost(a.place) - cost(b.place) ||
        a.index - b.index,
    )
    .map(({ place }) => place);
}

export interface CopyPlace {
  readonly facts: GpuFacts;
  readonly outcome: "possible" | "same";
}

/** GPUs that can take the layout as it is. */
export function copyPlaces(fromGpuUuid: string): readonly CopyPlace[] {
  const draft = useDraft.getState().history.present;
  const all = factsInOrder();
  const from = all.find((facts) => facts.gpu.uuid === fromGpuUuid);
  if (from === undefined) return [];
  const layout = wantedIn(draft, from);
  return all.flatMap((facts): readonly CopyPlace[] => {
    if (facts === from || facts.heldWhole) return [];
    const there = wantedIn(draft, facts);
    const edit = copyOnto({ geometry: from.geometry, layout }, { geometry: facts.geometry, layout: there });
    if (!edit.ok) return [];
    return [{ facts, outcome: sameLayout(facts.geometry, edit.layout, there) ? "same" : "possible" }];
  });
}

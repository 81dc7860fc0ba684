/**
 * Every set of instances that may exist on one GPU of a model, as a small number. The rules are those of shared/mig; here
 * they are asked once for each set and remembered, since a plan asks them millions of times.
 */
import { isFree, maskOf, mayAdd, nothing, type Occupancy, withInstance } from "../mig/occupancy.ts";
import type { GpuGeometry } from "../mig/types.ts";

/** One thing that a place can be used for: the profile, and the row of the selection in which it counts. */
export interface SlotKind {
  readonly row: number;
  /** Position in `geometry.profiles`. */
  readonly profile: number;
  /** Whether it may lie anywhere; otherwise only within the slices that the caller names. */
  readonly anywhere: boolean;
}

/** A place that instances can be moved to. */
export interface Slot {
  readonly kind: number;
  readonly start: number;
}

/** A way to fill the rest of a GPU to which nothing can be added, and which no other way beats in every kind. */
export interface Completion {
  /** How many of each kind. */
  readonly counts: readonly number[];
  readonly slots: readonly Slot[];
}

const noSlots: Completion = { counts: [], slots: [] };

function isAtLeast(a: readonly number[], b: readonly number[]): boolean {
  return b.every((count, kind) => (a[kind] ?? 0) >= count);
}

/** Keeps what no other beats; of equal ones the first. */
function undominated(candidates: readonly Completion[]): readonly Completion[] {
  const kept: Completion[] = [];
  const bySize = candidates
    .map((candidate) => ({ candidate, size: candidate.counts.reduce((sum, count) => sum + count, 0) }))
    .sort((a, b) => b.size - a.size);
  for (const { candidate } of bySize) {
    if (!kept.some((other) => isAtLeast(other.counts, candidate.counts))) kept.push(candidate);
  }
  return kept;
}

function withSlot(rest: Completion, slot: Slot, kinds: number): Completion {
  const counts = Array.from({ length: kinds }, (_, kind) => (rest.counts[kind] ?? 0) + (kind === slot.kind ? 1 : 0));
  return { counts, slots: [slot, ...rest.slots] };
}

export class GpuStates {
  readonly geometry: GpuGeometry;
  /** The state of a GPU without instances. */
  readonly empty = 0;
  readonly #occupancies: Occupancy[] = [nothing];
  readonly #numbers = new Map<string, number>();
  readonly #added = new Map<number, number>();

  constructor(geometry: GpuGeometry) {
    this.geometry = geometry;
    this.#numbers.set(this.#textOf(nothing), 0);
  }

  /** Memory slices that are taken, as a mask. */
  memory(state: number): number {
    return this.occupancy(state).memory;
  }

  occupancy(state: number): Occupancy {
    return this.#occupancies[state] ?? nothing;
  }

  /** The state with one more instance; -1 where a rule of MIG forbids it. */
  add(state: number, profile: number, start: number): number {
    const key = (state * 32 + profile) * 32 + start;
    const known = this.#added.get(key);
    if (known !== undefined) return known;
    const next = this.#next(this.occupancy(state), profile, start);
    this.#added.set(key, next);
    return next;
  }

  #next(occupancy: Occupancy, position: number, start: number): number {
    const profile = this.geometry.profiles[position];
    if (profile === undefined || !profile.starts.includes(start)) return -1;
    if (!isFree(occupancy, profile, start) || !mayAdd(this.geometry, occupancy, profile)) return -1;
    return this.#numberOf(withInstance(occupancy, profile, start));
  }

  #numberOf(occupancy: Occupancy): number {
    const text = this.#textOf(occupancy);
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    this.#numbers.set(text, this.#occupancies.length);
    return this.#occupancies.push(occupancy) - 1;
  }

  /** Slices and counts decide what else may come: compute slices and engines follow from the counts. */
  #textOf(occupancy: Occupancy): string {
    const counts = this.geometry.profiles.map(({ id }) => occupancy.counts.get(id) ?? 0);
    return `${occupancy.memory}:${counts.join(",")}`;
  }
}

/** The ways to fill what is left of a GPU with some kinds of slots. */
export class Completions {
  readonly #states: GpuStates;
  readonly #kinds: readonly SlotKind[];
  readonly #known = new Map<number, readonly Completion[]>();

  constructor(states: GpuStates, kinds: readonly SlotKind[]) {
    this.#states = states;
    this.#kinds = kinds;
  }

  /** `withinMask`: the slices that kinds which may not lie anywhere are bound to. */
  of(state: number, withinMask: number): readonly Completion[] {
    return this.#from(state, 0, withinMask);
  }

  #from(state: number, slice: number, withinMask: number): readonly Completion[] {
    if (slice >= this.#states.geometry.memorySlices) return [noSlots];
    const key = (state * 32 + slice) * 65_536 + withinMask;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const found = [...this.#from(state, slice + 1, withinMask)];
    for (const [kind, { profile, anywhere }] of this.#kinds.entries()) {
      const mask = maskOf(slice, this.#states.geometry.profiles[profile]?.memorySlices ?? 0);
      if (!anywhere && (mask & ~withinMask) !== 0) continue;
      const next = this.#states.add(state, profile, slice);
      if (next < 0) continue;
      for (const rest of this.#from(next, slice + 1, withinMask)) {
        found.push(withSlot(rest, { kind, start: slice }, this.#kinds.length));
      }
    }
    const best = undominated(found);
    this.#known.set(key, best);
    return best;
  }
}

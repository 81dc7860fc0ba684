/** The draft as a value: the wanted layout of each GPU that should change. One edit is one new value. */
import type { Layout } from "../../shared/mig/types.ts";
import { rebase, sameLayout } from "./edits.ts";
import type { GpuFacts } from "./facts.ts";

export interface DraftEntry {
  readonly hostId: string;
  readonly gpuUuid: string;
  readonly wanted: Layout;
  /** What stood when the operator began to change this GPU. */
  readonly baseline: Layout;
  /** `layoutVersion` of `baseline`. */
  readonly basedOn: string;
}

/** By GPU UUID, in the order in which they were first changed. */
export type Draft = ReadonlyMap<string, DraftEntry>;

export const emptyDraft: Draft = new Map();

export type FactsOf = (gpuUuid: string) => GpuFacts | null;

export function wantedIn(draft: Draft, facts: GpuFacts): Layout {
  return draft.get(facts.gpu.uuid)?.wanted ?? facts.current;
}

/** The draft with these layouts wanted. A GPU that should be as it was before leaves the draft. */
export function withWanted(draft: Draft, layouts: ReadonlyMap<string, Layout>, factsOf: FactsOf): Draft {
  const next = new Map(draft);
  let changed = false;
  for (const [gpuUuid, wanted] of layouts) {
    const facts = factsOf(gpuUuid);
    if (facts === null) continue;
    const entry = draft.get(gpuUuid) ?? {
      hostId: facts.hostId,
      gpuUuid,
      wanted: facts.current,
      baseline: facts.current,
      basedOn: facts.version,
    };
    if (sameLayout(facts.geometry, entry.wanted, wanted)) continue;
    changed = true;
    if (sameLayout(facts.geometry, entry.baseline, wanted)) next.delete(gpuUuid);
    else next.set(gpuUuid, { ...entry, wanted });
  }
  return changed ? next : draft;
}

export function without(draft: Draft, gpuUuids: Iterable<string>): Draft {
  const next = new Map(draft);
  for (const gpuUuid of gpuUuids) next.delete(gpuUuid);
  return next.size === draft.size ? draft : next;
}

/** The draft without what it wishes of those among these GPUs that changed underneath. */
export function withoutStale(draft: Draft, gpuUuids: Iterable<string>, factsOf: FactsOf): Draft {
  const stale = [...gpuUuids].filter((gpuUuid) => {
    const entry = draft.get(gpuUuid);
    return entry !== undefined && isStale(entry, factsOf(gpuUuid));
  });
  return without(draft, stale);
}

/** GPUs that changed underneath, and to just what the draft wants of them. */
export function reached(draft: Draft, factsOf: FactsOf): readonly string[] {
  return [...draft.values()].flatMap((entry) => {
    const facts = factsOf(entry.gpuUuid);
    if (facts === null || !isStale(entry, facts)) return [];
    return sameLayout(facts.geometry, entry.wanted, facts.current) ? [entry.gpuUuid] : [];
  });
}

/** The GPU no longer is what the draft was made against. */
export function isStale(entry: DraftEntry, facts: GpuFacts | null): boolean {
  return facts !== null && facts.version !== entry.basedOn;
}

export interface RebasedDraft {
  readonly draft: Draft;
  /** How many wishes could not be kept. */
  readonly dropped: number;
  /** Instances that it kept and somebody has removed since. */
  readonly gone: number;
}

/** The same wishes on top of what stands now, for every GPU that changed underneath. */
export function rebased(draft: Draft, factsOf: FactsOf, only?: ReadonlySet<string>): RebasedDraft {
  const next = new Map(draft);
  let dropped = 0;
  let gone = 0;
  for (const [gpuUuid, entry] of draft) {
    if (only !== undefined && !only.has(gpuUuid)) continue;
    const facts = factsOf(gpuUuid);
    // Also where the version is the same: somebody may have begun to use what the draft takes away.
    if (facts === null) continue;
    const result = rebase(facts.geometry, entry.baseline, entry.wanted, facts.current);
    dropped += result.dropped.length;
    gone += result.gone.length;
    if (sameLayout(facts.geometry, result.layout, facts.current)) next.delete(gpuUuid);
    else next.set(gpuUuid, { ...entry, wanted: result.layout, baseline: facts.current, basedOn: facts.version });
  }
  return { draft: next, dropped, gone };
}

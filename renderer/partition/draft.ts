/** The draft: what the operator wants the GPUs to become. Nothing here changes a host. */
import { create } from "zustand";
import { layoutOf } from "../../shared/mig/layout.ts";
import { refuse } from "../../shared/mig/refusal.ts";
import type { Layout, LayoutComputeInstance, Refusal } from "../../shared/mig/types.ts";
import type { Gpu } from "../../shared/protocol/inventory.ts";
import { formatIn } from "../i18n/format.ts";
import { t, useLanguageStore } from "../i18n/index.ts";
import { announce } from "./announce.ts";
import {
  type Draft,
  emptyDraft,
  reached,
  rebased,
  wantedIn,
  without,
  withoutStale,
  withWanted,
} from "./draft-model.ts";
import { applyPreset, copyOnto, divide, type Edit, profileNamed, remove, setMig } from "./edits.ts";
import { factsFor, type GpuFacts } from "./facts.ts";
import { commit, type History, redo, startHistory, undo } from "./history.ts";
import { type DragSource, type DropTarget, dropped, targetsOn, targetUnder } from "./targets.ts";
import { refusalWords } from "./words.ts";

export type { DragSource, DropTarget } from "./targets.ts";

/** Where the keyboard or the pointer aims at the moment, for the strips to draw. */
export interface Aim {
  readonly gpuUuid: string;
  readonly start: number;
  readonly size: number;
}

export interface Refused {
  readonly gpuUuid: string;
  readonly refusal: Refusal;
}

/** What a change of many GPUs came to: those that can be changed are, the others say why not. */
export interface ManyOutcome {
  readonly changed: number;
  readonly refused: readonly Refused[];
}

export interface DraftState {
  /** Only GPUs whose wanted layout differs from the one that stood when it was wished for. */
  readonly wantedByGpu: ReadonlyMap<string, Layout>;
  readonly history: History<Draft>;
  readonly drag: DragSource | null;
  readonly aim: Aim | null;
  /** Picked up with the keyboard: arrows aim, Enter drops, Escape puts back. */
  readonly byKeyboard: boolean;
  begin(source: DragSource, byKeyboard?: boolean): void;
  /** Where the source would come to lie when dropped at this slice, or why it cannot. Cheap: asked for many GPUs in a frame. */
  targetAt(gpuUuid: string, memorySlice: number): DropTarget;
  /** Every placement of the source on this GPU. */
  targetsOf(gpuUuid: string): readonly DropTarget[];
  aimAt(aim: Aim | null): void;
  drop(gpuUuid: string, start: number): void;
  cancel(): void;
  remove(gpuUuid: string, start: number): void;
  divide(gpuUuid: string, start: number, computeInstances: readonly LayoutComputeInstance[] | undefined): void;
  setMig(gpuUuids: readonly string[], enabled: boolean): ManyOutcome;
  /** Divides them as the preset says. Throws AppError `bad-request` for text that is none. */
  usePreset(gpuUuids: readonly string[], preset: string): ManyOutcome;
  copyTo(fromGpuUuid: string, toGpuUuids: readonly string[]): ManyOutcome;
  /** Back to what stands, for these GPUs or for all. */
  discard(gpuUuids?: Iterable<string>): void;
  /** The same wishes on top of what stands now. */
  rebase(gpuUuids?: ReadonlySet<string>): void;
  /** These GPUs are as wanted now: what was wished for them is no longer a draft, and nothing to undo here. */
  settle(gpuUuids: Iterable<string>): void;
  /** Settles what came to be by other ways than applying this draft. */
  settleReached(): void;
  undo(): void;
  redo(): void;
}

/** The layout that stands on the host. */
export function currentLayout(gpu: Gpu): Layout {
  return factsFor(gpu.uuid)?.current ?? layoutOf(gpu);
}

function wantedOf(draft: Draft): ReadonlyMap<string, Layout> {
  return new Map([...draft].map(([gpuUuid, entry]) => [gpuUuid, entry.wanted]));
}

function sayRefusal(refusal: Refusal, facts: GpuFacts | null): void {
  const format = formatIn(useLanguageStore.getState().language);
  const { rule, instead } = refusalWords(t, format, refusal, facts);
  announce([rule, instead].filter((part) => part !== null).join(" "));
}

function placeOf(facts: GpuFacts | null): string {
  return facts === null ? "" : `${facts.hostName} / GPU ${facts.gpu.index}`;
}

export const useDraft = create<DraftState>((set, get) => {
  /** Targets of the drag under way, by GPU; only as long as neither drag nor draft changes. */
  let known: {
    drag: DragSource;
    draft: Draft;
    byGpu: Map<string, { facts: GpuFacts | null; targets: readonly DropTarget[] }>;
  } | null = null;

  const show = (history: History<Draft>) => {
    if (history === get().history) return;
    set({ history, wantedByGpu: wantedOf(history.present) });
  };
  const change = (layouts: ReadonlyMap<string, Layout>, draft = get().history.present): boolean => {
    const { history } = get();
    const next = withWanted(draft, layouts, factsFor);
    if (next === history.present) return false;
    show(commit(history, next));
    return true;
  };
  const changeOne = (gpuUuid: string, edit: (facts: GpuFacts, layout: Layout) => Edit): boolean => {
    const facts = factsFor(gpuUuid);
    if (facts === null) return false;
    const result = edit(facts, wantedIn(get().history.present, facts));
    if (!result.ok) {
      sayRefusal(result.refusal, facts);
      return false;
    }
    return change(new Map([[gpuUuid, result.layout]]));
  };
  const changeMany = (
    gpuUuids: readonly string[],
    edit: (facts: GpuFacts, layout: Layout) => Edit,
    whole = false,
  ): ManyOutcome => {
    const { present } = get().history;
    // What says the whole layout of a GPU begins at what stands there now, whatever a stale draft was made for.
    const begunAt = (some: Iterable<string>): Draft => (whole ? withoutStale(present, some, factsFor) : present);
    const draft = begunAt(gpuUuids);
    const layouts = new Map<string, Layout>();
    const refused: Refused[] = [];
    for (const gpuUuid of gpuUuids) {
      const facts = factsFor(gpuUuid);
      if (facts === null) continue;
      const result = edit(facts, wantedIn(draft, facts));
      if (result.ok) layouts.set(gpuUuid, result.layout);
      else refused.push({ gpuUuid, refusal: result.refusal });
    }
    // Where it was refused, the stale wish stays.
    change(layouts, begunAt(layouts.keys()));
    announce(t("draft.changedMany", { count: layouts.size }));
    return { changed: layouts.size, refused };
  };
  const targetsOf = (gpuUuid: string): readonly DropTarget[] => {
    const { drag, history } = get();
    if (drag === null) return [];
    if (known === null || known.drag !== drag || known.draft !== history.present) {
      known = { drag, draft: history.present, byGpu: new Map() };
    }
    const facts = factsFor(gpuUuid);
    const ready = known.byGpu.get(gpuUuid);
    if (ready !== undefined && ready.facts === facts) return ready.targets;
    const targets = targetsOn(history.present, factsFor, drag, gpuUuid);
    known.byGpu.set(gpuUuid, { facts, targets });
    return targets;
  };

  return {
    wantedByGpu: new Map(),
    history: startHistory(emptyDraft),
    drag: null,
    aim: null,
    byKeyboard: false,

    begin: (source, byKeyboard = false) => set({ drag: source, aim: null, byKeyboard }),
    targetsOf,
    targetAt: (gpuUuid, memorySlice) => {
      const { drag } = get();
      const facts = factsFor(gpuUuid);
      const profile = drag === null || facts === null ? null : profileNamed(facts.geometry, drag.profile);
      return targetUnder(targetsOf(gpuUuid), profile, memorySlice);
    },
    aimAt: (aim) => {
      const before = get().aim;
      if (before?.gpuUuid === aim?.gpuUuid && before?.start === aim?.start && before?.size === aim?.size) return;
      set({ aim });
    },
    drop: (gpuUuid, start) => {
      const { drag, history } = get();
      if (drag === null) return;
      const outcome = dropped(history.present, factsFor, drag, gpuUuid, start);
      set({ drag: null, aim: null, byKeyboard: false });
      if (!outcome.ok) {
        sayRefusal(outcome.refusal, factsFor(gpuUuid));
        return;
      }
      if (!change(outcome.layouts)) return;
      const values = { profile: outcome.profile, start, place: placeOf(factsFor(gpuUuid)) };
      announce(outcome.swapped ? t("draft.swapped", values) : t("draft.placed", values));
    },
    cancel: () => {
      if (get().drag !== null) set({ drag: null, aim: null, byKeyboard: false });
    },
    remove: (gpuUuid, start) => {
      const facts = factsFor(gpuUuid);
      if (changeOne(gpuUuid, ({ geometry }, layout) => remove(geometry, layout, start))) {
        announce(t("draft.removed", { start, place: placeOf(facts) }));
      }
    },
    divide: (gpuUuid, start, computeInstances) => {
      const divided = changeOne(gpuUuid, ({ geometry }, layout) => divide(geometry, layout, start, computeInstances));
      if (divided) announce(t("draft.divided", { start, place: placeOf(factsFor(gpuUuid)) }));
    },
    setMig: (gpuUuids, enabled) => changeMany(gpuUuids, ({ geometry }, layout) => setMig(geometry, layout, enabled)),
    usePreset: (gpuUuids, preset) =>
      changeMany(
        gpuUuids,
        (facts, layout) =>
          facts.heldWhole
            ? { ok: false, refusal: refuse({ rule: "mig-mode-in-use", instances: 0 }) }
            : applyPreset(facts.geometry, layout, preset),
        true,
      ),
    copyTo: (fromGpuUuid, toGpuUuids) => {
      const from = factsFor(fromGpuUuid);
      if (from === null) return { changed: 0, refused: [] };
      const layout = wantedIn(get().history.present, from);
      return changeMany(
        toGpuUuids.filter((gpuUuid) => gpuUuid !== fromGpuUuid),
        (facts, there) => copyOnto({ geometry: from.geometry, layout }, { geometry: facts.geometry, layout: there }),
        true,
      );
    },
    discard: (gpuUuids) => {
      const { history } = get();
      const next = gpuUuids === undefined ? emptyDraft : without(history.present, gpuUuids);
      if (next.size === history.present.size) return;
      show(commit(history, next));
      announce(t("draft.discarded"));
    },
    rebase: (gpuUuids) => {
      const { history } = get();
      const { draft, dropped: lost, gone } = rebased(history.present, factsFor, gpuUuids);
      show(commit(history, draft));
      const words = lost === 0 ? t("draft.rebased") : t("draft.rebasedWithLoss", { count: lost });
      announce(gone === 0 ? words : `${words} ${t("draft.rebasedGone", { count: gone })}`);
    },
    settle: (gpuUuids) => {
      const { history } = get();
      const next = without(history.present, gpuUuids);
      if (next !== history.present) show(startHistory(next));
    },
    settleReached: () => get().settle(reached(get().history.present, factsFor)),
    undo: () => {
      const { history } = get();
      if (history.past.length === 0) return;
      show(undo(history));
      announce(t("draft.undone"));
    },
    redo: () => {
      const { history } = get();
      if (history.future.length === 0) return;
      show(redo(history));
      announce(t("draft.redone"));
    },
  };
});

/** The quotas of one cluster on the screen: the answer, the draft upon it, and the application of the draft. */
import { createStore, type StoreApi } from "zustand/vanilla";
import { type AppErrorData, toErrorData } from "../../shared/errors.ts";
import type { QuotaAnswer, QuotaProgress, QuotaResult } from "../../shared/protocol/control.ts";
import type { LimitEdit } from "../../shared/quota/index.ts";
import type { Client } from "../client/index.ts";
import { commit, type History, redo, startHistory, undo } from "../partition/history.ts";
import { editsOf, emptyDraft, type QuotaDraft, remainingAfter, wayBack, withEdits, withoutReached } from "./draft.ts";
import type { DraftKeeper } from "./kept-draft.ts";
import { modelOf, type QuotaModel } from "./model.ts";

export interface QuotaState {
  readonly answer: QuotaAnswer | null;
  readonly model: QuotaModel | null;
  /** Why the last look or application failed; the answer before stays. */
  readonly error: AppErrorData | null;
  readonly history: History<QuotaDraft>;
  /** The draft would be there again after the page was loaded anew. */
  readonly isKept: boolean;
  /** The last change of the draft followed the one before it without a pause. */
  readonly isHurried: boolean;
  /** While a draft is being applied. */
  readonly progress: QuotaProgress | null;
  /** What the last application came to, with the way back of what was done. */
  readonly applied: { readonly result: QuotaResult; readonly back: QuotaDraft } | null;
}

export interface QuotaStore extends StoreApi<QuotaState> {
  /** Looks again; the draft stays. A later look wins over one that is under way. */
  load(): Promise<void>;
  edit(edits: readonly LimitEdit[]): void;
  /** Replaces the draft, as conflicts are resolved or what was applied is taken back. */
  draft(next: QuotaDraft): void;
  undo(): void;
  redo(): void;
  /** The exact commands of the draft; nothing is changed. Rejects with the AppError of the services. */
  commands(): Promise<QuotaResult>;
  /** Applies the draft. What was done leaves it; nothing happens while one is being applied. */
  apply(): Promise<void>;
  /** Writes the draft down now, as a page does that is left. */
  keep(): void;
}

/** Changes closer to each other are a key held down. */
const pauseMs = 120;
/** A draft of thousands of rows is not written down with each key. */
const keepAfterMs = 250;

const start: QuotaState = {
  answer: null,
  model: null,
  error: null,
  history: startHistory(emptyDraft),
  isKept: true,
  isHurried: false,
  progress: null,
  applied: null,
};

export function createQuotaStore(
  client: Pick<Client, "request" | "task">,
  clusterId: string,
  nowMs: () => number = Date.now,
  keeper: DraftKeeper | null = null,
): QuotaStore {
  const kept = keeper?.read() ?? emptyDraft;
  const store = createStore<QuotaState>(() => ({ ...start, history: startHistory(kept) }));
  const { getState: state, setState: set } = store;
  let looks = 0;
  let movedAtMs = Number.NEGATIVE_INFINITY;
  let keeping: ReturnType<typeof setTimeout> | undefined;
  const keep = (): void => {
    clearTimeout(keeping);
    keeping = undefined;
    const isKept = keeper === null || keeper.write(state().history.present);
    if (isKept !== state().isKept) set({ isKept });
  };
  store.subscribe(({ history }, before) => {
    if (keeper === null || history.present === before.history.present) return;
    clearTimeout(keeping);
    keeping = setTimeout(keep, keepAfterMs);
  });
  /** What was applied before the page was left is no draft any more. */
  const restored = (model: QuotaModel): Pick<QuotaState, "history"> => {
    const { history } = state();
    const isFirst = state().model === null && history.present.size > 0;
    return { history: isFirst ? startHistory(withoutReached(model, history.present)) : history };
  };
  const load = async (): Promise<void> => {
    looks += 1;
    const look = looks;
    try {
      const answer = await client.request("quota.get", { clusterId, input: {} });
      if (look !== looks) return;
      const model = modelOf(answer, nowMs());
      set({ answer, model, error: null, ...restored(model) });
    } catch (error) {
      if (look === looks) set({ error: toErrorData(error) });
    }
  };
  const move = (next: History<QuotaDraft>): void => {
    if (state().progress !== null) return;
    const isHurried = nowMs() - movedAtMs < pauseMs;
    movedAtMs = nowMs();
    set({ history: next, isHurried });
  };
  const ask = (dryRun: boolean) =>
    client.task(
      "quota.set",
      { clusterId, input: { edits: [...editsOf(state().history.present)], dryRun } },
      (progress) => {
        if (!dryRun) set({ progress });
      },
    );
  const apply = async (): Promise<void> => {
    const { model, history, progress } = state();
    if (model === null || progress !== null || history.present.size === 0) return;
    set({ progress: { done: 0, total: history.present.size }, applied: null, error: null });
    try {
      const result = await ask(false);
      // What was applied cannot be undone in the draft: `back` is the way.
      const rest = startHistory(remainingAfter(history.present, result.outcomes));
      set({ history: rest, applied: { result, back: wayBack(model, result.outcomes) } });
      await load();
    } catch (error) {
      set({ error: toErrorData(error) });
    } finally {
      set({ progress: null });
    }
  };
  return {
    ...store,
    load,
    apply,
    keep: () => {
      if (keeping !== undefined) keep();
    },
    edit: (edits) => {
      const { model, history } = state();
      if (model !== null) move(commit(history, withEdits(model, history.present, edits)));
    },
    draft: (next) => move(commit(state().history, next)),
    undo: () => move(undo(state().history)),
    redo: () => move(redo(state().history)),
    commands: () => ask(true),
  };
}

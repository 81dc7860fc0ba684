/** What every part of the view of quotas looks at: the answer with the draft upon it, and what may be done. */
import { createContext, useContext, useEffect, useMemo, useState } from "react";
import { useStore } from "zustand";
import type { Me, QuotaAnswer } from "../../shared/protocol/control.ts";
import type { Impact, QuotaTree } from "../../shared/quota/index.ts";
import type { Desk } from "./desk.ts";
import { draftedTree, draftImpact, mayEdit, type QuotaDraft } from "./draft.ts";
import type { QuotaModel } from "./model.ts";
import type { QuotaStore } from "./store.ts";

export interface Look {
  readonly clusterId: string;
  readonly clusterName: string;
  readonly me: Me;
  readonly store: QuotaStore;
  readonly desk: Desk;
  readonly answer: QuotaAnswer;
  readonly model: QuotaModel;
  readonly draft: QuotaDraft;
  /** With the draft. */
  readonly tree: QuotaTree;
  mayEdit(subject: string): boolean;
}

export const LookContext = createContext<Look | null>(null);

export function useLook(): Look {
  const look = useContext(LookContext);
  if (look === null) throw new Error("no quotas around this part");
  return look;
}

/** Null until there is an answer. */
export function useMakeLook(
  clusterId: string,
  clusterName: string,
  me: Me,
  store: QuotaStore,
  desk: Desk,
): Look | null {
  const answer = useStore(store, (state) => state.answer);
  const model = useStore(store, (state) => state.model);
  const draft = useStore(store, (state) => state.history.present);
  const tree = useMemo(() => (model === null ? null : draftedTree(model, draft)), [model, draft]);
  return useMemo(() => {
    if (answer === null || model === null || tree === null) return null;
    return {
      clusterId,
      clusterName,
      me,
      store,
      desk,
      answer,
      model,
      draft,
      tree,
      mayEdit: (subject) => model.nodes.has(subject) && mayEdit(me, subject),
    };
  }, [clusterId, clusterName, me, store, desk, answer, model, draft, tree]);
}

const pauseMs = 120;

/**
 * What the draft would do, worked out with the edit that it is asked for, so that both are drawn at once. Where one edit
 * follows the other it waits for a pause, so that a key held down does not wait for it; null until then.
 */
export function useImpact({ store, model, draft }: Pick<Look, "store" | "model" | "draft">): Impact | null {
  const isHurried = useStore(store, (state) => state.isHurried);
  const [rested, setRested] = useState<QuotaDraft | null>(null);
  const isDue = !isHurried || rested === draft;
  useEffect(() => {
    if (isDue) return;
    const timer = setTimeout(() => setRested(draft), pauseMs);
    return () => clearTimeout(timer);
  }, [draft, isDue]);
  return useMemo(() => (isDue ? draftImpact(model, draft) : null), [model, draft, isDue]);
}

/** What a drag could do on each GPU in sight, computed once per drag and a little in each frame. */
import { type DropTarget, useDraft } from "../partition/draft.ts";

export interface DragTargets {
  beginFrame(): void;
  of(gpuUuid: string): readonly DropTarget[] | null;
  readonly unfinished: boolean;
  forget(): void;
}

const budgetMs = 3;

export function createDragTargets(): DragTargets {
  const known = new Map<string, readonly DropTarget[]>();
  let started = 0;
  let unfinished = false;
  return {
    beginFrame: () => {
      started = performance.now();
      unfinished = false;
    },
    of: (gpuUuid) => {
      const targets = known.get(gpuUuid);
      if (targets !== undefined) return targets;
      if (unfinished || performance.now() - started > budgetMs) {
        unfinished = true;
        return null;
      }
      const computed = useDraft.getState().targetsOf(gpuUuid);
      known.set(gpuUuid, computed);
      return computed;
    },
    get unfinished() {
      return unfinished;
    },
    forget: () => known.clear(),
  };
}

/** What the host would run for the draft, asked of it in a pause of editing. */
import { useEffect, useState } from "react";
import { type AppErrorData, toErrorData } from "../../shared/errors.ts";
import type { QuotaResult } from "../../shared/protocol/control.ts";
import type { QuotaDraft } from "./draft.ts";
import type { QuotaStore } from "./store.ts";

export interface AnsweredCommands {
  readonly draft: QuotaDraft;
  readonly result: QuotaResult | null;
  readonly error: AppErrorData | null;
}

const askAfterMs = 400;

/** Null while it is asked. Asked anew with each number of conflicts: the answer names who caused them. */
export function useCommands(
  store: QuotaStore,
  draft: QuotaDraft,
  isApplying: boolean,
  conflicts: number,
): AnsweredCommands | null {
  const [answered, setAnswered] = useState<AnsweredCommands | null>(null);
  useEffect(() => {
    if (draft.size === 0 || isApplying || conflicts < 0) return;
    let isWanted = true;
    const keep = (answer: AnsweredCommands): void => {
      if (isWanted) setAnswered(answer);
    };
    const timer = setTimeout(() => {
      store.commands().then(
        (result) => keep({ draft, result, error: null }),
        (error: unknown) => keep({ draft, result: null, error: toErrorData(error) }),
      );
    }, askAfterMs);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [store, draft, isApplying, conflicts]);
  return answered?.draft === draft ? answered : null;
}

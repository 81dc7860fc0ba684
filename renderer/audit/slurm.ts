/** What Slurm was told past the ledger, for the days that are looked at. */
import { useEffect, useMemo, useState } from "react";
import { type AppErrorData, toErrorData } from "../../shared/errors.ts";
import type { SlurmTransactionView } from "../../shared/protocol/control.ts";
import { client } from "../client/index.ts";
import { beginningOf, slurmSpan } from "./days.ts";

const none: readonly SlurmTransactionView[] = [];

/** Empty until it is asked for; asked again when other days are chosen, and what is of other days is not shown. */
export function useSlurmTransactions(
  clusterId: string,
  asked: boolean,
  { firstDay, lastDay }: { readonly firstDay: string; readonly lastDay: string },
  onError: (error: AppErrorData) => void,
): readonly SlurmTransactionView[] {
  const [told, setTold] = useState(none);
  // biome-ignore lint/correctness/useExhaustiveDependencies: who is told of an error is no reason to ask again
  useEffect(() => {
    if (!asked) return setTold(none);
    const end = new AbortController();
    const { ask } = slurmSpan(firstDay, lastDay, new Date());
    client()
      .request("audit.slurm", { clusterId, input: ask }, end.signal)
      .then(
        (answer) => end.signal.aborted || setTold(answer),
        (thrown: unknown) => end.signal.aborted || onError(toErrorData(thrown)),
      );
    return () => end.abort();
  }, [clusterId, asked, firstDay, lastDay]);
  return useMemo(() => {
    const [from, to] = [beginningOf(firstDay), beginningOf(lastDay, 1)];
    return told.filter(({ at }) => (from === null || at >= from) && (to === null || at < to));
  }, [told, firstDay, lastDay]);
}

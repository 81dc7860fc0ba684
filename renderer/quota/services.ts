/** What the view of quotas takes from the rest of the console: the stores of the clusters, kept as new as their ledgers. */
import { useEffect, useMemo, useState } from "react";
import type { ControlState } from "../../shared/api/contract.ts";
import { client } from "../client/index.ts";
import { draftKeeper } from "./kept-draft.ts";
import { createQuotaStore, type QuotaStore } from "./store.ts";

/** A draft outlasts the view and the page: whoever looks at the board in between, or loads anew, finds it again. */
const stores = new Map<string, QuotaStore>();

export function quotaStoreFor(clusterId: string, uid: number): QuotaStore {
  const key = `${clusterId} ${uid}`;
  const known = stores.get(key);
  if (known !== undefined) return known;
  const keeper = draftKeeper(() => window.localStorage, clusterId, uid);
  const store = createQuotaStore(client(), clusterId, Date.now, keeper);
  stores.set(key, store);
  window.addEventListener("pagehide", () => store.keep());
  window.addEventListener("beforeunload", (event) => {
    store.keep();
    const { isKept, history } = store.getState();
    if (!isKept && history.present.size > 0) event.preventDefault();
  });
  return store;
}

/** Between two looks at a busy cluster: building the tree of 20,000 people must not stand in the way of typing. */
const restMs = 2_000;

/** Looks again where the ledger or the usage has changed, never while somebody writes. */
export function useFreshQuotas(store: QuotaStore, control: ControlState, isWriting: boolean): void {
  const { ledgerRevision, usageRevision } = control;
  const wanted = useMemo(() => `${ledgerRevision} ${usageRevision}`, [ledgerRevision, usageRevision]);
  const [last, setLast] = useState({ wanted: "", atMs: 0 });
  useEffect(() => {
    if (isWriting || last.wanted === wanted) return;
    const timer = setTimeout(
      () => {
        void store.load();
        setLast({ wanted, atMs: Date.now() });
      },
      Math.max(0, last.atMs + restMs - Date.now()),
    );
    return () => clearTimeout(timer);
  }, [store, wanted, isWriting, last]);
}

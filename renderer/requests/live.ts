/** The requests of the active cluster, shared by the view and the badge; looked at again when the ledger changes. */
import { useEffect } from "react";
import { create, useStore } from "zustand";
import { client } from "../client/index.ts";
import { useControl } from "../stores/control.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import { openForMe } from "./model.ts";
import { createRequestsStore, type RequestsStore } from "./store.ts";

/** Before anything is known: it stays empty. */
const nothing = createRequestsStore({ request: () => new Promise(() => undefined) }, "");

const useCurrent = create<{ readonly clusterId: string | null; readonly store: RequestsStore }>(() => ({
  clusterId: null,
  store: nothing,
}));

let askedFor = "";

/** The store of the active cluster, kept as new as its ledger. */
export function useRequestsStore(): RequestsStore {
  const control = useControl();
  const clusterId = useSnapshot((state) => state.activeClusterId);
  const current = useCurrent();
  const isReady = control?.state === "ready" && control.me !== null && control.me.role !== "none";
  const revision = control?.ledgerRevision ?? 0;
  useEffect(() => {
    if (clusterId === null || !isReady) return;
    const now = `${clusterId} ${revision}`;
    if (now === askedFor) return;
    askedFor = now;
    if (useCurrent.getState().clusterId !== clusterId) {
      useCurrent.setState({ clusterId, store: createRequestsStore(client(), clusterId) });
    }
    void useCurrent.getState().store.load();
  }, [clusterId, isReady, revision]);
  return current.clusterId === clusterId ? current.store : nothing;
}

/** How many open requests the operator may decide. */
export function useOpenForMe(): number {
  const store = useRequestsStore();
  const me = useControl()?.me ?? null;
  const answer = useStore(store, (state) => state.answer);
  return me === null || answer === null ? 0 : openForMe(me, answer.requests);
}

/** The leases of the active cluster, kept as new as its ledger; nothing is asked where Slurm hands out the GPUs. */
import { useEffect } from "react";
import { create } from "zustand";
import type { Me } from "../../shared/protocol/control.ts";
import { client } from "../client/index.ts";
import { useControl } from "../stores/control.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import { createLeasesStore, type LeasesStore } from "./store.ts";

interface Current {
  readonly clusterId: string;
  readonly store: LeasesStore;
}

const useCurrent = create<{ readonly current: Current | null }>(() => ({ current: null }));

let askedFor = "";

export interface Leasing {
  readonly store: LeasesStore;
  readonly me: Me;
  /** The machine whose GPUs are leased: the one that has the ledger. */
  readonly hostId: string;
}

/** Null where there are no leases: another engine, no ledger, or no role in it. */
export function useLeasing(): Leasing | null {
  const control = useControl();
  const clusterId = useSnapshot((state) => state.activeClusterId);
  const current = useCurrent((state) => state.current);
  const me = control?.state === "ready" ? control.me : null;
  const isLeased = me !== null && me.engine === "local" && me.role !== "none";
  const revision = `${control?.ledgerRevision} ${control?.usageRevision}`;
  useEffect(() => {
    if (clusterId === null || !isLeased) return;
    if (useCurrent.getState().current?.clusterId !== clusterId) {
      useCurrent.setState({ current: { clusterId, store: createLeasesStore(client(), clusterId) } });
    }
    const now = `${clusterId} ${revision}`;
    if (now === askedFor) return;
    askedFor = now;
    void useCurrent.getState().current?.store.load();
  }, [clusterId, isLeased, revision]);
  const hostId = control?.controlHostId ?? null;
  if (me === null || !isLeased || hostId === null || current === null || current.clusterId !== clusterId) return null;
  return { store: current.store, me, hostId };
}

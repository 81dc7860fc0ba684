/** The leases of one cluster on the screen: what was answered, and taking and giving back. */
import { createStore, type StoreApi } from "zustand/vanilla";
import type { ApiInput } from "../../shared/api/contract.ts";
import { type AppErrorData, toErrorData } from "../../shared/errors.ts";
import type { LeaseView } from "../../shared/protocol/control.ts";
import type { Client } from "../client/index.ts";
import { placeKey } from "./model.ts";

export interface LeasesState {
  /** Null until they were answered; the earlier ones stay while newer are fetched. */
  readonly leases: readonly LeaseView[] | null;
  /** Why the last look failed. */
  readonly error: AppErrorData | null;
  /** While something is being sent: nothing else is then. */
  readonly isSending: boolean;
  /** Why the last sending was refused, and about what: the key of a place, or the id of a lease. */
  readonly refused: { readonly about: string; readonly error: AppErrorData } | null;
}

export interface LeasesStore extends StoreApi<LeasesState> {
  /** Looks again. A later look wins over one that is under way. */
  load(): Promise<void>;
  /** Whether it was taken. */
  take(input: ApiInput<"lease.take">["input"]): Promise<boolean>;
  /** Whether it was given back. */
  release(lease: LeaseView): Promise<boolean>;
  /** What was refused has been read. */
  dismiss(): void;
}

const start: LeasesState = { leases: null, error: null, isSending: false, refused: null };

export function createLeasesStore(client: Pick<Client, "request">, clusterId: string): LeasesStore {
  const store = createStore<LeasesState>(() => start);
  const { getState: state, setState: set } = store;
  let latest = 0;
  const load = async (): Promise<void> => {
    latest += 1;
    const mine = latest;
    try {
      const leases = await client.request("leases.list", { clusterId, input: {} });
      if (mine === latest) set({ leases, error: null });
    } catch (error) {
      if (mine === latest) set({ error: toErrorData(error) });
    }
  };
  const send = async (about: string, request: () => Promise<unknown>): Promise<boolean> => {
    if (state().isSending) return false;
    set({ isSending: true, refused: null });
    try {
      await request();
      await load();
      return true;
    } catch (thrown) {
      // Who was faster stands on the screen when the refusal does.
      await load();
      set({ refused: { about, error: toErrorData(thrown) } });
      return false;
    } finally {
      set({ isSending: false });
    }
  };
  return {
    ...store,
    load,
    take: (input) => send(placeKey(input), () => client.request("lease.take", { clusterId, input })),
    release: ({ id, subject }) =>
      send(id, () => client.request("lease.release", { clusterId, input: { subject, leaseId: id } })),
    dismiss: () => set({ refused: null }),
  };
}

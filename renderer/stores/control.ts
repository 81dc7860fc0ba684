/** Where the ledger of the active cluster stands, and the organisation as the operator may see it. Followed while a view asks. */
import { useEffect } from "react";
import { create } from "zustand";
import type { ControlState } from "../../shared/api/contract.ts";
import { type AppErrorData, toErrorData } from "../../shared/errors.ts";
import type { Me, Organisation } from "../../shared/protocol/control.ts";
import { type Client, client } from "../client/index.ts";
import { meetLedger } from "./colouring.ts";
import { useSnapshot } from "./snapshot.ts";

export interface ControlStore {
  /** Null until the services have said where it stands. */
  readonly control: ControlState | null;
  /** Null until it was answered; the earlier one stays while a newer is fetched. */
  readonly organisation: Organisation | null;
  /** Why the organisation, or where the ledger stands, could not be had. */
  readonly error: AppErrorData | null;
}

const unknown: ControlStore = { control: null, organisation: null, error: null };

export const useControlStore = create<ControlStore>(() => unknown);

/** Follows one cluster's ledger; answers the function that ends it and forgets what was held. */
export function followControl(clusterId: string, services: Pick<Client, "request" | "subscribe">): () => void {
  const end = new AbortController();
  let fetchedFor = "";
  const fetchOrganisation = async (): Promise<void> => {
    const asked = fetchedFor;
    try {
      const organisation = await services.request("organisation.get", { clusterId, input: {} }, end.signal);
      if (end.signal.aborted || asked !== fetchedFor) return;
      meetLedger(organisation.tenants);
      useControlStore.setState({ organisation, error: null });
    } catch (error) {
      if (!end.signal.aborted && asked === fetchedFor) useControlStore.setState({ error: toErrorData(error) });
    }
  };
  const close = services.subscribe(
    "control.state",
    { clusterId },
    (control) => {
      useControlStore.setState({ control });
      if (control.state !== "ready" || control.me?.role === "none") {
        fetchedFor = "";
        if (control.state === "no-ledger" || control.me?.role === "none") {
          useControlStore.setState({ organisation: null });
        }
        return;
      }
      const now = `${control.controlHostId} ${control.ledgerRevision}`;
      if (now === fetchedFor) return;
      fetchedFor = now;
      void fetchOrganisation();
    },
    (error) => useControlStore.setState({ error }),
  );
  return () => {
    end.abort();
    close();
    useControlStore.setState(unknown);
  };
}

let users = 0;
let followed: { readonly clusterId: string; readonly close: () => void } | null = null;

/** Every view that asks shares one subscription; the frame asks always, since the ledger decides the tenants' hues. */
export function useFollowing(): void {
  const clusterId = useSnapshot((state) => state.activeClusterId);
  useEffect(() => {
    if (clusterId === null) return;
    users += 1;
    if (followed?.clusterId !== clusterId) {
      followed?.close();
      followed = { clusterId, close: followControl(clusterId, client()) };
    }
    return () => {
      users -= 1;
      if (users > 0) return;
      followed?.close();
      followed = null;
    };
  }, [clusterId]);
}

export function useControl(): ControlState | null {
  useFollowing();
  return useControlStore((state) => state.control);
}

/** Who the operator is to the ledger; null until that is known. */
export function useMe(): Me | null {
  return useControl()?.me ?? null;
}

export function useOrganisation(): Organisation | null {
  useFollowing();
  return useControlStore((state) => state.organisation);
}

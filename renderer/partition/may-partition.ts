/** Whether the operator divides GPUs: an administrator's work. What others see of it is what stands, and who holds it. */
import { create } from "zustand";
import type { ControlState } from "../../shared/api/contract.ts";
import { useControlStore } from "../stores/control.ts";

/** Without a ledger everybody administers. While the answer is under way, what was known `before` goes on. */
export function decideMayPartition(control: Pick<ControlState, "state" | "me"> | null, before: boolean): boolean {
  if (control === null) return false;
  if (control.me !== null) return control.me.open || control.me.role === "administrator";
  // Where the ledger cannot be asked the hosts go on deciding, each by its copy of the roles.
  return control.state === "connecting" ? before : true;
}

const useDecided = create<{ readonly may: boolean }>(() => ({
  may: decideMayPartition(useControlStore.getState().control, false),
}));
useControlStore.subscribe(({ control }) => {
  const { may } = useDecided.getState();
  const next = decideMayPartition(control, may);
  if (next !== may) useDecided.setState({ may: next });
});

export function mayPartition(): boolean {
  return useDecided.getState().may;
}

export function useMayPartition(): boolean {
  return useDecided(({ may }) => may);
}

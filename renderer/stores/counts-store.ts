/**
 * The numbers of the top bar, counted when there is time: at the start a thousand hosts come within moments, and
 * the board goes first.
 */
import { create } from "zustand";
import { type Counts, countsOf } from "./counts.ts";
import { useSnapshot } from "./snapshot.ts";

/** The frame that shows the news comes first, and leaves most of what is counted here ready. */
const afterNewsMs = 150;
const latestMs = 500;

export const useCounts = create<Counts>(() => countsOf(useSnapshot.getState().hosts.values()));

let asked = false;

useSnapshot.subscribe((state, before) => {
  if (state.hosts === before.hosts || asked) return;
  asked = true;
  const count = () => {
    asked = false;
    useCounts.setState(countsOf(useSnapshot.getState().hosts.values()), true);
  };
  // Another cluster, or none: nothing of the one before stays.
  if (state.hosts.size === 0) count();
  else setTimeout(() => requestIdleCallback(count, { timeout: latestMs }), afterNewsMs);
});

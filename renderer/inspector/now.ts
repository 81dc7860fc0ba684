/** The time of the page for relative times, one clock for all who show it. */
import { create } from "zustand";

const useClock = create(() => ({ now: Date.now() }));

let started = false;

export function useNow(): number {
  if (!started) {
    started = true;
    setInterval(() => {
      if (!document.hidden) useClock.setState({ now: Date.now() });
    }, 5_000);
  }
  return useClock((state) => state.now);
}

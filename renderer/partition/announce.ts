/** What a screen reader hears of changes to the draft, and what a sighted reader sees for a moment. */
import { create } from "zustand";

export const useAnnouncement = create<{ readonly message: string; readonly count: number }>(() => ({
  message: "",
  count: 0,
}));

/** The same words twice are said twice. */
export function announce(message: string): void {
  useAnnouncement.setState(({ count }) => ({ message, count: count + 1 }));
}

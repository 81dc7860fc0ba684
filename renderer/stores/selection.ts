/** What the operator is looking at. One thing is selected; of GPUs, several may be marked for a common change. */
import { create } from "zustand";

export type Selection =
  | { readonly kind: "host"; readonly hostId: string }
  | { readonly kind: "gpu"; readonly hostId: string; readonly gpuUuid: string }
  | { readonly kind: "instance"; readonly hostId: string; readonly gpuUuid: string; readonly gpuInstanceId: number };

export interface SelectionState {
  readonly selected: Selection | null;
  /** GPU UUID to its host. Empty unless several are marked (Ctrl or Shift with a click, Space with the keyboard). */
  readonly markedGpus: ReadonlyMap<string, string>;
  select(selection: Selection | null): void;
  toggleMark(hostId: string, gpuUuid: string): void;
  markAll(gpus: Iterable<readonly [gpuUuid: string, hostId: string]>): void;
  clearMarks(): void;
}

const noMarks: ReadonlyMap<string, string> = new Map();

export const useSelection = create<SelectionState>((set) => ({
  selected: null,
  markedGpus: noMarks,
  select: (selected) => set({ selected, markedGpus: noMarks }),
  toggleMark: (hostId, gpuUuid) =>
    set((state) => {
      const markedGpus = new Map(state.markedGpus);
      // The GPU selected first belongs to the marked ones as soon as there is a second.
      if (markedGpus.size === 0 && state.selected !== null && state.selected.kind !== "host") {
        markedGpus.set(state.selected.gpuUuid, state.selected.hostId);
      }
      if (!markedGpus.delete(gpuUuid)) markedGpus.set(gpuUuid, hostId);
      // The inspector must show a GPU for the marks to be of use: one selected host would hide them.
      const selected: Selection =
        state.selected === null || state.selected.kind === "host" ? { kind: "gpu", hostId, gpuUuid } : state.selected;
      return { markedGpus, selected };
    }),
  markAll: (gpus) => set({ markedGpus: new Map(gpus) }),
  clearMarks: () => set({ markedGpus: noMarks }),
}));

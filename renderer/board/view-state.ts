/** What the board's page furniture needs to know: tooltip, announcements, legend, the grid for screen readers. */
import { create } from "zustand";
import type { Camera } from "./camera.ts";
import type { Hit } from "./hit.ts";
import type { Focus } from "./walk.ts";

export interface BoardViewState {
  readonly focus: Focus | null;
  readonly hover: { readonly hit: Hit; readonly x: number; readonly y: number } | null;
  /** Why what hangs at the pointer cannot be dropped here. */
  readonly refusal: { readonly sentence: string; readonly x: number; readonly y: number } | null;
  readonly zoom: number;
  /** Where the board was when it was left for another view. */
  readonly left: { readonly clusterId: string; readonly camera: Camera } | null;
  /** Raised when something on the screen has moved. */
  readonly moved: number;
}

export const useBoardView = create<BoardViewState>(() => ({
  focus: null,
  hover: null,
  refusal: null,
  zoom: 1,
  left: null,
  moved: 0,
}));

/** Everything a tile is painted from: the layout, what lies in it, and how it is to look. */
import type { HostView } from "../../shared/api/snapshot.ts";
import type { HostCells } from "./cells.ts";
import type { Inks } from "./ink.ts";
import type { BoardLayout } from "./layout.ts";
import type { BoardPalette, Shade } from "./palette.ts";
import type { StateLook, Tone } from "./state.ts";

export interface HostMatch {
  /** The whole host matches: its name, its rack. */
  readonly whole: boolean;
  /** One entry a cell. */
  readonly cells: Uint8Array;
  /** One entry a GPU: it or one of its cells matches. */
  readonly gpus: Uint8Array;
}

export interface Scene {
  readonly layout: BoardLayout;
  readonly palette: BoardPalette;
  readonly inks: Inks;
  readonly letters: boolean;
  host(index: number): HostView | undefined;
  cells(index: number): HostCells | null;
  look(index: number): StateLook;
  /** For the right end of the card's head: the state, or what is wrong with the host. */
  label(index: number): { readonly label: string; readonly tone: Tone } | null;
  model(index: number): string;
  /** Null where no filter is set. */
  match(index: number): HostMatch | null;
  /** What stands in a cell when there is room for it. */
  cellText(index: number, cell: number): string;
}

/** The colours of a cell or of the rest of the card, by the age of the host's state and the filter. */
export function shadeFor(scene: Scene, index: number, matches: boolean): Shade {
  if (!matches) return scene.palette.dimmed;
  return scene.look(index).faded ? scene.palette.faded : scene.palette.plain;
}

export function toneColour(shade: Shade, tone: Tone): string {
  return { calm: shade.css.muted, warning: shade.css.warning, bad: shade.css.bad }[tone];
}

/** What rows and cells do, without what changes with each edit: so they stay as they are drawn. */
import { createContext, useContext } from "react";
import type { Look } from "./look.ts";
import type { QuotaColumn, QuotaRow } from "./model.ts";
import { select } from "./selection.ts";

export interface TableHands {
  /** As they are at the moment of a press or key. */
  look(): Look;
  rows(): readonly QuotaRow[];
  /** Gives the table the keys. */
  focus(): void;
}

export const HandsContext = createContext<TableHands | null>(null);

export function useHands(): TableHands {
  const hands = useContext(HandsContext);
  if (hands === null) throw new Error("no table around this row");
  return hands;
}

interface Pressed {
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
}

/** A press on a cell; with Shift up to it, with Control or Command in addition. */
export function chooseCell(hands: TableHands, id: string, column: QuotaColumn, pressed: Pressed): void {
  const way = pressed.shiftKey ? "range" : pressed.ctrlKey || pressed.metaKey ? "toggle" : "one";
  const subjects = hands.rows().map((row) => row.id);
  hands.look().desk.setState(({ selection }) => ({ selection: select(selection, subjects, id, column, way) }));
}

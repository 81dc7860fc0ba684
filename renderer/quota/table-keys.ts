/** What a key does in the table of quotas, as a spreadsheet has it. */
import type { LimitEdit } from "../../shared/quota/index.ts";
import { usualPeriod } from "./card-hours.ts";
import { setExpanded } from "./desk.ts";
import { ownLimits } from "./draft.ts";
import { cellText, writeCell } from "./edits.ts";
import type { Look } from "./look.ts";
import { type QuotaRow, quotaColumns } from "./model.ts";
import { move, select } from "./selection.ts";

export interface PressedKey {
  readonly key: string;
  readonly shift: boolean;
  /** Control or Command. */
  readonly control: boolean;
  readonly alt: boolean;
}

/** Begins to write into the cell of the cursor, with its limit or with what was typed. Nothing where it may not be changed. */
export function startWriting(look: Look, text: string | null): boolean {
  const { cursor } = look.desk.getState().selection;
  if (cursor === null || !look.mayEdit(cursor.subject)) return false;
  const limits = ownLimits(look.model, look.draft, cursor.subject);
  look.desk.setState({ writing: { text: text ?? cellText(limits, cursor.column), fault: null } });
  return true;
}

/** Takes what was written into the draft; what is no limit stays in the field with the reason. Answers whether it was taken. */
export function takeWritten(look: Look): boolean {
  const { selection, writing } = look.desk.getState();
  const { cursor } = selection;
  if (writing === null || cursor === null) return true;
  const limits = ownLimits(look.model, look.draft, cursor.subject);
  if (writing.text.trim() === cellText(limits, cursor.column)) {
    look.desk.setState({ writing: null });
    return true;
  }
  const written = writeCell(limits, cursor.column, writing.text, usualPeriod(look.model, look.draft, cursor.subject));
  if (!written.ok) {
    look.desk.setState({ writing: { ...writing, fault: written.fault } });
    return false;
  }
  look.store.edit([{ nodeId: cursor.subject, limits: written.limits }]);
  look.desk.setState({ writing: null });
  return true;
}

/** Empties the column in every marked row, or in that of the cursor. */
function clearCells(look: Look): boolean {
  const { cursor, marked } = look.desk.getState().selection;
  if (cursor === null) return false;
  const subjects = marked.has(cursor.subject) ? [...marked] : [cursor.subject];
  const edits = subjects.filter(look.mayEdit).flatMap((nodeId): readonly LimitEdit[] => {
    const written = writeCell(ownLimits(look.model, look.draft, nodeId), cursor.column, "", { kind: "none" });
    return written.ok ? [{ nodeId, limits: written.limits }] : [];
  });
  if (edits.length === 0) return false;
  look.store.edit(edits);
  return true;
}

/** Moves the cursor; a move cannot leave the table. */
export function moveCursor(
  look: Look,
  rows: readonly QuotaRow[],
  down: number,
  right: number,
  way: "one" | "range" = "one",
): void {
  const subjects = rows.map(({ id }) => id);
  look.desk.setState(({ selection }) => ({ selection: move(selection, subjects, down, right, way) }));
}

/** At the left edge the arrow closes a row, then goes to the one above it, as in a tree. */
function left(look: Look, rows: readonly QuotaRow[]): void {
  const { selection, search, filter } = look.desk.getState();
  const row = rows.find(({ id }) => id === selection.cursor?.subject);
  if (row === undefined || selection.cursor?.column !== quotaColumns[0]) {
    moveCursor(look, rows, 0, -1);
  } else if (row.isExpanded && search.trim() === "" && filter === "all") {
    setExpanded(look.desk, [row.id], false);
  } else {
    const parentId = look.model.nodes.get(row.id)?.parentId ?? null;
    if (parentId === null) return;
    const subjects = rows.map(({ id }) => id);
    look.desk.setState({ selection: select(selection, subjects, parentId, "cards", "one") });
  }
}

const steps: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 16,
  PageUp: -16,
};

/** Answers whether the key was for the table. */
export function pressKey(look: Look, rows: readonly QuotaRow[], pressed: PressedKey): boolean {
  const { key, shift, control, alt } = pressed;
  const { desk } = look;
  const { cursor } = desk.getState().selection;
  if (alt) return false;
  const step = steps[key];
  if (step !== undefined) {
    moveCursor(look, rows, control && Math.abs(step) === 1 ? step * rows.length : step, 0, shift ? "range" : "one");
    return true;
  }
  if (control && (key === "ArrowRight" || key === "ArrowLeft")) {
    if (cursor !== null) setExpanded(desk, [cursor.subject], key === "ArrowRight");
    return cursor !== null;
  }
  if (control) {
    if (key === "Home" || key === "End") moveCursor(look, rows, key === "Home" ? -rows.length : rows.length, 0);
    return key === "Home" || key === "End";
  }
  switch (key) {
    case "ArrowRight":
      moveCursor(look, rows, 0, 1);
      return true;
    case "ArrowLeft":
      left(look, rows);
      return true;
    case "Home":
    case "End":
      moveCursor(look, rows, 0, key === "Home" ? -quotaColumns.length : quotaColumns.length);
      return true;
    case "Enter":
    case "F2":
      return startWriting(look, null);
    case "Delete":
    case "Backspace":
      return clearCells(look);
    case " ":
      if (cursor === null) return false;
      desk.setState(({ selection }) => ({
        selection: select(
          selection,
          rows.map(({ id }) => id),
          cursor.subject,
          cursor.column,
          "toggle",
        ),
      }));
      return true;
    default:
      // A figure typed on a cell replaces what stands there.
      return /^[0-9.]$/.test(key) && startWriting(look, key);
  }
}

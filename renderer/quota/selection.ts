/** The cursor in the table of quotas and the rows marked for a common change, by subject, so that they outlast a filter. */
import { type QuotaColumn, quotaColumns } from "./model.ts";

export interface QuotaSelection {
  /** Null before anything was chosen. */
  readonly cursor: { readonly subject: string; readonly column: QuotaColumn } | null;
  /** Where a range begins. */
  readonly anchor: string | null;
  readonly marked: ReadonlySet<string>;
}

export const nothingSelected: QuotaSelection = { cursor: null, anchor: null, marked: new Set() };

/** `one` alone, `range` from the anchor, `toggle` adds a row or takes it out. */
export type SelectWay = "one" | "range" | "toggle";

function rangeOf(subjects: readonly string[], from: string | null, to: string): readonly string[] {
  const [first, last] = [from === null ? -1 : subjects.indexOf(from), subjects.indexOf(to)];
  if (first < 0) return [to];
  return subjects.slice(Math.min(first, last), Math.max(first, last) + 1);
}

function toggled(marked: ReadonlySet<string>, subject: string): ReadonlySet<string> {
  const next = new Set(marked);
  if (!next.delete(subject)) next.add(subject);
  return next;
}

/** Chooses a cell. `subjects` are the rows as they are shown; one that is not shown is never chosen. */
export function select(
  selection: QuotaSelection,
  subjects: readonly string[],
  subject: string,
  column: QuotaColumn,
  way: SelectWay,
): QuotaSelection {
  if (!subjects.includes(subject)) return selection;
  const cursor = { subject, column };
  if (way === "toggle") return { cursor, anchor: subject, marked: toggled(selection.marked, subject) };
  if (way === "one") return { cursor, anchor: subject, marked: new Set([subject]) };
  const range = rangeOf(subjects, selection.anchor, subject);
  return { cursor, anchor: range.length === 1 ? subject : selection.anchor, marked: new Set(range) };
}

const within = (value: number, count: number): number => Math.max(0, Math.min(count - 1, value));

/** Moves the cursor, kept within the table; one that is not shown any more starts at the first row. */
export function move(
  selection: QuotaSelection,
  subjects: readonly string[],
  rows: number,
  columns: number,
  way: "one" | "range",
): QuotaSelection {
  const { cursor } = selection;
  const at = cursor === null ? -1 : subjects.indexOf(cursor.subject);
  const subject = at < 0 ? subjects[0] : subjects[within(at + rows, subjects.length)];
  const from = cursor === null ? 0 : quotaColumns.indexOf(cursor.column);
  const column = quotaColumns[at < 0 ? from : within(from + columns, quotaColumns.length)];
  if (subject === undefined || column === undefined) return selection;
  // A step to the side within marked rows keeps them, as a spreadsheet does with a common change in mind.
  if (rows === 0 && at >= 0 && way === "one") return { ...selection, cursor: { subject, column } };
  return select(selection, subjects, subject, column, way);
}

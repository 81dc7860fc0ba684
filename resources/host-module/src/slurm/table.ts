/**
 * `sacctmgr -P show ...`, `squeue -o '%i|%a|...'`: a header and rows, cells parted by `|`. Names are not quoted: an account
 * may be called `a|b`, and then its row has a cell too many and cannot be read. That is listed, never guessed.
 */
import { linesOf, type Reading } from "./reading.ts";

/** One row by column name: lower case without spaces, `defqos`, `maxtrespernode`. */
export type Row = ReadonlyMap<string, string>;

/** The name under which a column is found, whatever spaces and letters' case a version prints. */
export function columnName(header: string): string {
  return header.toLowerCase().replace(/[\s_]+/g, "");
}

/**
 * Rows of a parsable table. `columns` names the columns of an output without header (`-n`). Lines without a single `|` in
 * a table of several columns are messages ("sacctmgr: error: ..."), listed as unread.
 */
export function readTable(output: Uint8Array | string, reading: Reading, columns?: readonly string[]): readonly Row[] {
  const lines = linesOf(output).filter((line) => line.trim() !== "");
  const header = columns ?? headerOf(lines);
  if (header === null) {
    if (lines.length > 0) reading.reject("", "no header of a parsable table", lines[0] ?? "");
    return [];
  }
  const names = header.map(columnName);
  const body = columns === undefined ? lines.slice(lines.findIndex((line) => line.includes("|")) + 1) : lines;
  // `-p` ends every line with a `|`, `-P` none: one line alone that does has a name with a `|` in it.
  const marked = columns === undefined ? lines.filter((line) => line.includes("|")).slice(0, 1) : body;
  const isEnded = marked.length > 0 && marked.every((line) => line.endsWith("|"));
  const rows: Row[] = [];
  for (const line of body) {
    const cells = line.split("|");
    if (isEnded && cells.length === names.length + 1 && cells.at(-1) === "") cells.pop();
    if (names.length > 1 && cells.length === 1) reading.reject("", "a message between the rows", line);
    else if (cells.length < names.length) reading.reject("row", "fewer values than columns: the line is cut", line);
    else if (cells.length > names.length) reading.reject("row", "more values than columns: a name holds a '|'", line);
    else rows.push(new Map(names.map((name, at) => [name, cells[at] ?? ""])));
  }
  return rows;
}

function headerOf(lines: readonly string[]): readonly string[] | null {
  const line = lines.find((candidate) => candidate.includes("|"));
  if (line === undefined) return null;
  const cells = line.split("|");
  if (cells.at(-1) === "") cells.pop();
  return cells.every((cell) => /^[A-Za-z][\w %/.-]*$/.test(cell)) ? cells : null;
}

/** The first of several names of a column that this table has: versions rename them. */
export function cell(row: Row, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = row.get(name);
    if (value !== undefined) return value;
  }
  return undefined;
}

/**
 * Tables as CSV after RFC 4180, with a guard against formulas: a spreadsheet would run a cell that begins with `=`, `+`, `-`, `@`
 * or one of their wide forms, or with a tab or a line break. Such a cell gets an apostrophe before it on the way out and
 * loses it on the way in; one that already looks guarded gets one more, so that every text comes back as it was.
 */

export interface CsvCell {
  readonly text: string;
  /** The line of the file on which it begins, from 1. */
  readonly line: number;
}

export interface CsvRecord {
  readonly line: number;
  readonly cells: readonly CsvCell[];
}

export type CsvStructureFault = "quote-not-closed" | "text-after-quote" | "quote-inside";

/** `column` counts cells from 1. */
export type CsvTable =
  | { readonly ok: true; readonly records: readonly CsvRecord[] }
  | { readonly ok: false; readonly fault: CsvStructureFault; readonly line: number; readonly column: number };

const formula = /^'*[=+\-@\t\r\n＝＋－＠]/;

function guarded(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

function unguarded(text: string): string {
  return text.startsWith("'") && formula.test(text) ? text.slice(1) : text;
}

function writeCell(text: string): string {
  const safe = guarded(text);
  return /[",\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function writeRecord(cells: readonly string[]): string {
  // A lone empty cell would be an empty line, which is no record.
  return cells.length === 1 && cells[0] === "" ? '""' : cells.map(writeCell).join(",");
}

/** One record a line, each line ended by CR LF. A file for Excel wants a byte order mark before it, which `parseCsv` skips. */
export function writeCsv(records: readonly (readonly string[])[]): string {
  return records.map((cells) => `${writeRecord(cells)}\r\n`).join("");
}

interface Scanned {
  readonly text: string;
  /** Where it stopped: at a separator, a line break or the end. */
  readonly end: number;
}

/** `start` stands behind the opening quote. */
function scanQuoted(text: string, start: number, separator: string): Scanned | "quote-not-closed" | "text-after-quote" {
  let from = start;
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote === -1) return "quote-not-closed";
    if (text[quote + 1] === '"') {
      from = quote + 2;
      continue;
    }
    const next = text[quote + 1];
    if (next !== undefined && !`${separator}\r\n`.includes(next)) return "text-after-quote";
    return { text: text.slice(start, quote).replaceAll('""', '"'), end: quote + 1 };
  }
}

function scanPlain(text: string, start: number, separator: string): Scanned | "quote-inside" {
  let end = start;
  while (end < text.length && !`${separator}\r\n"`.includes(text.charAt(end))) end += 1;
  return text[end] === '"' ? "quote-inside" : { text: text.slice(start, end), end };
}

function lineBreaksIn(text: string): number {
  return text.match(/\r\n|\r|\n/g)?.length ?? 0;
}

/**
 * Reads a table. Lines may end with CR LF, LF or CR; a byte order mark and empty lines are skipped; cells may differ in number.
 * The first fault of the structure ends the reading, because what follows it could mean anything. Spreadsheets of languages with a
 * decimal comma write `;` as `separator`.
 */
export function parseCsv(file: string, separator: "," | ";" | "\t" = ","): CsvTable {
  const text = file.startsWith("\uFEFF") ? file.slice(1) : file;
  const records: CsvRecord[] = [];
  let [at, line] = [0, 1];
  while (at < text.length) {
    const cells: CsvCell[] = [];
    const recordLine = line;
    const start = at;
    for (;;) {
      const isQuoted = text[at] === '"';
      const scanned = isQuoted ? scanQuoted(text, at + 1, separator) : scanPlain(text, at, separator);
      if (typeof scanned === "string") return { ok: false, fault: scanned, line, column: cells.length + 1 };
      cells.push({ text: unguarded(scanned.text), line });
      if (isQuoted) line += lineBreaksIn(text.slice(at, scanned.end));
      at = scanned.end;
      if (text[at] !== separator) break;
      at += 1;
    }
    if (at > start) records.push({ line: recordLine, cells });
    at += text.startsWith("\r\n", at) ? 2 : 1;
    line += 1;
  }
  return { ok: true, records };
}

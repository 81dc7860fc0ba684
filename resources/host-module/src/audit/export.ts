import { type AuditRow, auditColumns } from "./row.ts";

/** Columns whose texts are JSON. */
const jsonColumns: ReadonlySet<string> = new Set(["before", "after", "commandLine", "error"]);

/**
 * Rows as JSON Lines, each with its line end. Before, after, command line and error stand in it as the very text that was
 * hashed, so that the chain can be verified from the export; one that is not JSON (somebody edited it) stands as a text.
 */
export function* auditAsJsonLines(rows: Iterable<AuditRow>): Generator<string, void, undefined> {
  for (const row of rows) {
    const fields = auditColumns.map((column) => {
      const value = row[column];
      const verbatim = typeof value === "string" && jsonColumns.has(column) && isJsonLine(value);
      return `${JSON.stringify(column)}:${verbatim ? value : JSON.stringify(value)}`;
    });
    yield `{${fields.join(",")}}\n`;
  }
}

/**
 * Rows as CSV (RFC 4180: UTF-8, CRLF), the first line names the columns. A text that a spreadsheet would take for a
 * formula gets an apostrophe in front: names and reasons are written by anybody. For exact data use JSON Lines.
 */
export function* auditAsCsv(rows: Iterable<AuditRow>): Generator<string, void, undefined> {
  yield `${auditColumns.join(",")}\r\n`;
  for (const row of rows) yield `${auditColumns.map((column) => csvField(row[column])).join(",")}\r\n`;
}

function csvField(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) || text === "" ? `"${text.replaceAll('"', '""')}"` : text;
}

function isJsonLine(text: string): boolean {
  if (/[\r\n]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

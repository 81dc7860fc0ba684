/** Tables as CSV for spreadsheets: UTF-8 with a mark, CRLF, and no cell that a spreadsheet would run as a formula. */

export type CsvValue = string | number | null;

/** What a spreadsheet takes for the beginning of a formula gets an apostrophe before it; numbers stay numbers. */
export function csvCell(value: CsvValue): string {
  if (value === null) return "";
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  const safe = /^[\s]*[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n;\t]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csvOf(header: readonly string[], rows: readonly (readonly CsvValue[])[]): string {
  return `\ufeff${[header, ...rows].map((row) => row.map(csvCell).join(",")).join("\r\n")}\r\n`;
}

/** Hands the text to the browser as a file; nothing leaves the machine. */
export function saveCsv(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}

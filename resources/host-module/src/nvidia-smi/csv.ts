/** `nvidia-smi --query-...=... --format=csv[,noheader][,nounits]`: any of its queries, by the names in the header. */
import { linesOf, type Parsed, type PartialRead, partialRead } from "./text.ts";

export type CsvQuery = "query-gpu" | "query-compute-apps" | "query-accounted-apps" | "query-retired-pages";

export interface CsvTable {
  readonly query: CsvQuery;
  /** Field names without their unit; guessed from the values where there is no header and none were given. */
  readonly fields: readonly string[];
  /** By field name, as printed, units included. */
  readonly rows: readonly ReadonlyMap<string, string>[];
}

const headerCell = /^([A-Za-z][\w.]*)(?: \[[^\]]{1,8}\])?$/;
const plainFields: ReadonlySet<string> = new Set(
  (
    "timestamp count name serial uuid index pstate pid time hostname type pci.bus_id driver_version " +
    "gpu_name gpu_uuid gpu_bus_id process_name vbios_version compute_mode persistence_mode"
  ).split(" "),
);

/** Whether a line is the header of a query: names of fields, and at least one that only a query has. */
export function isCsvHeader(line: string): boolean {
  const cells = line.split(",").map((cell) => cell.trim());
  if (!cells.every((cell) => headerCell.test(cell))) return false;
  return cells.some(
    (cell) => plainFields.has(cell) || /^[a-z_A-Z]+\.[\w.]+(\s\[.*\])?$/.test(cell) || /^[a-z]\w*_\w+ \[/.test(cell),
  );
}

/** Where the header stands, -1 where there is none; names of fields one below another are a list, not a table. */
export function csvHeaderAt(lines: readonly string[]): number {
  const at = lines.findIndex(isCsvHeader);
  const isList = at >= 0 && !lines[at]?.includes(",") && isCsvHeader(lines[at + 1] ?? "");
  return isList ? -1 : at;
}

/** Whether a line looks like values of `--query-gpu` printed without header. */
export function isCsvRow(line: string): boolean {
  const cells = line.split(",").map((cell) => cell.trim());
  if (cells.length < 2 || !/^[\w[-]/.test(line)) return false;
  return cells.some(
    (cell) =>
      uuidCell.test(cell) || busIdCell.test(cell) || nameCell.test(cell) || /^\[(N\/A|Not Supported)\]$/.test(cell),
  );
}

const uuidCell = /^GPU-[0-9a-f-]+$/i;
const busIdCell = /^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]$/i;
const nameCell = /^(NVIDIA|Tesla|GeForce|Quadro|GRID)\b/;

/**
 * Rows of a query. `fields` names the columns of an output without header. A row with more cells than the header
 * is a process name with commas in it; one with fewer is cut, and is left out as unread.
 */
export function parseCsv(output: Uint8Array | string, fields?: readonly string[]): Parsed<CsvTable | null> {
  const lines = linesOf(output).map((line) => line.trim());
  const headerAt = csvHeaderAt(lines);
  const unread: PartialRead[] = [];
  const header = lines[headerAt]?.split(",").map((cell) => headerCell.exec(cell.trim())?.[1] ?? cell.trim());
  const body = lines.slice(headerAt + 1).filter((line) => line !== "" && !isCsvHeader(line));
  const names = header ?? fields ?? guessFields(body.filter(isCsvRow));
  if (names === null) return { facts: null, unread };
  const rows: Map<string, string>[] = [];
  for (const line of body) {
    const cells = line.split(",").map((cell) => cell.trim());
    if (names.length > 1 && cells.length === 1) continue; // a message between the rows
    const fitted = cellsFor(cells, names);
    if (fitted === null) {
      unread.push(partialRead("row", `${cells.length} values where ${names.length} were asked for`, line));
      continue;
    }
    rows.push(new Map(names.map((name, at) => [name, fitted[at] ?? ""])));
  }
  return { facts: { query: queryOf(names), fields: names, rows }, unread };
}

function cellsFor(cells: readonly string[], names: readonly string[]): readonly string[] | null {
  if (cells.length === names.length) return cells;
  const at = names.indexOf("process_name");
  const extra = cells.length - names.length;
  if (extra < 0 || at < 0) return null;
  return [...cells.slice(0, at), cells.slice(at, at + extra + 1).join(", "), ...cells.slice(at + extra + 1)];
}

function queryOf(names: readonly string[]): CsvQuery {
  if (names.some((name) => name.startsWith("retired_pages.")) && names.includes("gpu_uuid"))
    return "query-retired-pages";
  if (names.includes("retired_pages.address")) return "query-retired-pages";
  if (names.some((name) => name === "max_memory_usage" || name === "gpu_utilization")) return "query-accounted-apps";
  if (names.some((name) => name === "pid" || name === "process_name" || name === "used_gpu_memory")) {
    return "query-compute-apps";
  }
  return "query-gpu";
}

/** Names only for the columns whose values cannot be anything else; the others are called `column N`. */
function guessFields(rows: readonly string[]): readonly string[] | null {
  const first = rows[0]?.split(",").map((cell) => cell.trim());
  if (first === undefined) return null;
  const named = new Set<string>();
  return first.map((cell, at) => {
    const guess = uuidCell.test(cell)
      ? "uuid"
      : busIdCell.test(cell)
        ? "pci.bus_id"
        : nameCell.test(cell)
          ? "name"
          : at === 0 && isRunningIndex(rows)
            ? "index"
            : null;
    if (guess === null || named.has(guess)) return `column ${at + 1}`;
    named.add(guess);
    return guess;
  });
}

function isRunningIndex(rows: readonly string[]): boolean {
  const firsts = rows.map((row) => row.split(",")[0]?.trim() ?? "");
  return firsts.every((cell) => /^\d{1,3}$/.test(cell)) && new Set(firsts).size === firsts.length;
}

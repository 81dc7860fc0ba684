import { type CsvCell, type CsvRecord, type CsvStructureFault, parseCsv, writeCsv } from "./csv.ts";
import { type Fraction, toDecimal, toWords } from "./fraction.ts";
import { type Limits, type SimpleResource, simpleResources } from "./limits.ts";
import { describeFault, isGpuTypeName, type LimitFault, parseLimits } from "./parse-limits.ts";
import { type LimitEdit, nodeAt, positionOf, type QuotaLevel, type QuotaTree } from "./tree.ts";

type FixedColumn = "id" | "level" | "name" | SimpleResource | "cardHours" | "period" | "timeZone";

/** The names over the columns; the app passes its own where it speaks another language. */
export type LimitsCsvHeaders = Readonly<Record<FixedColumn, string>> & {
  /** Before the name of a GPU type, which has a column of its own. */
  readonly gpuTypePrefix: string;
};

export const limitsCsvHeaders: LimitsCsvHeaders = {
  id: "ID",
  level: "Level",
  name: "Name",
  cards: "GPU cards",
  gpuMemoryGiB: "GPU memory (GiB)",
  cpuCores: "CPU cores",
  memoryGiB: "RAM (GiB)",
  cardHours: "Card-hours",
  period: "Period",
  timeZone: "Time zone",
  gpuTypePrefix: "GPU type: ",
};

const fixedColumns: readonly FixedColumn[] = [
  "id",
  "level",
  "name",
  ...simpleResources,
  "cardHours",
  "period",
  "timeZone",
];

/** For the reader only: never read back. */
const decoration: readonly FixedColumn[] = ["level", "name"];

export interface LimitsCsvRow {
  readonly nodeId: string;
  readonly level: QuotaLevel;
  /** What people call it. */
  readonly name: string;
  readonly limits: Limits;
}

/** `0.5` where a decimal is exact, else `1 2/7` and `0 3/7`: a spreadsheet would take `3/7` for a day in July. */
function amountText(amount: Fraction | undefined): string {
  if (amount === undefined) return "";
  const decimal = toDecimal(amount, 6, "down");
  if (decimal.exact) return decimal.text;
  const words = toWords(amount);
  return words.includes(" ") ? words : `0 ${words}`;
}

function fixedText({ nodeId, level, name, limits }: LimitsCsvRow, column: FixedColumn): string {
  const period = limits.cardHours?.period;
  switch (column) {
    case "id":
      return nodeId;
    case "level":
      return level;
    case "name":
      return name;
    case "cardHours":
      return amountText(limits.cardHours?.hours);
    case "period":
      return period?.kind ?? "";
    case "timeZone":
      return period === undefined || period.kind === "none" ? "" : period.timeZone;
    default:
      return amountText(limits[column]);
  }
}

function typeText({ limits }: LimitsCsvRow, gpuType: string): string {
  return amountText(new Map(Object.entries(limits.gpuTypes ?? {})).get(gpuType));
}

/**
 * Limits as a CSV file, one node a row, an empty cell for no limit; a column for each GPU type that any of them limits. Ids, names
 * and all else are guarded against formulas.
 */
export function limitsToCsv(rows: readonly LimitsCsvRow[], headers: LimitsCsvHeaders = limitsCsvHeaders): string {
  const gpuTypes = [...new Set(rows.flatMap(({ limits }) => Object.keys(limits.gpuTypes ?? {})))].toSorted();
  const head = [
    ...fixedColumns.map((column) => headers[column]),
    ...gpuTypes.map((gpuType) => `${headers.gpuTypePrefix}${gpuType}`),
  ];
  const body = rows.map((row) => [
    ...fixedColumns.map((column) => fixedText(row, column)),
    ...gpuTypes.map((gpuType) => typeText(row, gpuType)),
  ]);
  return writeCsv([head, ...body]);
}

export type LimitsCsvFault =
  | CsvStructureFault
  | LimitFault
  | "empty-file"
  /** The first line names none of the columns. */
  | "no-header"
  /** One cell only, with what could be another separator in it. */
  | "wrong-separator"
  | "missing-column"
  | "unknown-column"
  | "duplicate-column"
  | "wrong-cell-count"
  | "unknown-id"
  | "duplicate-id"
  | "period-without-hours";

/** What is wrong and where: line and column from 1, the name over the column where it has one. */
export interface LimitsCsvError {
  readonly line: number;
  readonly column: number;
  readonly header: string | null;
  readonly fault: LimitsCsvFault;
  readonly found: string;
}

export type LimitsCsvOutcome =
  | { readonly ok: true; readonly edits: readonly LimitEdit[] }
  | { readonly ok: false; readonly errors: readonly LimitsCsvError[] };

type Column = { readonly fixed: FixedColumn } | { readonly gpuType: string };

interface Head {
  readonly columns: readonly (Column | null)[];
  readonly titles: readonly string[];
  readonly errors: readonly LimitsCsvError[];
}

const separators = [",", ";", "\t"] as const;

/** The separator with which the first line names the most columns; a comma where none does. */
function separatorOf(file: string, headers: LimitsCsvHeaders): (typeof separators)[number] {
  const first = (file.startsWith("\uFEFF") ? file.slice(1) : file).trimStart().split(/[\r\n]/, 1)[0] ?? "";
  const named = (separator: string): number =>
    first.split(separator).filter((title) => columnOf(title.trim().replace(/^"(.*)"$/, "$1"), headers) !== null).length;
  return separators.reduce((best, separator) => (named(separator) > named(best) ? separator : best));
}

/** The columns as a person would name them, in the order in which they are written. */
export function expectedColumns(headers: LimitsCsvHeaders = limitsCsvHeaders): readonly string[] {
  return fixedColumns.map((column) => headers[column]);
}

const shortened = (text: string): string => (text.length > 60 ? `${text.slice(0, 59)}…` : text);

function columnOf(title: string, headers: LimitsCsvHeaders): Column | null {
  const fixed = fixedColumns.find((column) => headers[column] === title);
  if (fixed !== undefined) return { fixed };
  const prefix = headers.gpuTypePrefix.trim();
  return title.startsWith(prefix) ? { gpuType: title.slice(prefix.length).trim() } : null;
}

function headFault(column: Column | null, isRepeated: boolean): LimitsCsvFault | null {
  if (column === null) return "unknown-column";
  if (isRepeated) return "duplicate-column";
  return "gpuType" in column && !isGpuTypeName(column.gpuType) ? "bad-gpu-type" : null;
}

function readHead({ line, cells }: CsvRecord, headers: LimitsCsvHeaders): Head {
  const titles = cells.map(({ text }) => text.trim());
  const columns = titles.map((title) => columnOf(title, headers));
  if (columns.every((column) => column === null)) {
    const fault = titles.length === 1 && /[;\t|]/.test(titles[0] ?? "") ? "wrong-separator" : "no-header";
    const found = shortened(titles[0] ?? "");
    return { columns, titles, errors: [{ line, column: 1, header: null, fault, found }] };
  }
  const keys = columns.map((column) => JSON.stringify(column));
  const errors = titles.flatMap((title, index): LimitsCsvError[] => {
    const fault = headFault(columns[index] ?? null, keys.indexOf(keys[index] ?? "") < index);
    const found = shortened(title);
    return fault === null ? [] : [{ line, column: index + 1, header: found === "" ? null : found, fault, found }];
  });
  const missing = fixedColumns
    .filter((column) => !decoration.includes(column) && !titles.includes(headers[column]))
    .map((column): LimitsCsvError => {
      return { line, column: titles.length + 1, header: headers[column], fault: "missing-column", found: "" };
    });
  return { columns, titles, errors: [...errors, ...missing] };
}

/** One row by its columns. */
interface Row {
  readonly fixed: ReadonlyMap<FixedColumn, string>;
  readonly gpuTypes: ReadonlyMap<string, string>;
}

function rowOf({ cells }: CsvRecord, { columns }: Head): Row {
  const fixed = new Map<FixedColumn, string>();
  const gpuTypes = new Map<string, string>();
  for (const [index, column] of columns.entries()) {
    const text = cells[index]?.text.trim() ?? "";
    if (column === null) continue;
    if ("fixed" in column) fixed.set(column.fixed, text);
    else gpuTypes.set(column.gpuType, text);
  }
  return { fixed, gpuTypes };
}

const orAbsent = (text: string | undefined): string | undefined => (text === "" ? undefined : text);

/** The row in the shape that `parseLimits` reads. GPU types without a column of their own stay as they are. */
function inputOf(row: Row, current: Limits): unknown {
  const cell = (column: FixedColumn) => orAbsent(row.fixed.get(column));
  const hours = cell("cardHours");
  const kept = Object.entries(current.gpuTypes ?? {}).filter(([gpuType]) => !row.gpuTypes.has(gpuType));
  return {
    ...Object.fromEntries(simpleResources.map((resource) => [resource, cell(resource)])),
    ...(hours === undefined
      ? {}
      : { cardHours: { hours, period: { kind: cell("period")?.toLowerCase(), timeZone: cell("timeZone") } } }),
    gpuTypes: Object.fromEntries([...kept, ...[...row.gpuTypes].map(([type, text]) => [type, orAbsent(text)])]),
  };
}

/** The column that a field of `parseLimits` came from. */
function indexOfField({ columns }: Head, field: string): number {
  const fixed = new Map<string, FixedColumn>([
    ...simpleResources.map((resource): [string, FixedColumn] => [resource, resource]),
    ["cardHours.hours", "cardHours"],
    ["cardHours.period.kind", "period"],
    ["cardHours.period.timeZone", "timeZone"],
  ]).get(field);
  return columns.findIndex((column) => {
    if (column === null) return false;
    return "fixed" in column ? column.fixed === fixed : `gpuTypes.${column.gpuType}` === field;
  });
}

type RowOutcome = LimitEdit | readonly LimitsCsvError[];

function readRow(record: CsvRecord, head: Head, tree: QuotaTree, seen: Set<string>): RowOutcome {
  const errorAt = (index: number, fault: LimitsCsvFault, found: string): LimitsCsvError => {
    const cell: CsvCell | undefined = record.cells[index];
    return {
      line: cell?.line ?? record.line,
      column: index + 1,
      header: head.titles[index] ?? null,
      fault,
      found: shortened(found),
    };
  };
  if (record.cells.length !== head.columns.length) {
    const index = Math.min(record.cells.length, head.columns.length);
    return [errorAt(index, "wrong-cell-count", String(record.cells.length))];
  }
  const row = rowOf(record, head);
  const indexOf = (fixed: FixedColumn) =>
    head.columns.findIndex((each) => each !== null && "fixed" in each && each.fixed === fixed);
  const nodeId = row.fixed.get("id") ?? "";
  if (nodeId === "") return [errorAt(indexOf("id"), "missing", "")];
  if (!tree.positions.has(nodeId)) return [errorAt(indexOf("id"), "unknown-id", nodeId)];
  if (seen.has(nodeId)) return [errorAt(indexOf("id"), "duplicate-id", nodeId)];
  seen.add(nodeId);
  const leftOver = (["period", "timeZone"] as const).filter(
    (column) => row.fixed.get("cardHours") === "" && row.fixed.get(column) !== "",
  );
  const strays = leftOver.map((column) =>
    errorAt(indexOf(column), "period-without-hours", row.fixed.get(column) ?? ""),
  );
  const parsed = parseLimits(inputOf(row, nodeAt(tree, positionOf(tree, nodeId)).limits));
  const refusals = parsed.ok
    ? []
    : parsed.refusals.map(({ field, fault, found }) => errorAt(indexOfField(head, field), fault, found));
  return parsed.ok && strays.length === 0 ? { nodeId, limits: parsed.value } : [...strays, ...refusals];
}

/**
 * Reads what `limitsToCsv` wrote and people changed, as edits for `impactOf`; every row states all limits of its node. Cells
 * may be separated by commas, semicolons or tabs, as the first line has them. Columns may stand in any order, `Level` and `Name` may be missing and are not read; GPU types without a column stay as they are.
 * Everything that is wrong is named with line and column, and then nothing is accepted.
 */
export function limitsFromCsv(
  file: string,
  tree: QuotaTree,
  headers: LimitsCsvHeaders = limitsCsvHeaders,
): LimitsCsvOutcome {
  const table = parseCsv(file, separatorOf(file, headers));
  if (!table.ok) {
    const { line, column, fault } = table;
    return { ok: false, errors: [{ line, column, header: null, fault, found: "" }] };
  }
  const [first, ...records] = table.records;
  if (first === undefined) {
    return { ok: false, errors: [{ line: 1, column: 1, header: null, fault: "empty-file", found: "" }] };
  }
  const head = readHead(first, headers);
  if (head.errors.length > 0) return { ok: false, errors: head.errors };
  const seen = new Set<string>();
  const outcomes = records.map((record) => readRow(record, head, tree, seen));
  const errors = outcomes.flatMap((outcome) => ("nodeId" in outcome ? [] : outcome));
  if (errors.length > 0) return { ok: false, errors };
  return { ok: true, edits: outcomes.flatMap((outcome) => ("nodeId" in outcome ? outcome : [])) };
}

const faultWords: Readonly<Record<Exclude<LimitsCsvFault, LimitFault>, string>> = {
  "quote-not-closed": "a quotation mark is not closed",
  "text-after-quote": "text follows a closing quotation mark",
  "quote-inside": "a quotation mark stands inside a cell without quotation marks around it",
  "empty-file": "the file is empty",
  "no-header": "the first line does not name the columns",
  "wrong-separator": "the cells are not separated by commas",
  "missing-column": "this column is missing",
  "unknown-column": "this column is not known",
  "duplicate-column": "this column comes twice",
  "wrong-cell-count": "the row has not as many cells as there are columns",
  "unknown-id": "there is no tenant, project or person with this ID",
  "duplicate-id": "this ID comes twice",
  "period-without-hours": "it belongs to card-hours, of which there are none in this row",
};

function isOfFile(fault: LimitsCsvFault): fault is Exclude<LimitsCsvFault, LimitFault> {
  return fault in faultWords;
}

/** One English sentence: `Line 3, column 6 (CPU cores): "1.5" is not a whole number.` */
export function describeCsvError({ line, column, header, fault, found }: LimitsCsvError): string {
  const place = `Line ${line}, column ${column}${header === null ? "" : ` (${header})`}`;
  const what = found === "" ? "" : `${JSON.stringify(found)} `;
  if (isOfFile(fault)) return `${place}: ${what === "" ? "" : `${what.trim()}, `}${faultWords[fault]}.`;
  return `${place}: ${what === "" ? "it " : what}${describeFault(fault)}.`;
}

import type { SQLInputValue } from "node:sqlite";
import { AppError } from "../../../../shared/errors.ts";
import { type BaselineRow, readBaselines } from "./baselines.ts";
import { conflict } from "./conflict.ts";
import { nameOf, type ObjectTable, parseRow, type Stored } from "./object-table.ts";
import type { Prepare } from "./prepare.ts";

/** Reading objects, the same inside a change and outside. Throws AppError `unreadable` for a row that cannot be understood. */
export interface Reader {
  /** Null where there is none. */
  find<Value, Key extends keyof Value & string>(
    table: ObjectTable<Value, Key>,
    key: Pick<Value, Key>,
  ): Stored<Value> | null;
  /** Throws AppError `not-found`. */
  get<Value, Key extends keyof Value & string>(table: ObjectTable<Value, Key>, key: Pick<Value, Key>): Stored<Value>;
  /** All whose fields have these values, in the order of their keys. */
  list<Value, Key extends keyof Value & string>(
    table: ObjectTable<Value, Key>,
    where?: Partial<Value>,
  ): readonly Stored<Value>[];
  /** The refusal of an edit that was made on an older version of an object: what was changed since, by whom and when. */
  conflictSince<Value, Key extends keyof Value & string>(
    table: ObjectTable<Value, Key>,
    key: Pick<Value, Key>,
    basedOn: number,
  ): AppError;
  isGivenId(id: string): boolean;
  /** The number of the newest row of audit about an object of these kinds that was done; 0 while there is none. */
  lastChangeOf(kinds: readonly string[]): number;
  /** Every id ever given that begins so. */
  givenIds(prefix: string): readonly string[];
  /** Every reading of the engine's counter that a period began with. */
  baselines(): readonly BaselineRow[];
}

export function readerOf(prepare: Prepare): Reader {
  const reader: Reader = {
    find: (table, key) => {
      const { condition, values } = conditionOf(table, keyOf(table, key));
      const row = prepare(`SELECT * FROM ${table.table} WHERE ${condition}`).get(...values);
      return row === undefined ? null : parseRow(table, row);
    },
    get: (table, key) => {
      const object = reader.find(table, key);
      if (object === null) throw notFound(nameOf(table, key));
      return object;
    },
    list: (table, where = {}) => {
      const { condition, values } = conditionOf(table, where);
      const order = table.key.map((column) => `"${column}"`).join(", ");
      const rows = prepare(`SELECT * FROM ${table.table} WHERE ${condition} ORDER BY ${order}`).all(...values);
      return rows.map((row) => parseRow(table, row));
    },
    conflictSince: (table, key, basedOn) => conflict(prepare, nameOf(table, key), basedOn),
    lastChangeOf: (kinds) =>
      kinds.reduce((newest, kind) => {
        // Two ends of a range, so that the index by object serves: "/" is followed by "0".
        const row = prepare(
          `SELECT max("seq") AS newest FROM audit WHERE "object" >= ? AND "object" < ? AND "outcome" = 'done'`,
        ).get(`${kind}/`, `${kind}0`);
        return Math.max(newest, Number(row?.newest ?? 0));
      }, 0),
    isGivenId: (id) => prepare("SELECT 1 FROM givenIds WHERE id = ?").get(id) !== undefined,
    givenIds: (prefix) =>
      prepare("SELECT id FROM givenIds WHERE substr(id, 1, length(?)) = ?")
        .all(prefix, prefix)
        .map((row) => String(row.id)),
    baselines: () => readBaselines(prepare),
  };
  return reader;
}

/** Only the key's own fields: whoever calls may pass a whole object. */
export function keyOf<Value, Key extends keyof Value & string>(
  table: ObjectTable<Value, Key>,
  key: Pick<Value, Key>,
): Partial<Value> {
  const fields: Partial<Value> = {};
  for (const column of table.key) fields[column] = key[column];
  return fields;
}

/** Column names come from the table's definition, never from whoever asks. */
export function conditionOf<Value, Key extends keyof Value & string>(
  table: ObjectTable<Value, Key>,
  where: Partial<Value>,
): { readonly condition: string; readonly values: readonly SQLInputValue[] } {
  const columns = table.columns.filter((column) => where[column] !== undefined);
  const values = columns.map((column): SQLInputValue => {
    const value: unknown = where[column];
    return typeof value === "string" || typeof value === "number" || value === null ? value : JSON.stringify(value);
  });
  const condition = columns.map((column) => `"${column}" IS ?`).join(" AND ");
  return { condition: condition === "" ? "TRUE" : condition, values };
}

export function notFound(name: string): AppError {
  return new AppError({
    code: "not-found",
    message: `There is no ${name.replace("/", " ")} in the ledger.`,
    remedy: "Nothing was changed. Look at the list again: it may have been removed.",
  });
}

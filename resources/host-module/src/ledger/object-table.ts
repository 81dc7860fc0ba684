import type { SQLInputValue } from "node:sqlite";
import * as z from "zod/mini";
import { AppError } from "../../../../shared/errors.ts";

/** What the ledger adds to every object: the number of the audit row that made it what it is. */
export type Stored<Value> = Value & { readonly version: number };

/** One kind of object: its table, its key, and what a value of it looks like. */
export interface ObjectTable<Value, Key extends keyof Value & string> {
  /** As in the audit's `object`: `tenant`. */
  readonly kind: string;
  readonly table: string;
  readonly key: readonly Key[];
  readonly columns: readonly (keyof Value & string)[];
  /** `unknown` as a value, null where it is none, and what is wrong with it then. */
  parse(value: unknown): { readonly value: Value } | { readonly wrong: string; readonly why: string };
  /** A column's value as SQLite keeps it. */
  encode(value: Value): ReadonlyMap<string, SQLInputValue>;
  decode(row: Readonly<Record<string, unknown>>): unknown;
  /** The tenant whose people may read of it; null: administrators only. */
  tenantOf(value: Value): string | null;
  /** Throws AppError where an object may not go from one value to the other. */
  allow(before: Value, after: Value): void;
}

export type KeyOf<Table> = Table extends ObjectTable<infer Value, infer Key> ? Pick<Value, Key> : never;

/**
 * Defines a kind of object by the shape of its values. Columns that hold other than texts, numbers and null are named in
 * `json` and kept as JSON.
 */
export function defineTable<Shape extends z.core.$ZodLooseShape, Key extends string & keyof Values<Shape>>(definition: {
  readonly kind: string;
  readonly table: string;
  readonly key: readonly Key[];
  readonly shape: Shape;
  readonly json?: readonly (keyof Shape & string)[];
  readonly tenantOf: (value: Values<Shape>) => string | null;
  readonly allow?: (before: Values<Shape>, after: Values<Shape>) => void;
}): ObjectTable<Values<Shape>, Key> {
  const schema = z.strictObject(definition.shape);
  const json: ReadonlySet<string> = new Set(definition.json ?? []);
  const columns = Object.keys(definition.shape).filter(isKeyOf(definition.shape));
  return {
    kind: definition.kind,
    table: definition.table,
    key: definition.key,
    columns,
    tenantOf: definition.tenantOf,
    allow: definition.allow ?? (() => undefined),
    parse: (value) => {
      const parsed = schema.safeParse(value);
      return parsed.success
        ? { value: parsed.data }
        : { wrong: z.prettifyError(parsed.error), why: whyOf(parsed.error) };
    },
    encode: (value) => {
      const fields: Readonly<Record<string, unknown>> = { ...value };
      return new Map(columns.map((column) => [column, encoded(fields[column], json.has(column))]));
    },
    decode: (row) =>
      Object.fromEntries(columns.map((column) => [column, json.has(column) ? fromJson(row[column]) : row[column]])),
  };
}

type Values<Shape extends z.core.$ZodLooseShape> = Readonly<z.infer<z.ZodMiniObject<Shape, z.core.$strict>>>;

function isKeyOf<Shape extends object>(shape: Shape) {
  return (key: string): key is keyof Values<Shape & z.core.$ZodLooseShape> & keyof Shape & string =>
    Object.hasOwn(shape, key);
}

function encoded(value: unknown, asJson: boolean): SQLInputValue {
  if (value === null || value === undefined) return null;
  if (asJson) return JSON.stringify(value);
  if (typeof value === "string" || typeof value === "number") return value;
  throw new Error(`a ${typeof value} does not fit into a column`);
}

function fromJson(text: unknown): unknown {
  if (typeof text !== "string") return null;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `tenant/t3f2k`, `member/t3f2k_p01/1000`: what the audit calls it. */
export function nameOf<Value, Key extends keyof Value & string>(
  table: ObjectTable<Value, Key>,
  key: Pick<Value, Key>,
): string {
  return [table.kind, ...table.key.map((column) => String(key[column]))].join("/");
}

/** The first fault in one clause: `displayName, at most 100 characters`. */
function whyOf({ issues: [first] }: z.core.$ZodError): string {
  return first === undefined ? "" : [first.path.join("."), first.message].filter((part) => part !== "").join(", ");
}

/** Parses what a caller gave. Throws AppError `bad-request`. */
export function parseValue<Value, Key extends keyof Value & string>(
  table: ObjectTable<Value, Key>,
  value: unknown,
): Value {
  const parsed = table.parse(value);
  if ("value" in parsed) return parsed.value;
  throw new AppError({
    code: "bad-request",
    message: `A ${table.kind} cannot be kept like this: ${parsed.why}.`,
    remedy: "Correct it; nothing was changed.",
    evidence: { details: parsed.wrong },
  });
}

/** Parses a row of the file. Throws AppError `unreadable` for one that this version of us cannot have written. */
export function parseRow<Value, Key extends keyof Value & string>(
  table: ObjectTable<Value, Key>,
  row: Readonly<Record<string, unknown>>,
): Stored<Value> {
  const parsed = table.parse(table.decode(row));
  if ("value" in parsed && typeof row.version === "number") return { ...parsed.value, version: row.version };
  throw new AppError({
    code: "unreadable",
    message: `A ${table.kind} in the ledger cannot be understood.`,
    remedy: "Look at the row with sqlite3, compare it with the audit, and mend it or put a backup in place.",
    evidence: { details: `${JSON.stringify(row)}\n${"wrong" in parsed ? parsed.wrong : "no version"}` },
  });
}

import { AppError } from "../../../../shared/errors.ts";
import { type AuditHead, appendAudit, auditHead } from "../audit/append.ts";
import type { ActingRole, Actor } from "../audit/row.ts";
import { type BaselineRow, removeBaselines, writeBaselines } from "./baselines.ts";
import { alreadyThere, conflict } from "./conflict.ts";
import { nameOf, type ObjectTable, parseValue, type Stored } from "./object-table.ts";
import type { Prepare } from "./prepare.ts";
import { conditionOf, keyOf, notFound, type Reader, readerOf } from "./reader.ts";
import { isForeignKeyError } from "./sqlite-error.ts";

/** Who does what, for the audit. */
export interface Act {
  readonly actor: Actor;
  readonly role: ActingRole;
  /** The command of the contract, `tenant.rename`. */
  readonly command: string;
  /** The argument vector that was run for it, where one was. */
  readonly commandLine?: readonly string[];
}

/** Who acts; the command is named by what is done. */
export type Acting = Omit<Act, "command">;

/** Changing objects inside one transaction; each of these writes one row of audit with it. */
export interface Change extends Reader {
  /** Throws AppError `conflict` where it is there already, `not-found` where what it refers to is not, `bad-request`. */
  insert<Value, Key extends keyof Value & string>(table: ObjectTable<Value, Key>, value: NoInfer<Value>): Stored<Value>;
  /**
   * Changes some fields of an object as it was at version `basedOn`. Fields that are as they were are no change; an edit
   * of nothing writes nothing. Throws AppError `conflict` with what changed since that version, `not-found`,
   * `bad-request`.
   */
  update<Value, Key extends keyof Value & string>(
    table: ObjectTable<Value, Key>,
    key: Pick<Value, Key>,
    basedOn: number,
    fields: Partial<Omit<Value, Key>>,
  ): Stored<Value>;
  /** Throws AppError `conflict`, `not-found`, and `in-use` while something refers to it. */
  remove<Value, Key extends keyof Value & string>(
    table: ObjectTable<Value, Key>,
    key: Pick<Value, Key>,
    basedOn: number,
  ): void;
  /** Marks an id as given, for ever. */
  giveId(id: string): void;
  /** Readings of the engine's counter, in place of those of the same rows and periods. The audit has no row of them. */
  putBaselines(rows: readonly BaselineRow[]): void;
  /** Of all periods, or of one. */
  dropBaselines(subjects: readonly string[], period?: string): void;
}

/** The object that a change was at when it ended: what a refusal is recorded about. */
export interface About {
  readonly object: string;
  readonly tenant: string | null;
}

export interface OpenChange extends Change {
  /** Rows of audit written so far, first and last; null while there are none. */
  written(): { readonly first: number; readonly last: AuditHead } | null;
  about(): About | null;
}

/** A change over a connection on which a write transaction has begun. All its rows bear one time. */
export function openChange(prepare: Prepare, act: Act, now: () => Date): OpenChange {
  const reader = readerOf(prepare);
  // Taken when the first row is written: under the lock, so that times do not run backwards along the chain.
  let at: Date | null = null;
  let first: number | null = null;
  let last: AuditHead | null = null;
  let about: About | null = null;

  const turnTo = <Value, Key extends keyof Value & string>(table: ObjectTable<Value, Key>, value: Value): About => {
    about = { object: nameOf(table, value), tenant: table.tenantOf(value) };
    return about;
  };
  const record = ({ object, tenant }: About, before: unknown, after: unknown): void => {
    const { actor, role, command, commandLine = null } = act;
    at ??= now();
    const entry = { at, actor, role, command, tenant, object, before, after, commandLine };
    last = appendAudit(prepare, { ...entry, outcome: "done", error: null }, head());
    first ??= last.seq;
  };
  /** Nobody else writes while this transaction is open. */
  const head = (): AuditHead => last ?? auditHead(prepare);
  /** The number that the next row of audit will have, which becomes the version of what it changes. */
  const nextVersion = (): number => head().seq + 1;

  const existing = <Value, Key extends keyof Value & string>(
    table: ObjectTable<Value, Key>,
    key: Pick<Value, Key>,
    basedOn: number,
  ): Stored<Value> => {
    const name = nameOf(table, key);
    const before = reader.find(table, key);
    about = { object: name, tenant: before === null ? lastTenant(prepare, name) : table.tenantOf(before) };
    if (before === null && everWas(prepare, name, basedOn)) throw conflict(prepare, name, basedOn);
    if (before === null) throw notFound(name);
    if (before.version !== basedOn) throw conflict(prepare, name, basedOn);
    return before;
  };

  return {
    ...reader,
    get: (table, key) => {
      const object = reader.find(table, key);
      if (object !== null) return object;
      const name = nameOf(table, key);
      about = { object: name, tenant: lastTenant(prepare, name) };
      throw notFound(name);
    },
    written: () => (first === null || last === null ? null : { first, last }),
    about: () => about,

    insert: (table, given) => {
      const value = parseValue(table, given);
      const target = turnTo(table, value);
      if (reader.find(table, value) !== null) throw alreadyThere(prepare, target.object);
      const stored = { ...value, version: nextVersion() };
      const fields = [...table.encode(value), ["version", stored.version] as const];
      const columns = fields.map(([column]) => `"${column}"`).join(", ");
      const places = fields.map(() => "?").join(", ");
      refer(target.object, () =>
        prepare(`INSERT INTO ${table.table} (${columns}) VALUES (${places})`).run(...fields.map(([, field]) => field)),
      );
      record(target, null, stored);
      return stored;
    },

    update: (table, key, basedOn, fields) => {
      const before = existing(table, key, basedOn);
      const { version: _, ...current } = before;
      const value = parseValue(table, { ...current, ...fields });
      const target = turnTo(table, value);
      if (nameOf(table, value) !== nameOf(table, key)) throw new Error("a key is never edited");
      const was = parseValue(table, current);
      if (JSON.stringify(was) === JSON.stringify(value)) return before;
      table.allow(was, value);
      const stored = { ...value, version: nextVersion() };
      const assigned = [...table.encode(value), ["version", stored.version] as const];
      const { condition, values } = conditionOf(table, keyOf(table, key));
      const assignments = assigned.map(([column]) => `"${column}" = ?`).join(", ");
      refer(target.object, () =>
        prepare(`UPDATE ${table.table} SET ${assignments} WHERE ${condition}`).run(
          ...assigned.map(([, field]) => field),
          ...values,
        ),
      );
      record(target, before, stored);
      return stored;
    },

    remove: (table, key, basedOn) => {
      const before = existing(table, key, basedOn);
      const target = turnTo(table, before);
      const { condition, values } = conditionOf(table, keyOf(table, key));
      try {
        prepare(`DELETE FROM ${table.table} WHERE ${condition}`).run(...values);
      } catch (error) {
        throw isForeignKeyError(error) ? stillReferredTo(target.object, error) : error;
      }
      record(target, before, null);
    },

    giveId: (id) => {
      prepare("INSERT INTO givenIds (id) VALUES (?)").run(id);
    },

    putBaselines: (rows) => writeBaselines(prepare, rows),
    dropBaselines: (subjects, period) => removeBaselines(prepare, subjects, period),
  };
}

/** Whose an object was that is no longer there. */
function lastTenant(prepare: Prepare, name: string): string | null {
  const row = prepare(`SELECT "tenant" FROM audit WHERE "object" = ? ORDER BY "seq" DESC LIMIT 1`).get(name);
  return typeof row?.tenant === "string" ? row.tenant : null;
}

function everWas(prepare: Prepare, name: string, version: number): boolean {
  return prepare(`SELECT 1 FROM audit WHERE "object" = ? AND "seq" >= ? LIMIT 1`).get(name, version) !== undefined;
}

function refer(name: string, write: () => unknown): void {
  try {
    write();
  } catch (error) {
    if (!isForeignKeyError(error)) throw error;
    throw new AppError(
      {
        code: "not-found",
        message: `What the ${name.replace("/", " ")} belongs to is not in the ledger.`,
        remedy: "Nothing was changed. Look at the list again: it may have been removed.",
      },
      { cause: error },
    );
  }
}

function stillReferredTo(name: string, cause: unknown): AppError {
  return new AppError(
    {
      code: "in-use",
      message: `The ${name.replace("/", " ")} cannot be removed while something in the ledger belongs to it.`,
      remedy: "Nothing was changed. Remove first what belongs to it.",
    },
    { cause },
  );
}

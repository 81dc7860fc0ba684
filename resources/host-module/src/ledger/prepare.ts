import type { DatabaseSync, StatementSync } from "node:sqlite";

/** A statement by its text. */
export type Prepare = (statement: string) => StatementSync;

/** Statements are kept: preparing costs more than running most of them. */
export function preparing(database: DatabaseSync): Prepare {
  const prepared = new Map<string, StatementSync>();
  return (text) => {
    const known = prepared.get(text);
    if (known !== undefined) return known;
    const statement = database.prepare(text);
    prepared.set(text, statement);
    return statement;
  };
}

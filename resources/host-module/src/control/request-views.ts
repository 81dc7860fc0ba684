import type { GrantView, PersonName, RequestView } from "../../../../shared/protocol/control.ts";
import type { ObjectTable, Stored } from "../ledger/object-table.ts";
import type { grants, requests } from "../ledger/quotas.ts";

type ValueOf<Table> = Table extends ObjectTable<infer Value, infer _> ? Value : never;
export type RequestRow = Stored<ValueOf<typeof requests>>;
export type GrantRow = Stored<ValueOf<typeof grants>>;

export function grantView(row: GrantRow): GrantView {
  const { id, requestId, subject, amount, until, state, startedAt, endedAt, version } = row;
  return { id, requestId, subject, raise: amount, until, state, startedAt, endedAt, version };
}

/** Without who may decide, which needs the quota tree. */
export function requestView(row: RequestRow, names: (uid: number) => PersonName): RequestView {
  const { id, subject, amount, why, until, askedAt, state, decidedAt, answer, version } = row;
  return {
    ...{ id, subject, raise: amount, why, until, askedAt, state, decidedAt, answer, version },
    askedBy: names(row.askedBy),
    decidedBy: row.decidedBy === null ? null : names(row.decidedBy),
    notes: [],
  };
}

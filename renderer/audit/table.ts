/** The audit as a table for a spreadsheet. */
import type { AuditRowView } from "../../shared/protocol/control.ts";
import type { CsvValue } from "../topology/csv.ts";
import { shellText } from "./entries.ts";

/** The columns keep the ledger's own names and codes, so that a file reads the same in every language. */
export const auditColumns = [
  "seq",
  "at",
  "uid",
  "user",
  "loginUid",
  "keyFingerprint",
  "address",
  "role",
  "command",
  "tenant",
  "object",
  "before",
  "after",
  "commandLine",
  "outcome",
  "error",
  "hash",
] as const satisfies readonly (keyof AuditRowView)[];

/** The cells of one row in the order of `auditColumns`; the command line quoted for a shell. */
export function auditCells(row: AuditRowView): readonly CsvValue[] {
  return auditColumns.map((column) =>
    column === "commandLine" && row.commandLine !== null ? shellText(row.commandLine) : row[column],
  );
}

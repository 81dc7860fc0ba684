import { crypto } from "../operating-system/builtin.ts";
import { type AuditRow, hashedColumns } from "./row.ts";

const encoder = new TextEncoder();
const heading = encoder.encode("tessera-audit-1\n");
const absent = encoder.encode("-\n");
const lineEnd = encoder.encode("\n");

/**
 * The hash of a row: SHA-256 over `tessera-audit-1`, a line feed, and each hashed column in order, written as its length
 * in bytes, a colon, its bytes and a line feed, or as `-` and a line feed where it is NULL; numbers as decimal digits,
 * texts as UTF-8. The lengths make it unambiguous: no two different rows have one encoding.
 *
 * `fields` are the bytes of the columns in that order, so that verifying looks at what stands in the file and not at
 * what is left of it when it was decoded (a driver may stop at a NUL byte, or mend bad UTF-8).
 */
export function hashOf(fields: readonly (Uint8Array | null)[]): string {
  const hash = crypto().createHash("sha256");
  hash.update(heading);
  for (const bytes of fields) {
    if (bytes === null) hash.update(absent);
    else hash.update(`${bytes.length}:`).update(bytes).update(lineEnd);
  }
  return hash.digest("hex");
}

/** The same for a row that is about to be written. */
export function hashOfRow(row: Omit<AuditRow, "hash">): string {
  return hashOf(
    hashedColumns.map((column) => {
      const value = row[column];
      return value === null ? null : encoder.encode(String(value));
    }),
  );
}

import type { AuditRowView } from "../../../../shared/protocol/control.ts";
import type { Caller, Login, System } from "../system.ts";

/** Whom a row names as the one who acted. What of it can be trusted is said at `Login`. */
export interface Actor extends Caller, Pick<Login, "loginUid" | "keyFingerprint" | "address"> {}

/** In which role: `host` is the host's own timer, `none` somebody who has no role and was refused for it. */
export type ActingRole = "administrator" | "lead" | "member" | "host" | "none";

/**
 * `begun`: something outside the ledger is about to be changed, written before it is; `done`: it is changed;
 * `failed`: it broke on the way; `refused`: we did not do it.
 */
export type Outcome = "begun" | "done" | "failed" | "refused";

/** One row of the record, as it stands in the file. Texts that hold JSON stay texts: the hash is over their bytes. */
export interface AuditRow extends AuditRowView {
  readonly previousHash: string;
}

/** The columns that are hashed, in the order in which they are. Never reorder: old rows would no longer verify. */
export const hashedColumns = [
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
  "previousHash",
] as const satisfies readonly (keyof AuditRow)[];

export const auditColumns = [...hashedColumns, "hash"] as const;

/** What the first row has for the hash of the row before it. */
export const noHash = "0".repeat(64);

export function actorOf(system: Pick<System, "caller" | "login">): Actor {
  const { caller, login } = system;
  return {
    uid: caller.uid,
    user: caller.user,
    loginUid: login?.loginUid ?? null,
    keyFingerprint: login?.keyFingerprint ?? null,
    address: login?.address ?? null,
  };
}

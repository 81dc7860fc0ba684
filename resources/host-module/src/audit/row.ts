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
export interface AuditRow {
  /** 1, 2, 3 ... without a gap. */
  readonly seq: number;
  /** ISO 8601, UTC, milliseconds. */
  readonly at: string;
  readonly uid: number;
  readonly user: string | null;
  /** The uid that logged in, where it is known; another one than `uid` after `su`. */
  readonly loginUid: number | null;
  readonly keyFingerprint: string | null;
  readonly address: string | null;
  readonly role: string;
  /** The command of the contract, `tenant.rename`. */
  readonly command: string;
  /** The tenant whose people may read this row; null: administrators only. */
  readonly tenant: string | null;
  /** `tenant/t3f2k`, `member/t3f2k_p01/1000`; null where the attempt names none. */
  readonly object: string | null;
  /** JSON of the object before; null where it was not there. */
  readonly before: string | null;
  readonly after: string | null;
  /** JSON of the argument vector that was run, where one was. */
  readonly commandLine: string | null;
  readonly outcome: string;
  /** JSON of code, message and remedy. */
  readonly error: string | null;
  readonly previousHash: string;
  /** SHA-256 over everything above, 64 hexadecimal digits. */
  readonly hash: string;
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

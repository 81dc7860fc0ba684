import { AppError } from "../../../../shared/errors.ts";
import { crypto } from "../operating-system/builtin.ts";
import type { Change } from "./change.ts";

/**
 * 32 digits of which no two look alike: no i, l, o beside 1 and 0, and no u, so that few words come about. Lower case,
 * because Slurm folds account names.
 */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/** `length` random bytes; another source in tests. */
export type RandomBytes = (length: number) => Uint8Array;

const mostTries = 100;

/** A new `t3f2k`. It is marked as given for ever, in the transaction of the change. */
export function newTenantId(change: Change, random: RandomBytes = randomBytes): string {
  return newRandomId(change, "t", 4, random);
}

/** The next `t3f2k_p01` of a tenant: numbers go up and are never given again, so a project's age shows. */
export function newProjectId(change: Change, tenantId: string): string {
  const prefix = `${tenantId}_p`;
  const last = change.givenIds(prefix).reduce((most, id) => Math.max(most, Number(id.slice(prefix.length))), 0);
  const id = `${prefix}${String(last + 1).padStart(2, "0")}`;
  change.giveId(id);
  return id;
}

/** A new `r8k2m0x` (request). */
export function newRequestId(change: Change, random: RandomBytes = randomBytes): string {
  return newRandomId(change, "r", 6, random);
}

/** A new `g8k2m0x` (grant). */
export function newGrantId(change: Change, random: RandomBytes = randomBytes): string {
  return newRandomId(change, "g", 6, random);
}

/** A new `l8k2m0x` (lease). */
export function newLeaseId(change: Change, random: RandomBytes = randomBytes): string {
  return newRandomId(change, "l", 6, random);
}

function newRandomId(change: Change, prefix: string, length: number, random: RandomBytes): string {
  for (let attempt = 0; attempt < mostTries; attempt += 1) {
    // 32 divides 256: every digit is as likely as any other.
    const digits = [...random(length)].map((byte) => alphabet[byte % alphabet.length]).join("");
    const id = prefix + digits;
    if (change.isGivenId(id)) continue;
    change.giveId(id);
    return id;
  }
  throw new AppError({
    code: "internal",
    message: "No free id was found.",
    remedy: "Try again; if it happens again, the ledger has given away nearly all ids of this kind.",
  });
}

function randomBytes(length: number): Uint8Array {
  return crypto().randomBytes(length);
}

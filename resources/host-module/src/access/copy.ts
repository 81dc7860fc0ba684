/**
 * The copy of the roles that an administrator's console sends to hosts that have no ledger. Leads and members are let in
 * by it for seven days after it was last confirmed: somebody removed is not let in forever by a host that nobody told.
 */
import { AppError } from "../../../../shared/errors.ts";
import type { Roles } from "../../../../shared/protocol/control.ts";
import { type System, stateDirectory } from "../system.ts";
import { type Access, accessOf } from "./access.ts";

export const rolesPath = `${stateDirectory}/roles.json`;

const confirmedForMs = 7 * 24 * 3_600_000;

/**
 * The caller's access on a host without a ledger. A copy that was not confirmed within seven days, by this host's clock,
 * lets in administrators alone. Throws AppError `unreadable` for a copy that cannot be understood.
 */
export async function accessOfCopy(system: System): Promise<Access> {
  const bytes = await system.files.read(rolesPath);
  if (bytes === null) return accessOf(system.caller.uid, null);
  const copy = await parseCopy(bytes);
  const confirmedAt = new Date(copy.confirmedAt);
  const access = accessOf(system.caller.uid, copy);
  // A clock that was set back makes a copy of the future: how old that is cannot be known either.
  const isOld = Math.abs(system.now().getTime() - confirmedAt.getTime()) > confirmedForMs;
  if (!isOld) return { ...access, confirmedAt };
  return { ...access, confirmedAt, leads: new Set(), projects: new Set(), outdated: !access.administrator };
}

type Copy = Roles & { readonly confirmedAt: string };

async function parseCopy(bytes: Uint8Array): Promise<Copy> {
  const { rolesSchema, timeSchema } = await import("../../../../shared/protocol/control.ts");
  try {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(bytes));
    const { confirmedAt } = parsed as { readonly confirmedAt?: unknown };
    return { ...rolesSchema.parse(parsed), confirmedAt: timeSchema.parse(confirmedAt) };
  } catch (error) {
    throw new AppError(
      {
        code: "unreadable",
        message: `The roles in ${rolesPath} cannot be understood, so nobody is let in by them.`,
        remedy: "As root, remove the file, then connect as an administrator: the console sends it anew.",
        evidence: { details: error instanceof Error ? error.message : String(error) },
      },
      { cause: error },
    );
  }
}

/**
 * Keeps a copy of the roles, readable by root alone; the same roles again confirm them. Throws AppError `conflict` for
 * older ones than stand here.
 */
export async function putRoles(system: System, roles: Roles): Promise<void> {
  const bytes = await system.files.read(rolesPath);
  const known = bytes === null ? null : await parseCopy(bytes).catch(() => null);
  if (known !== null && known.revision > roles.revision) throw newerHere(system, known.revision, roles.revision);
  const copy: Copy = { ...roles, confirmedAt: system.now().toISOString() };
  await system.files.makeDirectory(stateDirectory, 0o700);
  await system.files.replace(rolesPath, new TextEncoder().encode(JSON.stringify(copy)), 0o600);
}

function newerHere(system: System, here: number, sent: number): AppError {
  return new AppError({
    code: "conflict",
    message: `${system.hostName} has newer roles (revision ${here}) than those that were sent (${sent}).`,
    remedy: `If the ledger was restored from a backup: as root, remove ${rolesPath}, and the console sends it anew. Otherwise the newer ones stay.`,
  });
}

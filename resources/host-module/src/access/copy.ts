/** The copy of the roles that an administrator's console sends to hosts that have no ledger. */
import { AppError } from "../../../../shared/errors.ts";
import type { Roles } from "../../../../shared/protocol/control.ts";
import { type System, stateDirectory } from "../system.ts";
import { type Access, accessOf } from "./access.ts";

export const rolesPath = `${stateDirectory}/roles.json`;

/** The caller's access on a host without a ledger. Throws AppError `unreadable` for a copy that cannot be understood. */
export async function accessOfCopy(system: System): Promise<Access> {
  const bytes = await system.files.read(rolesPath);
  if (bytes === null) return accessOf(system.caller.uid, null);
  return accessOf(system.caller.uid, await parseCopy(bytes));
}

async function parseCopy(bytes: Uint8Array): Promise<Roles> {
  const { rolesSchema } = await import("../../../../shared/protocol/control.ts");
  try {
    return rolesSchema.parse(JSON.parse(new TextDecoder().decode(bytes)));
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

/** Keeps a copy of the roles, readable by root alone. An older one than stands here changes nothing. Throws AppError. */
export async function putRoles(system: System, roles: Roles): Promise<void> {
  const bytes = await system.files.read(rolesPath);
  const known = bytes === null ? null : await parseCopy(bytes).catch(() => null);
  if (known !== null && known.revision > roles.revision) return;
  await system.files.makeDirectory(stateDirectory, 0o700);
  await system.files.replace(rolesPath, new TextEncoder().encode(JSON.stringify(roles)), 0o600);
}

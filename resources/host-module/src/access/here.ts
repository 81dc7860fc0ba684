/** By what roles are decided on this host. On one that has neither a ledger nor a copy nothing else is loaded for it. */
import { existsSync } from "node:fs";
import type { System } from "../system.ts";
import type { Access } from "./access.ts";
import { accessOfCopy, rolesPath } from "./copy.ts";

export function hasLedger(system: System): boolean {
  return system.ledgerPath !== null && existsSync(system.ledgerPath);
}

export async function hasRoles(system: System): Promise<boolean> {
  return hasLedger(system) || (await system.files.status(rolesPath)) !== null;
}

/** The caller's roles. Throws AppError where what they are decided by cannot be read: nobody is let in then. */
export async function accessHere(system: System): Promise<Access> {
  if (!hasLedger(system)) return accessOfCopy(system);
  const [{ ledgerOf }, { accessOfLedger }] = await Promise.all([import("../control/context.ts"), import("./roles.ts")]);
  return accessOfLedger(system.caller.uid, ledgerOf(system));
}

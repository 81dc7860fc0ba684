/** Who calls, and making a host the control host. */
import { AppError } from "../../../../shared/errors.ts";
import type { Me, Roles } from "../../../../shared/protocol/control.ts";
import type { Access } from "../access/access.ts";
import { putRoles } from "../access/copy.ts";
import { accessHere } from "../access/here.ts";
import { organisationRevision } from "../access/roles.ts";
import { detectEngine } from "../engine/open.ts";
import { administrators, people } from "../ledger/organisation.ts";
import { settings } from "../ledger/settings.ts";
import type { System } from "../system.ts";
import { unixGroupsSetting } from "./changing.ts";
import { actingOn, engineKindOf, engineSetting, ledgerHere, openHere } from "./context.ts";

export function me(system: System, access: Access): Me {
  const ledger = ledgerHere(system);
  const role = access.administrator
    ? "administrator"
    : access.leads.size > 0
      ? "lead"
      : access.projects.size > 0
        ? "member"
        : "none";
  return {
    uid: system.caller.uid,
    user: system.caller.user,
    role,
    leads: [...access.leads],
    projects: [...access.projects],
    open: access.open,
    ledger: ledger !== null,
    rolesRevision: ledger === null ? (access.roles?.revision ?? null) : organisationRevision(ledger),
    rolesConfirmedAt: access.confirmedAt?.toISOString() ?? null,
    engine: ledger === null ? null : engineKindOf(ledger),
  };
}

/**
 * Makes this host the control host, with the caller as its first administrator; root needs no naming. Throws AppError
 * `conflict` where there is a ledger, `not-found` where Slurm was asked for and does not answer.
 */
export async function createLedger(system: System, engine: "auto" | "local" | "slurm"): Promise<Me> {
  if (system.ledgerPath === null) {
    throw new AppError({
      code: "bad-request",
      message: "This host cannot keep a ledger.",
      remedy: "Take another host.",
    });
  }
  if (ledgerHere(system) !== null) {
    throw new AppError({
      code: "conflict",
      message: `${system.hostName} keeps a ledger already.`,
      remedy: "Nothing was changed. Connect anew to see it.",
    });
  }
  const access = await accessHere(system);
  const found = engine === "local" ? "local" : await detectEngine(system);
  if (engine === "slurm" && found !== "slurm") {
    throw new AppError({
      code: "not-found",
      message: `Slurm's accounting does not answer on ${system.hostName} (sacctmgr show cluster).`,
      remedy: "Start slurmdbd, or take the host where slurmctld runs.",
    });
  }
  const groups = system.root && (await hasGroupTools(system)) ? "local" : "none";
  const ledger = openHere(system, system.ledgerPath);
  const { caller } = system;
  ledger.change({ ...actingOn(system, access, null), command: "ledger.create" }, (change) => {
    change.insert(settings, { name: engineSetting, value: found });
    change.insert(settings, { name: unixGroupsSetting, value: groups });
    if (caller.uid === 0) return;
    change.insert(people, {
      uid: caller.uid,
      user: caller.user ?? String(caller.uid),
      seenAt: system.now().toISOString(),
    });
    change.insert(administrators, { uid: caller.uid });
  });
  return me(system, await accessHere(system));
}

/** Keeps a copy of the roles on a host that has no ledger. Throws AppError `bad-request` where there is one. */
export async function takeRoles(system: System, roles: Roles): Promise<null> {
  if (ledgerHere(system) === null) {
    await putRoles(system, roles);
    return null;
  }
  throw new AppError({
    code: "bad-request",
    message: `${system.hostName} keeps the ledger itself.`,
    remedy: "Nothing was changed: its roles are the ledger's own.",
  });
}

async function hasGroupTools(system: System): Promise<boolean> {
  const result = await system.run(["gpasswd", "--help"], { timeoutMs: 10_000 });
  return result.exitStatus !== 127;
}

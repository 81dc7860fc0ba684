/** The ledger and the engine of a control host, opened once for each process, and who acts on them. */
import { AppError } from "../../../../shared/errors.ts";
import type { EngineKind } from "../../../../shared/protocol/control.ts";
import { type Access, actingRole } from "../access/access.ts";
import { hasLedger } from "../access/here.ts";
import { actorOf } from "../audit/row.ts";
import type { Engine, EnginePerson } from "../engine/engine.ts";
import { openEngine } from "../engine/open.ts";
import type { Acting } from "../ledger/change.ts";
import { type Ledger, openLedger } from "../ledger/ledger.ts";
import { people } from "../ledger/organisation.ts";
import type { Reader } from "../ledger/reader.ts";
import { settings } from "../ledger/settings.ts";
import type { System } from "../system.ts";

const ledgers = new WeakMap<System, Ledger>();
const engines = new WeakMap<System, { readonly opening: Promise<Engine>; readonly atMs: number }>();
/** An engine knows the cluster's configuration as it was; a console stays connected for days. */
const engineMaxAgeMs = 300_000;

/** The ledger of this host; null where it has none. Throws AppError where there is one that cannot be opened. */
export function ledgerHere(system: System): Ledger | null {
  const known = ledgers.get(system);
  if (known !== undefined) return known;
  if (system.ledgerPath === null || !hasLedger(system)) return null;
  return openHere(system, system.ledgerPath);
}

/** Opens the ledger, making it where it is missing. */
export function openHere(system: System, path: string): Ledger {
  const ledger = openLedger(path, { now: () => system.now() });
  ledgers.set(system, ledger);
  return ledger;
}

/** The ledger of this host. Throws AppError `not-found` where it has none. */
export function ledgerOf(system: System): Ledger {
  const ledger = ledgerHere(system);
  if (ledger !== null) return ledger;
  throw new AppError({
    code: "not-found",
    message: `${system.hostName} keeps no ledger of tenants and quotas.`,
    remedy: system.root
      ? "Ask the cluster's control host, or make this one it: tessera-host ledger create."
      : "Ask through sudo, or ask the cluster's control host: a ledger is readable by root alone.",
  });
}

export const engineSetting = "engine";

export function engineKindOf(reader: Reader): EngineKind {
  return reader.find(settings, { name: engineSetting })?.value === "slurm" ? "slurm" : "local";
}

/** The engine that the ledger names. Throws AppError where it does not answer; the next call asks again. */
export function engineOf(system: System): Promise<Engine> {
  const known = engines.get(system);
  const atMs = performance.now();
  if (known !== undefined && atMs - known.atMs < engineMaxAgeMs) return known.opening;
  const ledger = ledgerOf(system);
  const opening = openEngine(engineKindOf(ledger), system, ledger);
  engines.set(system, { opening, atMs });
  const forget = () => {
    if (engines.get(system)?.opening === opening) engines.delete(system);
  };
  // One that found nobody to ask is made anew by the next call.
  opening.then((engine) => {
    if (!answers(engine)) forget();
  }, forget);
  return opening;
}

function answers(engine: Engine): boolean {
  try {
    engine.commands([]);
    return true;
  } catch {
    return false;
  }
}

/** Who acts, for the audit, in the role that they have over `subject`. */
export function actingOn(system: System, access: Access, subject: string | null): Acting {
  return { actor: actorOf(system), role: actingRole(access, subject) };
}

/** Everybody whom the ledger knows, by uid and by name. */
export function enginePeople(reader: Reader): readonly EnginePerson[] {
  return reader.list(people).map(({ uid, user }) => ({ uid, user }));
}

/** Whether the caller may: by the contract's declaration, before a command's own code runs. */
import { toErrorData } from "../../../../shared/errors.ts";
import { type HostMethod, hostContract } from "../../../../shared/protocol/contract.ts";
import type { Needs } from "../../../../shared/protocol/needs.ts";
import { type Access, forbidden, mayCall } from "../access/access.ts";
import { accessHere, hasLedger } from "../access/here.ts";
import type { System } from "../system.ts";

/** Commands that only read. A refused one of these is no event for the record. */
const readings: ReadonlySet<HostMethod> = new Set<HostMethod>([
  ...(["hello", "inventory", "watch", "watch.complete", "doctor", "mig.plan", "mig.status"] as const),
  ...(["identity.me", "people.search", "organisation.get", "removal.consequences", "quota.get"] as const),
  ...(["quota.explain", "engine.status", "engine.drift", "requests.list", "leases.list", "control.watch"] as const),
]);

/** The ledger writes its own rows for its own commands; changes of GPUs are recorded around them, where a ledger is here. */
function isRecordedHere(method: HostMethod): boolean {
  return method.startsWith("mig.") && !readings.has(method);
}

/** A lookup of the caller's access that is made once for a call. */
export function accessOnce(system: System): () => Promise<Access> {
  let known: Promise<Access> | undefined;
  return () => {
    known ??= accessHere(system);
    return known;
  };
}

/** Throws AppError `forbidden`, recorded where it was an attempt to change something. */
export async function authorise(
  system: System,
  method: HostMethod,
  input: unknown,
  access: () => Promise<Access>,
): Promise<void> {
  const needs = needsOf(method);
  if (needs.role === "anyone") return;
  const caller = await access();
  if (mayCall(caller, needs, input)) return;
  const error = forbidden(method, caller, needs.role);
  if (!readings.has(method)) await record(system, caller, method, "refused", error.toData());
  throw error;
}

/** The input was checked against the method's own schema. */
function needsOf(method: HostMethod): Needs<unknown> {
  return hostContract[method].needs as Needs<unknown>;
}

/** Runs a command of `mig.` with its rows of audit around it, where this host keeps the ledger. */
export async function recorded<T>(
  system: System,
  method: HostMethod,
  access: () => Promise<Access>,
  work: () => Promise<T>,
): Promise<T> {
  if (!isRecordedHere(method)) return work();
  if (!hasLedger(system)) return work();
  const caller = await access();
  await record(system, caller, method, "begun");
  try {
    const answer = await work();
    await record(system, caller, method, "done");
    return answer;
  } catch (error) {
    await record(system, caller, method, "failed", toErrorData(error));
    throw error;
  }
}

async function record(
  system: System,
  access: Access,
  method: HostMethod,
  outcome: "begun" | "done" | "failed" | "refused",
  error?: ReturnType<typeof toErrorData>,
): Promise<void> {
  if (!hasLedger(system)) return;
  const { actingOn, ledgerOf } = await import("../control/context.ts");
  const act = { ...actingOn(system, access, null), command: method };
  // Of no tenant: who reached for somebody else's is no business of theirs.
  const attempt = { object: null, tenant: null, outcome, ...(error === undefined ? {} : { error }) };
  ledgerOf(system).record(act, attempt);
}

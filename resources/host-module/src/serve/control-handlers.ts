import { AppError } from "../../../../shared/errors.ts";
import type { HostMethod } from "../../../../shared/protocol/contract.ts";
import type { ControlHandler } from "./handlers.ts";

export type ControlMethod = Extract<
  HostMethod,
  `${"identity" | "ledger" | "roles" | "people" | "organisation" | "administrator" | "tenant" | "lead" | "project" | "member" | "removal" | "quota" | "engine" | "requests" | "request" | "grant" | "leases" | "lease" | "audit" | "control"}.${string}`
>;

const later = async (): Promise<never> => {
  throw new AppError({ code: "internal", message: "Not built.", remedy: "" });
};

/** Tenants, quotas, requests and the audit. */
export const controlHandlers: { readonly [M in ControlMethod]: ControlHandler<M> } = {
  "identity.me": later,
  "ledger.create": later,
  "roles.put": later,
  "people.search": later,
  "organisation.get": later,
  "administrator.add": later,
  "administrator.remove": later,
  "tenant.create": later,
  "tenant.rename": later,
  "tenant.remove": later,
  "lead.add": later,
  "lead.remove": later,
  "project.add": later,
  "project.rename": later,
  "project.remove": later,
  "member.add": later,
  "member.remove": later,
  "removal.consequences": later,
  "quota.get": later,
  "quota.set": later,
  "quota.explain": later,
  "engine.status": later,
  "engine.drift": later,
  "engine.resolve": later,
  "requests.list": later,
  "request.ask": later,
  "request.withdraw": later,
  "request.decide": later,
  "grant.cut": later,
  "leases.list": later,
  "lease.take": later,
  "lease.release": later,
  "audit.list": later,
  "audit.verify": later,
  "audit.slurm": later,
  "control.watch": later,
};

import type { RequestName, TaskName } from "../../../shared/api/contract.ts";
import type { HostMethod } from "../../../shared/protocol/contract.ts";

export type ControlRequest = RequestName & HostMethod;
export type ControlTask = TaskName & HostMethod;

/** Every request that goes to the control host as it is. */
export const controlRequests = [
  "identity.me",
  "ledger.create",
  "people.search",
  "organisation.get",
  "administrator.add",
  "administrator.remove",
  "tenant.create",
  "tenant.rename",
  "tenant.remove",
  "lead.add",
  "lead.remove",
  "project.add",
  "project.rename",
  "project.remove",
  "member.add",
  "member.remove",
  "removal.consequences",
  "quota.get",
  "quota.explain",
  "engine.status",
  "engine.drift",
  "requests.list",
  "request.ask",
  "request.withdraw",
  "request.decide",
  "grant.cut",
  "leases.list",
  "lease.take",
  "lease.release",
  "audit.list",
  "audit.verify",
  "audit.slurm",
] as const satisfies readonly ControlRequest[];

export const controlTasks = ["quota.set", "engine.resolve"] as const satisfies readonly ControlTask[];

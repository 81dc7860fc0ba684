/** Tenants, quotas, requests and the audit. Each imports what it needs when it is first called. */
import type { HostMethod } from "../../../../shared/protocol/contract.ts";
import type { System } from "../system.ts";
import type { ControlHandler } from "./handlers.ts";

export type ControlMethod = Exclude<
  HostMethod,
  "hello" | "inventory" | "watch" | "watch.complete" | "doctor" | `mig.${string}`
>;

const identity = () => import("../control/identity.ts");
const organisation = () => import("../control/organisation.ts");
const quota = () => import("../control/quota.ts");
const requests = () => import("../control/requests.ts");
const leases = () => import("../control/leases.ts");
const audit = () => import("../control/audit.ts");
const context = () => import("../control/context.ts");

export const controlHandlers: { readonly [M in ControlMethod]: ControlHandler<M> } = {
  "identity.me": async (system, _input, { access }) => (await identity()).me(system, await access()),
  "ledger.create": async (system, { engine }) => (await identity()).createLedger(system, engine),
  "roles.put": async (system, roles) => (await identity()).takeRoles(system, roles),
  "people.search": async (system, { text }) => (await import("../control/accounts.ts")).searchAccounts(system, text),

  "organisation.get": async (system, _input, { access }) => (await organisation()).organisation(system, await access()),
  "administrator.add": async (system, input, { access }) =>
    (await organisation()).addAdministrator(system, await access(), input),
  "administrator.remove": async (system, input, { access }) =>
    (await organisation()).removeAdministrator(system, await access(), input),
  "tenant.create": async (system, input, { access }) =>
    (await organisation()).createTenant(system, await access(), input),
  "tenant.rename": async (system, input, { access }) =>
    (await organisation()).renameTenant(system, await access(), input),
  "tenant.remove": async (system, input, { access }) =>
    (await organisation()).removeTenant(system, await access(), input),
  "lead.add": async (system, input, { access }) => (await organisation()).addLead(system, await access(), input),
  "lead.remove": async (system, input, { access }) => (await organisation()).removeLead(system, await access(), input),
  "project.add": async (system, input, { access }) => (await organisation()).addProject(system, await access(), input),
  "project.rename": async (system, input, { access }) =>
    (await organisation()).renameProject(system, await access(), input),
  "project.remove": async (system, input, { access }) =>
    (await organisation()).removeProject(system, await access(), input),
  "member.add": async (system, input, { access }) => (await organisation()).addMember(system, await access(), input),
  "member.remove": async (system, input, { access }) =>
    (await organisation()).removeMember(system, await access(), input),
  "removal.consequences": async (system, input) => (await organisation()).consequences(system, input),

  "quota.get": async (system, _input, { access }) => (await quota()).quotas(system, await access()),
  "quota.set": async (system, input, call) => (await quota()).setQuotas(system, await call.access(), input, call),
  "quota.explain": async (system, input, { access }) =>
    (await import("../control/explain.ts")).explain(system, await access(), input),
  "engine.status": async (system) => (await (await context()).engineOf(system)).status(),
  "engine.drift": async (system) => (await import("../control/drift.ts")).drift(system),
  "engine.resolve": async (system, input, call) =>
    (await import("../control/drift.ts")).resolve(system, await call.access(), input, call),

  "requests.list": async (system, _input, { access }) => (await requests()).listRequests(system, await access()),
  "request.ask": async (system, input, { access }) => (await requests()).ask(system, await access(), input),
  "request.withdraw": async (system, input, { access }) => (await requests()).withdraw(system, await access(), input),
  "request.decide": async (system, input, { access }) => (await requests()).decide(system, await access(), input),
  "grant.cut": async (system, input, { access }) => (await requests()).cutGrant(system, await access(), input),

  "leases.list": async (system, _input, { access }) => (await leases()).listLeases(system, await access()),
  "lease.take": async (system, input, { access }) =>
    shownAtOnce(system, (await leases()).takeLease(system, await access(), input)),
  "lease.release": async (system, input, { access }) =>
    shownAtOnce(system, (await leases()).releaseLease(system, await access(), input)),

  "audit.list": async (system, input, { access }) => (await audit()).listAudit(system, await access(), input),
  "audit.verify": async (system) => (await audit()).verify(system),
  "audit.slurm": async (system, input) => (await audit()).slurmTransactions(system, input),

  "control.watch": async (system, _input, { access, signal, progress }) => {
    await (await import("../control/follow.ts")).follow(system, access, signal, progress);
    return null;
  },
};

/** Who holds what stands in the inventory: whoever watches this host here sees it without waiting for the next look. */
async function shownAtOnce<T>(system: System, change: T | Promise<T>): Promise<T> {
  const answer = await change;
  (await import("./watch.ts")).watcherOf(system).complete();
  return answer;
}

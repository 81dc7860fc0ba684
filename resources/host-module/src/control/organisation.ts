/** Tenants, their projects and the people in them: what each caller sees of them, and every change. */
import { AppError } from "../../../../shared/errors.ts";
import { parseSubject, personSubject } from "../../../../shared/organisation/subject.ts";
import type { HostInput } from "../../../../shared/protocol/contract.ts";
import type {
  Consequences,
  MemberView,
  Organisation,
  PersonName,
  ProjectView,
  TenantView,
} from "../../../../shared/protocol/control.ts";
import type { Access } from "../access/access.ts";
import { organisationRevision } from "../access/roles.ts";
import type { EngineChange } from "../engine/engine.ts";
import type { Act, Change } from "../ledger/change.ts";
import { newProjectId, newTenantId } from "../ledger/ids.ts";
import { administrators, leads, members, people, projects, tenants } from "../ledger/organisation.ts";
import { grants, limits, requests, resets } from "../ledger/quotas.ts";
import type { Reader } from "../ledger/reader.ts";
import type { System } from "../system.ts";
import { accountOf } from "./accounts.ts";
import { changeTogether } from "./changing.ts";
import { actingOn, engineOf, enginePeople, ledgerOf } from "./context.ts";
import { mayReadProject, mayReadTenant } from "./sight.ts";

/** Everything that the caller may see: an administrator all, a lead their tenants, a member their projects. */
export function organisation(system: System, access: Access): Organisation {
  return ledgerOf(system).read((reader) => {
    const names = namesOf(reader);
    const projectRows = Map.groupBy(reader.list(projects), ({ tenantId }) => tenantId);
    const memberRows = Map.groupBy(reader.list(members), ({ projectId }) => projectId);
    const leadRows = Map.groupBy(reader.list(leads), ({ tenantId }) => tenantId);
    const named = (row: { readonly uid: number; readonly version: number }): MemberView => ({
      ...names(row.uid),
      version: row.version,
    });
    return {
      revision: organisationRevision(reader),
      tenants: inOrderMade(reader.list(tenants))
        .filter(({ id }) => mayReadTenant(access, id))
        .map((tenant) => ({
          ...tenant,
          leads: (leadRows.get(tenant.id) ?? []).map(named),
          projects: (projectRows.get(tenant.id) ?? [])
            .filter(({ id }) => mayReadProject(access, id))
            .map(({ tenantId: _, ...project }) => ({
              ...project,
              members: (memberRows.get(project.id) ?? []).map(named),
            })),
        })),
      administrators: access.administrator ? reader.list(administrators).map(named) : [],
    };
  });
}

/** Each with its place, before anything is left out: a lead's console colours a tenant as an administrator's does. */
function inOrderMade<Row extends { readonly createdAt: string }>(
  rows: readonly Row[],
): readonly (Row & { readonly place: number })[] {
  const inOrder = rows.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0));
  const placeOf = new Map(inOrder.map((row, place) => [row, place]));
  return rows.map((row) => ({ ...row, place: placeOf.get(row) ?? 0 }));
}

/** Names of people by uid, as they were last seen. */
export function namesOf(reader: Reader): (uid: number) => PersonName {
  const users = new Map(reader.list(people).map(({ uid, user }) => [uid, user]));
  return (uid) => ({ uid, user: users.get(uid) ?? null });
}

export async function addAdministrator(
  system: System,
  access: Access,
  { uid }: HostInput<"administrator.add">,
): Promise<MemberView> {
  const account = await accountOf(system, uid);
  const act: Act = { ...actingOn(system, access, null), command: "administrator.add" };
  const stored = ledgerOf(system).change(act, (change) => {
    notePerson(change, account, system.now());
    return change.insert(administrators, { uid });
  });
  return { ...account, version: stored.version };
}

/** Throws AppError `in-use` for the last one: nobody would be left to name another. */
export function removeAdministrator(system: System, access: Access, { uid }: HostInput<"administrator.remove">): null {
  const act: Act = { ...actingOn(system, access, null), command: "administrator.remove" };
  ledgerOf(system).change(act, (change) => {
    const { version } = change.get(administrators, { uid });
    change.remove(administrators, { uid }, version);
    if (change.list(administrators).length > 0) return;
    throw new AppError({
      code: "in-use",
      message: "The last administrator cannot be removed: everybody who is let in would administer then.",
      remedy: "Name another administrator first.",
    });
  });
  return null;
}

export async function createTenant(
  system: System,
  access: Access,
  { displayName }: HostInput<"tenant.create">,
): Promise<TenantView> {
  const act: Act = { ...actingOn(system, access, null), command: "tenant.create" };
  checkFreeName(ledgerOf(system).list(tenants), displayName, "tenant");
  // The id first, in a change of its own: Slurm and the groups get it before the ledger has the tenant.
  const id = ledgerOf(system).change(act, (change) => newTenantId(change));
  const stored = await changeTogether(
    system,
    { act, object: `tenant/${id}`, tenant: id, changes: [{ kind: "add-tenant", tenantId: id }] },
    (change) => {
      checkFreeName(change.list(tenants), displayName, "tenant");
      return change.insert(tenants, { id, displayName, createdAt: system.now().toISOString() });
    },
  );
  return { ...stored, leads: [], projects: [] };
}

export function renameTenant(system: System, access: Access, input: HostInput<"tenant.rename">): null {
  const { tenantId: id, basedOn, displayName } = input;
  const act: Act = { ...actingOn(system, access, id), command: "tenant.rename" };
  ledgerOf(system).change(act, (change) => {
    checkFreeName(
      change.list(tenants).filter((tenant) => tenant.id !== id),
      displayName,
      "tenant",
    );
    change.update(tenants, { id }, basedOn, { displayName });
  });
  return null;
}

/** Throws AppError `in-use` while it has projects. */
export async function removeTenant(system: System, access: Access, input: HostInput<"tenant.remove">): Promise<null> {
  const { tenantId: id, basedOn } = input;
  const act: Act = { ...actingOn(system, access, id), command: "tenant.remove" };
  const write = (change: Change) => {
    if (change.list(projects, { tenantId: id }).length > 0) {
      throw new AppError({
        code: "in-use",
        message: "The tenant has projects.",
        remedy: "Nothing was changed. Remove its projects first.",
      });
    }
    for (const lead of change.list(leads, { tenantId: id })) change.remove(leads, lead, lead.version);
    forgetQuotas(change, (subject) => subject === id, act, system.now());
    change.remove(tenants, { id }, basedOn);
  };
  await changeTogether(
    system,
    { act, object: `tenant/${id}`, tenant: id, changes: [{ kind: "remove-tenant", tenantId: id }] },
    write,
  );
  return null;
}

export async function addLead(system: System, access: Access, input: HostInput<"lead.add">): Promise<MemberView> {
  const { tenantId, uid } = input;
  const account = await accountOf(system, uid);
  const act: Act = { ...actingOn(system, access, tenantId), command: "lead.add" };
  const stored = ledgerOf(system).change(act, (change) => {
    change.get(tenants, { id: tenantId });
    notePerson(change, account, system.now());
    return change.insert(leads, { tenantId, uid });
  });
  return { ...account, version: stored.version };
}

export function removeLead(system: System, access: Access, { tenantId, uid }: HostInput<"lead.remove">): null {
  const act: Act = { ...actingOn(system, access, tenantId), command: "lead.remove" };
  ledgerOf(system).change(act, (change) => {
    const { version } = change.get(leads, { tenantId, uid });
    change.remove(leads, { tenantId, uid }, version);
  });
  return null;
}

export async function addProject(
  system: System,
  access: Access,
  { tenantId, displayName }: HostInput<"project.add">,
): Promise<ProjectView> {
  const act: Act = { ...actingOn(system, access, tenantId), command: "project.add" };
  const id = ledgerOf(system).change(act, (change) => {
    change.get(tenants, { id: tenantId });
    checkFreeName(change.list(projects, { tenantId }), displayName, "project");
    return newProjectId(change, tenantId);
  });
  const { tenantId: _, ...stored } = await changeTogether(
    system,
    { act, object: `project/${id}`, tenant: tenantId, changes: [{ kind: "add-project", projectId: id }] },
    (change) => change.insert(projects, { id, tenantId, displayName, createdAt: system.now().toISOString() }),
  );
  return { ...stored, members: [] };
}

export function renameProject(system: System, access: Access, input: HostInput<"project.rename">): null {
  const { projectId: id, basedOn, displayName } = input;
  const act: Act = { ...actingOn(system, access, id), command: "project.rename" };
  ledgerOf(system).change(act, (change) => {
    const { tenantId } = change.get(projects, { id });
    checkFreeName(
      change.list(projects, { tenantId }).filter((project) => project.id !== id),
      displayName,
      "project",
    );
    change.update(projects, { id }, basedOn, { displayName });
  });
  return null;
}

/**
 * Removes a project with its members, limits and open requests. Throws AppError `in-use` while something runs or waits in
 * it, unless that is to be cancelled.
 */
export async function removeProject(system: System, access: Access, input: HostInput<"project.remove">): Promise<null> {
  const { projectId: id, basedOn, cancelAllocations = false } = input;
  const ledger = ledgerOf(system);
  const act: Act = { ...actingOn(system, access, id), command: "project.remove" };
  const write = (change: Change) => {
    const within = (subject: string) => subject === id || subject.startsWith(`${id}/`);
    forgetQuotas(change, within, act, system.now());
    for (const member of change.list(members, { projectId: id })) change.remove(members, member, member.version);
    change.remove(projects, { id }, basedOn);
  };
  // Before anything is cancelled.
  ledger.rehearse(act, write);
  const { tenantId } = ledger.get(projects, { id });
  await clear(system, id, cancelAllocations);
  const names = namesOf(ledger);
  const leaving = ledger.list(members, { projectId: id }).map(({ uid }): EngineChange => {
    const { user } = names(uid);
    return { kind: "remove-member", projectId: id, person: { uid, user: user ?? String(uid) } };
  });
  await changeTogether(
    system,
    {
      act,
      object: `project/${id}`,
      tenant: tenantId,
      changes: [...leaving, { kind: "remove-project", projectId: id }],
    },
    write,
  );
  return null;
}

export async function addMember(system: System, access: Access, input: HostInput<"member.add">): Promise<MemberView> {
  const { projectId, uid } = input;
  const account = await accountOf(system, uid);
  const act: Act = { ...actingOn(system, access, projectId), command: "member.add" };
  const write = (change: Change) => {
    change.get(projects, { id: projectId });
    notePerson(change, account, system.now());
    return change.insert(members, { projectId, uid, role: "member" });
  };
  const { tenantId } = ledgerOf(system).get(projects, { id: projectId });
  const stored = await changeTogether(
    system,
    {
      act,
      object: `member/${projectId}/${uid}`,
      tenant: tenantId,
      changes: [{ kind: "add-member", projectId, person: { uid, user: account.user } }],
    },
    write,
  );
  return { uid, user: account.user, version: stored.version };
}

export async function removeMember(system: System, access: Access, input: HostInput<"member.remove">): Promise<null> {
  const { projectId, uid, basedOn, cancelAllocations = false } = input;
  const ledger = ledgerOf(system);
  const subject = personSubject(projectId, uid);
  const act: Act = { ...actingOn(system, access, projectId), command: "member.remove" };
  const write = (change: Change) => {
    forgetQuotas(change, (candidate) => candidate === subject, act, system.now());
    change.remove(members, { projectId, uid }, basedOn);
  };
  // Before anything is cancelled.
  ledger.rehearse(act, write);
  const { tenantId } = ledger.get(projects, { id: projectId });
  const { user } = ledger.get(people, { uid });
  await clear(system, subject, cancelAllocations);
  await changeTogether(
    system,
    {
      act,
      object: `member/${projectId}/${uid}`,
      tenant: tenantId,
      changes: [{ kind: "remove-member", projectId, person: { uid, user } }],
    },
    write,
  );
  return null;
}

/** What removing a tenant, a project or a member would take along. */
export async function consequences(
  system: System,
  { subject }: HostInput<"removal.consequences">,
): Promise<Consequences> {
  const ledger = ledgerOf(system);
  const engine = await engineOf(system);
  const allocations = await engine.allocations(enginePeople(ledger));
  const within = (candidate: string | null) => candidate !== null && isWithin(candidate, subject);
  const touched = allocations.filter((allocation) => within(allocation.subject));
  const names = namesOf(ledger);
  const parsed = parseSubject(subject);
  const uids = new Set(
    ledger
      .list(members)
      .filter(({ projectId, uid }) => within(personSubject(projectId, uid)))
      .map(({ uid }) => uid),
  );
  return {
    running: touched.filter(({ state }) => state === "running"),
    waiting: touched.filter(({ state }) => state === "waiting"),
    limits: ledger
      .list(limits)
      .map((row) => row.subject)
      .filter(within),
    openRequests: ledger.list(requests, { state: "asked" }).filter((row) => within(row.subject)).length,
    activeGrants: ledger.list(grants, { state: "running" }).filter((row) => within(row.subject)).length,
    members: parsed?.level === "person" ? [] : [...uids].map(names),
  };
}

/** Whether a subject is another one, or lies in it. */
export function isWithin(candidate: string, subject: string): boolean {
  if (subject === "cluster" || candidate === subject) return true;
  return candidate.startsWith(`${subject}_p`) || candidate.startsWith(`${subject}/`);
}

async function clear(system: System, subject: string, cancel: boolean): Promise<void> {
  const engine = await engineOf(system);
  const allocations = await engine.allocations(enginePeople(ledgerOf(system)));
  const touched = allocations.filter((each) => each.subject !== null && isWithin(each.subject, subject));
  if (touched.length === 0) return;
  if (cancel) return engine.cancel(touched.map(({ id }) => id));
  const [running, waiting] = (["running", "waiting"] as const).map(
    (state) => touched.filter((each) => each.state === state).length,
  );
  throw new AppError({
    code: "in-use",
    message: `${running} running and ${waiting} waiting would be cancelled.`,
    remedy: "Nothing was changed. Wait for them, or remove with cancelling them.",
    evidence: { details: touched.map(({ id, user, name }) => `${id} ${user ?? ""} ${name}`).join("\n") },
  });
}

/** Limits and resets go; open requests are withdrawn and grants end now: what they were about is no more. */
function forgetQuotas(change: Change, within: (subject: string) => boolean, { actor }: Act, now: Date): void {
  const at = now.toISOString();
  for (const row of change.list(limits)) if (within(row.subject)) change.remove(limits, row, row.version);
  for (const row of change.list(resets)) if (within(row.subject)) change.remove(resets, row, row.version);
  change.dropBaselines(
    change
      .baselines()
      .map((row) => row.subject)
      .filter(within),
  );
  for (const { id, subject, version } of change.list(requests, { state: "asked" })) {
    if (!within(subject)) continue;
    change.update(requests, { id }, version, { state: "withdrawn", decidedBy: actor.uid, decidedAt: at });
  }
  for (const { id, subject, state, version } of change.list(grants)) {
    if (!within(subject) || state === "ended" || state === "cut short") continue;
    change.update(grants, { id }, version, { state: "cut short", endedAt: at });
  }
}

function checkFreeName(
  rows: readonly { readonly displayName: string }[],
  displayName: string,
  kind: "tenant" | "project",
): void {
  const same = displayName.normalize("NFC").trim().toLowerCase();
  if (!rows.some((row) => row.displayName.toLowerCase() === same)) return;
  throw new AppError({
    code: "conflict",
    message: `There is a ${kind} called ${JSON.stringify(displayName)} already.`,
    remedy: "Nothing was changed. Choose another name.",
  });
}

function notePerson(change: Change, { uid, user }: { readonly uid: number; readonly user: string }, at: Date): void {
  const known = change.find(people, { uid });
  const seenAt = at.toISOString();
  if (known === null) change.insert(people, { uid, user, seenAt });
  else if (known.user !== user) change.update(people, { uid }, known.version, { user, seenAt });
}

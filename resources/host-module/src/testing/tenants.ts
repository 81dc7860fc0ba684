/** Tenants, projects and members straight into a ledger, for tests of what builds on them. */
import type { Acting, Change } from "../ledger/change.ts";
import { newProjectId, newTenantId, type RandomBytes } from "../ledger/ids.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Stored } from "../ledger/object-table.ts";
import { members, people, projects, tenants } from "../ledger/organisation.ts";

export type Tenant = ReturnType<typeof createTenant>;
export type Project = ReturnType<typeof addProject>;
export type Member = ReturnType<typeof addMember>;

/** A Unix account as `getent passwd` shows it now. */
export interface Account {
  readonly uid: number;
  readonly user: string;
}

/** Makes a tenant under a new id. Throws AppError `bad-request` for a name that cannot be one. */
export function createTenant(
  ledger: Ledger,
  acting: Acting,
  tenant: { readonly displayName: string },
  at: Date,
  random?: RandomBytes,
) {
  return ledger.change({ ...acting, command: "tenant.create" }, (change) =>
    change.insert(tenants, {
      id: newTenantId(change, random),
      displayName: tenant.displayName,
      createdAt: at.toISOString(),
    }),
  );
}

/** Gives a tenant another name; its id stays. Throws AppError `conflict`, `not-found`, `bad-request`. */
export function renameTenant(
  ledger: Ledger,
  acting: Acting,
  tenant: { readonly id: string; readonly version: number; readonly displayName: string },
): Tenant {
  return ledger.change({ ...acting, command: "tenant.rename" }, (change) =>
    change.update(tenants, { id: tenant.id }, tenant.version, { displayName: tenant.displayName }),
  );
}

/** Makes a project of a tenant, under the tenant's next number. Throws AppError `not-found`, `bad-request`. */
export function addProject(
  ledger: Ledger,
  acting: Acting,
  project: { readonly tenantId: string; readonly displayName: string },
  at: Date,
) {
  return ledger.change({ ...acting, command: "project.add" }, (change) => {
    const { id: tenantId } = change.get(tenants, { id: project.tenantId });
    const id = newProjectId(change, tenantId);
    return change.insert(projects, { id, tenantId, displayName: project.displayName, createdAt: at.toISOString() });
  });
}

/**
 * Puts a person into a project, and notes the account if it is new or was renamed. Throws AppError `not-found` (no such
 * project), `conflict` (is in it already), `bad-request`.
 */
export function addMember(
  ledger: Ledger,
  acting: Acting,
  member: { readonly projectId: string; readonly account: Account },
  at: Date,
) {
  return ledger.change({ ...acting, command: "member.add" }, (change) => {
    change.get(projects, { id: member.projectId });
    const { uid } = notePerson(change, member.account, at);
    return change.insert(members, { projectId: member.projectId, uid, role: "member" });
  });
}

function notePerson(change: Change, { uid, user }: Account, at: Date): Stored<Account> {
  const known = change.find(people, { uid });
  const seenAt = at.toISOString();
  if (known === null) return change.insert(people, { uid, user, seenAt });
  return known.user === user ? known : change.update(people, { uid }, known.version, { user, seenAt });
}

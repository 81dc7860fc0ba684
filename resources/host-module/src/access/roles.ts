/** Roles as the ledger has them. */
import type { Roles } from "../../../../shared/protocol/control.ts";
import { administrators, leads, members, projects, tenants } from "../ledger/organisation.ts";
import type { Reader } from "../ledger/reader.ts";
import type { Access } from "./access.ts";

/** The whole organisation, as the ledger has it now. `revision` is the newest version of anything in it. */
export function rolesOfLedger(reader: Reader): Roles {
  const projectRows = Map.groupBy(reader.list(projects), ({ tenantId }) => tenantId);
  const memberRows = Map.groupBy(reader.list(members), ({ projectId }) => projectId);
  const leadRows = Map.groupBy(reader.list(leads), ({ tenantId }) => tenantId);
  return {
    revision: organisationRevision(reader),
    administrators: reader.list(administrators).map(({ uid }) => uid),
    tenants: reader.list(tenants).map(({ id, displayName }) => ({
      id,
      displayName,
      leads: (leadRows.get(id) ?? []).map(({ uid }) => uid),
      projects: (projectRows.get(id) ?? []).map((project) => ({
        id: project.id,
        displayName: project.displayName,
        members: (memberRows.get(project.id) ?? []).map(({ uid }) => uid),
      })),
    })),
  };
}

/** Grows with every change of who there is, removals included. */
export function organisationRevision(reader: Reader): number {
  return reader.lastChangeOf(["administrator", "tenant", "lead", "project", "member"]);
}

/** The caller's access where the ledger is here: three small questions, whatever the size of the organisation. */
export function accessOfLedger(uid: number, reader: Reader): Access {
  const named = reader.list(administrators).map((row) => row.uid);
  const open = named.length === 0;
  let roles: Roles | undefined;
  return {
    uid,
    administrator: open || uid === 0 || named.includes(uid),
    open,
    leads: new Set(reader.list(leads, { uid }).map(({ tenantId }) => tenantId)),
    projects: new Set(reader.list(members, { uid }).map(({ projectId }) => projectId)),
    get roles() {
      roles ??= rolesOfLedger(reader);
      return roles;
    },
  };
}

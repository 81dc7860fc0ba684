/** What of the organisation a caller may see: a lead their tenants, a member their projects, an administrator all. */
import { parseSubject, tenantOfProject } from "../../../../shared/organisation/subject.ts";
import type { Access } from "../access/access.ts";

/** Its name and its own limits; of a member's tenant too, since they bind the member. */
export function mayReadTenant(access: Access, tenantId: string): boolean {
  if (access.administrator || access.leads.has(tenantId)) return true;
  return [...access.projects].some((projectId) => tenantOfProject(projectId) === tenantId);
}

export function mayReadProject(access: Access, projectId: string): boolean {
  return access.administrator || access.leads.has(tenantOfProject(projectId)) || access.projects.has(projectId);
}

/** A request, a grant, a limit, a lease or a job of this subject. */
export function mayReadSubject(access: Access, text: string): boolean {
  const subject = parseSubject(text);
  switch (subject?.level) {
    case "tenant":
      return mayReadTenant(access, subject.tenantId);
    case "project":
    case "person":
      return mayReadProject(access, subject.projectId);
    default:
      return access.administrator;
  }
}

/** Who there is: tenants, their projects, the people in them, and who leads and administers. */
import * as z from "zod/mini";
import { tenantOfProject } from "../../../../shared/organisation/subject.ts";
import { projectIdSchema, tenantIdSchema, uidSchema } from "../../../../shared/protocol/control.ts";
import { displayNameSchema } from "./display-name.ts";
import { defineTable } from "./object-table.ts";

export const tenantId = tenantIdSchema;
export const projectId = projectIdSchema;
export const uid = uidSchema;
/** UTC with milliseconds, as `Date` writes it: such texts sort by time. */
export const time = z.iso.datetime({ precision: 3 });

/** A Unix account as last seen: names of accounts change, and directories hand them to somebody else; the uid stays. */
export const people = defineTable({
  kind: "person",
  table: "people",
  key: ["uid"],
  shape: {
    uid,
    // As useradd and directory services allow them at most; who may log in at all is the system's affair.
    user: z.string().check(z.regex(/^[^\p{C}\s:/\\,]{1,256}$/u, { error: "a name of a Unix account" })),
    seenAt: time,
  },
  tenantOf: () => null,
});

export const administrators = defineTable({
  kind: "administrator",
  table: "administrators",
  key: ["uid"],
  shape: { uid },
  tenantOf: () => null,
});

export const tenants = defineTable({
  kind: "tenant",
  table: "tenants",
  key: ["id"],
  shape: { id: tenantId, displayName: displayNameSchema, createdAt: time },
  tenantOf: (tenant) => tenant.id,
});

export const leads = defineTable({
  kind: "lead",
  table: "leads",
  key: ["tenantId", "uid"],
  shape: { tenantId, uid },
  tenantOf: (lead) => lead.tenantId,
});

export const projects = defineTable({
  kind: "project",
  table: "projects",
  key: ["id"],
  shape: { id: projectId, tenantId, displayName: displayNameSchema, createdAt: time },
  tenantOf: (project) => project.tenantId,
});

/** A person in a project. There is one role in a project today; tenants have leads of their own. */
export const members = defineTable({
  kind: "member",
  table: "members",
  key: ["projectId", "uid"],
  shape: { projectId, uid, role: z.enum(["member"]) },
  tenantOf: (member) => tenantOfProject(member.projectId),
});

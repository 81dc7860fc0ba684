/** Tenants, their projects and people, and who the caller is among them. */
import * as z from "zod/mini";
import type { AllocationView } from "./allocations.ts";
import type { EngineKind } from "./engine.ts";
import { nameSchema, projectIdSchema, subjectSchema, tenantIdSchema, uidSchema, versionSchema } from "./fields.ts";

export interface PersonName {
  readonly uid: number;
  /** Null where the system knows no such account any more. */
  readonly user: string | null;
}

/** A Unix account that can be picked, as `getent passwd` has it. */
export interface Account {
  readonly uid: number;
  readonly user: string;
  /** The first field of the comment; empty where there is none. */
  readonly fullName: string;
}

/** What the caller is here. */
export interface Me extends PersonName {
  readonly role: "administrator" | "lead" | "member" | "none";
  /** Tenants that the caller leads. */
  readonly leads: readonly string[];
  /** Projects that the caller is in. */
  readonly projects: readonly string[];
  /** Nobody has been named administrator yet: whoever is let in administers. */
  readonly open: boolean;
  /** Whether the ledger is on this host; on others the roles are a copy. */
  readonly ledger: boolean;
  /** The state of the organisation that roles are decided by: the ledger's, or that of the copy; null where there is none. */
  readonly rolesRevision: number | null;
  /** When the copy was last confirmed, by this host's clock; null for a ledger, or where there is no copy. */
  readonly rolesConfirmedAt: string | null;
  /** Which engine keeps limits on this host; null where there is no ledger here. */
  readonly engine: EngineKind | null;
}

export interface MemberView extends PersonName {
  readonly version: number;
}
export interface ProjectView {
  readonly id: string;
  readonly displayName: string;
  readonly createdAt: string;
  readonly version: number;
  readonly members: readonly MemberView[];
}
export interface TenantView {
  readonly id: string;
  /** Its place among all tenants in the order in which they were made, whoever asks; consoles colour by it. Absent from older hosts. */
  readonly place?: number;
  readonly displayName: string;
  readonly createdAt: string;
  readonly version: number;
  readonly leads: readonly MemberView[];
  readonly projects: readonly ProjectView[];
}
export interface Organisation {
  /** Grows with every change of it. */
  readonly revision: number;
  readonly tenants: readonly TenantView[];
  /** Empty for all but administrators. */
  readonly administrators: readonly MemberView[];
}

/** Who is who, as it is copied to hosts that have no ledger: they decide by it what a caller may see. */
export const rolesSchema = z.object({
  revision: z.int().check(z.nonnegative()),
  administrators: z.array(uidSchema),
  tenants: z.array(
    z.object({
      id: tenantIdSchema,
      displayName: nameSchema,
      leads: z.array(uidSchema),
      projects: z.array(z.object({ id: projectIdSchema, displayName: nameSchema, members: z.array(uidSchema) })),
    }),
  ),
});
export type Roles = z.infer<typeof rolesSchema>;

export const peopleSearchSchema = z.object({
  /** For whom to search: a lead looks for people for a tenant of theirs; `cluster` is for administrators. */
  subject: subjectSchema,
  text: z.string().check(z.maxLength(100)),
});
export const tenantCreateSchema = z.object({ displayName: nameSchema });
export const tenantRenameSchema = z.object({
  tenantId: tenantIdSchema,
  basedOn: versionSchema,
  displayName: nameSchema,
});
export const tenantRemoveSchema = z.object({ tenantId: tenantIdSchema, basedOn: versionSchema });
export const projectAddSchema = z.object({ tenantId: tenantIdSchema, displayName: nameSchema });
export const projectRenameSchema = z.object({
  projectId: projectIdSchema,
  basedOn: versionSchema,
  displayName: nameSchema,
});
export const projectRemoveSchema = z.object({
  projectId: projectIdSchema,
  basedOn: versionSchema,
  /** Cancels what runs and waits in it; without it a project with jobs is refused as `in-use`. */
  cancelAllocations: z.optional(z.boolean()),
});
export const memberAddSchema = z.object({ projectId: projectIdSchema, uid: uidSchema });
export const memberRemoveSchema = z.object({
  projectId: projectIdSchema,
  uid: uidSchema,
  basedOn: versionSchema,
  cancelAllocations: z.optional(z.boolean()),
});
export const leadSchema = z.object({ tenantId: tenantIdSchema, uid: uidSchema });
export const administratorSchema = z.object({ uid: uidSchema });

/** What a removal would take along or leave without an owner. */
export interface Consequences {
  readonly running: readonly AllocationView[];
  readonly waiting: readonly AllocationView[];
  /** Subjects with limits of their own that go with it. */
  readonly limits: readonly string[];
  readonly openRequests: number;
  readonly activeGrants: number;
  readonly members: readonly PersonName[];
}

/**
 * What the control host answers about tenants, quotas, requests and the audit: the shapes of those commands. Their
 * names and who may call them stand in contract.ts.
 *
 * `version` of an object is what an edit names as `basedOn`; an edit of another version is refused as `conflict`, with
 * what was changed meanwhile. Times are ISO 8601 in UTC with milliseconds.
 */
import * as z from "zod/mini";
import type { AppErrorData, LimitInTheWay } from "../errors.ts";
import { projectIdPattern, subjectPattern, tenantIdPattern } from "../organisation/subject.ts";
import type { CardShareRule } from "../quota/card-share.ts";
import type { Fraction } from "../quota/fraction.ts";
import type { Limits, Usage } from "../quota/limits.ts";
import { describeRefusal, parseLimits } from "../quota/parse-limits.ts";
import type { QuotaLevel } from "../quota/tree.ts";

export const tenantIdSchema = z.string().check(z.regex(tenantIdPattern, { error: "an id of a tenant, as in t3f2k" }));
export const projectIdSchema = z
  .string()
  .check(z.regex(projectIdPattern, { error: "an id of a project, as in t3f2k_p01" }));
/** The largest one stands for "none" in the kernel. */
export const uidSchema = z.int().check(z.nonnegative(), z.maximum(0xffff_fffe));
export const subjectSchema = z
  .string()
  .check(z.regex(subjectPattern, { error: "cluster, a tenant, a project, or a person in a project" }));
export const versionSchema = z.int().check(z.nonnegative());
export const timeSchema = z.iso.datetime({ precision: 3 });
const name = z.string().check(z.minLength(1), z.maxLength(200));
const words = z.string().check(z.maxLength(2_000));

/** Limits as people and files write them, read by the quota rules: everything that is wrong is named at once. */
export const limitsSchema = z.pipe(
  z.unknown(),
  z.transform((value, context): Limits => {
    const parsed = parseLimits(value);
    if (parsed.ok) return parsed.value;
    for (const refusal of parsed.refusals) {
      context.issues.push({ code: "custom", input: value, message: describeRefusal(refusal), path: [] });
    }
    return z.NEVER;
  }),
);

// Who there is.

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

export type EngineKind = "local" | "slurm";

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
      displayName: name,
      leads: z.array(uidSchema),
      projects: z.array(z.object({ id: projectIdSchema, displayName: name, members: z.array(uidSchema) })),
    }),
  ),
});
export type Roles = z.infer<typeof rolesSchema>;

export const peopleSearchSchema = z.object({
  /** For whom to search: a lead looks for people for a tenant of theirs; `cluster` is for administrators. */
  subject: subjectSchema,
  text: z.string().check(z.maxLength(100)),
});
export const tenantCreateSchema = z.object({ displayName: name });
export const tenantRenameSchema = z.object({ tenantId: tenantIdSchema, basedOn: versionSchema, displayName: name });
export const tenantRemoveSchema = z.object({ tenantId: tenantIdSchema, basedOn: versionSchema });
export const projectAddSchema = z.object({ tenantId: tenantIdSchema, displayName: name });
export const projectRenameSchema = z.object({ projectId: projectIdSchema, basedOn: versionSchema, displayName: name });
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

// Quotas.

export interface QuotaNodeView {
  /** The subject. */
  readonly id: string;
  readonly level: QuotaLevel;
  readonly parentId: string | null;
  /** For people: display name, or the user's name. */
  readonly name: string;
  /** What was set, without grants. */
  readonly limits: Limits;
  /** 0 where nothing was set yet. */
  readonly version: number;
  /** In use by the node itself; absent where nothing is. */
  readonly usage?: Usage;
}

/** Which limits hold for real; what is not enforced is shown as such and never as a limit that holds. */
export interface Enforcement {
  /** `cards`, `gpuMemoryGiB`, `cpuCores`, `memoryGiB`, `cardHours`, `gpuTypes`. */
  readonly resource: string;
  readonly enforced: boolean;
  /** Why not, one sentence; empty where it is. */
  readonly why: string;
}

export interface QuotaAnswer {
  readonly revision: number;
  /** By which rule an instance counts as a part of its card, for every figure of cards here. */
  readonly rule: CardShareRule;
  /** Cut to who asks. The cluster comes first, without its limits and usage for all but administrators. */
  readonly nodes: readonly QuotaNodeView[];
  /** Active and coming ones. */
  readonly grants: readonly GrantView[];
  readonly allocations: readonly AllocationView[];
  readonly enforcement: readonly Enforcement[];
}

export const quotaEditSchema = z.object({
  subject: subjectSchema,
  /** All of its limits: what is absent has no limit afterwards. */
  limits: limitsSchema,
  basedOn: versionSchema,
});
export type QuotaEdit = z.infer<typeof quotaEditSchema>;
export const quotaSetSchema = z.object({
  edits: z.array(quotaEditSchema).check(z.minLength(1), z.maxLength(20_000)),
  /** Answers with the commands and changes nothing. */
  dryRun: z.optional(z.boolean()),
});

export interface QuotaProgress {
  readonly done: number;
  readonly total: number;
}
export type QuotaOutcome = { readonly subject: string } & (
  | { readonly outcome: "done" | "unchanged" | "dry-run"; readonly version: number }
  /** `failed`: not done. `unknown`: the engine did not answer; look at the drift. */
  | { readonly outcome: "failed" | "unknown"; readonly error: AppErrorData }
);
export interface QuotaResult {
  readonly outcomes: readonly QuotaOutcome[];
  /** The exact commands, in order: those run, or those that would be. */
  readonly commands: readonly (readonly string[])[];
}

/** A Slurm job or a lease. Of another tenant nobody but administrators hears of it. */
export interface AllocationView {
  /** Job id or lease id. */
  readonly id: string;
  readonly kind: "job" | "lease";
  /** `t3f2k_p01/12001`; null for work of accounts that are not ours. */
  readonly subject: string | null;
  readonly user: string | null;
  readonly name: string;
  readonly state: "running" | "waiting";
  readonly cards: Fraction;
  readonly gpuMemoryGiB: Fraction;
  readonly cpuCores: Fraction;
  readonly memoryGiB: Fraction;
  readonly gpuTypes: Readonly<Record<string, number>>;
  readonly startedAt: string | null;
  /** The end by its time limit; null where it has none. */
  readonly endsAt: string | null;
  /** Where it runs, `g1`; null while it waits. */
  readonly hosts: string | null;
  /** Slurm's own word for why it waits (`AssocGrpGRES`); null for what runs. */
  readonly reason: string | null;
}

export const explainSchema = z.object({ subject: subjectSchema, allocationId: z.string().check(z.maxLength(40)) });

/** Why something waits, in terms of limits: which level, by how much, who can change it. */
export interface WaitReason {
  /** Slurm's own word. */
  readonly reason: string;
  /** One sentence. */
  readonly sentence: string;
  /** Every limit that holds it up, the lowest level first. */
  readonly blockers: readonly LimitInTheWay[];
}

export interface EngineFinding {
  readonly check: string;
  readonly level: "ok" | "warning" | "problem";
  readonly message: string;
  readonly remedy: string;
  /** The change to make, line by line, with the file it belongs in; absent where there is none. */
  readonly change?: { readonly file: string; readonly lines: readonly string[] };
}
export interface EngineStatus {
  readonly kind: EngineKind;
  /** `22.05.8`; null for the local engine, or where nothing answered. */
  readonly version: string | null;
  readonly enforcement: readonly Enforcement[];
  readonly findings: readonly EngineFinding[];
}

/** A difference between the ledger and the engine: somebody changed one of them past us, or a change broke half way. */
export interface Drift {
  /** Stable while the difference stands as it is. */
  readonly id: string;
  readonly subject: string | null;
  /** `account`, `member`, `limits`, `coordinator`, `default-account`. */
  readonly what: string;
  /** In words; null where it is not there. */
  readonly ledger: string | null;
  readonly engine: string | null;
  /** Which way it can be resolved. */
  readonly ways: readonly ("ledger" | "engine")[];
}
export const driftResolveSchema = z.object({
  resolutions: z
    .array(z.object({ id: z.string().check(z.maxLength(300)), take: z.enum(["ledger", "engine"]) }))
    .check(z.minLength(1), z.maxLength(20_000)),
});
export interface DriftResult {
  readonly outcomes: readonly {
    readonly id: string;
    readonly outcome: "done" | "failed" | "unknown";
    readonly error?: AppErrorData;
  }[];
}

// Requests and grants.

export interface RequestView {
  readonly id: string;
  readonly subject: string;
  readonly raise: Limits;
  readonly why: string;
  readonly until: string;
  readonly askedBy: PersonName;
  readonly askedAt: string;
  readonly state: "asked" | "approved" | "refused" | "withdrawn";
  readonly decidedBy: PersonName | null;
  readonly decidedAt: string | null;
  readonly answer: string | null;
  readonly version: number;
  /** Who may decide now: the lead where it fits the tenant; absent once decided. */
  readonly approver?: "lead" | "administrator";
  /** Why an administrator is needed, or what would go on binding; one sentence each. */
  readonly notes: readonly string[];
}
export interface GrantView {
  readonly id: string;
  readonly requestId: string;
  readonly subject: string;
  readonly raise: Limits;
  readonly until: string;
  readonly state: "approved" | "running" | "ended" | "cut short";
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly version: number;
}
export interface RequestsAnswer {
  /** Open ones first, then newest first; the last 500. */
  readonly requests: readonly RequestView[];
  readonly grants: readonly GrantView[];
}
export const requestAskSchema = z.object({
  subject: subjectSchema,
  /** What comes on top of the limits; card-hours count in the period that the limit has. */
  raise: limitsSchema,
  why: z.string().check(z.minLength(1), z.maxLength(2_000)),
  until: timeSchema,
});
const requestId = z.string().check(z.regex(/^r[0-9a-z]{6}$/));
const grantId = z.string().check(z.regex(/^g[0-9a-z]{6}$/));
export const requestWithdrawSchema = z.object({ subject: subjectSchema, requestId, basedOn: versionSchema });
export const requestDecideSchema = z.object({
  subject: subjectSchema,
  requestId,
  basedOn: versionSchema,
  decision: z.enum(["approve", "refuse"]),
  answer: words,
  /** Less than was asked for, or for a shorter time; what was asked where absent. */
  raise: z.optional(limitsSchema),
  until: z.optional(timeSchema),
});
export const grantCutSchema = z.object({ subject: subjectSchema, grantId, basedOn: versionSchema });

// Leases of the embedded engine.

export const leaseTakeSchema = z.object({
  projectId: projectIdSchema,
  gpuUuid: z.string().check(z.minLength(1), z.maxLength(64)),
  /** Null: the whole GPU. */
  gpuInstanceId: z.nullable(z.int().check(z.nonnegative())),
  until: z.optional(timeSchema),
  /** An administrator's word that it is taken although somebody else's program runs there; of others it counts nothing. */
  besidePrograms: z.optional(z.boolean()),
});
export const leaseReleaseSchema = z.object({ subject: subjectSchema, leaseId: z.string().check(z.maxLength(40)) });
export interface LeaseView {
  readonly id: string;
  readonly subject: string;
  readonly user: string | null;
  readonly gpuUuid: string;
  readonly gpuInstanceId: number | null;
  readonly takenAt: string;
  readonly until: string | null;
  readonly version: number;
}

// The audit.

export const auditListSchema = z.object({
  /** `cluster`: everything, for administrators; a tenant: its rows, for its leads too. */
  subject: subjectSchema,
  actor: z.optional(z.string().check(z.maxLength(256))),
  object: z.optional(z.string().check(z.maxLength(200))),
  command: z.optional(z.string().check(z.maxLength(100))),
  outcome: z.optional(z.enum(["begun", "done", "failed", "refused"])),
  text: z.optional(z.string().check(z.maxLength(200))),
  from: z.optional(timeSchema),
  to: z.optional(timeSchema),
  /** `next` of the page before. */
  before: z.optional(z.int().check(z.positive())),
  limit: z.optional(z.int().check(z.minimum(1), z.maximum(1_000))),
});
export interface AuditRowView {
  /** 1, 2, 3 ... without a gap. */
  readonly seq: number;
  readonly at: string;
  readonly uid: number;
  readonly user: string | null;
  /**
   * The uid that logged in, where it is known; another one than `uid` after `su`. This, key and address are null for leads
   * where the actor is not of their tenant: how an administrator logs in is not theirs to know.
   */
  readonly loginUid: number | null;
  readonly keyFingerprint: string | null;
  readonly address: string | null;
  readonly role: string;
  /** The command of the contract, `tenant.rename`. */
  readonly command: string;
  /** The tenant whose people may read this row; null: administrators only. */
  readonly tenant: string | null;
  /** `tenant/t3f2k`, `member/t3f2k_p01/1000`; null where the attempt names none. */
  readonly object: string | null;
  /** JSON of the object before; null where it was not there. */
  readonly before: string | null;
  readonly after: string | null;
  /** JSON of the argument vector that was run, where one was. */
  readonly commandLine: string | null;
  readonly outcome: string;
  /** JSON of code, message and remedy. */
  readonly error: string | null;
  /** SHA-256 over everything above and the hash of the row before, 64 hexadecimal digits. */
  readonly hash: string;
}
export interface AuditPageView {
  /** Newest first. */
  readonly rows: readonly AuditRowView[];
  readonly next: number | null;
}
export interface AuditVerdictView {
  readonly intact: boolean;
  readonly rows: number;
  readonly head: { readonly seq: number; readonly hash: string };
  readonly findings: readonly { readonly seq: number | null; readonly kind: string; readonly message: string }[];
  readonly more: number;
  readonly notes: readonly string[];
}
/** One row of what Slurm was told past us, or by us. */
export interface SlurmTransactionView {
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly where: string;
  readonly info: string;
}
const daySchema = z.string().check(z.regex(/^\d{4}-\d{2}-\d{2}$/));
/** The first and the last day, by UTC; everything where an end is open. */
export const auditSlurmSchema = z.object({ since: z.optional(daySchema), until: z.optional(daySchema) });
export type AuditSlurmInput = z.infer<typeof auditSlurmSchema>;

// Following.

/** Pushed when something of the ledger or the engine that the caller may see may have changed: ask again what is shown. */
export interface ControlEvent {
  readonly ledgerRevision: number;
  /** Changes when usage, jobs or leases do. */
  readonly usageRevision: number;
}

/**
 * The contract between the console (or a shell) and `tessera-host`: JSON-RPC 2.0 over the standard
 * streams of one SSH channel, framed as vscode-jsonrpc frames it. Every command of the CLI is one of these.
 *
 * Requests answer once. Tasks also send `progress` and can be cancelled (JSON-RPC `$/cancelRequest`);
 * cancelling a change stops between steps, never inside one. Failures carry AppErrorData in `error.data`.
 */
import * as z from "zod/mini";
import type { AppErrorData } from "../errors.ts";
import type { GpuPlan, PlanStep } from "../mig/types.ts";
import { clusterSubject, parentSubject } from "../organisation/subject.ts";
import type { Change } from "./changes.ts";
import {
  type Account,
  type AuditPageView,
  type AuditVerdictView,
  administratorSchema,
  auditListSchema,
  auditSlurmSchema,
  type Consequences,
  type ControlEvent,
  type Drift,
  type DriftResult,
  driftResolveSchema,
  type EngineStatus,
  explainSchema,
  grantCutSchema,
  type LeaseView,
  leadSchema,
  leaseReleaseSchema,
  leaseTakeSchema,
  type Me,
  type MemberView,
  memberAddSchema,
  memberRemoveSchema,
  type Organisation,
  type ProjectView,
  peopleSearchSchema,
  projectAddSchema,
  projectRemoveSchema,
  projectRenameSchema,
  type QuotaAnswer,
  type QuotaProgress,
  type QuotaResult,
  quotaSetSchema,
  type RequestsAnswer,
  type RequestView,
  requestAskSchema,
  requestDecideSchema,
  requestWithdrawSchema,
  rolesSchema,
  type SlurmTransactionView,
  subjectSchema,
  type TenantView,
  tenantCreateSchema,
  tenantRemoveSchema,
  tenantRenameSchema,
  type WaitReason,
} from "./control.ts";
import type { HostInventory } from "./inventory.ts";
import { administrator, anyone, leadOf, memberOf, type Needs, participant } from "./needs.ts";

export { protocolVersion } from "./version.ts";

const count = z.int().check(z.nonnegative());

/** -1 stands for what the driver did not give (`unknownNumber` of shared/mig): an instance that stays as it is may carry it. */
const countOrUnknown = z.int().check(z.minimum(-1));

export const layoutComputeInstanceSchema = z.object({
  profileId: countOrUnknown,
  start: countOrUnknown,
  id: z.optional(count),
});

export const layoutInstanceSchema = z.object({
  profileId: count,
  start: count,
  id: z.optional(count),
  computeInstances: z.optional(z.array(layoutComputeInstanceSchema).check(z.maxLength(16))),
  inUse: z.optional(z.boolean()),
});

export const layoutSchema = z.object({
  migEnabled: z.boolean(),
  instances: z.array(layoutInstanceSchema).check(z.maxLength(16)),
});

/** What one GPU should become. */
export const wantedGpuSchema = z.object({
  gpuUuid: z.string().check(z.minLength(1), z.maxLength(64)),
  layout: layoutSchema,
  /** The layout version the operator was looking at; refused as `stale-plan` where it is no longer that. */
  basedOn: z.optional(z.string()),
});
export type WantedGpu = z.infer<typeof wantedGpuSchema>;

export const planRequestSchema = z.object({ gpus: z.array(wantedGpuSchema).check(z.minLength(1), z.maxLength(64)) });
export type PlanRequest = z.infer<typeof planRequestSchema>;

export const applyRequestSchema = z.object({
  gpus: z.array(wantedGpuSchema).check(z.minLength(1), z.maxLength(64)),
  /** Prints the exact commands and changes nothing. */
  dryRun: z.optional(z.boolean()),
  /** Who asked, for the journal; the operating system's word on the caller stands beside it. */
  reason: z.optional(z.string().check(z.maxLength(500))),
});
export type ApplyRequest = z.infer<typeof applyRequestSchema>;

export const recoverRequestSchema = z.object({
  operationId: z.string(),
  /** Finish what was begun, or go back to the layout before. */
  way: z.enum(["finish", "roll-back"]),
});
export type RecoverRequest = z.infer<typeof recoverRequestSchema>;

export const undoRequestSchema = z.object({
  /** The operation to undo; the newest one when absent. */
  operationId: z.optional(z.string()),
  dryRun: z.optional(z.boolean()),
});
export type UndoRequest = z.infer<typeof undoRequestSchema>;

export const restoreRequestSchema = z.object({ dryRun: z.optional(z.boolean()) });

export const watchRequestSchema = z.object({
  intervalMs: z.int().check(z.minimum(500), z.maximum(600_000)),
  /** The caller opens many hosts and sends `watch.complete` once it has seen the GPUs of all of them. */
  untilComplete: z.optional(z.boolean()),
});

export const helloRequestSchema = z.object({ protocolVersion: z.int(), client: z.string().check(z.maxLength(200)) });

export interface Hello {
  readonly protocolVersion: number;
  readonly version: string;
  readonly hostName: string;
  /** Whether this process may change the driver's state. */
  readonly root: boolean;
  /** The login that called, from the operating system (`SUDO_UID`, else the process's own). */
  readonly caller: { readonly uid: number; readonly user: string | null };
}

export interface HostPlan {
  readonly host: string;
  readonly gpus: readonly GpuPlan[];
}

export type StepOutcome =
  | { readonly kind: "started" }
  | { readonly kind: "done"; readonly durationMs: number }
  | { readonly kind: "failed"; readonly durationMs: number; readonly message: string };

export interface StepProgress {
  readonly operationId: string;
  readonly gpuUuid: string;
  /** Position in the GPU's plan; rolling back counts from 0 again with `rollingBack`. */
  readonly stepIndex: number;
  readonly stepCount: number;
  readonly step: PlanStep;
  readonly commands: readonly (readonly string[])[];
  readonly rollingBack: boolean;
  readonly outcome: StepOutcome;
}

export interface ApplyResult {
  readonly operationId: string | null;
  /** `applied`: as wanted; `unchanged`: nothing to do; `rolled-back`: as before; `cancelled`: stopped between steps and rolled back. */
  readonly outcome: "applied" | "unchanged" | "rolled-back" | "cancelled" | "dry-run";
  readonly gpus: readonly GpuPlan[];
  /** The exact commands, in order: those run, or with `dryRun` those that would be. */
  readonly commands: readonly (readonly string[])[];
  /** Why the operation was rolled back. */
  readonly failure?: AppErrorData;
  /** `mig.restore` only: the GPUs whose saved layout could not come back, and why. The others were restored all the same. */
  readonly skipped?: readonly { readonly gpuUuid: string; readonly error: AppErrorData }[];
}

/** One journalled operation. */
export interface Operation {
  readonly id: string;
  readonly kind: "apply" | "undo" | "restore";
  /** `open`: it did not come to its end; finish it or roll it back. */
  readonly state: "open" | "applied" | "rolled-back" | "cancelled";
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly caller: { readonly uid: number; readonly user: string | null };
  readonly reason: string | null;
  readonly gpus: readonly GpuPlan[];
  /** Steps whose outcome is journalled, and the one that was begun last. */
  readonly doneSteps: number;
  readonly begunStep: { readonly gpuUuid: string; readonly step: PlanStep } | null;
  /** Where an open operation stands, one sentence. */
  readonly statement?: string;
}

export interface MigStatus {
  /** Newest first, at most 50. */
  readonly operations: readonly Operation[];
  readonly open: Operation | null;
  /** Somebody is at work on the open operation at this moment: it needs no decision. */
  readonly running: boolean;
  /** The operation that `mig.undo` takes when none is named; null where there is nothing to undo. */
  readonly undoable: string | null;
  /** Layouts saved to come back after a reboot, by GPU UUID, and whether they are what stands now. */
  readonly saved: readonly { readonly gpuUuid: string; readonly matches: boolean }[];
  readonly restoreOffered: boolean;
}

export interface DoctorFinding {
  readonly check: string;
  readonly level: "ok" | "warning" | "problem";
  readonly message: string;
  readonly remedy: string;
}

/**
 * `watch` says at least this often that it is alive, with an empty list of changes where nothing changed:
 * what is silent for longer is shown as stale. 64 hosts stay below 1 KB/s with it.
 */
export const watchHeartbeatMs = 30_000;

/**
 * What `watch` pushes: only what changed since the push before, addressed into HostInventory. The first push
 * carries the whole as one change with an empty path. `HostInventory.takenAt` itself is not among the changes.
 */
export interface WatchEvent {
  /** Counts from 0 by one: a gap means that a push was lost and that the watch must begin again. */
  readonly revision: number;
  /** When the inventory was last known to be true, the host's clock. */
  readonly takenAt: string;
  readonly changes: readonly Change[];
}

type Phantom<T> = { readonly type?: T };
interface Entry<S> {
  readonly input: S;
  /** Who may call it. */
  readonly needs: Needs<z.output<S>>;
}
export interface RequestEntry<S, Answer> extends Entry<S>, Phantom<Answer> {
  readonly kind: "request";
}
export interface TaskEntry<S, Progress, Answer> extends Entry<S>, Phantom<Answer> {
  readonly kind: "task";
  readonly progress?: Progress;
}

function request<Answer>() {
  return <S extends z.ZodMiniType>(input: S, needs: Needs<NoInfer<z.output<S>>>): RequestEntry<S, Answer> => ({
    kind: "request",
    input,
    needs,
  });
}
function task<Progress, Answer>() {
  return <S extends z.ZodMiniType>(input: S, needs: Needs<NoInfer<z.output<S>>>): TaskEntry<S, Progress, Answer> => ({
    kind: "task",
    input,
    needs,
  });
}

const nothing = z.object({});

export const hostContract = {
  hello: request<Hello>()(helloRequestSchema, anyone),
  inventory: request<HostInventory>()(nothing, anyone),
  /** Answers with the whole, then pushes `watch` events until cancelled or the channel closes. */
  watch: task<WatchEvent, null>()(watchRequestSchema, anyone),
  /** Reads at once what the first push of a watch `untilComplete` left out: links, managers, Xid events. */
  "watch.complete": request<null>()(nothing, anyone),
  "mig.plan": request<HostPlan>()(planRequestSchema, administrator),
  "mig.apply": task<StepProgress, ApplyResult>()(applyRequestSchema, administrator),
  "mig.undo": task<StepProgress, ApplyResult>()(undoRequestSchema, administrator),
  "mig.recover": task<StepProgress, ApplyResult>()(recoverRequestSchema, administrator),
  "mig.status": request<MigStatus>()(nothing, administrator),
  "mig.save": request<{ readonly savedGpus: number }>()(nothing, administrator),
  "mig.restore": task<StepProgress, ApplyResult>()(restoreRequestSchema, administrator),
  doctor: request<readonly DoctorFinding[]>()(nothing, administrator),

  "identity.me": request<Me>()(nothing, anyone),
  /**
   * Makes this host the control host: a ledger, and the caller as its first administrator. `auto` takes Slurm where its
   * accounting answers. Refused as `conflict` where there is a ledger.
   */
  "ledger.create": request<Me>()(z.object({ engine: z.enum(["auto", "local", "slurm"]) }), administrator),
  /** Takes a copy of the roles for a host that has no ledger. Refused as `bad-request` where there is one. */
  "roles.put": request<null>()(rolesSchema, administrator),
  "people.search": request<readonly Account[]>()(
    peopleSearchSchema,
    leadOf(({ subject }) => subject),
  ),

  "organisation.get": request<Organisation>()(nothing, participant),
  "administrator.add": request<MemberView>()(administratorSchema, administrator),
  "administrator.remove": request<null>()(administratorSchema, administrator),
  "tenant.create": request<TenantView>()(tenantCreateSchema, administrator),
  "tenant.rename": request<null>()(tenantRenameSchema, administrator),
  "tenant.remove": request<null>()(tenantRemoveSchema, administrator),
  "lead.add": request<MemberView>()(leadSchema, administrator),
  "lead.remove": request<null>()(leadSchema, administrator),
  "project.add": request<ProjectView>()(
    projectAddSchema,
    leadOf(({ tenantId }) => tenantId),
  ),
  "project.rename": request<null>()(
    projectRenameSchema,
    leadOf(({ projectId }) => projectId),
  ),
  "project.remove": request<null>()(
    projectRemoveSchema,
    leadOf(({ projectId }) => projectId),
  ),
  "member.add": request<MemberView>()(
    memberAddSchema,
    leadOf(({ projectId }) => projectId),
  ),
  "member.remove": request<null>()(
    memberRemoveSchema,
    leadOf(({ projectId }) => projectId),
  ),
  /** What removing a tenant, a project or a member would cancel or leave without an owner. */
  "removal.consequences": request<Consequences>()(
    z.object({ subject: subjectSchema }),
    leadOf(({ subject }) => subject),
  ),

  "quota.get": request<QuotaAnswer>()(nothing, participant),
  /** Limits of a tenant are set by who may change the cluster, of a project and a person by a lead, below the parent's. */
  "quota.set": task<QuotaProgress, QuotaResult>()(
    quotaSetSchema,
    leadOf(({ edits }) => edits.map(({ subject }) => parentSubject(subject) ?? clusterSubject)),
  ),
  "quota.explain": request<WaitReason>()(
    explainSchema,
    memberOf(({ subject }) => subject),
  ),
  "engine.status": request<EngineStatus>()(nothing, administrator),
  "engine.drift": request<readonly Drift[]>()(nothing, administrator),
  "engine.resolve": task<QuotaProgress, DriftResult>()(driftResolveSchema, administrator),

  "requests.list": request<RequestsAnswer>()(nothing, participant),
  "request.ask": request<RequestView>()(
    requestAskSchema,
    memberOf(({ subject }) => subject),
  ),
  "request.withdraw": request<null>()(
    requestWithdrawSchema,
    memberOf(({ subject }) => subject),
  ),
  /** By a lead where the raise fits the tenant, else by an administrator; what is approved applies at once. */
  "request.decide": request<RequestView>()(
    requestDecideSchema,
    leadOf(({ subject }) => subject),
  ),
  "grant.cut": request<null>()(
    grantCutSchema,
    leadOf(({ subject }) => subject),
  ),

  "leases.list": request<readonly LeaseView[]>()(nothing, participant),
  "lease.take": request<LeaseView>()(
    leaseTakeSchema,
    memberOf(({ projectId }) => projectId),
  ),
  "lease.release": request<null>()(
    leaseReleaseSchema,
    memberOf(({ subject }) => subject),
  ),

  "audit.list": request<AuditPageView>()(
    auditListSchema,
    leadOf(({ subject }) => subject),
  ),
  "audit.verify": request<AuditVerdictView>()(nothing, administrator),
  "audit.slurm": request<readonly SlurmTransactionView[]>()(auditSlurmSchema, administrator),

  /** Pushes when what `organisation.get`, `quota.get` and `requests.list` answer may have changed, until cancelled. */
  "control.watch": task<ControlEvent, null>()(nothing, participant),
} as const;

export type HostContract = typeof hostContract;
export type HostMethod = keyof HostContract;
export type HostInput<M extends HostMethod> = z.infer<HostContract[M]["input"]>;
export type HostAnswer<M extends HostMethod> = Exclude<HostContract[M]["type"], undefined>;
export type HostTask = { [M in HostMethod]: HostContract[M] extends { kind: "task" } ? M : never }[HostMethod];
export type HostProgress<M extends HostTask> = Exclude<HostContract[M]["progress"], undefined>;

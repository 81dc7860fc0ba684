/**
 * The contract between the console's pages and its services. Handlers, validation, the preload bridge and
 * the client are all derived from this one map; the renderer imports its types only.
 *
 * `request` answers once. `task` also sends progress and can be cancelled; it has exactly one end.
 * `subscription` sends events until it is closed.
 */
import * as z from "zod/mini";
import type { AppErrorData } from "../errors.ts";
import type { ApplyResult, DoctorFinding, HostPlan, MigStatus, StepProgress } from "../protocol/contract.ts";
import { type HostContract, hostContract, layoutSchema, recoverRequestSchema } from "../protocol/contract.ts";
import type { Me } from "../protocol/control.ts";
import type { SnapshotEvent } from "./snapshot.ts";

const id = z.string().check(z.minLength(1), z.maxLength(200));
const text = z.string().check(z.maxLength(2_000));
const nothing = z.object({});

export interface RequestEntry<S, Answer> {
  readonly kind: "request";
  readonly input: S;
  readonly answer?: Answer;
}
export interface TaskEntry<S, Progress, Answer> {
  readonly kind: "task";
  readonly input: S;
  readonly progress?: Progress;
  readonly answer?: Answer;
}
export interface SubscriptionEntry<S, Event> {
  readonly kind: "subscription";
  readonly input: S;
  readonly event?: Event;
}

function request<Answer>() {
  return <S>(input: S): RequestEntry<S, Answer> => ({ kind: "request", input });
}
function task<Progress, Answer>() {
  return <S>(input: S): TaskEntry<S, Progress, Answer> => ({ kind: "task", input });
}
function subscription<Event>() {
  return <S>(input: S): SubscriptionEntry<S, Event> => ({ kind: "subscription", input });
}

/** A command of the cluster's control host, offered to the pages under its own name. */
type ControlEntry<Entry> = Entry extends {
  readonly kind: "request";
  readonly input: infer S extends z.ZodMiniType;
  readonly type?: infer Answer;
}
  ? RequestEntry<ControlInput<S>, Exclude<Answer, undefined>>
  : Entry extends {
        readonly kind: "task";
        readonly input: infer S extends z.ZodMiniType;
        readonly progress?: infer Progress;
        readonly type?: infer Answer;
      }
    ? TaskEntry<ControlInput<S>, Exclude<Progress, undefined>, Exclude<Answer, undefined>>
    : never;
type ControlInput<S extends z.ZodMiniType> = z.ZodMiniObject<{ clusterId: typeof id; input: S }>;

function onControlHost<M extends keyof HostContract>(method: M): ControlEntry<HostContract[M]> {
  const { kind, input } = hostContract[method];
  return { kind, input: z.object({ clusterId: id, input }) } as unknown as ControlEntry<HostContract[M]>;
}

/** Where a cluster's ledger stands and who the operator is to it. */
export interface ControlState {
  /** The host that was found, also while it cannot be reached; null where none was. */
  readonly controlHostId: string | null;
  readonly state: "none" | "connecting" | "no-ledger" | "ready" | "failed";
  readonly me: Me | null;
  /** Why it failed. */
  readonly error: AppErrorData | null;
  /** Ask again for what is shown of the ledger when it changes. */
  readonly ledgerRevision: number;
  /** Ask again for usage, jobs and leases when it changes. */
  readonly usageRevision: number;
  /** Names of connected hosts that did not take the roles: they decide by older ones. Known to administrators' consoles. */
  readonly rolesBehind: readonly string[];
}

export interface AppInfo {
  readonly version: string;
  readonly platform: string;
  readonly desktop: boolean;
  /** Where secrets are kept: the system's keyring, or memory only until the console ends. */
  readonly secrets: "system" | "memory";
  readonly demo: boolean;
  /** Why what is added now is gone when the console ends: disk full, file damaged. Null or absent when all is kept. */
  readonly storeTrouble?: AppErrorData | null;
}

export interface ClusterInfo {
  readonly id: string;
  readonly name: string;
  readonly kind: "ssh" | "demo";
  readonly hostCount: number;
  readonly connected: boolean;
}

/** How hosts are sorted into racks: a pattern over the name with one group, or a rack for each host. */
export const rackRuleSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("pattern"), pattern: z.string().check(z.maxLength(200)) }),
  z.object({ kind: z.literal("map"), racks: z.record(z.string(), z.string()) }),
  z.object({ kind: z.literal("none") }),
]);
export type RackRule = z.infer<typeof rackRuleSchema>;

/** A host as the operator writes it: an alias of ssh config or `[user@]host[:port]`. */
export const clusterDraftSchema = z.object({
  name: z.string().check(z.minLength(1), z.maxLength(80)),
  hosts: z.array(z.string().check(z.minLength(1), z.maxLength(255))).check(z.minLength(1), z.maxLength(10_000)),
  racks: rackRuleSchema,
  /** Seconds between two looks at a host. */
  refreshSeconds: z.optional(z.int().check(z.minimum(1), z.maximum(600))),
  /** SSH keepalive; 0 sends none. */
  keepaliveSeconds: z.optional(z.int().check(z.minimum(0), z.maximum(3_600))),
  /** The host with the ledger. Absent: the first that says it has one, else the first of the hosts. */
  controlHost: z.optional(z.string().check(z.minLength(1), z.maxLength(255))),
});
export type ClusterDraft = z.infer<typeof clusterDraftSchema>;

export interface SshAlias {
  readonly alias: string;
  readonly hostName: string | null;
  /** The file it stands in. */
  readonly file: string;
}

/** A question only a person can answer. Whatever is unanswered holds up one host, never the others. */
export type Prompt = {
  readonly id: string;
  readonly clusterId: string;
  readonly host: string;
} & (
  | {
      readonly kind: "host-key-unknown";
      readonly keyType: string;
      /** `SHA256:...`, as OpenSSH prints it. */
      readonly fingerprint: string;
      readonly knownHostsFile: string;
    }
  | {
      readonly kind: "host-key-changed";
      readonly keyType: string;
      readonly fingerprint: string;
      readonly knownFingerprints: readonly string[];
      readonly knownHostsFile: string;
      readonly line: number;
    }
  | { readonly kind: "password"; readonly user: string; readonly attempt: number }
  | { readonly kind: "passphrase"; readonly keyFile: string; readonly attempt: number }
  | {
      readonly kind: "keyboard-interactive";
      readonly name: string;
      readonly instructions: string;
      readonly questions: readonly { readonly text: string; readonly echo: boolean }[];
    }
);

export type PromptEvent =
  | { readonly kind: "asked"; readonly prompt: Prompt }
  /** Answered here or elsewhere, or no longer needed. */
  | { readonly kind: "gone"; readonly promptId: string };

export const promptAnswerSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("cancel") }),
  z.object({ kind: z.literal("accept-host-key"), remember: z.boolean() }),
  z.object({ kind: z.literal("secrets"), values: z.array(z.string()).check(z.maxLength(20)), remember: z.boolean() }),
]);
export type PromptAnswer = z.infer<typeof promptAnswerSchema>;

/** The wanted layouts of a draft, by host. */
export const partitionDraftSchema = z.object({
  clusterId: id,
  hosts: z
    .array(
      z.object({
        hostId: id,
        gpus: z
          .array(z.object({ gpuUuid: id, layout: layoutSchema, basedOn: z.optional(z.string()) }))
          .check(z.minLength(1), z.maxLength(64)),
      }),
    )
    .check(z.minLength(1), z.maxLength(2_000)),
});
export type PartitionDraft = z.infer<typeof partitionDraftSchema>;

/** One host's plan, or why it has none; one host's refusal does not hide the others' plans. */
export type HostPlanResult = { readonly hostId: string } & (
  | { readonly ok: true; readonly plan: HostPlan }
  | { readonly ok: false; readonly error: AppErrorData }
);

export type PartitionProgress = { readonly hostId: string } & (
  | { readonly kind: "step"; readonly progress: StepProgress }
  | { readonly kind: "host-done"; readonly result: ApplyResult }
  | { readonly kind: "host-failed"; readonly error: AppErrorData }
);

export type HostApplyResult = { readonly hostId: string } & (
  | { readonly ok: true; readonly result: ApplyResult }
  | { readonly ok: false; readonly error: AppErrorData }
);

export interface TroubleEvent {
  readonly at: string;
  readonly level: "info" | "warning" | "error";
  readonly host: string | null;
  readonly what: string;
  readonly durationMs: number | null;
  readonly error: AppErrorData | null;
}

export const settingsSchema = z.object({
  language: z.enum(["system", "en", "zh-CN"]),
  theme: z.enum(["system", "light", "dark", "high-contrast"]),
});
export type Settings = z.infer<typeof settingsSchema>;

export const api = {
  "app.info": request<AppInfo>()(nothing),
  "settings.get": request<Settings>()(nothing),
  "settings.set": request<Settings>()(settingsSchema),

  "clusters.list": request<readonly ClusterInfo[]>()(nothing),
  "clusters.add": request<ClusterInfo>()(clusterDraftSchema),
  "clusters.get": request<ClusterDraft>()(z.object({ clusterId: id })),
  "clusters.update": request<ClusterInfo>()(z.object({ clusterId: id, draft: clusterDraftSchema })),
  "clusters.remove": request<null>()(z.object({ clusterId: id })),
  "clusters.connect": request<null>()(z.object({ clusterId: id })),
  "clusters.disconnect": request<null>()(z.object({ clusterId: id })),
  /** Tries a host that is unreachable or refused again now. */
  "clusters.retry": request<null>()(z.object({ clusterId: id, hostId: id })),
  "clusters.sshAliases": request<readonly SshAlias[]>()(nothing),
  /** Reads hosts out of text: one host a line, or a JSON cluster file as `clusters.get` answers it. */
  "clusters.parseFile": request<ClusterDraft>()(
    z.object({ name: text, content: z.string().check(z.maxLength(4_000_000)) }),
  ),

  snapshot: subscription<SnapshotEvent>()(z.object({ clusterId: id })),
  prompts: subscription<PromptEvent>()(nothing),
  "prompts.answer": request<null>()(z.object({ promptId: id, answer: promptAnswerSchema })),

  "partition.plan": request<readonly HostPlanResult[]>()(partitionDraftSchema),
  "partition.apply": task<PartitionProgress, readonly HostApplyResult[]>()(partitionDraftSchema),
  "partition.undo": task<PartitionProgress, readonly HostApplyResult[]>()(
    z.object({ clusterId: id, operations: z.array(z.object({ hostId: id, operationId: id })).check(z.minLength(1)) }),
  ),
  "partition.recover": task<PartitionProgress, readonly HostApplyResult[]>()(
    z.object({ clusterId: id, hostId: id, operationId: id, way: recoverRequestSchema.shape.way }),
  ),
  "partition.restore": task<PartitionProgress, readonly HostApplyResult[]>()(z.object({ clusterId: id, hostId: id })),
  "partition.save": request<{ readonly savedGpus: number }>()(z.object({ clusterId: id, hostId: id })),
  "partition.status": request<MigStatus>()(z.object({ clusterId: id, hostId: id })),
  "host.doctor": request<readonly DoctorFinding[]>()(z.object({ clusterId: id, hostId: id })),

  /** Where the control host stands; the first event comes at once. */
  "control.state": subscription<ControlState>()(z.object({ clusterId: id })),

  "identity.me": onControlHost("identity.me"),
  "ledger.create": onControlHost("ledger.create"),
  "people.search": onControlHost("people.search"),

  "organisation.get": onControlHost("organisation.get"),
  "administrator.add": onControlHost("administrator.add"),
  "administrator.remove": onControlHost("administrator.remove"),
  "tenant.create": onControlHost("tenant.create"),
  "tenant.rename": onControlHost("tenant.rename"),
  "tenant.remove": onControlHost("tenant.remove"),
  "lead.add": onControlHost("lead.add"),
  "lead.remove": onControlHost("lead.remove"),
  "project.add": onControlHost("project.add"),
  "project.rename": onControlHost("project.rename"),
  "project.remove": onControlHost("project.remove"),
  "member.add": onControlHost("member.add"),
  "member.remove": onControlHost("member.remove"),
  "removal.consequences": onControlHost("removal.consequences"),

  "quota.get": onControlHost("quota.get"),
  "quota.set": onControlHost("quota.set"),
  "quota.explain": onControlHost("quota.explain"),
  "engine.status": onControlHost("engine.status"),
  "engine.drift": onControlHost("engine.drift"),
  "engine.resolve": onControlHost("engine.resolve"),

  "requests.list": onControlHost("requests.list"),
  "request.ask": onControlHost("request.ask"),
  "request.withdraw": onControlHost("request.withdraw"),
  "request.decide": onControlHost("request.decide"),
  "grant.cut": onControlHost("grant.cut"),

  "leases.list": onControlHost("leases.list"),
  "lease.take": onControlHost("lease.take"),
  "lease.release": onControlHost("lease.release"),

  "audit.list": onControlHost("audit.list"),
  "audit.verify": onControlHost("audit.verify"),
  "audit.slurm": onControlHost("audit.slurm"),

  "troubleshooting.events": subscription<readonly TroubleEvent[]>()(nothing),
} as const;

export type Api = typeof api;
export type ApiName = keyof Api;
type NamesOf<Kind> = { [N in ApiName]: Api[N]["kind"] extends Kind ? N : never }[ApiName];
export type RequestName = NamesOf<"request">;
export type TaskName = NamesOf<"task">;
export type SubscriptionName = NamesOf<"subscription">;
export type ApiInput<N extends ApiName> = z.infer<Api[N]["input"]>;
export type ApiAnswer<N extends RequestName | TaskName> = Exclude<Api[N]["answer"], undefined>;
export type ApiProgress<N extends TaskName> = Exclude<Api[N]["progress"], undefined>;
export type ApiEvent<N extends SubscriptionName> = Exclude<Api[N]["event"], undefined>;

/** The envelopes on the wire, whatever carries it. `id` is the caller's. */
export type ClientMessage =
  | { readonly kind: "call"; readonly id: number; readonly name: string; readonly input: unknown }
  /** Cancels a task or request, or closes a subscription. */
  | { readonly kind: "cancel"; readonly id: number };

export type ServerMessage =
  | { readonly kind: "end"; readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly kind: "end"; readonly id: number; readonly ok: false; readonly error: AppErrorData }
  /** Progress of a task, event of a subscription. `seq` counts from 0 within one id. */
  | { readonly kind: "event"; readonly id: number; readonly seq: number; readonly event: unknown };

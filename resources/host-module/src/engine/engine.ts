/**
 * What keeps limits for real: `local` for one machine, whose projects take leases on instances, and `slurm`, whose
 * slurmdbd is the truth about accounts, limits and usage. The ledger says what is wanted; the engine says what is.
 *
 * Whatever changes an engine is recorded in the audit as `begun` before, and as what came of it after, by the caller.
 */
import type { AppErrorData } from "../../../../shared/errors.ts";
import type {
  AllocationView,
  AuditSlurmInput,
  EngineKind,
  EngineStatus,
  SlurmTransactionView,
  WaitReason,
} from "../../../../shared/protocol/control.ts";
import type { Baseline, Limits, Period, Usage } from "../../../../shared/quota/index.ts";

/** A person as both sides know them: the uid is the ledger's, the name is what Slurm's accounting has. */
export interface EnginePerson {
  readonly uid: number;
  readonly user: string;
}

/** Subjects are ids of shared/organisation: `t3f2k`, `t3f2k_p01`; limits are whole, what is absent is cleared. */
export type EngineChange =
  | { readonly kind: "add-tenant"; readonly tenantId: string }
  | { readonly kind: "remove-tenant"; readonly tenantId: string }
  | { readonly kind: "add-project"; readonly projectId: string }
  | { readonly kind: "remove-project"; readonly projectId: string }
  | { readonly kind: "add-member"; readonly projectId: string; readonly person: EnginePerson }
  | { readonly kind: "remove-member"; readonly projectId: string; readonly person: EnginePerson }
  /** `person` where the subject is one. `before` is what stood there: only what differs is sent. */
  | {
      readonly kind: "set-limits";
      readonly subject: string;
      readonly person: EnginePerson | null;
      readonly before: Limits;
      readonly limits: Limits;
      /** Minutes on the counter of card-hours that do not count, on top of the limit there and of that wanted; default 0. */
      readonly notCounted?: { readonly before: number; readonly after: number };
    };

/** `unknown`: the engine may have done it; read its state back before anything else. */
export type EngineOutcome =
  | { readonly outcome: "done" | "unchanged" }
  | { readonly outcome: "failed" | "unknown"; readonly error: AppErrorData };

/** What the engine has of ours, whether or not the ledger knows it. Accounts that are not named as ours are left out. */
export interface EngineState {
  /** By subject: tenants, projects and people as `t3f2k_p01/12001`. */
  readonly subjects: ReadonlyMap<string, EngineSubject>;
  /** What could not be read, one sentence each; the rest stands. */
  readonly unread: readonly string[];
}
export interface EngineSubject {
  readonly limits: Limits;
  /** Limits that are no limits of ours (`MaxWall`, a QOS ...), in the engine's own words. */
  readonly foreign: readonly string[];
  /** People with more rights over it than we give: Slurm's coordinators. */
  readonly coordinators: readonly string[];
}

/**
 * The period of the limit on card-hours that a subject itself has in the ledger; null where it has none. Slurm counts
 * hours and knows no periods: what it says is given under these.
 */
export type PeriodOf = (subject: string) => Period | null;

/** Use that does not count: what stood on the engine's counter when a period began. */
export interface Baselines {
  /** Of a subject's own row in a period; null where all counts. */
  of(subject: string, period: Period): (Baseline & { readonly counter: string }) | null;
  /** The minutes that stand in the engine's limit of a subject on top of the ledger's. */
  inLimit(subject: string): number;
}

export const noBaselines: Baselines = { of: () => null, inLimit: () => 0 };

/** An engine's counter of card-hours, which nobody sets back. */
export interface CardHoursCounter {
  /** What it counts: `gres/cardshare`. Minutes are of one of these. */
  readonly counter: string;
  /** Whole minutes by subject, of each with what is below it. Who is not there has no row in the engine. */
  readonly minutes: ReadonlyMap<string, number>;
  /** In which time use fades to its half; null where it does not. */
  readonly halfLifeSeconds: number | null;
}

export interface Engine {
  readonly kind: EngineKind;
  status(): Promise<EngineStatus>;
  /**
   * What of these limits the engine can hold, as `state` would read it back: what it cannot is not enforced, as `status`
   * tells, and no difference from the ledger. Throws AppError `bad-request` for what cannot be written in the engine.
   */
  kept(limits: Limits): Limits;
  /**
   * `people` names the uids of users: Slurm knows names only. Users without one are left out and listed as unread.
   * Throws AppError where nothing answered.
   */
  state(people: readonly EnginePerson[], periodOf: PeriodOf, baselines?: Baselines): Promise<EngineState>;
  /**
   * In use now by subject, of each itself without what is below it; card-hours under every period that a limit on the way
   * up has. Throws AppError where nothing answered.
   */
  usage(
    people: readonly EnginePerson[],
    periodOf: PeriodOf,
    baselines?: Baselines,
  ): Promise<ReadonlyMap<string, Usage>>;
  /**
   * What was used since counting began; null for an engine that counts each period by itself. Throws AppError where nothing
   * answered.
   */
  counted(people: readonly EnginePerson[]): Promise<CardHoursCounter | null>;
  /** The exact commands, without running them; empty where none are run. Throws AppError `bad-request` for what cannot be. */
  commands(changes: readonly EngineChange[]): readonly (readonly string[])[];
  /**
   * Makes the changes in their order, joined where the engine can. Never throws for one that fails: the outcomes stand in
   * the order of the changes, and the others are made all the same. `done` counts changes.
   */
  apply(
    changes: readonly EngineChange[],
    options: { readonly signal?: AbortSignal; readonly progress?: (done: number) => void },
  ): Promise<readonly EngineOutcome[]>;
  /** Jobs or leases, running and waiting. Throws AppError where nothing answered. */
  allocations(people: readonly EnginePerson[]): Promise<readonly AllocationView[]>;
  /** Ends jobs or leases. Throws AppError with those that are still there. */
  cancel(ids: readonly string[]): Promise<void>;
  /** Why one waits. Throws AppError `not-found`. */
  explain(
    allocationId: string,
    people: readonly EnginePerson[],
    periodOf: PeriodOf,
    baselines?: Baselines,
  ): Promise<WaitReason>;
  /** What the engine was told by anybody on these days (UTC), newest first; empty for the local engine. */
  transactions(days: AuditSlurmInput): Promise<readonly SlurmTransactionView[]>;
}

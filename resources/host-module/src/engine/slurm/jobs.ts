/** Slurm's jobs as allocations, and why one waits in terms of our limits. */
import { parseSubject, personSubject } from "../../../../../shared/organisation/subject.ts";
import type { AllocationView, WaitReason } from "../../../../../shared/protocol/control.ts";
import {
  cardHoursResource,
  countedMinutes,
  type Fraction,
  fraction,
  type Period,
  zero,
} from "../../../../../shared/quota/index.ts";
import { askedTres, type SlurmJob } from "../../slurm/jobs.ts";
import type { LimitCheck, LimitLevel, WaitExplanation } from "../../slurm/wait-reason.ts";
import type { EnginePerson, PeriodOf } from "../engine.ts";
import { amountsFromSlurm, resourceOfTres, type SlurmResources } from "./limit-mapping.ts";
import { type NotCounted, subjectOfAccount } from "./state.ts";

const ended: ReadonlySet<string> = new Set(
  "COMPLETED CANCELLED FAILED TIMEOUT NODE_FAIL PREEMPTED BOOT_FAIL DEADLINE OUT_OF_MEMORY REVOKED".split(" "),
);

/** Running, waiting, or on its way out; null once nothing of it is left. */
export function stateOfJob({ state, flags }: SlurmJob): AllocationView["state"] | null {
  if (state === "PENDING") return "waiting";
  return state === null || (ended.has(state) && !flags.includes("COMPLETING")) ? null : "running";
}

/** Those that run and wait; of accounts that are not ours with the subject null. */
export function allocationsOf(
  jobs: readonly SlurmJob[],
  people: readonly EnginePerson[],
  resources: SlurmResources,
): readonly AllocationView[] {
  const uids = new Map(people.map(({ user, uid }) => [user, uid]));
  return jobs.flatMap((job) => {
    const state = stateOfJob(job);
    return state === null ? [] : [allocationOf(job, state, uids, resources)];
  });
}

function allocationOf(
  job: SlurmJob,
  state: AllocationView["state"],
  uids: ReadonlyMap<string, number>,
  resources: SlurmResources,
): AllocationView {
  const isRunning = state === "running";
  const held = Object.keys(job.allocatedTres).length > 0 ? job.allocatedTres : askedTres(job);
  const { cards, gpuMemoryGiB, cpuCores, memoryGiB, gpuTypes } = amountsFromSlurm(
    isRunning ? held : askedTres(job),
    resources,
  );
  const uid = job.user === null ? undefined : (uids.get(job.user) ?? job.userId ?? undefined);
  const isOurs = job.account !== null && parseSubject(job.account)?.level === "project";
  return {
    id: String(job.id),
    kind: "job",
    subject: isOurs && job.account !== null && uid !== undefined ? personSubject(job.account, uid) : null,
    user: job.user,
    name: job.name ?? "",
    state,
    cards: cards ?? zero,
    gpuMemoryGiB: gpuMemoryGiB ?? zero,
    cpuCores: cpuCores ?? zero,
    memoryGiB: memoryGiB ?? zero,
    gpuTypes: Object.fromEntries(Object.entries(gpuTypes ?? {}).map(([type, { numerator }]) => [type, numerator])),
    startedAt: isRunning ? timeOf(job.startedAt) : null,
    endsAt: isRunning && typeof job.timeLimitMinutes === "number" ? timeOf(job.endsAt) : null,
    hosts: isRunning ? job.nodes : null,
    reason: isRunning ? null : job.reason,
  };
}

export function timeOf(seconds: number | null): string | null {
  return seconds === null ? null : new Date(seconds * 1000).toISOString();
}

/** Minutes that do not count: those that stand in Slurm's limit, and those that are left of them in its use. */
export interface CardHoursOff {
  readonly fromLimit: (subject: string) => number;
  readonly fromUse: NotCounted;
}
const nothingOff: CardHoursOff = { fromLimit: () => 0, fromUse: () => 0 };

/** Slurm's explanation in our subjects and units; the sentence is empty where limits block, for it is said by who may see them. */
export function waitReasonOf(
  explanation: WaitExplanation,
  people: readonly EnginePerson[],
  resources: SlurmResources,
  periodOf: PeriodOf,
  off: CardHoursOff = nothingOff,
): WaitReason {
  if (explanation.kind === "no-limit") {
    const reason = explanation.reason ?? "None";
    return { reason, sentence: `It waits for something that is no limit: Slurm says ${reason}.`, blockers: [] };
  }
  const blockers = explanation.blocks.map((check) => blockerOf(check, people, resources, periodOf, off));
  return { reason: explanation.reason, sentence: explanation.note, blockers };
}

function blockerOf(
  check: LimitCheck,
  people: readonly EnginePerson[],
  resources: SlurmResources,
  periodOf: PeriodOf,
  { fromLimit, fromUse }: CardHoursOff,
): WaitReason["blockers"][number] {
  const ours = resourceOfTres(check.limitName, check.tres, resources);
  const amount = (count: number): Fraction => fraction(Math.round(count), ours?.units ?? 1);
  const subject = subjectOfLevel(check.level, people);
  const period = subject === null ? null : periodOf(subject);
  const counts = (minutes: number, notCounted: (subject: string, period: Period) => number): number =>
    subject === null || period === null || ours?.resource !== "cardHours"
      ? minutes
      : countedMinutes(minutes, notCounted(subject, period));
  const { kind } = check.level;
  return {
    subject,
    level: kind === "qos" ? "cluster" : kind,
    name: kind === "qos" ? `QOS ${check.level.qos}` : (subject ?? check.level.user ?? check.level.account ?? ""),
    resource:
      ours === null
        ? `${check.limitName}${check.tres === null ? "" : ` ${check.tres}`}`
        : ours.resource === "cardHours"
          ? cardHoursResource(period ?? { kind: "none" })
          : ours.resource,
    limit: amount(counts(check.limit, fromLimit)),
    used: amount(counts(check.used, fromUse) + check.committed),
    asked: check.asked === null ? null : amount(check.asked),
    missing: amount(check.shortBy),
    changedBy: kind === "project" || kind === "person" ? "lead" : "administrator",
  };
}

function subjectOfLevel({ kind, account, user }: LimitLevel, people: readonly EnginePerson[]): string | null {
  if (kind === "qos") return null;
  if (kind !== "person") return subjectOfAccount(account);
  const uid = people.find((person) => person.user === user)?.uid;
  return uid === undefined || account === null || subjectOfAccount(account) === null
    ? null
    : personSubject(account, uid);
}

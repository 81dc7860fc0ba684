/**
 * Why a job waits, in terms of limits: Slurm says `AssocGrpGRES`, and neither which level of accounts blocks, nor on which
 * type of GPU, nor by how much. The association manager's live numbers tell it.
 *
 * The rules are Slurm's (acct_policy.c, resource_limits.html): shared limits hold at every level from the person's own
 * association up to the root; a limit in the job's QOS replaces the same limit of all associations.
 */
import type { AssociationManager, CountLimit, LiveAssociation, LiveGroup, LiveQos, LiveShare } from "./assoc-mgr.ts";
import { askedTres, type SlurmJob } from "./jobs.ts";
import { isOfFamily, type LimitName, type LimitReason, readLimitReason } from "./limit-reasons.ts";
import { countOf, type TresCounts, type TresLimit } from "./tres.ts";

/** Whose limit: the person's in that account, an account's by its place in the tree, or a QOS's. */
export interface LimitLevel {
  readonly kind: "person" | "project" | "tenant" | "cluster" | "qos";
  readonly account: string | null;
  readonly user: string | null;
  readonly qos: string | null;
}

/** One limit that the job comes under. */
export interface LimitCheck {
  readonly level: LimitLevel;
  readonly limitName: LimitName;
  /** `gres/gpu:a100`; null for limits on jobs and time. Memory is in MiB, minutes are minutes of one unit. */
  readonly tres: string | null;
  readonly limit: number;
  readonly used: number;
  /** What running jobs may still take of it; 0 but for GrpTRESMins. */
  readonly committed: number;
  /** Null where the job does not say: minutes of a job without time limit. */
  readonly asked: number | null;
  /** How much more the limit would have to allow, or be used less. 0 and below: this one does not block. */
  readonly shortBy: number;
}

export type WaitExplanation =
  /** It waits for something else: other jobs, nodes, a date. */
  | { readonly kind: "no-limit"; readonly reason: string | null }
  | {
      readonly kind: "limit";
      readonly reason: string;
      /** All that block, the job's own side first, as Slurm checks them: each of them has to give way. */
      readonly blocks: readonly LimitCheck[];
      /** Every limit of that kind that the job comes under, blocking or not. */
      readonly checks: readonly LimitCheck[];
      /** Why there is nothing among `blocks`, one sentence; empty where there is. */
      readonly note: string;
    };

export interface WaitContext {
  readonly job: SlurmJob;
  readonly manager: AssociationManager;
  /**
   * Whether AccountingStorageEnforce has `safe`: then what running jobs may still take, and what this one asks for, count
   * against GrpTRESMins. Default true.
   */
  readonly safe?: boolean;
}

/** Explains a waiting job. Pure; never throws. */
export function explainWait({ job, manager, safe = true }: WaitContext): WaitExplanation {
  const reason = readLimitReason(job.reason);
  if (reason === null || job.reason === null) return { kind: "no-limit", reason: job.reason };
  const qos = manager.qos.find(({ name }) => name === job.qos);
  const chain = chainOf(job, manager.associations);
  const checks =
    reason.scope === "association"
      ? associationChecks(job, reason, chain, qos, safe)
      : qosChecks(job, reason, qos, safe);
  const blocks = checks.filter(({ shortBy }) => shortBy > 0);
  return {
    kind: "limit",
    reason: job.reason,
    blocks,
    checks,
    note: blocks.length > 0 ? "" : noteOn(reason, chain, qos, checks),
  };
}

function noteOn(
  reason: LimitReason,
  chain: readonly LiveAssociation[],
  qos: LiveQos | undefined,
  checks: readonly LimitCheck[],
): string {
  if (reason.limits.includes("UsageThreshold")) return "The QOS asks for a better fair share than the account has.";
  if (reason.scope === "association" && chain.length === 0) {
    return "The job's association is not among those that Slurm shows: it is gone, or this caller may not see it.";
  }
  if (reason.scope === "qos" && qos === undefined) return "The job's QOS is not among those that Slurm shows.";
  if (checks.length === 0)
    return "No such limit is set on the way up: it may be the partition's QOS, or it was lifted since.";
  return "By the numbers of this moment no such limit blocks: Slurm will look again, or the numbers have moved.";
}

/** From the person's association to the root; empty where it is not there. A loop in the data ends it. */
function chainOf(job: SlurmJob, associations: readonly LiveAssociation[]): readonly LiveAssociation[] {
  const own = associations.filter(({ account, user }) => account === job.account && user !== null && user === job.user);
  const first =
    own.find(({ partition }) => partition !== null && partition === job.partition) ??
    own.find(({ partition }) => partition === null);
  if (first === undefined) return [];
  const chain = [first];
  const seen = new Set<string>();
  for (let account: string | null = first.account; account !== null && !seen.has(account); ) {
    seen.add(account);
    const row = associations.find(
      (row) => row.account === account && row.user === null && row.cluster === first.cluster,
    );
    if (row === undefined) break;
    chain.push(row);
    account = row.parentAccount;
  }
  return chain;
}

/** The root is the cluster, what hangs below it a tenant, the rest projects. */
function levelOf({ account, user, parentAccount }: LiveAssociation): LimitLevel {
  if (user !== null) return { kind: "person", account, user, qos: null };
  const kind =
    account === "root" || parentAccount === null ? "cluster" : parentAccount === "root" ? "tenant" : "project";
  return { kind, account, user: null, qos: null };
}

function associationChecks(
  job: SlurmJob,
  reason: LimitReason,
  chain: readonly LiveAssociation[],
  qos: LiveQos | undefined,
  safe: boolean,
): readonly LimitCheck[] {
  const shared = chain.flatMap((row) => groupChecks(job, reason, row.group, levelOf(row), safe));
  const own = chain.slice(0, 1).flatMap((row) => ownChecks(job, reason, row));
  const replaced = new Set(qos === undefined ? [] : replacedBy(qos).map((check) => keyOf(check)));
  return [...shared, ...own].filter((check) => !replaced.has(keyOf(check)));
}

function keyOf({ limitName, tres }: Pick<LimitCheck, "limitName" | "tres">): string {
  return `${limitName} ${tres ?? ""}`;
}

/** The limits that this QOS sets itself, and by that lifts from all associations. */
function replacedBy({ group, perJob }: LiveQos): readonly Pick<LimitCheck, "limitName" | "tres">[] {
  const limited = (limits: readonly TresLimit[], limitName: LimitName) =>
    limits.flatMap(({ tres, limit }) => (limit === null ? [] : [{ limitName, tres }]));
  const counted = (count: CountLimit, limitName: LimitName) =>
    count.limit === null ? [] : [{ limitName, tres: null }];
  const perJobTres = (counts: TresCounts, limitName: LimitName) =>
    Object.keys(counts).map((tres) => ({ limitName, tres }));
  return [
    ...limited(group.tres, "GrpTRES"),
    ...limited(group.tresMins, "GrpTRESMins"),
    ...limited(group.tresRunMins, "GrpTRESRunMins"),
    ...counted(group.jobs, "GrpJobs"),
    ...counted(group.submitJobs, "GrpSubmitJobs"),
    ...counted(group.wallMinutes, "GrpWall"),
    ...perJobTres(perJob.maxTres, "MaxTRESPerJob"),
    ...perJobTres(perJob.maxTresPerNode, "MaxTRESPerNode"),
    ...perJobTres(perJob.maxTresMins, "MaxTRESMinsPerJob"),
    ...(perJob.maxWallMinutes === null ? [] : [{ limitName: "MaxWall" as const, tres: null }]),
  ];
}

function qosChecks(job: SlurmJob, reason: LimitReason, qos: LiveQos | undefined, safe: boolean): readonly LimitCheck[] {
  if (qos === undefined) return [];
  const level: LimitLevel = { kind: "qos", account: null, user: null, qos: qos.name };
  const byUser = qos.perUser.find(({ name, userId }) => (userId === null ? name === job.user : userId === job.userId));
  const byAccount = qos.perAccount.find(({ name }) => name === job.account);
  return [
    ...groupChecks(job, reason, qos.group, level, safe),
    ...perJobChecks(job, reason, qos.perJob, level),
    ...shareChecks(job, reason, byUser, { ...level, user: job.user }, "User"),
    ...shareChecks(job, reason, byAccount, { ...level, account: job.account }, "Account"),
    ...minimumChecks(job, reason, qos, level),
  ];
}

function groupChecks(
  job: SlurmJob,
  reason: LimitReason,
  group: LiveGroup,
  level: LimitLevel,
  safe: boolean,
): readonly LimitCheck[] {
  const asks = askedTres(job);
  const minutes = minutesOf(job);
  const perMinute = (tres: string) => (minutes === null ? null : countOf(asks, tres) * minutes);
  const committed = (tres: string) => (safe ? (group.tresRunMins.find((run) => run.tres === tres)?.used ?? 0) : 0);
  return [
    ...tresChecks(job, reason, "GrpTRES", group.tres, level, (tres) => countOf(asks, tres)),
    ...tresChecks(job, reason, "GrpTRESMins", group.tresMins, level, (tres) => (safe ? perMinute(tres) : 1), committed),
    ...tresChecks(job, reason, "GrpTRESRunMins", group.tresRunMins, level, perMinute),
    ...countChecks(reason, "GrpJobs", group.jobs, level, 1),
    // It is counted among the submitted ones already.
    ...countChecks(reason, "GrpSubmitJobs", group.submitJobs, level, 0),
    ...countChecks(reason, "GrpWall", group.wallMinutes, level, safe ? minutes : 1),
  ];
}

function tresChecks(
  job: SlurmJob,
  reason: LimitReason,
  limitName: LimitName,
  limits: readonly TresLimit[],
  level: LimitLevel,
  askedOf: (tres: string) => number | null,
  committedOf: (tres: string) => number = () => 0,
): readonly LimitCheck[] {
  if (!reason.limits.includes(limitName)) return [];
  return limits.flatMap(({ tres, limit, used }) => {
    // A resource that the job does not ask for cannot hold it back.
    if (limit === null || !isOfFamily(tres, reason.family) || countOf(askedTres(job), tres) === 0) return [];
    return [check(level, limitName, tres, limit, used, askedOf(tres), committedOf(tres))];
  });
}

function countChecks(
  reason: LimitReason,
  limitName: LimitName,
  { limit, used }: CountLimit,
  level: LimitLevel,
  asked: number | null,
): readonly LimitCheck[] {
  if (limit === null || !reason.limits.includes(limitName)) return [];
  return [check(level, limitName, null, limit, used ?? 0, asked, 0)];
}

/** Of a person's association: what one job may take (inherited from above by Slurm), and how many jobs. */
function ownChecks(job: SlurmJob, reason: LimitReason, row: LiveAssociation): readonly LimitCheck[] {
  const level = levelOf(row);
  return [
    ...perJobChecks(job, reason, row.perJob, level),
    ...countChecks(reason, "MaxJobs", { ...row.maxJobs, used: row.maxJobs.used ?? row.group.jobs.used }, level, 1),
    ...countChecks(
      reason,
      "MaxSubmitJobs",
      { ...row.maxSubmitJobs, used: row.maxSubmitJobs.used ?? row.group.submitJobs.used },
      level,
      0,
    ),
  ];
}

function perJobChecks(
  job: SlurmJob,
  reason: LimitReason,
  limits: LiveAssociation["perJob"],
  level: LimitLevel,
): readonly LimitCheck[] {
  const asks = askedTres(job);
  const minutes = minutesOf(job);
  const of = (counts: TresCounts): readonly TresLimit[] =>
    Object.entries(counts).map(([tres, limit]) => ({ tres, limit, used: 0 }));
  const nodes = Math.max(job.nodeCount ?? 1, 1);
  return [
    ...tresChecks(job, reason, "MaxTRESPerJob", of(limits.maxTres), level, (tres) => countOf(asks, tres)),
    ...tresChecks(job, reason, "MaxTRESPerNode", of(limits.maxTresPerNode), level, (tres) =>
      Math.ceil(countOf(asks, tres) / nodes),
    ),
    ...tresChecks(job, reason, "MaxTRESMinsPerJob", of(limits.maxTresMins), level, (tres) =>
      minutes === null ? null : countOf(asks, tres) * minutes,
    ),
    ...countChecks(reason, "MaxWall", { limit: limits.maxWallMinutes, used: 0 }, level, minutes),
  ];
}

function shareChecks(
  job: SlurmJob,
  reason: LimitReason,
  share: LiveShare | undefined,
  level: LimitLevel,
  who: "User" | "Account",
): readonly LimitCheck[] {
  if (share === undefined) return [];
  const asks = askedTres(job);
  const minutes = minutesOf(job);
  return [
    ...tresChecks(job, reason, `MaxTRESPer${who}`, share.tres, level, (tres) => countOf(asks, tres)),
    ...tresChecks(job, reason, `MaxTRESRunMinsPer${who}`, share.tresRunMins, level, (tres) =>
      minutes === null ? null : countOf(asks, tres) * minutes,
    ),
    ...countChecks(reason, `MaxJobsPer${who}`, share.jobs, level, 1),
    ...countChecks(reason, `MaxSubmitJobsPer${who}`, share.submitJobs, level, 0),
  ];
}

/** `QOSMinGRES`: the job asks for less than the QOS is made for. */
function minimumChecks(
  job: SlurmJob,
  reason: LimitReason,
  { perJob }: LiveQos,
  level: LimitLevel,
): readonly LimitCheck[] {
  if (!reason.limits.includes("MinTRES")) return [];
  return Object.entries(perJob.minTres)
    .filter(([tres]) => isOfFamily(tres, reason.family))
    .map(([tres, limit]) => {
      const asked = countOf(askedTres(job), tres);
      return { level, limitName: "MinTRES", tres, limit, used: 0, committed: 0, asked, shortBy: limit - asked };
    });
}

function check(
  level: LimitLevel,
  limitName: LimitName,
  tres: string | null,
  limit: number,
  used: number,
  asked: number | null,
  committed: number,
): LimitCheck {
  return { level, limitName, tres, limit, used, committed, asked, shortBy: used + committed + (asked ?? 1) - limit };
}

/** Null for a job without a time limit. */
function minutesOf(job: SlurmJob): number | null {
  return typeof job.timeLimitMinutes === "number" ? job.timeLimitMinutes : null;
}

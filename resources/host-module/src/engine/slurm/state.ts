/** What Slurm has of ours: limits that stand, who may do more than we gave, and what is used. */
import { clusterSubject, parseSubject, personSubject } from "../../../../../shared/organisation/subject.ts";
import { countedMinutes, fadedMinutes, type Period, type Usage } from "../../../../../shared/quota/index.ts";
import type { AssociationManager } from "../../slurm/assoc-mgr.ts";
import { type Association, overriddenTres, type Qos, type SlurmAccount } from "../../slurm/associations.ts";
import { rootAccount } from "../../slurm/names.ts";
import type { SlurmPartition } from "../../slurm/partitions.ts";
import {
  type Baselines,
  type EnginePerson,
  type EngineState,
  type EngineSubject,
  noBaselines,
  type PeriodOf,
} from "../engine.ts";
import { periodsAbove } from "../quota-tree.ts";
import { slurmLimitsOf } from "./changes.ts";
import { amountsFromSlurm, cardHoursOf, foreignTres, limitsFromSlurm, type SlurmResources } from "./limit-mapping.ts";

/** The subject that an account is; null where it is none of ours. */
export function subjectOfAccount(account: string | null): string | null {
  if (account === rootAccount) return clusterSubject;
  const level = account === null ? undefined : parseSubject(account)?.level;
  return level === "tenant" || level === "project" ? account : null;
}

export interface FoundInSlurm {
  readonly associations: readonly Association[];
  readonly accounts: readonly SlurmAccount[];
  readonly qos: readonly Qos[];
  readonly partitions: readonly SlurmPartition[];
}

/** The subjects among what Slurm has; users whose uid is not known are listed and left out. */
export function stateOf(
  { associations, accounts, qos, partitions }: FoundInSlurm,
  people: readonly EnginePerson[],
  resources: SlurmResources,
  periodOf: PeriodOf,
  { inLimit }: Pick<Baselines, "inLimit"> = noBaselines,
): EngineState {
  const uids = new Map(people.map(({ user, uid }) => [user, uid]));
  const rows = new Map(associations.filter(({ user }) => user === null).map((row) => [row.account, row]));
  const coordinators = new Map(accounts.map(({ name, coordinators }) => [name, coordinators ?? []]));
  const granting = new Map(qos.map((each) => [each.name, overriddenTres(each)]));
  const subjects = new Map<string, EngineSubject>();
  const unread: string[] = [];
  for (const row of associations) {
    const account = subjectOfAccount(row.account);
    if (account === null || (row.user !== null && account === clusterSubject)) continue;
    const uid = row.user === null ? null : uids.get(row.user);
    if (uid === undefined) {
      unread.push(`The user ${row.user} of ${account} in Slurm is no person that is known here.`);
      continue;
    }
    if (uid !== null && parseSubject(account)?.level !== "project") {
      unread.push(
        `The user ${row.user} is in the account of the tenant ${account} itself in Slurm, in no project of it.`,
      );
      continue;
    }
    const subject = uid === null ? account : personSubject(account, uid);
    const above = row.user === null ? rows.get(row.parentAccount ?? "") : rows.get(row.account);
    const given = new Set(row.user === null ? coordinators.get(row.parentAccount ?? "") : []);
    const parts = {
      foreign: foreignOf(row, above, granting, resources),
      coordinators: row.user === null ? (coordinators.get(row.account) ?? []).filter((name) => !given.has(name)) : [],
    };
    const known = subjects.get(subject);
    if (row.partition !== null) {
      // An association for one partition only is none that we make.
      const foreign = [`an association for the partition ${row.partition} only`, ...parts.foreign];
      if (known !== undefined) subjects.set(subject, { ...known, foreign: [...known.foreign, ...foreign] });
      else subjects.set(subject, { limits: {}, foreign, coordinators: [] });
      continue;
    }
    const period = periodOf(subject) ?? { kind: "none" };
    const limits = limitsFromSlurm(slurmLimitsOf(row), resources, period, inLimit(subject));
    subjects.set(subject, { limits, ...parts, foreign: [...(known?.foreign ?? []), ...parts.foreign] });
  }
  const cluster = subjects.get(clusterSubject) ?? { limits: {}, foreign: [], coordinators: [] };
  const foreign = [...cluster.foreign, ...givenByPartitions(partitions, granting)];
  return { subjects: new Map(subjects).set(clusterSubject, { ...cluster, foreign }), unread };
}

/** A partition's QOS is everybody's who may use the partition. */
function givenByPartitions(
  partitions: readonly SlurmPartition[],
  granting: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  return partitions.flatMap(({ name, qos }) => {
    const tres = qos === null ? [] : (granting.get(qos) ?? []);
    if (tres.length === 0) return [];
    return [`the partition ${name}, whose QOS ${qos} replaces all limits of its jobs for ${tres.join(", ")}`];
  });
}

/** What a user's row shows of `max...` limits is inherited from its account: only what differs is its own. */
function foreignOf(
  row: Association,
  above: Association | undefined,
  granting: ReadonlyMap<string, readonly string[]>,
  resources: SlurmResources,
): readonly string[] {
  const own = wordsOf(row);
  const inherited = new Set(row.user === null || above === undefined ? [] : wordsOf(above));
  const allowedAbove = new Set(above?.qos);
  const grants = row.qos
    .filter((name) => !allowedAbove.has(name))
    .flatMap((name) => {
      const tres = granting.get(name) ?? [];
      return tres.length === 0 ? [] : [`QOS ${name}, whose own limits replace these for ${tres.join(", ")}`];
    });
  return [...foreignTres(slurmLimitsOf(row), resources), ...own.filter((words) => !inherited.has(words)), ...grants];
}

function wordsOf({ limits }: Association): readonly string[] {
  const counts: readonly (readonly [string, number | null])[] = [
    ["GrpJobs", limits.grpJobs],
    ["GrpSubmitJobs", limits.grpSubmitJobs],
    ["GrpWall", limits.grpWallMinutes],
    ["MaxJobs", limits.maxJobs],
    ["MaxSubmitJobs", limits.maxSubmitJobs],
    ["MaxWall", limits.maxWallMinutes],
  ];
  const tres = [
    ["GrpTRESRunMins", limits.grpTresRunMins ?? {}],
    ["MaxTRES", limits.maxTres],
    ["MaxTRESPerNode", limits.maxTresPerNode],
    ["MaxTRESMins", limits.maxTresMins],
  ] as const;
  return [
    ...counts.flatMap(([name, count]) => (count === null ? [] : [`${name}=${count}`])),
    ...tres.flatMap(([name, all]) => Object.entries(all).map(([each, count]) => `${name} ${each}=${count}`)),
  ];
}

/** What does not count of a subject's minutes in a period: as much as is left of it, where use fades. */
export type NotCounted = (subject: string, period: Period) => number;

/** Baselines as they are at an instant. What was read of another counter says nothing of this one. */
export function notCountedAt(
  { of }: Pick<Baselines, "of">,
  { cards }: SlurmResources,
  halfLifeSeconds: number | null,
  atMs: number,
): NotCounted {
  return (subject, period) => {
    const baseline = of(subject, period);
    return baseline === null || baseline.counter !== cards?.tres ? 0 : fadedMinutes(baseline, atMs, halfLifeSeconds);
  };
}

/** Minutes that every row of ours has used since Slurm began to count, by subject. */
export function minutesIn(
  { associations }: AssociationManager,
  people: readonly EnginePerson[],
  { cards }: SlurmResources,
): ReadonlyMap<string, number> {
  const uids = new Map(people.map(({ user, uid }) => [user, uid]));
  return new Map(
    associations.flatMap(({ account, user, userId, partition, group }): readonly (readonly [string, number])[] => {
      const subject = subjectOfAccount(account);
      const uid = user === null ? null : (uids.get(user) ?? userId ?? undefined);
      const isPerson = uid !== null && parseSubject(account)?.level === "project";
      if (subject === null || uid === undefined || partition !== null || (uid !== null && !isPerson)) return [];
      const used = group.tresMins.find(({ tres }) => tres === cards?.tres)?.used ?? 0;
      return [[uid === null ? subject : personSubject(account, uid), Math.round(used)]];
    }),
  );
}

/** What each person in one of our projects uses now, by subject. */
export function usageIn(
  { associations }: AssociationManager,
  people: readonly EnginePerson[],
  resources: SlurmResources,
  periodOf: PeriodOf,
  notCounted: NotCounted = () => 0,
): ReadonlyMap<string, Usage> {
  const uids = new Map(people.map(({ user, uid }) => [user, uid]));
  const usage = new Map<string, Usage>();
  for (const { account, user, userId, group } of associations) {
    const uid = user === null ? undefined : (uids.get(user) ?? userId ?? undefined);
    if (uid === undefined || parseSubject(account)?.level !== "project") continue;
    const used = group.tres.filter((each) => each.used > 0).map((each) => [each.tres, each.used] as const);
    const minutes = group.tresMins.find(({ tres }) => tres === resources.cards?.tres)?.used ?? 0;
    const subject = personSubject(account, uid);
    const cardHours = periodsAbove(subject, periodOf).flatMap((period) => {
      const hours = cardHoursOf(countedMinutes(minutes, notCounted(subject, period)), resources);
      return hours.numerator === 0 ? [] : [{ hours, period }];
    });
    const amounts = amountsFromSlurm(Object.fromEntries(used), resources);
    if (Object.keys(amounts).length === 0 && cardHours.length === 0) continue;
    usage.set(subject, { ...amounts, ...(cardHours.length === 0 ? {} : { cardHours }) });
  }
  return usage;
}

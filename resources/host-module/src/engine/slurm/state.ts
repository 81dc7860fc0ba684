/** What Slurm's accounting has of ours. */
import { personSubject, projectIdPattern, tenantIdPattern } from "../../../../../shared/organisation/subject.ts";
import type { Association, Qos, SlurmAccount } from "../../slurm/associations.ts";
import { overriddenTres } from "../../slurm/associations.ts";
import { rootAccount } from "../../slurm/names.ts";
import type { EnginePerson, EngineState, EngineSubject } from "../engine.ts";
import { type CardCounting, fromSlurm } from "./limit-mapping.ts";

export function isOurAccount(account: string): boolean {
  return tenantIdPattern.test(account) || projectIdPattern.test(account);
}

/** The subject of a row of the accounting; null where it is none of ours, or of a user without uid. */
export function subjectOf(account: string, user: string | null, uids: ReadonlyMap<string, number>): string | null {
  if (user === null) return account === rootAccount ? "cluster" : isOurAccount(account) ? account : null;
  const uid = uids.get(user);
  return uid === undefined || !projectIdPattern.test(account) ? null : personSubject(account, uid);
}

export function engineState(
  facts: {
    readonly associations: readonly Association[];
    readonly accounts: readonly SlurmAccount[];
    readonly qos: readonly Qos[];
  },
  people: readonly EnginePerson[],
  counting: CardCounting,
): EngineState {
  const uids = new Map(people.map(({ uid, user }) => [user, uid]));
  const byUser = new Map(people.map((person) => [person.user, person]));
  const coordinators = new Map(facts.accounts.map(({ name, coordinators: names }) => [name, names ?? []]));
  const overriding = new Map(
    facts.qos.map((qos) => [qos.name, overriddenTres(qos)] as const).filter(([, tres]) => tres.length > 0),
  );
  const subjects = new Map<string, EngineSubject>();
  const unread: string[] = [];
  for (const association of facts.associations) {
    const { account, user } = association;
    const subject = subjectOf(account, user, uids);
    if (subject === null) {
      if (user !== null && isOurAccount(account))
        unread.push(`${user} is in the account ${account}, and has no uid here`);
      continue;
    }
    if (association.partition !== null) {
      unread.push(`${account} ${user ?? ""} has an association for the partition ${association.partition} alone`);
      continue;
    }
    const { limits, foreign } = fromSlurm(
      { grpTres: association.limits.grpTres, grpTresMins: association.limits.grpTresMins ?? {} },
      counting,
    );
    subjects.set(subject, {
      limits,
      person: user === null ? null : (byUser.get(user) ?? null),
      foreign: [...foreign, ...otherLimits(association), ...overridden(association, overriding)],
      coordinators: user === null && subject !== "cluster" ? (coordinators.get(account) ?? []) : [],
    });
  }
  return { subjects, unread };
}

/** Limits that we never set. Those of one job are inherited down to a person's row: shown on the accounts only. */
function otherLimits({ user, limits }: Association): readonly string[] {
  const shared = [
    ["GrpJobs", limits.grpJobs],
    ["GrpSubmitJobs", limits.grpSubmitJobs],
    ["GrpWall", limits.grpWallMinutes],
  ] as const;
  const own =
    user === null
      ? ([
          ["MaxWall", limits.maxWallMinutes],
          ["MaxJobs", limits.maxJobs],
          ["MaxSubmitJobs", limits.maxSubmitJobs],
        ] as const)
      : [];
  const tres = [
    ...Object.entries(limits.grpTresRunMins ?? {}).map(([name, count]) => `GrpTRESRunMins=${name}=${count}`),
    ...(user === null ? Object.entries(limits.maxTres).map(([name, count]) => `MaxTRESPerJob=${name}=${count}`) : []),
  ];
  return [...[...shared, ...own].flatMap(([name, count]) => (count === null ? [] : [`${name}=${count}`])), ...tres];
}

function overridden({ qos, user }: Association, overriding: ReadonlyMap<string, readonly string[]>): readonly string[] {
  if (user !== null) return [];
  return qos.flatMap((name) => {
    const tres = overriding.get(name);
    return tres === undefined
      ? []
      : [`QOS ${name} has limits of its own on ${tres.join(", ")}, which count instead of these`];
  });
}

/** The quota tree of the ledger at an instant: limits with the grants that hold then. */
import { clusterSubject, parentSubject, personSubject } from "../../../../shared/organisation/subject.ts";
import {
  cardHoursResource,
  type Grant,
  type Limits,
  limitsAt,
  type QuotaNode,
  type Usage,
} from "../../../../shared/quota/index.ts";
import { members, projects, tenants } from "../ledger/organisation.ts";
import { grants, limits } from "../ledger/quotas.ts";
import type { Reader } from "../ledger/reader.ts";
import type { PeriodOf } from "./engine.ts";

/**
 * Every tenant, project and person in a project, below the cluster, for `buildQuotaTree`. `usage` is by subject, of each
 * itself; what it has of subjects that are not in the ledger is left out. Throws AppError as `Reader` does.
 */
export function treeNodesOf(reader: Reader, usage: ReadonlyMap<string, Usage>, now: Date): readonly QuotaNode[] {
  const set = new Map(reader.list(limits).map((row) => [row.subject, row.limits]));
  const raises = Map.groupBy(reader.list(grants).flatMap(grantOf), ({ nodeId }) => nodeId);
  const node = (id: string, level: QuotaNode["level"], parentId: string | null): QuotaNode => {
    const used = usage.get(id);
    return {
      ...{ id, level, parentId, limits: limitsAt(set.get(id) ?? {}, raises.get(id) ?? [], now.getTime()) },
      ...(used === undefined ? {} : { usage: used }),
    };
  };
  return [
    node(clusterSubject, "cluster", null),
    ...reader.list(tenants).map(({ id }) => node(id, "tenant", clusterSubject)),
    ...reader.list(projects).map(({ id, tenantId }) => node(id, "project", tenantId)),
    ...reader.list(members).map(({ projectId, uid }) => node(personSubject(projectId, uid), "person", projectId)),
  ];
}

/** One that was never set does not count. */
function grantOf(row: {
  readonly id: string;
  readonly subject: string;
  readonly amount: Limits;
  readonly until: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
}): readonly Grant[] {
  if (row.startedAt === null) return [];
  const { cardHours, ...amounts } = row.amount;
  return [
    {
      id: row.id,
      nodeId: row.subject,
      raise: { ...amounts, ...(cardHours === undefined ? {} : { cardHours: cardHours.hours }) },
      fromMs: Date.parse(row.startedAt),
      untilMs: Date.parse(row.until),
      ...(row.endedAt === null ? {} : { endedMs: Date.parse(row.endedAt) }),
    },
  ];
}

/** The periods of the ledger's own limits. */
export function periodsIn(reader: Reader): PeriodOf {
  const periods = new Map(reader.list(limits).map((row) => [row.subject, row.limits.cardHours?.period ?? null]));
  return (subject) => periods.get(subject) ?? null;
}

/** Every period that a limit counts in, from the subject up, each once. */
export function periodsAbove(subject: string, periodOf: PeriodOf) {
  const periods = new Map<string, NonNullable<ReturnType<PeriodOf>>>();
  for (let at: string | null = subject; at !== null; at = parentSubject(at)) {
    const period = periodOf(at);
    if (period !== null) periods.set(cardHoursResource(period), period);
  }
  return [...periods.values()];
}

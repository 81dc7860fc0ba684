/** The quota tree as ledger and engine have it at an instant: limits with the grants that are active then, and usage. */
import { clusterSubject, parentSubject, personSubject } from "../../../../shared/organisation/subject.ts";
import type { QuotaNodeView } from "../../../../shared/protocol/control.ts";
import {
  buildQuotaTree,
  cardHoursResource,
  type Grant,
  type Limits,
  limitsAt,
  type QuotaTree,
  type Raise,
  type Usage,
} from "../../../../shared/quota/index.ts";
import { members, people, projects, tenants } from "../ledger/organisation.ts";
import { grants, limits } from "../ledger/quotas.ts";
import type { Reader } from "../ledger/reader.ts";
import type { EnginePerson, PeriodOf } from "./engine.ts";

/** What more than one question about quotas is answered of: thousands of rows, for whoever asks several to read once. */
export interface QuotaRows {
  readonly limits: readonly { readonly subject: string; readonly limits: Limits; readonly version: number }[];
  readonly people: readonly EnginePerson[];
}

/** Throws AppError `unreadable` for a row that cannot be understood. */
export function quotaRows(reader: Reader): QuotaRows {
  return { limits: reader.list(limits), people: reader.list(people).map(({ uid, user }) => ({ uid, user })) };
}

/** Every subject of the ledger with its own limits, parents before children; usage as it is given. */
export function quotaNodes(
  reader: Reader,
  usage: ReadonlyMap<string, Usage>,
  known: QuotaRows = quotaRows(reader),
): readonly QuotaNodeView[] {
  const rows = new Map(known.limits.map((row) => [row.subject, row]));
  const users = new Map(known.people.map(({ uid, user }) => [uid, user]));
  const node = (id: string, level: QuotaNodeView["level"], parentId: string | null, name: string): QuotaNodeView => {
    const row = rows.get(id);
    const used = usage.get(id);
    return {
      ...{ id, level, parentId, name, limits: row?.limits ?? {}, version: row?.version ?? 0 },
      ...(used === undefined ? {} : { usage: used }),
    };
  };
  return [
    node(clusterSubject, "cluster", null, ""),
    ...reader.list(tenants).map(({ id, displayName }) => node(id, "tenant", clusterSubject, displayName)),
    ...reader.list(projects).map(({ id, tenantId, displayName }) => node(id, "project", tenantId, displayName)),
    ...reader
      .list(members)
      .map(({ projectId, uid }) =>
        node(personSubject(projectId, uid), "person", projectId, users.get(uid) ?? String(uid)),
      ),
  ];
}

/** Grants that count or will count, as the quota rules know them. */
export function grantsOf(reader: Reader): readonly Grant[] {
  return [...reader.list(grants, { state: "running" }), ...reader.list(grants, { state: "approved" })].map((row) => ({
    id: row.id,
    nodeId: row.subject,
    raise: raiseOf(row.amount),
    fromMs: Date.parse(row.startedAt ?? "1970-01-01T00:00:00Z"),
    untilMs: Date.parse(row.until),
  }));
}

/** What is asked for as limits are written: its card-hours count in whatever period the limit has. */
export function raiseOf(amount: Limits): Raise {
  const { cardHours, ...others } = amount;
  return cardHours === undefined ? others : { ...others, cardHours: cardHours.hours };
}

/** A subject's limits with the grants that are active at an instant. */
export function effectiveLimits(base: Limits, subject: string, all: readonly Grant[], atMs: number): Limits {
  return limitsAt(
    base,
    all.filter(({ nodeId }) => nodeId === subject),
    atMs,
  );
}

/** The tree in which limits are what holds at an instant. */
export function treeAt(nodes: readonly QuotaNodeView[], all: readonly Grant[], atMs: number): QuotaTree {
  const bySubject = Map.groupBy(all, ({ nodeId }) => nodeId);
  return buildQuotaTree(
    nodes.map(({ id, level, parentId, limits: own, usage }) => ({
      ...{ id, level, parentId, limits: limitsAt(own, bySubject.get(id) ?? [], atMs) },
      ...(usage === undefined ? {} : { usage }),
    })),
  );
}

/** The periods of the ledger's own limits. */
export function periodsIn(reader: Reader): PeriodOf {
  return periodsOf(reader.list(limits));
}

export function periodsOf(rows: QuotaRows["limits"]): PeriodOf {
  const periods = new Map(rows.map((row) => [row.subject, row.limits.cardHours?.period ?? null]));
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

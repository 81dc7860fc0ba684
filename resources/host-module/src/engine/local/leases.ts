/** Taking and giving back leases. Limits are checked when one is taken, in the transaction that takes it. */
import { AppError } from "../../../../../shared/errors.ts";
import { personSubject, tenantOfProject } from "../../../../../shared/organisation/subject.ts";
import {
  add,
  amountsOf,
  type Blocker,
  blockersOf,
  type Fraction,
  fraction,
  type Limits,
  multiply,
  periodAt,
  toWords,
  type Usage,
} from "../../../../../shared/quota/index.ts";
import { countedPeriods, grantsOf, quotaNodes, treeAt } from "../../control/quota-tree.ts";
import type { Change } from "../../ledger/change.ts";
import { newLeaseId } from "../../ledger/ids.ts";
import { leases } from "../../ledger/leases.ts";
import type { ObjectTable, Stored } from "../../ledger/object-table.ts";
import { members } from "../../ledger/organisation.ts";
import type { Reader } from "../../ledger/reader.ts";

export type Lease = Stored<typeof leases extends ObjectTable<infer Value, infer _> ? Value : never>;

export interface LeaseWish {
  readonly projectId: string;
  readonly uid: number;
  readonly gpuUuid: string;
  readonly gpuInstanceId: number | null;
  readonly name: string;
  /** What it counts for: cards by their share, GPU memory, one device of its type. */
  readonly amounts: Limits;
  readonly until: string | null;
}

/** When a lease ended or will; null where only its release ends it. */
function endOf({ until, releasedAt }: Pick<Lease, "until" | "releasedAt">): number | null {
  const ends = [until, releasedAt].filter((end) => end !== null).map((end) => Date.parse(end));
  return ends.length === 0 ? null : Math.min(...ends);
}

/** Leases that hold something at this instant. */
export function activeLeases(reader: Reader, at: Date): readonly Lease[] {
  return reader
    .list(leases, { releasedAt: null })
    .filter(({ until }) => until === null || Date.parse(until) > at.getTime());
}

/** In use at this instant by subject, with the card-hours of every period that a limit counts in. */
export function leaseUsage(reader: Reader, at: Date): ReadonlyMap<string, Usage> {
  const usage = new Map<string, Usage>();
  for (const { subject, amounts } of activeLeases(reader, at)) usage.set(subject, plus(usage.get(subject), amounts));
  for (const period of countedPeriods(reader)) {
    const sinceMs = periodAt(period, at.getTime())?.startMs ?? 0;
    for (const [subject, hours] of cardHoursSince(reader, sinceMs, at.getTime())) {
      const before = usage.get(subject) ?? {};
      usage.set(subject, { ...before, cardHours: [...(before.cardHours ?? []), { hours, period }] });
    }
  }
  return usage;
}

function cardHoursSince(reader: Reader, sinceMs: number, untilMs: number): ReadonlyMap<string, Fraction> {
  const hours = new Map<string, Fraction>();
  for (const lease of reader.list(leases)) {
    const { cards } = lease.amounts;
    const fromMs = Math.max(sinceMs, Date.parse(lease.takenAt));
    const toMs = Math.min(untilMs, endOf(lease) ?? untilMs);
    if (cards === undefined || toMs <= fromMs) continue;
    // Whole seconds: finer would overflow exact sums, and nobody accounts for less.
    const used = multiply(cards, fraction(Math.floor((toMs - fromMs) / 1_000), 3_600));
    hours.set(lease.subject, add(hours.get(lease.subject) ?? fraction(0), used));
  }
  return hours;
}

function plus(usage: Usage | undefined, amounts: Limits): Usage {
  const { cardHours: _, gpuTypes, ...simple } = amounts;
  const sum: Record<string, Fraction> = {};
  for (const part of [usage ?? {}, simple]) {
    for (const [resource, amount] of amountsOf(part)) {
      if (!resource.includes(":")) sum[resource] = add(sum[resource] ?? fraction(0), amount);
    }
  }
  const types: Record<string, Fraction> = { ...usage?.gpuTypes };
  for (const [type, count] of Object.entries(gpuTypes ?? {})) types[type] = add(types[type] ?? fraction(0), count);
  return { ...sum, ...(Object.keys(types).length === 0 ? {} : { gpuTypes: types }) };
}

/**
 * Takes a lease, or throws AppError: `in-use` where somebody has it, `forbidden` with the level, by how much and who can
 * change it where a limit does not allow it, `not-found` for somebody who is not in the project.
 */
export function takeLease(change: Change, wish: LeaseWish, at: Date): Lease {
  const { projectId, uid, gpuUuid, gpuInstanceId } = wish;
  change.get(members, { projectId, uid });
  const active = activeLeases(change, at);
  // A whole GPU and an instance on it are the same silicon.
  const taken = active.find(
    (lease) =>
      lease.gpuUuid === gpuUuid &&
      (lease.gpuInstanceId === gpuInstanceId || lease.gpuInstanceId === null || gpuInstanceId === null),
  );
  if (taken !== undefined) throw alreadyLeased(wish);
  const subject = personSubject(projectId, uid);
  refuseOverLimit(change, subject, wish, at);
  return change.insert(leases, {
    id: newLeaseId(change),
    ...{ subject, scope: "person", tenantId: tenantOfProject(projectId), projectId, uid },
    ...{ gpuUuid, gpuInstanceId, name: wish.name, amounts: wish.amounts },
    ...{ takenAt: at.toISOString(), until: wish.until, releasedAt: null },
  });
}

function refuseOverLimit(change: Change, subject: string, wish: LeaseWish, at: Date): void {
  const tree = treeAt(quotaNodes(change, leaseUsage(change, at)), grantsOf(change), at.getTime());
  const { cardHours: _, ...amounts } = wish.amounts;
  const hours = hoursOf(wish, at);
  const blockers = blockersOf(tree, {
    ...{ id: "lease", nodeId: subject, state: "waiting", order: 0 },
    amounts: { ...amounts, ...(hours === null ? {} : { cardHours: hours }) },
  });
  const [first] = blockers;
  if (first === undefined) return;
  throw new AppError({
    code: "forbidden",
    message: blockerSentence(first),
    remedy:
      first.level === "project" || first.level === "person"
        ? "Release something, ask for more, or have a lead of the tenant raise it."
        : "Release something, ask for more, or have a platform administrator raise it.",
    evidence: { details: blockers.map(blockerSentence).join("\n") },
  });
}

/** Card-hours up to the end that was asked for; null where there is none. */
function hoursOf({ amounts, until }: LeaseWish, at: Date): Fraction | null {
  if (until === null || amounts.cards === undefined) return null;
  return multiply(amounts.cards, fraction(Math.max(0, Math.floor((Date.parse(until) - at.getTime()) / 1_000)), 3_600));
}

function blockerSentence({ level, nodeId, resource, limit, usage, missing }: Blocker): string {
  const where = level === "cluster" ? "the cluster" : `the ${level} ${nodeId}`;
  return `The limit of ${where} for ${resource} is ${toWords(limit)}, of which ${toWords(usage)} are in use: ${toWords(missing)} too few.`;
}

function alreadyLeased({ gpuInstanceId }: LeaseWish): AppError {
  return new AppError({
    code: "in-use",
    message: `${gpuInstanceId === null ? "This GPU, or an instance on it," : "This instance, or its whole GPU,"} is leased already.`,
    remedy: "Take another one, or wait until it is released.",
  });
}

/** Gives a lease back. One that is over already stays as it is. Throws AppError `not-found`, `conflict`. */
export function releaseLease(change: Change, id: string, at: Date): void {
  const lease = change.get(leases, { id });
  const end = endOf(lease);
  if (end !== null && end <= at.getTime()) return;
  change.update(leases, { id }, lease.version, {
    releasedAt: new Date(Math.max(at.getTime(), Date.parse(lease.takenAt))).toISOString(),
  });
}

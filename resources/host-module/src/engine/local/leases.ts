/** Taking and giving back GPU instances of one machine: a limit holds because nothing is leased beyond it. */
import { AppError, type LimitInTheWay } from "../../../../../shared/errors.ts";
import { personSubject } from "../../../../../shared/organisation/subject.ts";
import {
  add,
  type Blocker,
  blockersOf,
  type CardHours,
  describeAmount,
  describeResource,
  type Fraction,
  fraction,
  type Limits,
  multiply,
  type Period,
  periodAt,
  periodKey,
  type Usage,
  zero,
} from "../../../../../shared/quota/index.ts";
import type { Act, Change } from "../../ledger/change.ts";
import { newLeaseId } from "../../ledger/ids.ts";
import { leases } from "../../ledger/leases.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Stored } from "../../ledger/object-table.ts";
import { members } from "../../ledger/organisation.ts";
import type { Reader } from "../../ledger/reader.ts";
import { subjectColumns } from "../../ledger/subject.ts";
import type { PeriodOf } from "../engine.ts";
import { grantsOf, periodsAbove, periodsIn, quotaNodes, treeAt } from "../quota-tree.ts";

export type Lease = ReturnType<typeof activeLeases>[number];

export interface LeaseWish {
  readonly projectId: string;
  readonly uid: number;
  readonly gpuUuid: string;
  /** Null: the whole GPU. */
  readonly gpuInstanceId: number | null;
  /** What the instance counts for: its part of the card, its memory, its type. */
  readonly amounts: Omit<Limits, "cardHours">;
  readonly until: Date | null;
}

/** Whether the caller may see the limits of a subject. */
type Sees = (subject: string) => boolean;

/**
 * Takes a lease, or nothing: the limits are looked at and the lease is written in one transaction, so that of two who
 * want the last one gets it. Throws AppError `in-use` where the instance, or a part of it, is leased; `conflict` with the
 * limits that are in the way, figures only of those that the caller `sees`, counted from `used` where that is given; `not-found` for who is not in the project;
 * `bad-request`.
 */
export function takeLease(
  ledger: Ledger,
  act: Act,
  wish: LeaseWish,
  now: Date,
  sees: Sees = () => true,
  used: ReadonlyMap<string, Usage> | null = null,
): Lease {
  return ledger.change(act, (change) => takeWithin(change, wish, now, sees, used));
}

function takeWithin(
  change: Change,
  wish: LeaseWish,
  now: Date,
  sees: Sees,
  used: ReadonlyMap<string, Usage> | null,
): Lease {
  const { projectId, uid, gpuUuid, gpuInstanceId, amounts, until } = wish;
  change.get(members, { projectId, uid });
  if (until !== null && until <= now) {
    throw new AppError({
      code: "bad-request",
      message: "This lease would end before it begins.",
      remedy: "Name a later end, or none.",
    });
  }
  const held = activeLeases(change, now).find((lease) => isSamePlace(lease, wish));
  if (held !== undefined) {
    throw new AppError({
      code: "in-use",
      message: "This GPU instance is leased already.",
      remedy: "Take another one, or wait until it is given back.",
    });
  }
  const subject = personSubject(projectId, uid);
  const nodes = quotaNodes(change, used ?? leaseUsage(change, periodsIn(change), now));
  const tree = treeAt(nodes, grantsOf(change), now.getTime());
  // Without an end it asks for a minute: whoever has used up their card-hours gets none.
  const hours = cardHoursBetween(amounts.cards ?? zero, now, until ?? new Date(now.getTime() + 60_000));
  const blockers = blockersOf(tree, {
    ...{ id: "", nodeId: subject, state: "waiting", order: 0 },
    amounts: { ...amounts, cardHours: hours },
  });
  if (blockers.length > 0) {
    const names = new Map(nodes.map(({ id, name }) => [id, name]));
    throw beyondLimits(blockers.map((blocker) => inTheWay(blocker, names, sees)));
  }
  return change.insert(leases, {
    id: newLeaseId(change),
    ...subjectColumns({ scope: "person", projectId, uid }),
    ...{ gpuUuid, gpuInstanceId, amounts },
    takenAt: now.toISOString(),
    until: until?.toISOString() ?? null,
    releasedAt: null,
  });
}

/** Gives a lease back; one that is over already stays as it is. Throws AppError `not-found`. */
export function releaseLease(ledger: Ledger, act: Act, id: string, now: Date): void {
  ledger.change(act, (change) => {
    const lease = change.get(leases, { id });
    if (isActive(lease, now)) change.update(leases, { id }, lease.version, { releasedAt: now.toISOString() });
  });
}

/** Leases that hold something at that instant. */
export function activeLeases(reader: Reader, now: Date) {
  return reader.list(leases, { releasedAt: null }).filter((lease) => isActive(lease, now));
}

type Ended = { readonly until: string | null; readonly releasedAt: string | null };

function isActive(lease: Ended, now: Date): boolean {
  return lease.releasedAt === null && (lease.until === null || Date.parse(lease.until) > now.getTime());
}

type Place = Pick<LeaseWish, "gpuUuid" | "gpuInstanceId">;

/** A whole GPU holds every instance of it. */
export function isSamePlace(lease: Place, wish: Place): boolean {
  const isWhole = lease.gpuInstanceId === null || wish.gpuInstanceId === null;
  return lease.gpuUuid === wish.gpuUuid && (isWhole || lease.gpuInstanceId === wish.gpuInstanceId);
}

/** In use now by person, card-hours under every period of a limit above them. */
export function leaseUsage(reader: Reader, periodOf: PeriodOf, now: Date): ReadonlyMap<string, Usage> {
  const usage = new Map<string, Usage>();
  for (const lease of reader.list(leases)) {
    const hours = periodsAbove(lease.subject, periodOf).flatMap((period) => hoursIn(lease, period, now));
    const amounts = isActive(lease, now) ? lease.amounts : {};
    const used = sumOf(usage.get(lease.subject) ?? {}, amounts, hours);
    if (Object.keys(used).length > 0) usage.set(lease.subject, used);
  }
  return usage;
}

function hoursIn(
  lease: Stored<Ended & { readonly takenAt: string; readonly amounts: Limits }>,
  period: Period,
  now: Date,
) {
  const startMs = Math.max(
    Date.parse(lease.takenAt),
    periodAt(period, now.getTime())?.startMs ?? Number.NEGATIVE_INFINITY,
  );
  const ends = [lease.until, lease.releasedAt].flatMap((end) => (end === null ? [] : [Date.parse(end)]));
  const endMs = Math.min(now.getTime(), ...ends);
  if (endMs <= startMs) return [];
  return [{ hours: cardHoursBetween(lease.amounts.cards ?? zero, new Date(startMs), new Date(endMs)), period }];
}

/** To the second, so that sums of many stay exact. */
function cardHoursBetween(cards: Fraction, from: Date, to: Date): Fraction {
  return multiply(cards, fraction(Math.floor((to.getTime() - from.getTime()) / 1000), 3600));
}

/** Use and more use, with card-hours by period. */
export function sumOf(used: Usage, amounts: Limits, hours: readonly CardHours[]): Usage {
  const simple = (["cards", "gpuMemoryGiB", "cpuCores", "memoryGiB"] as const).flatMap((resource) => {
    const total = add(used[resource] ?? zero, amounts[resource] ?? zero);
    return total.numerator === 0 ? [] : [[resource, total] as const];
  });
  const types = new Map(Object.entries(used.gpuTypes ?? {}));
  for (const [type, count] of Object.entries(amounts.gpuTypes ?? {}))
    types.set(type, add(types.get(type) ?? zero, count));
  const counted = new Map((used.cardHours ?? []).map((each) => [periodKey(each.period), each]));
  for (const { hours: more, period } of hours) {
    const key = periodKey(period);
    counted.set(key, { hours: add(counted.get(key)?.hours ?? zero, more), period });
  }
  return {
    ...Object.fromEntries(simple),
    ...(types.size === 0 ? {} : { gpuTypes: Object.fromEntries(types) }),
    ...(counted.size === 0 ? {} : { cardHours: [...counted.values()] }),
  };
}

function inTheWay(blocker: Blocker, names: ReadonlyMap<string, string>, sees: Sees): LimitInTheWay {
  const { nodeId, level, resource, limit, usage, asked, missing } = blocker;
  const changedBy = level === "project" || level === "person" ? "lead" : "administrator";
  if (!sees(nodeId)) {
    return { subject: null, name: "", level, resource, limit: zero, used: zero, asked, missing, changedBy };
  }
  const name = names.get(nodeId) ?? nodeId;
  return { subject: nodeId, name, level, resource, limit, used: usage, asked, missing, changedBy };
}

function beyondLimits(blockedBy: readonly LimitInTheWay[]): AppError {
  const sentences = blockedBy.map(({ subject, name, level, resource, limit, used, missing }) => {
    const who = level === "cluster" ? "The cluster" : `The ${level} ${name}`.trim();
    const what = describeResource(resource);
    const lacks = describeAmount(missing, "up");
    if (subject === null) return `${who} has no room for that: ${lacks} ${what} missing.`;
    return `${who} may use ${describeAmount(limit, "down")} ${what}, ${describeAmount(used, "up")} in use: ${lacks} missing.`;
  });
  const byLead = blockedBy[0]?.changedBy === "lead";
  return new AppError({
    code: "conflict",
    message: `This lease would be beyond a limit. ${sentences[0] ?? ""}`,
    remedy: `${byLead ? "A lead of the tenant" : "A platform administrator"} can change that limit; or ask for more.`,
    evidence: { details: sentences.join("\n"), blockedBy },
  });
}

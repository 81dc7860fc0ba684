/** Requests for more and what was granted, as the inbox shows them. Pure; instants are milliseconds since 1970 in UTC. */
import { parseSubject } from "../../shared/organisation/subject.ts";
import type { GrantView, Me, RequestsAnswer, RequestView, WaitReason } from "../../shared/protocol/control.ts";
import {
  type BindingLimit,
  effectiveLimit,
  type Fraction,
  type Limits,
  limitsAt,
  limitsOf,
  partsOfResource,
  type QuotaTree,
  type Resource,
  withLimits,
} from "../../shared/quota/index.ts";

type Decider = Pick<Me, "role" | "leads" | "open">;

/** Administrators decide on all that is open, leads on what fits a tenant of theirs. */
export function mayDecide(me: Decider, request: RequestView): boolean {
  if (request.state !== "asked") return false;
  if (me.role === "administrator" || me.open) return true;
  const subject = parseSubject(request.subject);
  if (request.approver !== "lead" || subject === null || subject.level === "cluster") return false;
  return me.leads.includes(subject.tenantId);
}

/** For the badge in the rail. */
export function openForMe(me: Decider, requests: readonly RequestView[]): number {
  return requests.filter((request) => mayDecide(me, request)).length;
}

export interface Inbox {
  /** Those that the caller may decide first, then the longest waiting first. */
  readonly open: readonly RequestView[];
  /** Coming and running ones, the next to end first. */
  readonly grants: readonly GrantView[];
  /** Decided and withdrawn ones, the newest first. */
  readonly history: readonly RequestView[];
}

const at = (time: string | null): number => (time === null ? 0 : Date.parse(time));

export function inboxOf(answer: RequestsAnswer, me: Decider): Inbox {
  const open = answer.requests.filter(({ state }) => state === "asked");
  const history = answer.requests.filter(({ state }) => state !== "asked");
  return {
    open: open.toSorted((a, b) => Number(mayDecide(me, b)) - Number(mayDecide(me, a)) || at(a.askedAt) - at(b.askedAt)),
    grants: answer.grants
      .filter(({ state }) => state === "approved" || state === "running")
      .toSorted((a, b) => at(a.until) - at(b.until)),
    history: history.toSorted((a, b) => at(b.decidedAt ?? b.askedAt) - at(a.decidedAt ?? a.askedAt)),
  };
}

/** What is left of a grant; zero once it has ended. */
export interface Countdown {
  readonly days: number;
  readonly hours: number;
  readonly minutes: number;
}

/** Rounded up to the next minute, so that it reads zero only when it is over. */
export function countdown(untilMs: number, nowMs: number): Countdown {
  const minutes = Math.max(0, Math.ceil((untilMs - nowMs) / 60_000));
  return { days: Math.floor(minutes / 1440), hours: Math.floor(minutes / 60) % 24, minutes: minutes % 60 };
}

export type UntilPreset = "today" | "3-days" | "2-weeks";

/** The end of the day, today's or that many days on, by the clock of this machine: a day may have 23 or 25 hours. */
export function untilOf(preset: UntilPreset, nowMs: number): number {
  const days = { today: 0, "3-days": 3, "2-weeks": 14 }[preset];
  const now = new Date(nowMs);
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days + 1).getTime();
}

/** What to ask for so that something that waits would start: all that its own level misses. */
export interface Missing {
  readonly raise: Limits;
  /** Held up further up, where a raise of this subject does not help. */
  readonly elsewhere: WaitReason["blockers"];
}

/** `subject` is for whom is asked. Resources that the quota tree does not know cannot be asked for. */
export function missingFor(subject: string, reason: WaitReason): Missing {
  const isKnown = (resource: string): resource is Resource => partsOfResource(resource) !== null;
  const own = reason.blockers.flatMap((blocker): readonly (readonly [Resource, Fraction])[] => {
    const { resource } = blocker;
    return blocker.subject === subject && isKnown(resource) ? [[resource, blocker.missing]] : [];
  });
  return { raise: limitsOf(own), elsewhere: reason.blockers.filter((blocker) => blocker.subject !== subject) };
}

/** What would count for a subject with a raise on top: for each resource the limit before and then. */
export interface RaisePreview {
  readonly resource: Resource;
  readonly before: BindingLimit;
  /** Another node than the subject where a level above goes on binding. */
  readonly after: BindingLimit;
}

/**
 * `tree` is that of now, with the grants that count. A resource that nobody limits needs no raise, and is left out; one that
 * the subject itself does not limit stays as it is. Throws AppError `not-found`.
 */
export function previewRaise(tree: QuotaTree, subject: string, raise: Limits): readonly RaisePreview[] {
  const standing = tree.nodes[tree.positions.get(subject) ?? -1]?.limits ?? {};
  const { cardHours, ...amounts } = raise;
  const grant = {
    id: "preview",
    nodeId: subject,
    raise: cardHours === undefined ? amounts : { ...amounts, cardHours: cardHours.hours },
    fromMs: 0,
    untilMs: 1,
  };
  const raised = withLimits(tree, [{ nodeId: subject, limits: limitsAt(standing, [grant], 0) }]);
  const resources = [...raiseResources(tree, subject, raise)];
  return resources.flatMap((resource) => {
    const before = effectiveLimit(tree, subject, resource);
    const after = effectiveLimit(raised, subject, resource);
    return before === null || after === null ? [] : [{ resource, before, after }];
  });
}

/** Card-hours count in the period that the subject's limit has. */
function* raiseResources(tree: QuotaTree, subject: string, raise: Limits): Generator<Resource> {
  const own = tree.limits[tree.positions.get(subject) ?? -1]?.keys() ?? [];
  const simple = (["cards", "gpuMemoryGiB", "cpuCores", "memoryGiB"] as const).filter((each) => raise[each]);
  yield* simple;
  if (raise.cardHours !== undefined) {
    for (const resource of own) if (resource.startsWith("cardHours:")) yield resource;
  }
  for (const gpuType of Object.keys(raise.gpuTypes ?? {})) yield `gpuType:${gpuType}`;
}

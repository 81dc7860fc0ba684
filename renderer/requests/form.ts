/** What is typed into "Ask for more" and into a decision, read and checked. Pure; instants are milliseconds since 1970 in UTC. */
import { parseSubject, personSubject, subjectPattern } from "../../shared/organisation/subject.ts";
import type { Me, QuotaNodeView } from "../../shared/protocol/control.ts";
import {
  type AmountEntry,
  amountsOf,
  compare,
  describeFault,
  effectiveLimit,
  type Fraction,
  type LimitFault,
  type Limits,
  limitedResources,
  limitsOf,
  longestGrantMs,
  parseFraction,
  parseLimits,
  partsOfResource,
  type QuotaTree,
  type Resource,
  toWords,
} from "../../shared/quota/index.ts";

/** What to ask for, as the address carries it. */
export interface Ask {
  readonly subject: string;
  readonly resource: Resource;
  /** As it is typed: `2`, `1/2`. */
  readonly amount: string;
}

/** The argument of the address that opens the form: `ask:t3f2k_p01:cards:2`. A resource may hold colons itself. */
export function askArgument({ subject, resource, amount }: Ask): string {
  return `ask:${subject}:${resource}:${amount}`;
}

/** What was asked for by the address; `empty` opens the form with nothing in it, null is about something else. */
export function parseAsk(argument: string | null): Ask | "empty" | null {
  if (argument === "ask") return "empty";
  if (argument === null || !argument.startsWith("ask:")) return null;
  const [, subject = "", ...rest] = argument.split(":");
  const amount = rest.pop() ?? "";
  const resource = rest.join(":");
  if (!subjectPattern.test(subject) || partsOfResource(resource) === null || parseFraction(amount) === null) {
    return "empty";
  }
  return { subject, resource: resource as Resource, amount };
}

/**
 * For whom the caller may ask, in the order of `nodes`: themselves and their projects, leads also their tenants with all projects,
 * administrators every tenant and project.
 */
export function askable<Node extends Pick<QuotaNodeView, "id">>(me: Me, nodes: readonly Node[]): readonly Node[] {
  const isAdministrator = me.role === "administrator" || me.open;
  return nodes.filter(({ id }) => {
    const subject = parseSubject(id);
    if (subject === null || subject.level === "cluster") return false;
    const isOwn = "projectId" in subject && me.projects.includes(subject.projectId);
    if (subject.level === "person") return isOwn && id === personSubject(subject.projectId, me.uid);
    return isOwn || isAdministrator || me.leads.includes(subject.tenantId);
  });
}

/** Typed amounts by resource; empty texts ask for nothing. */
export type AmountTexts = Readonly<Record<string, string>>;

export interface ReadAmounts {
  readonly raise: Limits;
  /** What is wrong, by resource: a sentence of the quota rules, or null where it is no number at all. */
  readonly faults: ReadonlyMap<Resource, string | null>;
}

/** Reads amounts by the quota rules. What is zero asks for nothing. */
export function readAmounts(texts: AmountTexts, resources: readonly Resource[]): ReadAmounts {
  const faults = new Map<Resource, string | null>();
  const entries: AmountEntry[] = [];
  for (const resource of resources) {
    const text = (texts[resource] ?? "").trim();
    if (text === "") continue;
    const amount = parseFraction(text);
    const fault = amount === null ? null : faultOf(resource, amount);
    if (amount === null || fault !== null) faults.set(resource, fault === null ? null : describeFault(fault));
    else if (amount.numerator > 0) entries.push([resource, amount]);
  }
  return { raise: limitsOf(entries), faults };
}

function faultOf(resource: Resource, amount: Fraction): LimitFault | null {
  const parsed = parseLimits(limitsOf([[resource, amount]]));
  return parsed.ok ? null : (parsed.refusals[0]?.fault ?? null);
}

/** Amounts as they are typed: what `readAmounts` reads back. */
export function textsOf(raise: Limits): AmountTexts {
  return Object.fromEntries(amountsOf(raise).map(([resource, amount]) => [resource, toWords(amount)]));
}

/** Whether a raise adds anything. */
export function isEmpty(raise: Limits): boolean {
  return amountsOf(raise).every(([, amount]) => amount.numerator <= 0);
}

/** How an approval differs from what was asked for. */
export function differenceOf(asked: Limits, approved: Limits): "same" | "less" | "more" {
  const wanted = new Map(amountsOf(asked));
  const given = new Map(amountsOf(approved));
  const orders = [...new Set([...wanted.keys(), ...given.keys()])].map((resource) => {
    const [before, after] = [wanted.get(resource), given.get(resource)];
    if (before === undefined) return 1;
    return after === undefined ? -1 : compare(after, before);
  });
  if (orders.some((order) => order > 0)) return "more";
  return orders.some((order) => order < 0) ? "less" : "same";
}

/** A resource that limits a subject from further up only: a raise of the subject would change nothing. */
export interface LimitedAbove {
  readonly resource: Resource;
  readonly limit: Fraction;
  /** The subject to ask for instead. */
  readonly subject: string;
}

/** What may be asked for: only what the subject limits itself. Throws AppError `not-found`. */
export function resourcesToAsk(
  tree: QuotaTree,
  subject: string,
): { readonly own: readonly Resource[]; readonly above: readonly LimitedAbove[] } {
  const ownLimits = tree.limits[tree.positions.get(subject) ?? -1];
  const all = limitedResources(tree, subject);
  return {
    own: all.filter((resource) => ownLimits?.has(resource) === true),
    above: all.flatMap((resource) => {
      const binding = ownLimits?.has(resource) === true ? null : effectiveLimit(tree, subject, resource);
      return binding === null ? [] : [{ resource, limit: binding.limit, subject: binding.nodeId }];
    }),
  };
}

/** What is wrong with an end, by the host's rule. Its clock may differ from ours, and its word counts. */
export type UntilFault = "past" | "too-late";

export function untilFault(untilMs: number, nowMs: number): UntilFault | null {
  if (untilMs <= nowMs) return "past";
  return untilMs > nowMs + longestGrantMs ? "too-late" : null;
}

/** A minute as a field of date and time has it, `2026-05-06T18:30`, by the clock of this machine; null where it is none. */
export function minuteOf(text: string): number | null {
  const match = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})$/.exec(text);
  if (match === null) return null;
  const [year, month, date, hour, minute] = match.slice(1).map(Number) as [number, number, number, number, number];
  const instant = new Date(year, month - 1, date, hour, minute);
  return instant.getDate() === date && hour < 24 && minute < 60 ? instant.getTime() : null;
}

/** What `minuteOf` reads back, to the minute. */
export function minuteText(instantMs: number): string {
  const at = new Date(instantMs);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

import { AppError } from "../errors.ts";
import { add, compare, type Fraction, zero } from "./fraction.ts";
import { type AmountEntry, amountsOf, type Limits, limitsOf, partsOfResource, type Resource } from "./limits.ts";
import {
  type BindingLimit,
  chainOf,
  effectiveLimit,
  type Headroom,
  headroomOf,
  limitedResources,
  nodeAt,
  positionOf,
  type QuotaTree,
} from "./tree.ts";

/** How much is added, by resource; card-hours to those of the period that the limit has. */
export type Raise = Omit<Limits, "cardHours"> & { readonly cardHours?: Fraction };

/** A temporary raise of one node's own limits. Instants are milliseconds since 1970 in UTC. */
export interface Grant {
  readonly id: string;
  readonly nodeId: string;
  readonly raise: Raise;
  readonly fromMs: number;
  /** The first instant at which it no longer counts. */
  readonly untilMs: number;
  /** Where somebody ended it before its time. */
  readonly endedMs?: number;
}

/** The first instant at which a grant no longer counts. */
export function endOf(grant: Grant): number {
  return Math.min(grant.untilMs, grant.endedMs ?? grant.untilMs);
}

export type GrantState = "coming" | "active" | "ended";

/** A grant counts from `fromMs` on, and no longer at `endOf`; one that was ended before it began never counts. */
export function grantState(grant: Grant, atMs: number): GrantState {
  if (atMs >= endOf(grant) || endOf(grant) <= grant.fromMs) return "ended";
  return atMs < grant.fromMs ? "coming" : "active";
}

const isPositive = (amount: Fraction): boolean => amount.numerator > 0;

function raiseEntries(raise: Raise): readonly AmountEntry[] {
  const { cardHours: _, ...amounts } = raise;
  return amountsOf(amounts).filter(([, amount]) => isPositive(amount));
}

/** What the raise adds to a limit on this resource. */
function raiseOf(raise: Raise, resource: Resource): Fraction {
  if (partsOfResource(resource)?.kind === "cardHours") return raise.cardHours ?? zero;
  return raiseEntries(raise).find(([raised]) => raised === resource)?.[1] ?? zero;
}

/**
 * The limits of a node at an instant: its base limits, and on top of each what all grants that are active then add; they may
 * overlap. A resource without a limit stays without one, and a grant never sets one. `grants` are those of this node.
 */
export function limitsAt(base: Limits, grants: readonly Grant[], atMs: number): Limits {
  const active = grants.filter((grant) => grantState(grant, atMs) === "active");
  if (active.length === 0) return base;
  return limitsOf(
    amountsOf(base).map(
      ([resource, limit]): AmountEntry => [
        resource,
        active.reduce((total, { raise }) => add(total, raiseOf(raise, resource)), limit),
      ],
    ),
  );
}

/** The next instant after this one at which a grant begins or ends; null where none does. What a timer has to wake up for. */
export function nextGrantChange(grants: readonly Grant[], afterMs: number): number | null {
  const instants = grants
    .filter((grant) => grantState(grant, afterMs) !== "ended")
    .flatMap((grant) => [grant.fromMs, endOf(grant)])
    .filter((instantMs) => instantMs > afterMs);
  return instants.length === 0 ? null : instants.reduce((a, b) => Math.min(a, b));
}

/** Ends a grant at an instant; one that has not begun never will. Throws AppError `bad-request` where it has ended already. */
export function cutShort(grant: Grant, atMs: number): Grant {
  if (grantState(grant, atMs) === "ended") {
    throw new AppError({
      code: "bad-request",
      message: "This raise has already ended.",
      remedy: "Reload; nothing is left to end.",
      evidence: { details: grant.id },
    });
  }
  return { ...grant, endedMs: atMs };
}

/** A raise is for a while: a year and a day at most. Milliseconds. */
export const longestGrantMs = 366 * 86_400_000;

/** Throws AppError `bad-request` where a raise would not raise anything, or end before it begins, before now or too far ahead. */
export function checkGrant(grant: Grant, nowMs: number): void {
  const refuse = (message: string, remedy: string): AppError => new AppError({ code: "bad-request", message, remedy });
  const amounts = [...raiseEntries(grant.raise).map(([, amount]) => amount), grant.raise.cardHours ?? zero];
  if (!amounts.some(isPositive)) throw refuse("This raise adds nothing.", "State how much more is needed.");
  if (![grant.fromMs, grant.untilMs].every(Number.isSafeInteger) || grant.untilMs <= grant.fromMs) {
    throw refuse("This raise ends before it begins.", "State an end after the beginning.");
  }
  if (grant.untilMs <= nowMs) throw refuse("This raise lies in the past.", "State an end that is still to come.");
  const latestMs = nowMs + longestGrantMs;
  if (grant.untilMs > latestMs) {
    const latest = new Date(latestMs).toISOString().slice(0, 10);
    throw refuse(
      `This raise ends too far ahead: ${latest} is the latest day.`,
      `State an end up to ${latest}; for what lasts longer an administrator changes the limit itself.`,
    );
  }
}

/** Why an administrator is needed for one resource: the raise is more than what is left. */
export interface BeyondTenant extends Headroom {
  readonly raise: Fraction;
}

/** Who may approve, and what is worth knowing before. */
export interface Approval {
  readonly approver: "lead" | "administrator";
  /** What does not fit the tenant; empty where the lead may approve, and for a raise of the tenant itself. */
  readonly beyond: readonly BeyondTenant[];
  /** Limits above the node that would go on binding below what is asked for: the raise alone would not help there. */
  readonly stillBoundBy: readonly BindingLimit[];
}

function tenantOf(tree: QuotaTree, nodeId: string): string | null {
  const position = chainOf(tree, positionOf(tree, nodeId)).find((each) => nodeAt(tree, each).level === "tenant");
  return position === undefined ? null : nodeAt(tree, position).id;
}

function beyondTenant(tree: QuotaTree, tenantId: string, raise: Raise): readonly BeyondTenant[] {
  return limitedResources(tree, tenantId).flatMap((resource) => {
    const amount = raiseOf(raise, resource);
    const headroom = isPositive(amount) ? headroomOf(tree, tenantId, resource) : null;
    return headroom === null || compare(amount, headroom.headroom) <= 0 ? [] : { ...headroom, raise: amount };
  });
}

function stillBoundBy(tree: QuotaTree, nodeId: string, raise: Raise): readonly BindingLimit[] {
  const position = positionOf(tree, nodeId);
  const { parent } = nodeAt(tree, position);
  if (parent === null) return [];
  return limitedResources(tree, nodeId).flatMap((resource) => {
    const own = tree.limits[position]?.get(resource);
    const amount = raiseOf(raise, resource);
    const above = isPositive(amount) ? effectiveLimit(tree, nodeAt(tree, parent).id, resource) : null;
    if (above === null) return [];
    return own === undefined || compare(add(own, amount), above.limit) > 0 ? above : [];
  });
}

/**
 * Who may approve a raise of a project or person: the lead of its tenant where it fits into what the tenant has left (limit
 * minus usage, of the tenant and above it), an administrator where it does not. The tenant and the cluster themselves are an
 * administrator's. The tree holds the limits and usage of the instant at which it is asked. Throws AppError `not-found`.
 */
export function approvalOf(tree: QuotaTree, nodeId: string, raise: Raise): Approval {
  const tenantId = tenantOf(tree, nodeId);
  const bound = stillBoundBy(tree, nodeId, raise);
  if (tenantId === null || tenantId === nodeId) return { approver: "administrator", beyond: [], stillBoundBy: bound };
  const beyond = beyondTenant(tree, tenantId, raise);
  return { approver: beyond.length === 0 ? "lead" : "administrator", beyond, stillBoundBy: bound };
}

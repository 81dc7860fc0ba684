/** Drafted limits: values to undo and redo, each with the version of the node that it was made upon. */

import { parseSubject } from "../../shared/organisation/subject.ts";
import type { Me, QuotaEdit, QuotaNodeView, QuotaOutcome } from "../../shared/protocol/control.ts";
import {
  changesBetween,
  type Impact,
  impactOf,
  type LimitEdit,
  type Limits,
  limitsAt,
  type QuotaTree,
  withLimits,
} from "../../shared/quota/index.ts";
import { type QuotaModel, situationIn } from "./model.ts";

export interface DraftedLimits {
  /** All of the node's own limits, without grants. */
  readonly limits: Limits;
  readonly basedOn: number;
}
/** By subject; never with one that changes nothing. */
export type QuotaDraft = ReadonlyMap<string, DraftedLimits>;
export const emptyDraft: QuotaDraft = new Map();

/** Administrators change every limit, leads those of projects and people of their tenants, others none. */
export function mayEdit(me: Pick<Me, "role" | "leads" | "open">, subject: string): boolean {
  if (me.role === "administrator" || me.open) return true;
  const parsed = parseSubject(subject);
  if (parsed === null || parsed.level === "cluster" || parsed.level === "tenant") return false;
  return me.leads.includes(parsed.tenantId);
}

/** Whether there is any limit that the caller may change. */
export function mayEditAny(me: Pick<Me, "role" | "leads" | "open">): boolean {
  return me.role === "administrator" || me.open || me.leads.length > 0;
}

/** Of the cluster administrators alone are told limits and use: to others the sum of what they see would look like it. */
export function maySeeFigures(me: Pick<Me, "role" | "open">, subject: string): boolean {
  return subject !== "cluster" || me.role === "administrator" || me.open;
}

/** A node's own limits as drafted, else as they stand. */
export function ownLimits(model: QuotaModel, draft: QuotaDraft, subject: string): Limits {
  return draft.get(subject)?.limits ?? model.nodes.get(subject)?.limits ?? {};
}

/**
 * The draft with these limits. A subject that gets back what it has leaves the draft; one that is drafted already keeps the
 * version that it was based on, so that what was changed meanwhile is still found. Unknown subjects are left out.
 */
export function withEdits(model: QuotaModel, draft: QuotaDraft, edits: readonly LimitEdit[]): QuotaDraft {
  const next = new Map(draft);
  for (const { nodeId, limits } of edits) {
    const node = model.nodes.get(nodeId);
    if (node === undefined) continue;
    if (changesBetween(node.limits, limits).length === 0) next.delete(nodeId);
    else next.set(nodeId, { limits, basedOn: draft.get(nodeId)?.basedOn ?? node.version });
  }
  return next;
}

function withoutSubjects(draft: QuotaDraft, subjects: ReadonlySet<string>): QuotaDraft {
  return new Map([...draft].filter(([subject]) => !subjects.has(subject)));
}

/** Without what stands already as it was drafted. */
export function withoutReached(model: QuotaModel, draft: QuotaDraft): QuotaDraft {
  const reached = [...draft].filter(([subject, { limits }]) => {
    const standing = model.nodes.get(subject);
    return standing !== undefined && changesBetween(standing.limits, limits).length === 0;
  });
  return withoutSubjects(draft, new Set(reached.map(([subject]) => subject)));
}

/** What `quota.set` is asked for. */
export function editsOf(draft: QuotaDraft): readonly QuotaEdit[] {
  return [...draft].map(([subject, { limits, basedOn }]) => ({ subject, limits, basedOn }));
}

/** The draft as it would count now: with what grants add. */
function editsInForce(model: QuotaModel, draft: QuotaDraft): readonly LimitEdit[] {
  return [...draft].flatMap(([nodeId, { limits }]) =>
    model.nodes.has(nodeId) ? [{ nodeId, limits: limitsAt(limits, model.grants.get(nodeId) ?? [], model.atMs) }] : [],
  );
}

export function draftedTree(model: QuotaModel, draft: QuotaDraft): QuotaTree {
  return draft.size === 0 ? model.tree : withLimits(model.tree, editsInForce(model, draft));
}

export function draftImpact(model: QuotaModel, draft: QuotaDraft): Impact {
  return impactOf(situationIn(model), editsInForce(model, draft));
}

/** A drafted node that somebody else has changed, or removed, since. */
export interface DraftConflict {
  readonly subject: string;
  readonly mine: Limits;
  /** Null where it is gone. */
  readonly theirs: QuotaNodeView | null;
}

export function conflictsOf(model: QuotaModel, draft: QuotaDraft): readonly DraftConflict[] {
  return [...draft].flatMap(([subject, { limits, basedOn }]) => {
    const theirs = model.nodes.get(subject) ?? null;
    return theirs?.version === basedOn ? [] : [{ subject, mine: limits, theirs }];
  });
}

/** Both ways out of conflicts: `mine` is based on what stands now, `theirs` leaves the draft; so does what is gone. */
export function resolveConflicts(
  model: QuotaModel,
  draft: QuotaDraft,
  subjects: ReadonlySet<string>,
  way: "mine" | "theirs",
): QuotaDraft {
  const rest = withoutSubjects(draft, subjects);
  if (way === "theirs") return rest;
  const mine = [...subjects].flatMap((nodeId) => {
    const drafted = draft.get(nodeId);
    return drafted === undefined ? [] : [{ nodeId, limits: drafted.limits }];
  });
  return withEdits(model, rest, mine);
}

const isDone = ({ outcome }: QuotaOutcome): boolean => outcome === "done" || outcome === "unchanged";

/** What is left of a draft after it was applied: what failed, or of which nothing is known. */
export function remainingAfter(draft: QuotaDraft, outcomes: readonly QuotaOutcome[]): QuotaDraft {
  return withoutSubjects(draft, new Set(outcomes.filter(isDone).map(({ subject }) => subject)));
}

/**
 * The way back of what was applied, as a new draft: the limits as `before` has them, based on the versions that came out. What
 * was not done is not in it.
 */
export function wayBack(before: QuotaModel, outcomes: readonly QuotaOutcome[]): QuotaDraft {
  const entries = outcomes.flatMap((each): readonly (readonly [string, DraftedLimits])[] => {
    const node = before.nodes.get(each.subject);
    if (each.outcome !== "done" || node === undefined) return [];
    return [[each.subject, { limits: node.limits, basedOn: each.version }]];
  });
  return new Map(entries);
}

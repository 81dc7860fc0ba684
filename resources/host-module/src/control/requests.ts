/** Temporary raises: asked for by a member or lead, approved by whoever may, set at once and taken back by the host's timer. */
import { AppError } from "../../../../shared/errors.ts";
import { parseSubject } from "../../../../shared/organisation/subject.ts";
import type { HostInput } from "../../../../shared/protocol/contract.ts";
import type { RequestsAnswer, RequestView } from "../../../../shared/protocol/control.ts";
import {
  type Approval,
  approvalOf,
  checkGrant,
  type QuotaTree,
  type Resource,
  toWords,
  type Usage,
} from "../../../../shared/quota/index.ts";
import type { Access } from "../access/access.ts";
import { grantsOf, periodsIn, quotaNodes, raiseOf, treeAt } from "../engine/quota-tree.ts";
import type { Act } from "../ledger/change.ts";
import { newGrantId, newRequestId } from "../ledger/ids.ts";
import { grants, limits, requests } from "../ledger/quotas.ts";
import { subjectColumns } from "../ledger/subject.ts";
import type { System } from "../system.ts";
import { actingOn, engineOf, enginePeople, ledgerOf } from "./context.ts";
import { baselinesIn } from "./counting.ts";
import { settleGrants } from "./grants.ts";
import { namesOf } from "./organisation.ts";
import { ledgerSubject, unknownSubject } from "./quota.ts";
import { checkWhy, refuseHidden, refuseMoreThanAsked } from "./request-rules.ts";
import { grantView, type RequestRow, requestView } from "./request-views.ts";
import { mayReadSubject } from "./sight.ts";

const mostListed = 500;

/** Open requests first, with who may decide them; then the newest. No more than the caller may see. */
export async function listRequests(system: System, access: Access): Promise<RequestsAnswer> {
  const ledger = ledgerOf(system);
  const mine = (row: RequestRow) => row.askedBy === access.uid || mayReadSubject(access, row.subject);
  const open = ledger.list(requests, { state: "asked" }).filter(mine);
  const tree = open.length === 0 ? null : await treeNow(system);
  const names = namesOf(ledger);
  const decided = ledger
    .list(requests)
    .filter((row) => row.state !== "asked" && mine(row))
    .toSorted((a, b) => (a.askedAt < b.askedAt ? 1 : -1));
  return {
    requests: [
      ...open.map((row) => ({ ...requestView(row, names), ...decisionOn(tree, row) })),
      ...decided.map((row) => requestView(row, names)),
    ].slice(0, mostListed),
    grants: ledger
      .list(grants)
      .filter((row) => mayReadSubject(access, row.subject))
      .map(grantView)
      .toSorted((a, b) => (a.until < b.until ? 1 : -1))
      .slice(0, mostListed),
  };
}

/** The tree with usage as it is now. */
async function treeNow(system: System): Promise<QuotaTree> {
  const ledger = ledgerOf(system);
  const usage: ReadonlyMap<string, Usage> = await (await engineOf(system)).usage(
    enginePeople(ledger),
    periodsIn(ledger),
    baselinesIn(ledger),
  );
  return ledger.read((reader) => treeAt(quotaNodes(reader, usage), grantsOf(reader), system.now().getTime()));
}

function decisionOn(
  tree: QuotaTree | null,
  row: Pick<RequestRow, "subject" | "amount">,
): Pick<RequestView, "approver" | "notes"> {
  if (tree === null || !tree.positions.has(row.subject)) return { approver: "administrator", notes: [] };
  const approval = approvalOf(tree, row.subject, raiseOf(row.amount));
  const notes = isTenant(row.subject) ? [tenantsOwnLimit] : [];
  return { approver: approval.approver, notes: [...notes, ...notesOf(approval)] };
}

const tenantsOwnLimit = "A tenant's own limit is raised by an administrator, not by its leads.";

const isTenant = (subject: string): boolean => parseSubject(subject)?.level === "tenant";

function notesOf({ beyond, stillBoundBy }: Approval): readonly string[] {
  return [
    ...beyond.map(
      ({ resource, raise, headroom }) =>
        `It asks for ${amountIn(resource, toWords(raise))}; the tenant has ${amountIn(resource, toWords(headroom))} left.`,
    ),
    ...stillBoundBy.map(
      ({ resource, level, limit }) =>
        `The ${level}'s limit of ${amountIn(resource, toWords(limit))} would go on binding.`,
    ),
  ];
}

function amountIn(resource: Resource, words: string): string {
  const [kind = "", ...rest] = resource.split(":");
  const plural = words === "1" ? "" : "s";
  switch (kind) {
    case "cards":
      return `${words} card${plural}`;
    case "gpuMemoryGiB":
      return `${words} GiB of GPU memory`;
    case "cpuCores":
      return `${words} CPU core${plural}`;
    case "memoryGiB":
      return `${words} GiB of RAM`;
    case "cardHours":
      return `${words} card-hour${plural}`;
    default:
      return `${words} of ${rest.join(":")}`;
  }
}

/** A person asks for themselves or their project; a lead for what lies in the tenant, too. Throws AppError. */
export async function ask(system: System, access: Access, input: HostInput<"request.ask">): Promise<RequestView> {
  const { subject, raise, why, until } = input;
  checkWhy(why);
  const now = system.now();
  const ledger = ledgerOf(system);
  const act: Act = { ...actingOn(system, access, subject), command: "request.ask" };
  const tree = await treeNow(system);
  const stored = ledger.change(act, (change) => {
    if (!tree.positions.has(subject)) throw new AppError(unknownSubject(subject));
    checkGrant(
      { id: "", nodeId: subject, raise: raiseOf(raise), fromMs: now.getTime(), untilMs: Date.parse(until) },
      now.getTime(),
    );
    const own = change.find(limits, { subject })?.limits ?? {};
    refuseWithoutLimit(subject, own, raise);
    return change.insert(requests, {
      id: newRequestId(change),
      ...subjectColumns(ledgerSubject(subject)),
      ...{ amount: raise, why, until, askedBy: access.uid, askedAt: now.toISOString() },
      ...{ state: "asked", decidedBy: null, decidedAt: null, answer: null },
    });
  });
  return { ...requestView(stored, namesOf(ledger)), ...decisionOn(tree, stored) };
}

/** A raise of what has no limit there raises nothing: the level that binds has to be asked for. */
function refuseWithoutLimit(subject: string, own: object, raise: object): void {
  const without = Object.keys(raise).filter((field) => !Object.hasOwn(own, field));
  if (without.length === 0) return;
  throw new AppError({
    code: "bad-request",
    message: `${subject} has no limit of its own for ${without.join(", ")}: a raise of it would change nothing.`,
    remedy: "Ask for the level whose limit binds: the project, or the tenant.",
  });
}

export function withdraw(system: System, access: Access, input: HostInput<"request.withdraw">): null {
  const { requestId: id, subject, basedOn } = input;
  const act: Act = { ...actingOn(system, access, subject), command: "request.withdraw" };
  ledgerOf(system).change(act, (change) => {
    const row = change.get(requests, { id });
    if (row.subject !== subject) throw new AppError(unknownSubject(id));
    if (row.askedBy !== access.uid && !access.administrator) {
      throw new AppError({
        code: "forbidden",
        message: "Only who asked can withdraw a request.",
        remedy: "Refuse it instead, if you may decide it.",
      });
    }
    const decided = { decidedBy: access.uid, decidedAt: system.now().toISOString() };
    change.update(requests, { id }, basedOn, { state: "withdrawn", ...decided });
  });
  return null;
}

/**
 * Approves or refuses. Approved, the way back stands in the ledger before the raise is set, and the raise applies at once;
 * where the engine does not take it now, the host's timer goes on trying. Throws AppError `forbidden` for a lead where it
 * does not fit the tenant.
 */
export async function decide(system: System, access: Access, input: HostInput<"request.decide">): Promise<RequestView> {
  const { requestId: id, subject, basedOn, decision, answer } = input;
  refuseHidden("The answer", answer);
  const ledger = ledgerOf(system);
  const now = system.now();
  const act: Act = { ...actingOn(system, access, subject), command: "request.decide" };
  const tree = await treeNow(system);
  const decided = { decidedBy: access.uid, decidedAt: now.toISOString(), answer };
  const stored = ledger.change(act, (change) => {
    const row = change.get(requests, { id });
    if (row.subject !== subject) throw new AppError(unknownSubject(id));
    if (decision === "refuse") return change.update(requests, { id }, basedOn, { state: "refused", ...decided });
    const amount = input.raise ?? row.amount;
    const until = input.until ?? row.until;
    const raise = raiseOf(amount);
    checkGrant({ id: "", nodeId: subject, raise, fromMs: now.getTime(), untilMs: Date.parse(until) }, now.getTime());
    refuseMoreThanAsked(row, { amount, until });
    refuseBeyondTenant(access, tree, subject, amount);
    const own = change.find(limits, { subject })?.limits ?? {};
    refuseWithoutLimit(subject, own, amount);
    const approved = change.update(requests, { id }, basedOn, { state: "approved", ...decided });
    change.insert(grants, {
      id: newGrantId(change),
      requestId: id,
      ...subjectColumns(ledgerSubject(subject)),
      ...{ amount, until, state: "approved", revert: own, startedAt: null, endedAt: null },
    });
    return approved;
  });
  if (decision === "approve") await settleGrants(system, actingOn(system, access, subject), { subject });
  return requestView(stored, namesOf(ledger));
}

function refuseBeyondTenant(access: Access, tree: QuotaTree, subject: string, amount: RequestRow["amount"]): void {
  if (access.administrator) return;
  if (isTenant(subject)) {
    throw new AppError({
      code: "forbidden",
      message: tenantsOwnLimit,
      remedy: "Leave it to an administrator, or have less asked for a project within what the tenant has.",
    });
  }
  const approval = tree.positions.has(subject) ? approvalOf(tree, subject, raiseOf(amount)) : null;
  if (approval?.approver === "lead") return;
  throw new AppError({
    code: "forbidden",
    message: "This raise does not fit what the tenant has left, so it is for an administrator to decide.",
    remedy: "Approve less, or leave it to an administrator.",
    evidence: { details: approval === null ? "" : notesOf(approval).join("\n") },
  });
}

/** Ends a grant now; nothing running is killed. */
export async function cutGrant(system: System, access: Access, input: HostInput<"grant.cut">): Promise<null> {
  const { grantId: id, subject, basedOn } = input;
  const act: Act = { ...actingOn(system, access, subject), command: "grant.cut" };
  const now = system.now().toISOString();
  ledgerOf(system).change(act, (change) => {
    const row = change.get(grants, { id });
    if (row.subject !== subject) throw new AppError(unknownSubject(id));
    // Its end is now; that it ended is written when the limits are back.
    if (row.until > now) change.update(grants, { id }, basedOn, { until: now });
  });
  await settleGrants(system, actingOn(system, access, subject), { subject, cutId: id });
  return null;
}

/** Limits of tenants, projects and people: what each caller sees of them, and changing many at once. */
import { AppError, type AppErrorData, toErrorData } from "../../../../shared/errors.ts";
import { clusterSubject, parseSubject } from "../../../../shared/organisation/subject.ts";
import type { HostInput } from "../../../../shared/protocol/contract.ts";
import type {
  QuotaAnswer,
  QuotaEdit,
  QuotaNodeView,
  QuotaOutcome,
  QuotaProgress,
  QuotaResult,
} from "../../../../shared/protocol/control.ts";
import {
  add,
  amountsOf,
  type CardShareRule,
  cardShareRules,
  changesBetween,
  defaultCardShareRule,
  limitsAboveParent,
  partsOfResource,
  type Usage,
  withLimits,
  zero,
} from "../../../../shared/quota/index.ts";
import type { Access } from "../access/access.ts";
import { leadsSubject } from "../access/access.ts";
import type { EngineChange, EnginePerson } from "../engine/engine.ts";
import { effectiveLimits, grantsOf, periodsOf, quotaNodes, quotaRows, treeAt } from "../engine/quota-tree.ts";
import type { Act, Change } from "../ledger/change.ts";
import { people } from "../ledger/organisation.ts";
import { grants, limits } from "../ledger/quotas.ts";
import type { Reader } from "../ledger/reader.ts";
import { settings } from "../ledger/settings.ts";
import { type Subject as LedgerSubject, subjectColumns } from "../ledger/subject.ts";
import type { CallContext } from "../serve/handlers.ts";
import type { System } from "../system.ts";
import { withTruth } from "./changing.ts";
import { actingOn, engineOf, enginePeople, ledgerOf } from "./context.ts";
import { baselinesIn, type Counting, CountingState, noteCounting, startsCounting } from "./counting.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { grantView } from "./request-views.ts";
import { mayReadSubject } from "./sight.ts";

/** Rows of the ledger that are written in one transaction, and changes that the engine gets at once. */
const chunkSize = 500;

export function shareRuleOf(reader: Reader): CardShareRule {
  const value = reader.find(settings, { name: "card-share" })?.value;
  return cardShareRules.find((rule) => rule === value) ?? defaultCardShareRule;
}

/**
 * The tree with limits, usage and what runs and waits, no more than the caller may see. Limits are those of the revision, also
 * where the ledger is changed while the engine is asked: whoever follows it is told, and looks again.
 */
export async function quotas(system: System, access: Access): Promise<QuotaAnswer> {
  const ledger = ledgerOf(system);
  const engine = await engineOf(system);
  const read = ledger.read((reader) => readQuotas(reader, access));
  const [usage, allocations, status] = await Promise.all([
    engine.usage(read.people, read.periodOf, read.baselines),
    engine.allocations(read.people),
    engine.status(),
  ]);
  return {
    revision: read.revision,
    rule: read.rule,
    nodes: visibleNodes(access, withUsage(read.nodes, usage)),
    grants: read.grants,
    allocations: allocations.filter(
      ({ subject }) => access.administrator || (subject !== null && mayReadSubject(access, subject)),
    ),
    enforcement: status.enforcement,
  };
}

/** Everything that `quotas` takes from the ledger, each table once: the people of a large cluster are most of its time. */
function readQuotas(reader: Reader, access: Access) {
  const rows = quotaRows(reader);
  return {
    revision: reader.lastChangeOf(["limits", "grant", "tenant", "project", "member"]),
    rule: shareRuleOf(reader),
    nodes: quotaNodes(reader, new Map(), rows),
    grants: [...reader.list(grants, { state: "running" }), ...reader.list(grants, { state: "approved" })]
      .filter(({ subject }) => mayReadSubject(access, subject))
      .map(grantView),
    people: rows.people,
    periodOf: periodsOf(rows.limits),
    baselines: baselinesIn(reader),
  };
}

function withUsage(nodes: readonly QuotaNodeView[], usage: ReadonlyMap<string, Usage>): readonly QuotaNodeView[] {
  return nodes.map((node) => {
    const used = usage.get(node.id);
    return used === undefined ? node : { ...node, usage: used };
  });
}

/**
 * The nodes that a caller may see. Usage of projects of the own tenant that are not shown is added to the tenant, so that
 * its sum is right; nothing is said of other tenants, and nothing of the cluster.
 */
export function visibleNodes(access: Access, nodes: readonly QuotaNodeView[]): readonly QuotaNodeView[] {
  if (access.administrator) return nodes;
  const hidden = new Map<string, Usage>();
  const shown = nodes.filter((node) => node.id === clusterSubject || mayReadSubject(access, node.id));
  const ids = new Set(shown.map(({ id }) => id));
  for (const node of nodes) {
    const subject = parseSubject(node.id);
    if (ids.has(node.id) || node.usage === undefined || subject === null || subject.level === "cluster") continue;
    if (ids.has(subject.tenantId)) hidden.set(subject.tenantId, sumOf(hidden.get(subject.tenantId), node.usage));
  }
  return shown.map((node) => {
    if (node.id === clusterSubject) return { ...node, limits: {}, usage: {}, version: 0 };
    const more = hidden.get(node.id);
    return more === undefined ? node : { ...node, usage: sumOf(node.usage, more) };
  });
}

function sumOf(a: Usage | undefined, b: Usage): Usage {
  const amounts = new Map(amountsOf(a ?? {}));
  for (const [resource, amount] of amountsOf(b)) amounts.set(resource, add(amounts.get(resource) ?? zero, amount));
  const simple: Record<string, unknown> = {};
  const cardHours: NonNullable<Usage["cardHours"]>[number][] = [];
  const gpuTypes: Record<string, ReturnType<typeof add>> = {};
  for (const [resource, amount] of amounts) {
    const parts = partsOfResource(resource);
    if (parts?.kind === "cardHours") cardHours.push({ hours: amount, period: parts.period });
    else if (parts?.kind === "gpuType") gpuTypes[parts.gpuType] = amount;
    else if (parts !== null) simple[parts.kind] = amount;
  }
  return {
    ...simple,
    ...(cardHours.length === 0 ? {} : { cardHours }),
    ...(Object.keys(gpuTypes).length === 0 ? {} : { gpuTypes }),
  };
}

interface Planned {
  readonly edit: QuotaEdit;
  readonly change: EngineChange;
  /** Where its card-hours count anew. */
  readonly counting: Counting | null;
  readonly place: number;
}

/**
 * Sets limits, many at once. Each edit has an outcome of its own; one that is refused does not keep back the others. In
 * the engine first, then in the ledger, chunk by chunk, with `begun` in the audit before each.
 */
export function setQuotas(
  system: System,
  access: Access,
  input: HostInput<"quota.set">,
  call: Pick<CallContext<QuotaProgress>, "signal" | "progress">,
): Promise<QuotaResult> {
  const set = () => setNow(system, access, input, call);
  return input.dryRun === true ? set() : oneAtATime(system, set);
}

async function setNow(
  system: System,
  access: Access,
  { edits, dryRun = false }: HostInput<"quota.set">,
  { signal, progress }: Pick<CallContext<QuotaProgress>, "signal" | "progress">,
): Promise<QuotaResult> {
  refuseTwice(edits);
  const ledger = ledgerOf(system);
  const engine = await engineOf(system);
  const outcomes = new Map<number, QuotaOutcome>();
  const counter = ledger.read((reader) => edits.some((edit) => beginsCounting(reader, edit)))
    ? await engine.counted(enginePeople(ledger))
    : null;
  const planned = ledger.read((reader) => {
    const counting = counter === null ? null : new CountingState(reader, counter, system.now());
    return plan(reader, access, edits, outcomes, counting, system.now());
  });
  const commands = engine.commands(planned.map(({ change }) => change));
  if (dryRun) {
    for (const { edit, place } of planned) {
      outcomes.set(place, { subject: edit.subject, outcome: "dry-run", version: edit.basedOn });
    }
    return { outcomes: inOrder(edits, outcomes), commands };
  }
  let done = outcomes.size;
  progress({ done, total: edits.length });
  for (let from = 0; from < planned.length; from += chunkSize) {
    const chunk = planned.slice(from, from + chunkSize);
    if (signal.aborted) {
      for (const { edit, place } of chunk) outcomes.set(place, failed(edit, cancelled));
      continue;
    }
    await setChunk(system, access, chunk, outcomes, (count) => progress({ done: done + count, total: edits.length }));
    done += chunk.length;
    progress({ done, total: edits.length });
  }
  return { outcomes: inOrder(edits, outcomes), commands };
}

const cancelled: AppErrorData = {
  code: "cancelled",
  message: "Stopped before this limit was set.",
  remedy: "Apply the rest again.",
};

function failed(edit: QuotaEdit, error: AppErrorData): QuotaOutcome {
  return { subject: edit.subject, outcome: "failed", error };
}

/** Which of two would count is nobody's guess. */
function refuseTwice(edits: readonly QuotaEdit[]): void {
  const seen = new Set<string>();
  for (const { subject } of edits) {
    if (seen.has(subject)) {
      throw new AppError({
        code: "bad-request",
        message: `The limits of ${subject} are set twice in one call.`,
        remedy: "Nothing was changed. Give each subject once, with all of its limits.",
      });
    }
    seen.add(subject);
  }
}

function inOrder(edits: readonly QuotaEdit[], outcomes: ReadonlyMap<number, QuotaOutcome>): readonly QuotaOutcome[] {
  return edits.map((edit, place) => outcomes.get(place) ?? failed(edit, toErrorData(new Error("no outcome"))));
}

function beginsCounting(reader: Reader, edit: QuotaEdit): boolean {
  return startsCounting(reader.find(limits, { subject: edit.subject })?.limits ?? {}, edit.limits);
}

/** What is to be done; refused and needless edits get their outcome at once. */
function plan(
  reader: Reader,
  access: Access,
  edits: readonly QuotaEdit[],
  outcomes: Map<number, QuotaOutcome>,
  state: CountingState | null,
  now: Date,
): readonly Planned[] {
  const { inLimit } = baselinesIn(reader);
  const all = grantsOf(reader);
  const nodes = quotaNodes(reader, new Map());
  const known = new Map(nodes.map((node) => [node.id, node]));
  const tree = access.administrator ? null : treeAt(nodes, [], now.getTime());
  const persons = new Map(reader.list(people).map(({ uid, user }) => [uid, user]));
  const wanted =
    tree === null ? null : withLimits(tree, edits.filter(({ subject }) => known.has(subject)).map(asLimitEdit));
  return edits.flatMap((edit, place): readonly Planned[] => {
    const refuse = (error: AppErrorData): readonly Planned[] => {
      outcomes.set(place, failed(edit, error));
      return [];
    };
    const node = known.get(edit.subject);
    if (node === undefined) return refuse(unknownSubject(edit.subject));
    if (node.version !== edit.basedOn) return refuse(changedMeanwhile(reader, edit));
    if (changesBetween(node.limits, edit.limits).length === 0) {
      outcomes.set(place, { subject: edit.subject, outcome: "unchanged", version: node.version });
      return [];
    }
    const above = wanted === null ? [] : limitsAboveParent(wanted, edit.subject);
    if (above.length > 0 && leadsSubject(access, edit.subject)) return refuse(aboveTheParent(edit.subject));
    const before = effectiveLimits(node.limits, edit.subject, all, now.getTime());
    const after = effectiveLimits(edit.limits, edit.subject, all, now.getTime());
    const person = personOf(edit.subject, persons);
    const anew = startsCounting(node.limits, edit.limits) ? edit.limits.cardHours : undefined;
    const counting = anew === undefined ? null : (state?.begin(edit.subject, anew.period) ?? null);
    const standing = inLimit(edit.subject);
    const notCounted = { before: standing, after: anew === undefined ? standing : (counting?.notCounted ?? 0) };
    const { subject } = edit;
    return [
      { edit, place, counting, change: { kind: "set-limits", subject, person, before, limits: after, notCounted } },
    ];
  });
}

function asLimitEdit({ subject, limits: own }: QuotaEdit) {
  return { nodeId: subject, limits: own };
}

/** The person that a subject is, by name; null for a tenant, a project and the cluster. */
export function personOf(subject: string, users: ReadonlyMap<number, string>): EnginePerson | null {
  const parsed = parseSubject(subject);
  if (parsed?.level !== "person") return null;
  return { uid: parsed.uid, user: users.get(parsed.uid) ?? String(parsed.uid) };
}

async function setChunk(
  system: System,
  access: Access,
  chunk: readonly Planned[],
  outcomes: Map<number, QuotaOutcome>,
  progress: (done: number) => void,
): Promise<void> {
  const ledger = ledgerOf(system);
  const engine = await engineOf(system);
  const [only] = chunk.length === 1 ? chunk : [];
  const commands = engine.commands(chunk.map(({ change }) => change));
  const tenantIds = new Set(chunk.map(({ edit }) => tenantOf(edit.subject)));
  const about = {
    object: only === undefined ? null : `limits/${only.edit.subject}`,
    tenant: tenantIds.size === 1 ? ([...tenantIds][0] ?? null) : null,
  };
  const [command] = commands;
  const act: Act = {
    ...actingOn(system, access, only?.edit.subject ?? about.tenant),
    command: "quota.set",
    ...(command === undefined ? {} : { commandLine: command }),
  };
  if (command !== undefined) ledger.record(act, { ...about, outcome: "begun" });
  const engineOutcomes = await engine.apply(
    chunk.map(({ change }) => change),
    { progress },
  );
  const set = chunk.filter(({ edit, place }, index) => {
    const outcome = engineOutcomes[index];
    if (outcome === undefined || !("error" in outcome)) return true;
    const error = withTruth(outcome.outcome, outcome.error);
    outcomes.set(place, { subject: edit.subject, outcome: outcome.outcome, error });
    ledger.record(act, {
      object: `limits/${edit.subject}`,
      tenant: tenantOf(edit.subject),
      outcome: "failed",
      error,
    });
    return false;
  });
  write(system, act, set, outcomes);
}

/** All in one transaction; where one of them was changed meanwhile, each in its own, so that only that one is refused. */
function write(system: System, act: Act, set: readonly Planned[], outcomes: Map<number, QuotaOutcome>): void {
  if (set.length === 0) return;
  const ledger = ledgerOf(system);
  try {
    const stored = ledger.change(act, (change) =>
      set.map(({ edit, place, counting }) => ({
        ...{ edit, place },
        version: writeLimits(change, edit, counting, system.now()),
      })),
    );
    for (const { edit, place, version } of stored) {
      outcomes.set(place, { subject: edit.subject, outcome: "done", version });
    }
  } catch (error) {
    if (set.length > 1) {
      for (const each of set) write(system, act, [each], outcomes);
      return;
    }
    for (const { edit, place } of set) outcomes.set(place, failed(edit, toErrorData(error)));
  }
}

function writeLimits(change: Change, edit: QuotaEdit, counting: Counting | null, now: Date): number {
  const columns = subjectColumns(ledgerSubject(edit.subject));
  const before = change.find(limits, { subject: edit.subject });
  if (before === null && edit.basedOn !== 0) change.get(limits, { subject: edit.subject });
  const stored =
    before === null
      ? change.insert(limits, { ...columns, limits: edit.limits })
      : change.update(limits, { subject: edit.subject }, edit.basedOn, { limits: edit.limits });
  noteCounting(change, columns, edit.limits, counting, now);
  return stored.version;
}

/** A subject as the ledger's columns have it. Throws AppError `bad-request`. */
export function ledgerSubject(text: string): LedgerSubject {
  const subject = parseSubject(text);
  switch (subject?.level) {
    case "cluster":
      return { scope: "cluster" };
    case "tenant":
      return { scope: "tenant", tenantId: subject.tenantId };
    case "project":
      return { scope: "project", projectId: subject.projectId };
    case "person":
      return { scope: "person", projectId: subject.projectId, uid: subject.uid };
    default:
      throw new AppError(unknownSubject(text));
  }
}

export function tenantOf(text: string): string | null {
  const subject = parseSubject(text);
  return subject === null || subject.level === "cluster" ? null : subject.tenantId;
}

export function unknownSubject(subject: string): AppErrorData {
  return {
    code: "not-found",
    message: `There is no ${JSON.stringify(subject)} among the tenants, projects and people here.`,
    remedy: "Nothing was changed. Look at the list again: it may have been removed.",
  };
}

function aboveTheParent(subject: string): AppErrorData {
  return {
    code: "forbidden",
    message: `The limit of ${subject} would be above what its parent may use.`,
    remedy: "Set it at or below the parent's limit, or ask for more for the tenant.",
  };
}

function changedMeanwhile(reader: Reader, edit: QuotaEdit): AppErrorData {
  return reader.conflictSince(limits, { subject: edit.subject }, edit.basedOn).toData();
}

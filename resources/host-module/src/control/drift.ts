/**
 * Where ledger and engine differ: somebody used sacctmgr by hand, or a change broke half way. Shown side by side and
 * resolved by a person's choice; nothing here is ever brought into line by itself.
 */
import { AppError, toErrorData } from "../../../../shared/errors.ts";
import { parseSubject } from "../../../../shared/organisation/subject.ts";
import type { HostInput } from "../../../../shared/protocol/contract.ts";
import type { Drift, DriftResult, QuotaProgress } from "../../../../shared/protocol/control.ts";
import { amountsOf, changesBetween, type Limits, toWords } from "../../../../shared/quota/index.ts";
import type { Access } from "../access/access.ts";
import type { Engine, EngineChange, EnginePerson, EngineState } from "../engine/engine.ts";
import { effectiveLimits, grantsOf, periodsIn, quotaNodes } from "../engine/quota-tree.ts";
import type { Act, Change } from "../ledger/change.ts";
import { members, people, projects, tenants } from "../ledger/organisation.ts";
import { fromZero, limits, resets } from "../ledger/quotas.ts";
import type { Reader } from "../ledger/reader.ts";
import { subjectColumns } from "../ledger/subject.ts";
import type { CallContext } from "../serve/handlers.ts";
import type { System } from "../system.ts";
import { changeTogether } from "./changing.ts";
import { actingOn, engineOf, enginePeople, ledgerOf } from "./context.ts";
import { baselinesIn, forgetReadings, noteCounting } from "./counting.ts";
import { ledgerSubject, personOf, tenantOf } from "./quota.ts";

/** A difference with what each way of resolving it does. */
interface Found {
  readonly drift: Drift;
  readonly takeLedger: readonly EngineChange[] | null;
  /** What goes with it in the ledger. */
  readonly alongLedger?: (change: Change) => void;
  readonly takeEngine: ((change: Change) => void) | null;
}

/** All differences now; empty for an engine that keeps nothing of its own. Throws AppError where nothing answers. */
export async function drift(system: System): Promise<readonly Drift[]> {
  return (await find(system)).map((found) => found.drift);
}

async function find(system: System): Promise<readonly Found[]> {
  const engine = await engineOf(system);
  if (engine.kind === "local") return [];
  const ledger = ledgerOf(system);
  const state = await engine.state(enginePeople(ledger), periodsIn(ledger), baselinesIn(ledger));
  return ledger.read((reader) => differences(reader, state, engine, system.now()));
}

/** Pure: what the ledger has against what the engine has. */
export function differences(
  reader: Reader,
  state: EngineState,
  { kept }: Pick<Engine, "kept">,
  now: Date,
): readonly Found[] {
  const users = new Map(reader.list(people).map(({ uid, user }) => [uid, user]));
  const grants = grantsOf(reader);
  const nodes = quotaNodes(reader, new Map());
  const known = new Set(nodes.map(({ id }) => id));
  const { inLimit } = baselinesIn(reader);
  const found: Found[] = [];
  for (const node of nodes) {
    const there = state.subjects.get(node.id);
    const wanted = effectiveLimits(node.limits, node.id, grants, now.getTime());
    const person = personOf(node.id, users);
    if (there === undefined) {
      if (node.level !== "cluster") found.push(missing(node.id, person, wanted));
      continue;
    }
    if (changesBetween(there.limits, kept(wanted)).length > 0) {
      found.push(otherLimits(node.id, person, wanted, there.limits, inLimit(node.id), now));
    }
    for (const [what, texts] of [
      ["coordinator", there.coordinators],
      ["foreign", there.foreign],
    ] as const) {
      for (const text of texts) found.push(onlyShown(node.id, what, text));
    }
  }
  for (const sentence of state.unread) found.push(onlyShown(null, "unread", sentence));
  for (const [id, there] of state.subjects) if (!known.has(id)) found.push(unknown(id, users, there.limits, now));
  return found;
}

function missing(subject: string, person: EnginePerson | null, wanted: Limits): Found {
  const what = person === null ? "account" : "member";
  return {
    drift: { id: `${what}:${subject}:missing`, subject, what, ledger: "there", engine: null, ways: ["ledger"] },
    takeLedger: [
      ...adding(subject, person),
      ...(amountsOf(wanted).length === 0
        ? []
        : [{ kind: "set-limits" as const, subject, person, before: {}, limits: wanted }]),
    ],
    // A row that is made anew has used nothing.
    alongLedger: (change) => {
      change.dropBaselines([subject]);
      const row = change.find(resets, { subject });
      if (row !== null) change.update(resets, { subject }, row.version, fromZero);
    },
    takeEngine: null,
  };
}

function adding(subject: string, person: EnginePerson | null): readonly EngineChange[] {
  const parsed = parseSubject(subject);
  switch (parsed?.level) {
    case "tenant":
      return [{ kind: "add-tenant", tenantId: parsed.tenantId }];
    case "project":
      return [{ kind: "add-project", projectId: parsed.projectId }];
    case "person":
      return person === null ? [] : [{ kind: "add-member", projectId: parsed.projectId, person }];
    default:
      return [];
  }
}

function otherLimits(
  subject: string,
  person: EnginePerson | null,
  wanted: Limits,
  there: Limits,
  standing: number,
  now: Date,
): Found {
  const notCounted = { before: standing, after: standing };
  return {
    drift: {
      id: `limits:${subject}:${JSON.stringify(amountsOf(there))}`,
      subject,
      what: "limits",
      ledger: inWords(wanted),
      engine: inWords(there),
      ways: ["ledger", "engine"],
    },
    takeLedger: [{ kind: "set-limits", subject, person, before: there, limits: wanted, notCounted }],
    takeEngine: (change) => {
      const row = change.find(limits, { subject });
      const taken = withPeriods(there, row?.limits ?? {});
      const columns = subjectColumns(ledgerSubject(subject));
      if (taken.cardHours !== undefined && row?.limits.cardHours === undefined) {
        forgetReadings(change, subject, taken.cardHours.period);
      }
      if (row === null) change.insert(limits, { ...columns, limits: taken });
      else change.update(limits, { subject }, row.version, { limits: taken });
      noteCounting(change, columns, taken, null, now);
    },
  };
}

/** The engine knows no periods: an amount of card-hours stays in the one that the ledger has. */
function withPeriods(there: Limits, before: Limits): Limits {
  if (there.cardHours === undefined) return there;
  return { ...there, cardHours: { ...there.cardHours, period: before.cardHours?.period ?? there.cardHours.period } };
}

function onlyShown(subject: string | null, what: string, text: string): Found {
  return {
    drift: {
      id: `${what}:${subject ?? ""}:${text}`.slice(0, 300),
      subject,
      what,
      ledger: null,
      engine: text,
      ways: [],
    },
    takeLedger: null,
    takeEngine: null,
  };
}

/** In the engine, and not in the ledger: removed there, or taken into the ledger under its id. */
function unknown(id: string, users: ReadonlyMap<number, string>, there: Limits, now: Date): Found {
  const parsed = parseSubject(id);
  const person = personOf(id, users);
  const what = parsed?.level === "person" ? "member" : "account";
  const base = { id: `${what}:${id}:unknown`, subject: id, what, ledger: null, engine: inWords(there) } as const;
  return {
    drift: { ...base, ways: ["ledger", "engine"] },
    takeLedger: removing(id, person),
    takeEngine: (change) => takeIn(change, id, there, now),
  };
}

function removing(id: string, person: EnginePerson | null): readonly EngineChange[] {
  const parsed = parseSubject(id);
  switch (parsed?.level) {
    case "tenant":
      return [{ kind: "remove-tenant", tenantId: parsed.tenantId }];
    case "project":
      return [{ kind: "remove-project", projectId: parsed.projectId }];
    case "person":
      return person === null ? [] : [{ kind: "remove-member", projectId: parsed.projectId, person }];
    default:
      return [];
  }
}

function takeIn(change: Change, id: string, there: Limits, now: Date): void {
  const parsed = parseSubject(id);
  const createdAt = now.toISOString();
  if (!change.isGivenId(id) && parsed?.level !== "person") change.giveId(id);
  if (parsed?.level === "tenant") change.insert(tenants, { id, displayName: id, createdAt });
  if (parsed?.level === "project") {
    change.insert(projects, { id, tenantId: parsed.tenantId, displayName: id, createdAt });
  }
  if (parsed?.level === "person") {
    change.insert(members, { projectId: parsed.projectId, uid: parsed.uid, role: "member" });
  }
  if (amountsOf(there).length === 0) return;
  change.insert(limits, { ...subjectColumns(ledgerSubject(id)), limits: there });
}

function inWords(those: Limits): string {
  const entries = amountsOf(those);
  if (entries.length === 0) return "no limits";
  return entries.map(([resource, amount]) => `${resource} ${toWords(amount)}`).join(", ");
}

/**
 * Resolves differences as a person chose. They are looked for anew: one that is no longer as it was shown is refused as
 * `conflict`.
 */
export async function resolve(
  system: System,
  access: Access,
  { resolutions }: HostInput<"engine.resolve">,
  { signal, progress }: Pick<CallContext<QuotaProgress>, "signal" | "progress">,
): Promise<DriftResult> {
  const found = new Map((await find(system)).map((each) => [each.drift.id, each]));
  const outcomes: DriftResult["outcomes"][number][] = [];
  for (const { id, take } of resolutions) {
    if (signal.aborted) break;
    try {
      await resolveOne(system, access, found.get(id), take);
      outcomes.push({ id, outcome: "done" });
    } catch (error) {
      outcomes.push({ id, outcome: "failed", error: toErrorData(error) });
    }
    progress({ done: outcomes.length, total: resolutions.length });
  }
  return { outcomes };
}

async function resolveOne(
  system: System,
  access: Access,
  found: Found | undefined,
  take: "ledger" | "engine",
): Promise<void> {
  if (found === undefined) {
    throw new AppError({
      code: "conflict",
      message: "This difference is no longer as it was shown.",
      remedy: "Nothing was changed. Look at the differences again.",
    });
  }
  const { drift: shown, takeLedger, takeEngine, alongLedger = () => undefined } = found;
  const subject = shown.subject ?? "cluster";
  const act: Act = { ...actingOn(system, access, subject), command: "engine.resolve" };
  if (take === "engine" && takeEngine !== null) {
    ledgerOf(system).change(act, takeEngine);
    return;
  }
  if (take === "ledger" && takeLedger !== null) {
    const together = { act, object: `engine/${subject}`, tenant: tenantOf(subject), changes: takeLedger };
    await changeTogether(system, together, alongLedger);
    ledgerOf(system).record(act, { object: together.object, tenant: tenantOf(subject), outcome: "done" });
    return;
  }
  throw new AppError({
    code: "bad-request",
    message: "This difference cannot be resolved that way.",
    remedy: "Change it with sacctmgr, then look again.",
  });
}

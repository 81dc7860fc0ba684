/**
 * Brings grants to where they should be now: sets those that are approved, takes back those whose time is over. Called when
 * something is decided, and by the host's timer. What it finds done already it does not do again.
 */
import { AppError } from "../../../../shared/errors.ts";
import { effectiveLimits, grantsOf } from "../engine/quota-tree.ts";
import type { Act, Acting } from "../ledger/change.ts";
import { people } from "../ledger/organisation.ts";
import { grants, limits } from "../ledger/quotas.ts";
import type { System } from "../system.ts";
import { withTruth } from "./changing.ts";
import { engineOf, ledgerOf } from "./context.ts";
import { baselinesIn } from "./counting.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { personOf, tenantOf } from "./quota.ts";
import type { GrantRow } from "./request-views.ts";

/** Those of one subject. */
interface Only {
  readonly subject: string;
  /** The one that somebody ended before its time. Where the engine does not take it now, the timer only sees that it is over. */
  readonly cutId?: string;
}

/** Throws the AppError of the first subject that could not be brought there; the others are all the same. */
export function settleGrants(system: System, acting: Acting, only: Only | null = null): Promise<number> {
  return oneAtATime(system, () => settleNow(system, acting, only));
}

async function settleNow(system: System, acting: Acting, only: Only | null): Promise<number> {
  const ledger = ledgerOf(system);
  const now = system.now().toISOString();
  const due = [...ledger.list(grants, { state: "approved" }), ...ledger.list(grants, { state: "running" })].filter(
    (row) => (only === null || row.subject === only.subject) && (row.state === "approved" || row.until <= now),
  );
  let failure: AppError | null = null;
  for (const [subject, rows] of Map.groupBy(due, (row) => row.subject)) {
    try {
      await settleSubject(system, acting, subject, rows, now, only?.cutId ?? null);
    } catch (error) {
      failure ??=
        error instanceof AppError ? error : new AppError({ code: "internal", message: String(error), remedy: "" });
    }
  }
  if (failure !== null) throw failure;
  return due.length;
}

async function settleSubject(
  system: System,
  acting: Acting,
  subject: string,
  due: readonly GrantRow[],
  now: string,
  cutId: string | null,
): Promise<void> {
  const ledger = ledgerOf(system);
  const engine = await engineOf(system);
  const atMs = Date.parse(now);
  const base = ledger.find(limits, { subject })?.limits ?? {};
  const all = grantsOf(ledger);
  // What stands in the engine: the base with those that were set. What should: with those that are not over.
  const set = all.filter(({ id }) => ledger.find(grants, { id })?.state === "running");
  const before = effectiveLimits(
    base,
    subject,
    set.map((grant) => ({ ...grant, untilMs: Number.MAX_SAFE_INTEGER })),
    atMs,
  );
  const wanted = all.filter(({ untilMs }) => untilMs > atMs).map((grant) => ({ ...grant, fromMs: 0 }));
  const after = effectiveLimits(base, subject, wanted, atMs);
  const person = personOf(subject, new Map(ledger.list(people).map(({ uid, user }) => [uid, user])));
  const standing = baselinesIn(ledger).inLimit(subject);
  const notCounted = { before: standing, after: standing };
  const change = { kind: "set-limits", subject, person, before, limits: after, notCounted } as const;
  const [command] = engine.commands([change]);
  const act: Act = { ...acting, command: "grant.settle", ...(command === undefined ? {} : { commandLine: command }) };
  const about = { object: `limits/${subject}`, tenant: tenantOf(subject) };
  if (command !== undefined) ledger.record(act, { ...about, outcome: "begun" });
  const [outcome] = await engine.apply([change], {});
  if (outcome !== undefined && "error" in outcome) {
    const error = withTruth(outcome.outcome, outcome.error);
    ledger.record(act, { ...about, outcome: "failed", error });
    throw new AppError({ ...error, remedy: `${error.remedy} The host's timer tries again.`.trim() });
  }
  ledger.change(act, (writing) => {
    for (const row of due) {
      const fields =
        row.until <= now
          ? ({ state: row.id === cutId ? "cut short" : "ended", endedAt: now } as const)
          : ({ state: "running", startedAt: now } as const);
      writing.update(grants, { id: row.id }, row.version, fields);
    }
  });
}

/**
 * What the host does by itself, each minute: takes back grants whose time is over, sets those that could not be set at
 * once, and begins card-hours anew where a period has ended. Idempotent: a host that was off catches up, once.
 */
import { AppError, toErrorData } from "../../../../shared/errors.ts";
import { parentSubject } from "../../../../shared/organisation/subject.ts";
import { type Period, resetsDue } from "../../../../shared/quota/index.ts";
import { actorOf } from "../audit/row.ts";
import { quotaNodes } from "../engine/quota-tree.ts";
import type { Act, Acting } from "../ledger/change.ts";
import { people } from "../ledger/organisation.ts";
import { resets } from "../ledger/quotas.ts";
import { type System, stateDirectory } from "../system.ts";
import { withTruth } from "./changing.ts";
import { engineOf, ledgerHere } from "./context.ts";
import { settleGrants } from "./grants.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { isWithin } from "./organisation.ts";
import { personOf, tenantOf } from "./quota.ts";

export interface TimerResult {
  readonly grants: number;
  readonly resets: number;
  /** What could not be done, one sentence each; the next run tries again. */
  readonly trouble: readonly string[];
}

/** Does what is due. A second run at the same time waits for nothing: it leaves the work to the first. */
export async function runTimer(system: System): Promise<TimerResult> {
  if (ledgerHere(system) === null) return { grants: 0, resets: 0, trouble: [] };
  const trouble: string[] = [];
  const lock = `${stateDirectory}/timer.lock`;
  if (await system.files.isLocked(lock)) return { grants: 0, resets: 0, trouble: [] };
  await using _lock = await system.files.lock(lock, "the timer of grants and resets");
  const acting: Acting = { actor: actorOf(system), role: "host" };
  const counted = async (work: () => Promise<number>): Promise<number> => {
    try {
      return await work();
    } catch (error) {
      const { message, remedy } = toErrorData(error);
      trouble.push(`${message} ${remedy}`.trim());
      return 0;
    }
  };
  const ended = await counted(() => settleGrants(system, acting));
  const begun = await counted(() => oneAtATime(system, () => resetUsage(system, acting)));
  return { grants: ended, resets: begun, trouble };
}

async function resetUsage(system: System, acting: Acting): Promise<number> {
  const ledger = ledgerHere(system);
  if (ledger === null) return 0;
  const now = system.now();
  let count = 0;
  let failure: AppError | null = null;
  // The upper ones first: their usage is counted from that of those below, which begin anew with them.
  for (const row of ledger.list(resets)) {
    if (row.period === "none") continue;
    const period: Period = { kind: row.period, timeZone: row.timeZone };
    const since = Date.parse(row.lastDoneAt ?? now.toISOString());
    const last = resetsDue(period, since, now.getTime()).at(-1);
    if (last === undefined) continue;
    try {
      await resetOne(system, acting, row, new Date(last.startMs));
      count += 1;
    } catch (error) {
      failure ??= error instanceof AppError ? error : new AppError(toErrorData(error));
    }
  }
  if (failure !== null) throw failure;
  return count;
}

async function resetOne(
  system: System,
  acting: Acting,
  row: { readonly subject: string; readonly version: number },
  at: Date,
): Promise<void> {
  const ledger = ledgerHere(system);
  if (ledger === null) return;
  const engine = await engineOf(system);
  const users = new Map(ledger.list(people).map(({ uid, user }) => [uid, user]));
  const below = quotaNodes(ledger, new Map())
    .filter(({ id }) => id !== row.subject && parentSubject(id) !== null && isWithin(id, row.subject))
    .map(({ id }) => ({ subject: id, person: personOf(id, users) }));
  const change = { kind: "reset-usage", subject: row.subject, person: personOf(row.subject, users), below } as const;
  const [command] = engine.commands([change]);
  const act: Act = { ...acting, command: "quota.reset", ...(command === undefined ? {} : { commandLine: command }) };
  const about = { object: `reset/${row.subject}`, tenant: tenantOf(row.subject) };
  if (command !== undefined) ledger.record(act, { ...about, outcome: "begun" });
  const [outcome] = await engine.apply([change], {});
  if (outcome !== undefined && "error" in outcome) {
    const error = withTruth(outcome.outcome, outcome.error);
    ledger.record(act, { ...about, outcome: "failed", error });
    throw new AppError(error);
  }
  ledger.change(act, (writing) => {
    writing.update(resets, { subject: row.subject }, row.version, { lastDoneAt: at.toISOString() });
  });
}

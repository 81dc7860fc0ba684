/**
 * What the host does by itself, each minute: takes back grants whose time is over, sets those that could not be set at
 * once, and begins card-hours anew where a period has ended. Idempotent: a host that was off catches up, once.
 */
import { AppError, toErrorData } from "../../../../shared/errors.ts";
import { type Limits, resetsDue } from "../../../../shared/quota/index.ts";
import { actorOf } from "../audit/row.ts";
import type { CardHoursCounter } from "../engine/engine.ts";
import { effectiveLimits, grantsOf } from "../engine/quota-tree.ts";
import type { Act, Acting } from "../ledger/change.ts";
import { people } from "../ledger/organisation.ts";
import { grants, limits, resets } from "../ledger/quotas.ts";
import type { Reader } from "../ledger/reader.ts";
import { type System, stateDirectory } from "../system.ts";
import { withTruth } from "./changing.ts";
import { engineOf, enginePeople, ledgerHere } from "./context.ts";
import { type Duty, dutiesOf } from "./counting.ts";
import { settleGrants } from "./grants.ts";
import { oneAtATime } from "./one-at-a-time.ts";
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
  await using _lock = await system.files.lock(lock, "the timer of grants and quota periods");
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
  const begun = await counted(() => settleCounting(system, acting));
  return { grants: ended, resets: begun, trouble };
}

async function settleCounting(system: System, acting: Acting): Promise<number> {
  const ledger = ledgerHere(system);
  if (ledger === null || ledger.list(resets).length === 0) return 0;
  const engine = await engineOf(system);
  const counter = await engine.counted(enginePeople(ledger));
  if (counter === null) return noteEnds(system, acting);
  const due = (now: CardHoursCounter) => ledger.read((reader) => dutiesOf(reader, now, system.now()));
  if (due(counter).length === 0) return 0;
  return oneAtATime(system, async () => {
    let began = 0;
    let failure: AppError | null = null;
    // Read anew: whoever had the turn before may have set a limit since.
    const duties = due((await engine.counted(enginePeople(ledger))) ?? counter);
    for (const duty of duties) {
      try {
        await settleOne(system, acting, duty);
        if (duty.began !== null) began += 1;
      } catch (error) {
        failure ??= error instanceof AppError ? error : new AppError(toErrorData(error));
      }
    }
    if (failure !== null) throw failure;
    return began;
  });
}

/** The engine counts each period by itself: when one ended is noted, and that is all. */
function noteEnds(system: System, acting: Acting): number {
  const ledger = ledgerHere(system);
  if (ledger === null) return 0;
  const now = system.now();
  let count = 0;
  for (const { subject, version, period: kind, timeZone, lastDoneAt } of ledger.list(resets)) {
    if (kind === "none") continue;
    const last = resetsDue({ kind, timeZone }, Date.parse(lastDoneAt ?? now.toISOString()), now.getTime()).at(-1);
    if (last === undefined) continue;
    ledger.change({ ...acting, command: "quota.reset" }, (change) => {
      change.update(resets, { subject }, version, { lastDoneAt: new Date(last.startMs).toISOString() });
    });
    count += 1;
  }
  return count;
}

async function settleOne(system: System, acting: Acting, duty: Duty): Promise<void> {
  const ledger = ledgerHere(system);
  if (ledger === null) return;
  const engine = await engineOf(system);
  const { subject, before, rows, why, notCounted, countsFrom } = duty;
  const person = personOf(subject, new Map(ledger.list(people).map(({ uid, user }) => [uid, user])));
  const held = ledger.read((reader) => limitsThatStand(reader, subject, system.now()));
  const change = {
    ...({ kind: "set-limits", subject, person, before: held, limits: held } as const),
    notCounted: { before, after: notCounted },
  } as const;
  const [command] = engine.commands([change]);
  const act: Act = { ...acting, command: "quota.reset", ...(command === undefined ? {} : { commandLine: command }) };
  const about = { object: `reset/${subject}`, tenant: tenantOf(subject) };
  if (command !== undefined) ledger.record(act, { ...about, outcome: "begun" });
  const [outcome] = await engine.apply([change], {});
  if (outcome !== undefined && "error" in outcome) {
    const error = withTruth(outcome.outcome, outcome.error);
    ledger.record(act, { ...about, outcome: "failed", error });
    throw new AppError(error);
  }
  ledger.change(act, (writing) => {
    writing.putBaselines(rows);
    const fields = { why, notCounted, countsFrom, writtenAt: system.now().toISOString() };
    const began = duty.began === null ? {} : { lastDoneAt: duty.began };
    writing.update(resets, { subject }, duty.version, { ...fields, ...began });
  });
}

/** With the grants that were set, also those whose time is over and that were not taken back yet. */
function limitsThatStand(reader: Reader, subject: string, now: Date): Limits {
  const running = new Set(reader.list(grants, { state: "running" }).map(({ id }) => id));
  const set = grantsOf(reader)
    .filter(({ id }) => running.has(id))
    .map((grant) => ({ ...grant, untilMs: Number.MAX_SAFE_INTEGER }));
  return effectiveLimits(reader.find(limits, { subject })?.limits ?? {}, subject, set, now.getTime());
}

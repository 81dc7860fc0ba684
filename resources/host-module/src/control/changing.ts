/** A change that concerns more than the ledger: Unix groups and the engine first, then the ledger; all of it, or none. */
import { AppError, type AppErrorData, toErrorData } from "../../../../shared/errors.ts";
import type { EngineChange, EngineOutcome } from "../engine/engine.ts";
import type { Act, Change } from "../ledger/change.ts";
import type { Reader } from "../ledger/reader.ts";
import { settings } from "../ledger/settings.ts";
import type { System } from "../system.ts";
import { engineOf, ledgerOf } from "./context.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { groupCommands, runGroupCommand } from "./unix-groups.ts";

export const unixGroupsSetting = "unix-groups";

export interface Together {
  readonly act: Act;
  /** What it is about, as the audit names it: `project/t3f2k_p01`. */
  readonly object: string;
  readonly tenant: string | null;
  readonly changes: readonly EngineChange[];
}

export function keepsUnixGroups(reader: Reader): boolean {
  return reader.find(settings, { name: unixGroupsSetting })?.value === "local";
}

/**
 * Makes the changes outside, then `write` in the ledger, whose own rules are asked first. The audit has a row `begun`
 * before anything is touched, so that a change that broke half way is known by it, and by the drift. Throws AppError with
 * what was not done; groups that were changed are put back then.
 */
export function changeTogether<T>(system: System, together: Together, write: (change: Change) => T): Promise<T> {
  return oneAtATime(system, () => changeNow(system, together, write));
}

async function changeNow<T>(
  system: System,
  { act, object, tenant, changes }: Together,
  write: (change: Change) => T,
): Promise<T> {
  const ledger = ledgerOf(system);
  const engine = await engineOf(system);
  const groups = keepsUnixGroups(ledger) ? changes.flatMap((change) => groupCommands(change) ?? []) : [];
  const commands = [...groups.map((group) => group.do), ...engine.commands(changes)];
  const first = commands[0];
  if (first === undefined) return ledger.change(act, write);
  ledger.rehearse(act, write);
  const run: Act = { ...act, commandLine: first };
  ledger.record(run, { object, tenant, outcome: "begun" });
  const removal = changes.some(({ kind }) => kind.startsWith("remove-"));
  const undone: (readonly string[])[] = [];
  const changeGroups = async () => {
    for (const group of groups) {
      await runGroupCommand(system, group.do);
      undone.unshift(group.undo);
    }
  };
  try {
    // Whoever leaves loses the engine first: it may refuse, because of what still runs.
    if (!removal) await changeGroups();
    raise(await engine.apply(changes, {}));
    if (removal) await changeGroups();
  } catch (error) {
    for (const argv of undone) await runGroupCommand(system, argv).catch(() => undefined);
    const data = toErrorData(error);
    ledger.record(run, { object, tenant, outcome: "failed", error: data });
    throw new AppError(data);
  }
  return ledger.change(run, write);
}

/** Throws the first thing that was not done. */
function raise(outcomes: readonly EngineOutcome[]): void {
  for (const outcome of outcomes) if ("error" in outcome) throw new AppError(withTruth(outcome.outcome, outcome.error));
}

/** Whether it was done is part of what went wrong. */
export function withTruth(outcome: "failed" | "unknown", error: AppErrorData): AppErrorData {
  if (outcome === "failed") return error;
  return {
    ...error,
    message: `${error.message} Whether it was done is not known.`,
    remedy: "Look at the differences between ledger and engine; trying again is safe.",
  };
}

import { AppError, type AppErrorData, toErrorData } from "../../../../shared/errors.ts";
import { commandsOf } from "../../../../shared/mig/commands.ts";
import { layoutVersion } from "../../../../shared/mig/layout.ts";
import type { GpuPlan } from "../../../../shared/mig/types.ts";
import { isSameDivision } from "../../../../shared/mig/undo.ts";
import type {
  ApplyRequest,
  ApplyResult,
  HostPlan,
  MigStatus,
  PlanRequest,
  RecoverRequest,
  StepProgress,
  UndoRequest,
  WantedGpu,
} from "../../../../shared/protocol/contract.ts";
import type { TaskContext } from "../serve/handlers.ts";
import type { System } from "../system.ts";
import { version } from "../version.ts";
import { holdersOf } from "./holders.ts";
import {
  beginJournal,
  findJournal,
  type JournalFile,
  newOperationId,
  operationOf,
  readJournals,
  reopenJournal,
  statementOf,
} from "./journal.ts";
import type { BeginRecord } from "./journal-records.ts";
import { describeChange, notThere, plansFor, plansOnBasis, stalePlan, stands } from "./plan.ts";
import { driverReader, type GpuReading, type HostReader, readGpus } from "./reading.ts";
import { bootIdOf, savedLayoutPath, savedLayouts, saveLayout } from "./saved-layouts.ts";
import { isHostLocked, lockHost } from "./state.ts";
import { carryOut, complete, type Transaction } from "./transaction.ts";

type Context = TaskContext<StepProgress>;

interface Intent {
  readonly operation: BeginRecord["operation"];
  readonly wanted: readonly WantedGpu[];
  readonly reason: string | null;
  readonly undoes: string | null;
  readonly dryRun: boolean;
}

/**
 * `mig plan`: pure reading; nothing is locked, so what comes out is a wish until `apply` has looked again. Throws as
 * `apply` does, `stale-plan` included.
 */
export async function plan(system: System, request: PlanRequest): Promise<HostPlan> {
  const gpus = await readWanted(driverReader(system), request.gpus, system.hostName);
  return { host: system.hostName, gpus: await plansOrWhoHolds(system, gpus, request.gpus) };
}

/**
 * `mig apply`: lock, read, compare with what the operator saw, journal, step by step, read back.
 * Throws AppError `locked`, `stale-plan`, `journal-open`, `illegal-layout`, `in-use`, `not-found`, `disk-full` (before
 * anything was changed), `permission`, and whatever kept the driver from being read.
 */
export async function apply(system: System, request: ApplyRequest, context: Context): Promise<ApplyResult> {
  return change(
    system,
    {
      operation: "apply",
      wanted: request.gpus,
      reason: request.reason ?? null,
      undoes: null,
      dryRun: request.dryRun ?? false,
    },
    context,
  );
}

/**
 * `mig undo`: back to the layouts before an operation, as an operation of its own. Without an ID the newest one that was
 * applied and not undone. Throws `stale-plan` where the layouts are no longer those that the operation left.
 */
export async function undo(system: System, request: UndoRequest, context: Context): Promise<ApplyResult> {
  const undoing = operationToUndo(await readJournals(system), request.operationId);
  const { gpus } = undoing.begin;
  const wanted = gpus.map((plan): WantedGpu => ({ gpuUuid: plan.gpuUuid, layout: wishFor(plan) }));
  const check = (readings: ReadonlyMap<string, GpuReading>) => {
    const changes = gpus.flatMap((plan) => {
      const now = readings.get(plan.gpuUuid);
      if (now === undefined || isSameDivision(now.layout, plan.after) || stands(now, plan.before)) return [];
      return [describeChange(plan, layoutVersion(plan.after), layoutVersion(now.layout))];
    });
    if (changes.length > 0) throw stalePlan(changes, system.hostName);
  };
  return change(
    system,
    {
      operation: "undo",
      wanted,
      reason: `undo of ${undoing.id}`,
      undoes: undoing.id,
      dryRun: request.dryRun ?? false,
    },
    context,
    check,
  );
}

/** The plans, or a refusal that says who holds what they would take. */
async function plansOrWhoHolds(
  system: System,
  gpus: ReadonlyMap<string, GpuReading>,
  wanted: readonly WantedGpu[],
): Promise<readonly GpuPlan[]> {
  try {
    return plansOnBasis(gpus, wanted, system.hostName);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "in-use") throw error;
    const lines = [error.evidence?.details ?? ""];
    for (const gpu of gpus.values()) {
      for (const holder of await holdersOf(system, gpu)) lines.push(`GPU ${gpu.index}: ${holder}`);
    }
    throw new AppError({ ...error.toData(), evidence: { ...error.evidence, details: lines.join("\n") } });
  }
}

/** The layout before as it goes into a request, whose lists zod types as mutable. */
function wishFor(plan: GpuPlan): WantedGpu["layout"] {
  return structuredClone(plan.before) as WantedGpu["layout"];
}

/** The newest operation that came to be and was not undone since. */
function newestToUndo(journals: readonly JournalFile[]): JournalFile | undefined {
  const applied = journals.filter((journal) => operationOf(journal).state === "applied");
  const undone = new Set(applied.map(({ begin }) => begin.undoes));
  return applied.find(({ id, begin }) => begin.operation !== "undo" && !undone.has(id));
}

function operationToUndo(journals: readonly JournalFile[], operationId: string | undefined): JournalFile {
  const journal = operationId === undefined ? newestToUndo(journals) : findJournal(journals, operationId);
  if (journal === undefined) {
    throw new AppError({ code: "not-found", message: "There is nothing to undo on this host.", remedy: "" });
  }
  const { state } = operationOf(journal);
  if (state === "open") throw openError(journal);
  if (state === "applied") return journal;
  throw new AppError({
    code: "bad-request",
    message: `Operation ${journal.id} was ${state}: it left nothing to undo.`,
    remedy: "tessera-host mig status lists the operations.",
  });
}

/**
 * `mig restore`: the saved layouts, MIG mode included. What cannot come back is left out and told in `skipped` (the GPU is
 * gone, does not answer, is in use, or can no longer have the layout): one bad GPU must not keep a host idle after a boot.
 */
export async function restore(
  system: System,
  request: { readonly dryRun?: boolean | undefined },
  context: Context,
): Promise<ApplyResult> {
  const saved = await savedLayouts(system);
  const reader = driverReader(system);
  const { gpus, failures } =
    saved.length === 0
      ? { gpus: new Map<string, GpuReading>(), failures: new Map<string, AppErrorData>() }
      : await readGpus(
          reader,
          saved.map(({ gpuUuid }) => gpuUuid),
        );
  const wanted: WantedGpu[] = [];
  const skipped: { gpuUuid: string; error: AppErrorData }[] = [];
  for (const { gpuUuid, gpuName, layout } of saved) {
    const wish: WantedGpu = { gpuUuid, layout: structuredClone(layout) as WantedGpu["layout"] };
    const gpu = gpus.get(gpuUuid);
    if (gpu === undefined) {
      skipped.push({ gpuUuid, error: failures.get(gpuUuid) ?? goneSince(gpuUuid, gpuName, system.hostName) });
      continue;
    }
    try {
      plansFor(new Map([[gpuUuid, gpu]]), [wish], system.hostName);
      wanted.push(wish);
    } catch (error) {
      skipped.push({ gpuUuid, error: toErrorData(error) });
    }
  }
  const result: ApplyResult =
    wanted.length === 0
      ? { operationId: null, outcome: "unchanged", gpus: [], commands: [] }
      : await change(
          system,
          { operation: "restore", wanted, reason: "saved layouts", undoes: null, dryRun: request.dryRun ?? false },
          context,
        );
  return skipped.length === 0 ? result : { ...result, skipped };
}

function goneSince(gpuUuid: string, gpuName: string, host: string): AppErrorData {
  return {
    code: "not-found",
    message: `The driver does not list ${gpuName} ${gpuUuid}, for which a layout is saved.`,
    remedy: `Bring the GPU back; if it has left ${host} for good, remove ${savedLayoutPath(gpuUuid)}.`,
    evidence: { host },
  };
}

async function change(
  system: System,
  intent: Intent,
  context: Context,
  check: (gpus: ReadonlyMap<string, GpuReading>) => void = () => undefined,
): Promise<ApplyResult> {
  const reader = driverReader(system);
  const look = async () => {
    const gpus = await readWanted(reader, intent.wanted, system.hostName);
    check(gpus);
    return { gpus, plans: await plansOrWhoHolds(system, gpus, intent.wanted) };
  };
  if (intent.dryRun) {
    const { plans } = await look();
    return { operationId: null, outcome: "dry-run", gpus: plans, commands: plans.flatMap(commandsOfPlan) };
  }
  await using _lock = await lockHost(system, `mig ${intent.operation}`);
  const journals = await readJournals(system);
  const uuids = new Set(intent.wanted.map(({ gpuUuid }) => gpuUuid));
  const open = journals.find((journal) => journal.open && journal.begin.gpus.some(({ gpuUuid }) => uuids.has(gpuUuid)));
  if (open !== undefined) throw openError(open);

  const { gpus, plans } = await look();
  const changing = plans.filter(({ steps }) => steps.length > 0);
  if (changing.length === 0) return { operationId: null, outcome: "unchanged", gpus: plans, commands: [] };
  context.signal.throwIfAborted();
  const journal = await beginJournal(system, {
    kind: "begin",
    at: system.now().toISOString(),
    id: newOperationId(system.now()),
    operation: intent.operation,
    caller: { uid: system.caller.uid, user: system.caller.user },
    reason: intent.reason,
    undoes: intent.undoes,
    host: system.hostName,
    bootId: await bootIdOf(system),
    version,
    gpus: changing,
  });
  const transaction: Transaction = { system, reader, journal, plans: changing, gpus, ...context };
  const result = await carryOut(transaction);
  if (result.outcome === "applied") await keepForNextBoot(system, changing, "after");
  return result;
}

/** `mig recover`: an operation that was found open is finished or rolled back. An operation that has ended is left alone. */
export async function recover(system: System, request: RecoverRequest, context: Context): Promise<ApplyResult> {
  await using _lock = await lockHost(system, `mig recover ${request.operationId}`);
  const journal = findJournal(await readJournals(system), request.operationId);
  const { state, gpus: plans } = operationOf(journal);
  const wantedState = request.way === "finish" ? "applied" : "rolled-back";
  if (state !== "open") {
    if (state === wantedState || (state === "cancelled" && request.way === "roll-back")) {
      return { operationId: journal.id, outcome: "unchanged", gpus: plans, commands: [] };
    }
    throw new AppError({
      code: "bad-request",
      message: `Operation ${journal.id} has ended already: it was ${state}.`,
      remedy: state === "applied" ? `Use tessera-host mig undo ${journal.id}.` : "Apply the layout again.",
    });
  }
  const reader = driverReader(system);
  const transaction: Transaction = {
    system,
    reader,
    journal: await reopenJournal(system, journal.id),
    plans,
    gpus: await reader.list(),
    ...context,
  };
  const result = await complete(transaction, request.way);
  await keepForNextBoot(system, plans, request.way === "finish" ? "after" : "before", request.way === "roll-back");
  return result;
}

/**
 * What was applied last is what should stand after the next boot. The operation itself has ended by now: a full disk here
 * shows as a saved layout that does not match, and spoils nothing.
 */
async function keepForNextBoot(
  system: System,
  plans: readonly GpuPlan[],
  end: "before" | "after",
  onlyIfSaved = false,
): Promise<void> {
  try {
    const saved = onlyIfSaved ? new Set((await savedLayouts(system)).map(({ gpuUuid }) => gpuUuid)) : null;
    for (const plan of plans) {
      if (saved !== null && !saved.has(plan.gpuUuid)) continue;
      await saveLayout(system, { uuid: plan.gpuUuid, name: plan.gpuName }, plan[end]);
    }
  } catch {
    // See above.
  }
}

/** `mig save`: the layouts that stand are to come back after a reboot. Answers for how many GPUs. */
export async function save(system: System): Promise<{ readonly savedGpus: number }> {
  await using _lock = await lockHost(system, "mig save");
  const reader = driverReader(system);
  const { gpus } = await readGpus(reader, (await reader.list()).keys());
  const divided = [...gpus.values()].filter(({ geometry }) => geometry !== null);
  for (const gpu of divided) await saveLayout(system, gpu, gpu.layout);
  return { savedGpus: divided.filter(({ layout }) => layout.migEnabled).length };
}

/** `mig status`: the journal and the saved layouts, held against what stands. */
export async function status(system: System): Promise<MigStatus> {
  // Before the journals are read: an operation that ends meanwhile is then seen as ended, not as left behind.
  const locked = await isHostLocked(system);
  const journals = await readJournals(system);
  const operations = journals.slice(0, 50).map(operationOf);
  const open = journals.find((journal) => journal.open);
  const saved = await savedLayouts(system);
  const { gpus } = await readGpus(
    driverReader(system),
    saved.map(({ gpuUuid }) => gpuUuid),
  ).catch(() => ({ gpus: new Map<string, GpuReading>() }));
  const bootId = await bootIdOf(system);
  const compared = saved.map(({ gpuUuid, layout, bootId: savedIn }) => {
    const now = gpus.get(gpuUuid);
    return {
      gpuUuid,
      matches: now !== undefined && stands(now, layout),
      rebooted: now !== undefined && savedIn !== bootId,
    };
  });
  return {
    operations,
    open: open === undefined ? null : operationOf(open),
    running: open !== undefined && locked,
    undoable: newestToUndo(journals)?.id ?? null,
    saved: compared.map(({ gpuUuid, matches }) => ({ gpuUuid, matches })),
    restoreOffered: compared.some(({ matches, rebooted }) => !matches && rebooted),
  };
}

function openError(journal: JournalFile): AppError {
  return new AppError({
    code: "journal-open",
    message: `Operation ${journal.id} on the same GPUs did not come to its end: ${statementOf(journal)}`,
    remedy: `Finish it or roll it back: tessera-host mig recover ${journal.id} --way finish, or --way roll-back.`,
    evidence: { host: journal.begin.host, details: statementOf(journal) },
  });
}

async function readWanted(
  reader: HostReader,
  wanted: readonly WantedGpu[],
  host: string,
): Promise<ReadonlyMap<string, GpuReading>> {
  const uuids = wanted.map(({ gpuUuid }) => gpuUuid);
  const { gpus, failures, listed } = await readGpus(reader, uuids);
  for (const uuid of uuids) {
    const failure = failures.get(uuid);
    if (failure !== undefined) throw new AppError(failure);
    if (!listed.has(uuid)) throw notThere(uuid, host);
  }
  return gpus;
}

function commandsOfPlan(plan: GpuPlan): readonly (readonly string[])[] {
  return plan.steps.flatMap((step) => commandsOf(step, plan.gpuUuid));
}

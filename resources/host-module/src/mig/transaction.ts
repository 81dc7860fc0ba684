import { AppError, type AppErrorData, toErrorData } from "../../../../shared/errors.ts";
import { layoutVersion } from "../../../../shared/mig/layout.ts";
import type { GpuPlan } from "../../../../shared/mig/types.ts";
import type { ApplyResult, StepProgress } from "../../../../shared/protocol/contract.ts";
import { isCancellation } from "../serve/interruption.ts";
import type { System } from "../system.ts";
import { discardJournal, type JournalWriter } from "./journal.ts";
import type { JournalRecord } from "./journal-records.ts";
import { planTowards } from "./plan.ts";
import type { GpuIdentity, GpuReading, HostReader } from "./reading.ts";
import { runStep, type StepContext, StepFailure, type StepResult, StillRunning } from "./step.ts";

/** Everything one operation needs while it runs. The host's lock is held for as long. */
export interface Transaction {
  readonly system: System;
  readonly reader: HostReader;
  readonly journal: JournalWriter;
  readonly signal: AbortSignal;
  readonly progress: (progress: StepProgress) => void;
  /** The operation's plans, as the journal's first record has them. */
  readonly plans: readonly GpuPlan[];
  readonly gpus: ReadonlyMap<string, GpuIdentity>;
}

type Direction = "forward" | "back";

/** The operation stays open, on purpose: the journal can take no more, or nobody may touch the GPU now. */
class LeftOpen extends Error {
  readonly reason: AppErrorData;
  constructor(cause: unknown) {
    super("the operation was left open", { cause });
    this.reason = toErrorData(cause);
  }
}

/**
 * Carries an operation out: all of it, or rolled back, or left open with the journal saying where it stands.
 * Answers `applied`, `rolled-back` (with the failure) or `cancelled`. Throws AppError `journal-open` where the
 * operation had to be left open, and `disk-full` where not even its first step could be written down.
 */
export async function carryOut(transaction: Transaction): Promise<ApplyResult> {
  const run = new Run(transaction);
  try {
    for (const plan of transaction.plans) await run.steps(plan, "forward");
  } catch (error) {
    if (error instanceof LeftOpen) throw await run.leftOpen(error);
    return await turnBack(run, error);
  }
  await run.end("applied");
  return run.result("applied");
}

async function turnBack(run: Run, why: unknown): Promise<ApplyResult> {
  const cancelled = isCancellation(run.transaction.signal) && !(why instanceof StepFailure);
  const failure = why instanceof StepFailure ? why.error : toErrorData(why);
  try {
    await run.write({ kind: "rolling-back", at: run.now(), why: failure.message });
    run.uninterruptible = true;
    await leadTo(run, "before", "back");
    await run.end(cancelled ? "cancelled" : "rolled-back");
  } catch (error) {
    throw await run.leftOpen(error, failure);
  }
  return run.result(cancelled ? "cancelled" : "rolled-back", cancelled ? undefined : failure);
}

/**
 * Leads an operation that was found open to its end, in the way that the operator chose. It starts from what the
 * driver says now and not from what the journal says last: the last step may have been done, half done or not done.
 * Throws AppError `journal-open` where it cannot be completed; it stays open then.
 */
export async function complete(transaction: Transaction, way: "finish" | "roll-back"): Promise<ApplyResult> {
  const run = new Run(transaction);
  const { caller } = transaction.system;
  try {
    await run.write({ kind: "recovery", at: run.now(), way, caller });
    await leadTo(run, way === "finish" ? "after" : "before", way === "finish" ? "forward" : "back");
    await run.end(way === "finish" ? "applied" : "rolled-back");
  } catch (error) {
    throw await run.leftOpen(error);
  }
  return run.result(way === "finish" ? "applied" : "rolled-back");
}

/** Plans anew from the layout that stands to one end of the operation, and goes there; the last GPU first going back. */
async function leadTo(run: Run, end: "before" | "after", direction: Direction): Promise<void> {
  const plans = direction === "back" ? run.transaction.plans.toReversed() : run.transaction.plans;
  for (const plan of plans) {
    const gpu = await run.transaction.reader.read(run.gpu(plan.gpuUuid));
    await run.steps(planTowards(gpu, plan, end), direction);
  }
}

class Run {
  readonly transaction: Transaction;
  /** Once rolling back, a cancellation has nothing left to ask for. A lost connection still stops it. */
  uninterruptible = false;
  private stepsBegun = 0;
  private readonly commands: (readonly string[])[] = [];

  constructor(transaction: Transaction) {
    this.transaction = transaction;
  }

  now(): string {
    return this.transaction.system.now().toISOString();
  }

  gpu(uuid: string): GpuIdentity {
    const gpu = this.transaction.gpus.get(uuid);
    if (gpu !== undefined) return gpu;
    throw new AppError({
      code: "gpu-lost",
      message: `The driver does not list GPU ${uuid} any more.`,
      remedy: "Bring the GPU back (a reboot, usually), then complete the operation.",
    });
  }

  /** Where the journal cannot be written, no further step may begin. */
  async write(record: JournalRecord): Promise<void> {
    try {
      await this.transaction.journal.append(record);
    } catch (error) {
      throw new LeftOpen(error);
    }
  }

  async steps(plan: GpuPlan, direction: Direction): Promise<void> {
    let last: GpuReading | null = null;
    for (const [stepIndex, step] of plan.steps.entries()) {
      await this.checkInterruption();
      const report = (outcome: StepProgress["outcome"], commands: readonly (readonly string[])[]) =>
        this.transaction.progress({
          operationId: this.transaction.journal.id,
          gpuUuid: plan.gpuUuid,
          stepIndex,
          stepCount: plan.steps.length,
          step,
          commands,
          rollingBack: direction === "back",
          outcome,
        });
      const context: StepContext = {
        system: this.transaction.system,
        reader: this.transaction.reader,
        begun: async (commands) => {
          await this.write({ kind: "step-begun", at: this.now(), direction, gpuUuid: plan.gpuUuid, step, commands });
          this.stepsBegun += 1;
          report({ kind: "started" }, commands);
        },
        ran: (command) => this.commands.push(command),
      };
      try {
        const { gpu, durationMs, commands }: StepResult = await runStep(context, this.gpu(plan.gpuUuid), step, last);
        last = gpu;
        await this.write({
          kind: "step-done",
          at: this.now(),
          direction,
          gpuUuid: plan.gpuUuid,
          durationMs,
          layout: layoutVersion(gpu.layout),
        });
        report({ kind: "done", durationMs }, commands);
      } catch (error) {
        if (error instanceof LeftOpen) throw error;
        const failure = error instanceof StepFailure ? error : new StepFailure(toErrorData(error), 0, []);
        await this.write({
          kind: "step-failed",
          at: this.now(),
          direction,
          gpuUuid: plan.gpuUuid,
          durationMs: failure.durationMs,
          code: failure.error.code,
          message: failure.error.message,
          details: failure.error.evidence?.stdout ?? failure.error.evidence?.details ?? "",
        });
        report({ kind: "failed", durationMs: failure.durationMs, message: failure.error.message }, failure.commands);
        // A command that even SIGKILL did not end may still change the GPU: nothing may follow it.
        throw failure instanceof StillRunning ? new LeftOpen(new AppError(failure.error)) : failure;
      }
    }
  }

  private async checkInterruption(): Promise<void> {
    const { signal } = this.transaction;
    if (!signal.aborted) return;
    if (isCancellation(signal)) {
      if (this.uninterruptible) return;
      throw signal.reason;
    }
    const { message } = toErrorData(signal.reason);
    await this.write({ kind: "stopped", at: this.now(), why: message });
    throw new LeftOpen(signal.reason);
  }

  async end(outcome: "applied" | "rolled-back" | "cancelled"): Promise<void> {
    try {
      await this.write({ kind: "end", at: this.now(), outcome });
    } catch (error) {
      throw await this.leftOpen(error);
    }
  }

  result(outcome: ApplyResult["outcome"], failure?: AppErrorData): ApplyResult {
    return {
      operationId: this.transaction.journal.id,
      outcome,
      gpus: this.transaction.plans,
      commands: this.commands,
      ...(failure === undefined ? {} : { failure }),
    };
  }

  /** The error for an operation that stays open; `first` is what made it turn back before. */
  async leftOpen(error: unknown, first?: AppErrorData): Promise<AppError> {
    if (error instanceof AppError && error.code === "journal-open") return error;
    const reason =
      error instanceof LeftOpen ? error.reason : error instanceof StepFailure ? error.error : toErrorData(error);
    const { id } = this.transaction.journal;
    if (this.stepsBegun === 0 && this.commands.length === 0 && first === undefined && reason.code === "disk-full") {
      const gone = await discardJournal(this.transaction.system, id).then(
        () => true,
        () => false,
      );
      if (gone) return new AppError({ ...reason, message: `${reason.message} Nothing was changed.` });
    }
    const sentences = [
      `Operation ${id} stands open: ${reason.message}`,
      ...(first === undefined ? [] : [`It was rolling back because of: ${first.message}`]),
    ];
    return new AppError({
      code: "journal-open",
      message: sentences.join(" "),
      remedy:
        `${reason.remedy} Then run tessera-host mig status, and tessera-host mig recover ${id} with --way finish or --way roll-back.`.trim(),
      evidence: { ...reason.evidence, host: this.transaction.system.hostName },
    });
  }
}

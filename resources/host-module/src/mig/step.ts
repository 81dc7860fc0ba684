import { AppError, type AppErrorData, toErrorData } from "../../../../shared/errors.ts";
import { commandsOf } from "../../../../shared/mig/commands.ts";
import type { PlanStep } from "../../../../shared/mig/types.ts";
import { failureOf } from "../nvidia-smi/failure.ts";
import { inTurn } from "../nvidia-smi/run.ts";
import type { RunResult, System } from "../system.ts";
import { holdersOf } from "./holders.ts";
import { type GpuIdentity, type GpuReading, type HostReader, refusesUuids } from "./reading.ts";
import { stateOfStep } from "./step-state.ts";
import { commandLimitMs } from "./time-limits.ts";

export interface StepContext {
  readonly system: System;
  readonly reader: HostReader;
  /** Called with the commands before the first of them runs; when it throws, none does. */
  readonly begun: (commands: readonly (readonly string[])[]) => Promise<void>;
  readonly ran: (command: readonly string[]) => void;
}

export interface StepResult {
  /** As read back after the step. */
  readonly gpu: GpuReading;
  readonly commands: readonly (readonly string[])[];
  readonly durationMs: number;
}

/** The step was not done, or only in part. */
export class StepFailure extends Error {
  readonly error: AppErrorData;
  readonly durationMs: number;
  readonly commands: readonly (readonly string[])[];
  constructor(error: AppErrorData, durationMs: number, commands: readonly (readonly string[])[]) {
    super(error.message);
    this.error = error;
    this.durationMs = durationMs;
    this.commands = commands;
  }
}

/** As StepFailure, and the command is still in the kernel: it may yet change the GPU. */
export class StillRunning extends StepFailure {}

/**
 * One step: read the GPU, refuse if what would be destroyed is in use or no longer what was planned, run the
 * commands, read the GPU back. Only what is read back counts. Throws StepFailure, or what `begun` threw.
 *
 * `last` is what was read back after the step before; it spares a reading where nothing will be taken from anybody.
 */
export async function runStep(
  context: StepContext,
  known: GpuIdentity,
  step: PlanStep,
  last: GpuReading | null = null,
): Promise<StepResult> {
  const { system, reader } = context;
  const startedAt = system.now().getTime();
  const elapsed = () => Math.max(0, system.now().getTime() - startedAt);
  const commands: (readonly string[])[] = [];
  const fail = (error: AppErrorData) => new StepFailure(error, elapsed(), commands);
  const read = async () => {
    try {
      return await reader.read(known);
    } catch (error) {
      throw fail(toErrorData(error));
    }
  };

  const before = last !== null && isHarmless(step) ? last : await read();
  const state = stateOfStep(step, before);
  if (state.kind === "in-use") throw fail(inUse(before, state.words, await holdersOf(system, before)));
  if (state.kind === "conflict") throw fail(conflict(known, state.words));
  if (state.kind === "partial") {
    throw fail(conflict(known, `GPU instance ${state.instance.id} stands where ${step.kind} was to work`));
  }
  const address = reader.takesUuids() ? known.uuid : String(known.index);
  const planned = state.kind === "done" ? [] : commandsOf(step, address);
  await context.begun(planned);
  if (state.kind === "done") return { gpu: before, commands, durationMs: elapsed() };

  const failures: AppErrorData[] = [];
  const send = async (command: readonly string[]): Promise<RunResult> => {
    commands.push(command);
    context.ran(command);
    const result = await inTurn(system, () => system.run(command, { timeoutMs: commandLimitMs(step) }));
    if (result.exitStatus === null && result.signal === null) {
      throw new StillRunning(stillRunning(command, system.hostName), elapsed(), commands);
    }
    return result;
  };
  /** By UUID; by index, made sure of just before, where another GPU of this host is lost. */
  const sendTo = async (command: readonly string[]): Promise<RunResult> => {
    if (reader.takesUuids()) {
      const result = await send(command);
      if (!refusesUuids(result)) return result;
      reader.uuidsRefused();
    }
    await reader.confirm(known);
    return send(command.map((word) => (word === known.uuid ? String(known.index) : word)));
  };
  const run = async (command: readonly string[]): Promise<boolean> => {
    const result = await sendTo(command);
    const failure = failureOf(result, system.hostName);
    if (failure !== null) failures.push(failure.toData());
    return failure === null;
  };
  const runAll = async (list: readonly (readonly string[])[]) => {
    for (const command of list) if (!(await run(command))) return;
  };

  if (step.kind === "create-instance" && planned.length > 1) {
    // Compute instances made one by one need the ID of their GPU instance, which the driver chooses.
    await runAll(planned.slice(0, 1));
    const made = stateOfStep(step, await read());
    if (failures.length === 0 && made.kind === "partial") {
      await runAll(commandsOf(step, address, made.instance.id).slice(1));
    }
  } else {
    await runAll(planned);
  }

  const after = await read();
  if (stateOfStep(step, after).kind === "done") return { gpu: after, commands, durationMs: elapsed() };
  const why = failures[0] ?? notDone(step, after, commands, system.hostName);
  throw fail(step.kind === "set-mig-mode" ? withHolders(why, await holdersOf(system, after)) : why);
}

/** Whether the step only adds: the driver itself refuses to put an instance where another one is. */
function isHarmless(step: PlanStep): boolean {
  return step.kind === "create-instance" || step.kind === "create-compute-instance";
}

function inUse(gpu: GpuReading, words: string, holders: readonly string[]): AppErrorData {
  return {
    code: "in-use",
    message: `GPU ${gpu.index} (${gpu.uuid}) cannot be changed: ${words}.`,
    remedy: "Wait until it has ended or stop it, then try again.",
    evidence: { details: holders.join("\n") },
  };
}

function conflict(gpu: GpuIdentity, words: string): AppErrorData {
  return {
    code: "stale-plan",
    message: `Somebody else changed GPU ${gpu.index} (${gpu.uuid}) in the meantime: ${words}.`,
    remedy: "Look for other managers on this host (mig-manager, a device plugin), then plan again.",
  };
}

function stillRunning(command: readonly string[], host: string): AppErrorData {
  return {
    code: "driver-timeout",
    message: `${command.join(" ")} did not end, not even when it was killed; it hangs inside the driver.`,
    remedy: "Look at the kernel log; usually only a reboot of the host ends it.",
    evidence: { host, command, exitStatus: null },
  };
}

/** MIG mode changes only when nobody holds the GPU, and nvidia-smi never says who does. */
function withHolders(error: AppErrorData, holders: readonly string[]): AppErrorData {
  const details = holders.length === 0 ? "No process is known to hold the GPU." : holders.join("\n");
  return { ...error, evidence: { ...error.evidence, details } };
}

function notDone(
  step: PlanStep,
  gpu: GpuReading,
  commands: readonly (readonly string[])[],
  host: string,
): AppErrorData {
  const command = commands.at(-1) ?? [];
  if (step.kind === "set-mig-mode") {
    return new AppError({
      code: "driver-failed",
      message: `MIG mode of GPU ${gpu.index} is ${gpu.mig.current ?? "unknown"} and pending ${gpu.mig.pending ?? "unknown"}: the driver did not make the change effective.`,
      remedy:
        "Stop what holds the GPU, monitoring agents included, and try again; if nothing does, reset it or reboot.",
      evidence: { host, command, exitStatus: 0 },
    }).toData();
  }
  return {
    code: "driver-failed",
    message: `${command.join(" ")} reported success, but the GPU shows no such change.`,
    remedy: "Look for other managers on this host (mig-manager, a device plugin), then try again.",
    evidence: { host, command, exitStatus: 0 },
  };
}

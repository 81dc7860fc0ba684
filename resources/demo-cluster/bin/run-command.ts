/** One run of the simulated `nvidia-smi` over a machine directory, with the fault that strikes it. */
import { writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { nvidiaSmi, type SmiResult } from "../driver/nvidia-smi.ts";
import { strikingFault } from "./faults.ts";
import {
  changeMachine,
  logCommand,
  readFaultCounts,
  readFaults,
  readSettings,
  withLock,
  writeFaultCounts,
} from "./machine-directory.ts";

export async function runCommand(argv: readonly string[]): Promise<void> {
  const directory = process.env.TESSERA_SIMULATED_MACHINE;
  if (directory === undefined || directory === "") {
    writeSync(2, "TESSERA_SIMULATED_MACHINE names no directory\n");
    process.exitCode = 9;
    return;
  }
  const asRoot = process.getuid?.() === 0 && process.env.TESSERA_SIMULATED_UNPRIVILEGED !== "1";
  const at = (): string => new Date().toISOString();
  logCommand(directory, { event: "started", pid: process.pid, at: at(), argv });

  const faults = readFaults(directory);
  const action =
    faults.length === 0
      ? null
      : (withLock(directory, () => {
          const counts = readFaultCounts(directory);
          const striking = strikingFault(faults, counts, argv);
          writeFaultCounts(directory, counts);
          return striking;
        })?.action ?? null);

  const { durationScale } = readSettings(directory);
  const work = async (): Promise<SmiResult> => {
    const result = changeMachine(directory, (machine) => nvidiaSmi(machine, argv, asRoot));
    await sleep(result.durationMs * durationScale);
    return result;
  };
  const end = (stdout: string, exitStatus: number): void => {
    logCommand(directory, { event: "ended", pid: process.pid, at: at(), argv, exitStatus });
    writeWhole(1, stdout);
    process.exitCode = exitStatus;
  };
  const died = (): void =>
    logCommand(directory, { event: "ended", pid: process.pid, at: at(), argv, exitStatus: null });

  switch (action?.kind) {
    case "fail": {
      if (action.afterWork === true) await work();
      if (action.stderr !== undefined) writeWhole(2, action.stderr);
      end(action.stdout ?? "", action.exitStatus);
      return;
    }
    case "hang": {
      if (action.afterWork === true) await work();
      // A timer, since a promise that nobody will keep does not hold the process.
      await sleep(86_400_000);
      return;
    }
    case "crash": {
      const result = action.afterWork === false ? nothingDone : await work();
      writeWhole(1, result.stdout.slice(0, action.outputBytes));
      died();
      process.kill(process.pid, "SIGSEGV");
      await sleep(1000);
      return;
    }
    case "lie": {
      await work();
      end("All done.\n", 0);
      return;
    }
    case "kill-parent": {
      if (action.when === "after") await work();
      process.kill(process.ppid, "SIGKILL");
      if (action.when === "during") await work();
      died();
      return;
    }
    case "slow":
      await sleep(action.milliseconds);
      break;
    default:
  }
  const result = await work();
  end(result.stdout, result.exitStatus);
}

const nothingDone: SmiResult = { stdout: "", exitStatus: 139, durationMs: 0 };

/** Straight to the descriptor, so that nothing is lost when the process is killed next. A reader that went away is no concern. */
function writeWhole(descriptor: 1 | 2, text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "EAGAIN") continue;
      return;
    }
  }
}

/** What a run of the tool prints, and how a run ends early. */
import type { SimulatedMachine } from "./machine.ts";
import { exitStatusOf, type NvmlError, wordsOf } from "./nvml.ts";

/** Everything the tool says goes to standard output; nothing was ever seen on standard error. */
export interface Answer {
  readonly stdout: string;
  readonly exitStatus: number;
}

/** Ends the run at once with what was printed so far. */
export class EarlyEnd extends Error {
  readonly answer: Answer;
  constructor(stdout: string, exitStatus: number) {
    super(`exit ${exitStatus}`);
    this.answer = { stdout, exitStatus };
  }
}

/** The tool right-aligns small numbers in three columns: `GPU  0`. */
export function three(value: number): string {
  return String(value).padStart(2);
}

/** What follows the colon when a GPU cannot be opened, with the tool's own stray line ends. */
export function brokenWords(error: NvmlError): string {
  if (error === "gpu-lost") return "GPU is lost.  Reboot the system to recover this GPU\n\n";
  if (error === "reset-required") return "A GPU reset must occur before this GPU can be used again.\n\n.";
  return wordsOf(error);
}

/** The device handle of a GPU in `reset-required` is refused with 255, not with NVML's own number. */
export function brokenExitStatus(error: NvmlError): number {
  return error === "reset-required" ? 255 : exitStatusOf(error);
}

/**
 * The GPUs that a command works on. GPUs without permission drop out silently; any other broken GPU ends the
 * run, and with a UUID even when it is not the one that was asked for, because the tool opens all of them to
 * compare.
 */
export function selectGpus(machine: SimulatedMachine, selector: string | null): number[] {
  const { gpus } = machine.state;
  const open = (index: number): boolean => {
    const { broken } = machine.gpu(index);
    if (broken === null) return true;
    if (broken === "no-permission") return false;
    throw new EarlyEnd(
      `Unable to determine the device handle for GPU${machine.busId(index).slice(4)}: ${brokenWords(broken)}\n`,
      brokenExitStatus(broken),
    );
  };
  if (selector === null) return gpus.map((_, index) => index).filter(open);
  const selected: number[] = [];
  for (const word of selector.split(",")) {
    const byIndex = /^\d+$/.test(word) ? Number(word) : -1;
    if (byIndex >= 0 && byIndex < gpus.length) {
      if (open(byIndex)) selected.push(byIndex);
      else {
        throw new EarlyEnd(
          "No devices were found. Please make sure /dev/nvidia* files are readable by current user.\n",
          4,
        );
      }
      continue;
    }
    const at = gpus.findIndex((gpu) => gpu.uuid === word);
    if (at === -1) throw new EarlyEnd("No devices were found\n", 6);
    for (const [index, gpu] of gpus.entries()) {
      if (gpu.broken === null || gpu.broken === "no-permission") continue;
      throw new EarlyEnd(`Problem with GPU ${machine.busId(index).slice(4)}: ${brokenWords(gpu.broken)}\n`, 255);
    }
    if (open(at)) selected.push(at);
  }
  return [...new Set(selected)].toSorted((a, b) => a - b);
}

/** The commands that change a whole GPU: MIG mode, reset, persistence mode. */
import { type Answer, EarlyEnd } from "./answer.ts";
import type { SimulatedMachine } from "./machine.ts";
import { exitStatusOf, wordsOf } from "./nvml.ts";

const terminating = "Terminating early due to previous errors.";

function answer(lines: readonly string[], exitStatus: number): Answer {
  return { stdout: lines.map((line) => `${line}\n`).join(""), exitStatus };
}

export function setMigMode(
  machine: SimulatedMachine,
  selected: readonly number[],
  word: string,
  asRoot: boolean,
): Answer {
  if (!/^\d+$/.test(word) && !["ENABLED", "DISABLED"].includes(word.toUpperCase())) {
    throw new EarlyEnd(`ERROR: Option ${word} is invalid for -mig. Please run 'nvidia-smi -h' for help.\n\n`, 2);
  }
  const wanted = word.toUpperCase() === "ENABLED" ? "1" : word.toUpperCase() === "DISABLED" ? "0" : word;
  if (wanted !== "0" && wanted !== "1") return answer([`Invalid MIG Mode: ${word}`, terminating], 2);
  const enable = wanted === "1";
  const lines: string[] = [];
  for (const index of selected) {
    const bus = machine.busId(index);
    const set = machine.setMigMode(index, enable, asRoot);
    if (!set.ok) {
      lines.push(`Unable to ${enable ? "enable" : "disable"} MIG Mode for GPU ${bus}: ${wordsOf(set.error)}`);
      if (set.error !== "not-supported") return answer([...lines, terminating], exitStatusOf(set.error));
      lines.push("Treating as warning and moving on.");
      continue;
    }
    const { pending } = set.value;
    if (pending === null) {
      lines.push(`${enable ? "Enabled" : "Disabled"} MIG Mode for GPU ${bus}`);
      continue;
    }
    lines.push(
      `Warning: MIG mode is in pending ${enable ? "enable" : "disable"} state for GPU ${bus}:${wordsOf(pending)}`,
      pending === "in-use"
        ? `${bus} is currently being used by one or more other processes (e.g. CUDA application or a monitoring ` +
            "application such as another instance of nvidia-smi). Please first kill all processes using the device " +
            "and retry the command or reboot the system to make MIG mode effective."
        : `Reboot the system or try nvidia-smi --gpu-reset to make MIG mode effective on GPU ${bus}`,
    );
  }
  return answer([...lines, "All done."], 0);
}

/** The words for a GPU in use are those that operators report; this command is in no captured session. */
export function resetGpus(machine: SimulatedMachine, selected: readonly number[], asRoot: boolean): Answer {
  const lines: string[] = [];
  for (const index of selected) {
    const bus = machine.busId(index);
    const reset = machine.resetGpu(index, asRoot);
    if (reset.ok) {
      lines.push(`GPU ${bus} was successfully reset.`);
      continue;
    }
    if (reset.error === "in-use") {
      return answer(
        [
          ...lines,
          "The following GPUs could not be reset:",
          `  GPU ${bus}: ${wordsOf(reset.error)}`,
          "",
          "1 device is currently being used by one or more other processes (e.g., Fabric Manager, CUDA application, " +
            "graphics application such as an X server, or a monitoring application such as another instance of " +
            "nvidia-smi). Please first kill all processes using this device and all compute applications running in " +
            "the system.",
        ],
        255,
      );
    }
    return answer(
      [...lines, `Unable to reset GPU ${bus}: ${wordsOf(reset.error)}`, terminating],
      exitStatusOf(reset.error),
    );
  }
  return answer([...lines, "All done."], 0);
}

export function setPersistenceMode(
  machine: SimulatedMachine,
  selected: readonly number[],
  word: string,
  asRoot: boolean,
): Answer {
  const enable = word === "1" || word.toUpperCase() === "ENABLED";
  const lines: string[] = [];
  for (const index of selected) {
    const gpu = machine.gpu(index);
    const bus = machine.busId(index);
    if (gpu.persistenceMode === enable) {
      lines.push(`Persistence mode is already ${enable ? "Enabled" : "Disabled"} for GPU ${bus}.`);
      continue;
    }
    if (!asRoot) {
      return answer(
        [...lines, `Unable to set persistence mode for GPU ${bus}: Insufficient Permissions`, terminating],
        4,
      );
    }
    gpu.persistenceMode = enable;
    lines.push(`${enable ? "Enabled" : "Disabled"} persistence mode for GPU ${bus}.`);
  }
  return answer([...lines, "All done."], 0);
}

/**
 * The simulated `nvidia-smi`, release 550.163.01: the same words, the same rules, the same exit statuses as the
 * genuine tool. Everything is printed to standard output, as the genuine tool does.
 */
import { type Answer, brokenExitStatus, brokenWords, EarlyEnd, selectGpus } from "./answer.ts";
import { queryComputeApps, queryGpu } from "./csv.ts";
import { dmonCommand } from "./dmon.ts";
import { helpOf, versionOf } from "./help.ts";
import type { SimulatedMachine } from "./machine.ts";
import { migCommand } from "./mig-command.ts";
import { resetGpus, setMigMode, setPersistenceMode } from "./mode-commands.ts";
import { exitStatusOf, type NvmlError, wordsOf } from "./nvml.ts";
import { textReport, xmlReport } from "./report.ts";
import { summaryTable } from "./table.ts";
import { nvlinkCommand, topologyCommand } from "./topology.ts";

export interface SmiResult {
  readonly stdout: string;
  readonly exitStatus: number;
  /** How long the real tool takes for it, scaled down to what a demo can wait for. */
  readonly durationMs: number;
}

/** Runs the tool with the arguments after its name, and changes the machine as the driver would. */
export function nvidiaSmi(machine: SimulatedMachine, argv: readonly string[], asRoot: boolean): SmiResult {
  const durationMs = durationOf(argv);
  try {
    return { ...run(machine, argv, asRoot), durationMs };
  } catch (error) {
    if (error instanceof EarlyEnd) return { ...error.answer, durationMs };
    throw error;
  }
}

function durationOf(argv: readonly string[]): number {
  if (argv.includes("--gpu-reset") || argv.includes("-r")) return 900;
  if (argv.includes("-mig")) return 400;
  if (argv.includes("-cgi") || argv.includes("-dgi")) return 180;
  if (argv.includes("-cci") || argv.includes("-dci")) return 90;
  return 35;
}

function run(machine: SimulatedMachine, argv: readonly string[], asRoot: boolean): Answer {
  const { driverVersion, cudaVersion, initialisation } = machine.state;
  const [first, ...rest] = argv;
  if (first === "-h" || first === "--help") return { stdout: helpOf(driverVersion), exitStatus: 0 };
  if (initialisation !== "ok") return uninitialised(initialisation, driverVersion);
  switch (first) {
    case "mig":
      return migCommand(machine, rest, asRoot);
    case "topo":
      return topologyCommand(machine, rest);
    case "nvlink":
      return nvlinkCommand(machine, rest);
    case "dmon":
      return dmonCommand(machine, rest);
    case "--version":
      return { stdout: versionOf(driverVersion, cudaVersion), exitStatus: 0 };
    default:
      return mainCommand(machine, argv, asRoot);
  }
}

function uninitialised(why: "no-library" | NvmlError, driverVersion: string): Answer {
  if (why === "no-library") {
    return {
      stdout:
        "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please make sure that the NVIDIA Display " +
        "Driver is properly installed and present in your system.\n" +
        "Please also try adding directory that contains libnvidia-ml.so to your system PATH.\n",
      exitStatus: 12,
    };
  }
  if (why === "driver-not-loaded") {
    return {
      stdout:
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest " +
        "NVIDIA driver is installed and running.\n\n",
      exitStatus: 9,
    };
  }
  const library = driverVersion.split(".").slice(0, 2).join(".");
  const more = why === "version-mismatch" ? `NVML library version: ${library}\n` : "";
  return { stdout: `Failed to initialize NVML: ${wordsOf(why)}\n${more}`, exitStatus: exitStatusOf(why) };
}

/** Options that take a value, by every name they have. */
const valued: Readonly<Record<string, string>> = {
  "-i": "id",
  "--id": "id",
  "-d": "display",
  "--display": "display",
  "-mig": "mig",
  "--multi-instance-gpu": "mig",
  "-pm": "persistence",
  "--persistence-mode": "persistence",
  "--query-gpu": "gpu",
  "--query-compute-apps": "apps",
  "--format": "format",
};
const flags: Readonly<Record<string, string>> = {
  "-q": "query",
  "--query": "query",
  "-x": "xml",
  "--xml-format": "xml",
  "-L": "list",
  "--list-gpus": "list",
  "-r": "reset",
  "--gpu-reset": "reset",
};

function mainOptions(argv: readonly string[]): Map<string, string> {
  const options = new Map<string, string>();
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? "";
    const equals = word.indexOf("=");
    const name = equals === -1 ? word : word.slice(0, equals);
    const flag = flags[name];
    const option = valued[name];
    if (flag !== undefined) options.set(flag, "");
    else if (option !== undefined) {
      const value = equals === -1 ? argv[at + 1] : word.slice(equals + 1);
      if (value === undefined) {
        throw new EarlyEnd(`ERROR: Option ${name} is missing its value. Please run 'nvidia-smi -h' for help.\n\n`, 2);
      }
      if (equals === -1) at += 1;
      options.set(option, value);
    } else throw new EarlyEnd(`ERROR: Option ${word} is not recognized. Please run 'nvidia-smi -h'.\n\n`, 2);
  }
  return options;
}

function mainCommand(machine: SimulatedMachine, argv: readonly string[], asRoot: boolean): Answer {
  const options = mainOptions(argv);
  const id = options.get("id") ?? null;
  if (options.has("list")) {
    if (id !== null) {
      throw new EarlyEnd("ERROR: Option -i is not valid for this command. Please run 'nvidia-smi -h' for help.\n\n", 2);
    }
    return listGpus(machine);
  }
  if (options.has("xml") && options.has("display")) {
    throw new EarlyEnd(
      "Invalid combination of input arguments: --display/-d flags can not be combined with -x/--xml-format flags.\n",
      2,
    );
  }
  const selected = selectGpus(machine, id);
  const mig = options.get("mig");
  if (mig !== undefined) return setMigMode(machine, selected, mig, asRoot);
  if (options.has("reset")) return resetGpus(machine, selected, asRoot);
  const persistence = options.get("persistence");
  if (persistence !== undefined) return setPersistenceMode(machine, selected, persistence, asRoot);
  const format = options.get("format") ?? null;
  const gpuFields = options.get("gpu");
  if (gpuFields !== undefined) return queryGpu(machine, selected, gpuFields, format);
  const processFields = options.get("apps");
  if (processFields !== undefined) return queryComputeApps(machine, selected, processFields, format);
  if (options.has("query")) {
    const stdout = options.has("xml")
      ? xmlReport(machine, selected)
      : textReport(machine, selected, options.get("display") ?? null);
    return { stdout, exitStatus: 0 };
  }
  return { stdout: summaryTable(machine, selected), exitStatus: 0 };
}

/** `-L` alone goes on after a GPU that cannot be opened, and says so with its exit status. */
function listGpus(machine: SimulatedMachine): Answer {
  let stdout = "";
  let exitStatus = 0;
  for (const [index, gpu] of machine.state.gpus.entries()) {
    if (gpu.broken !== null) {
      const words = brokenWords(gpu.broken);
      stdout += `Unable to determine the device handle for gpu ${machine.busId(index).slice(4)}: ${words}\n`;
      exitStatus = brokenExitStatus(gpu.broken);
      continue;
    }
    stdout += `GPU ${index}: ${gpu.productName} (UUID: ${gpu.uuid})\n`;
    if (!gpu.migEnabled) continue;
    for (const device of machine.devicesOf(index)) {
      const name = `MIG ${device.profileName}`.padEnd(16);
      stdout += `  ${name}Device ${String(device.index).padStart(2)}: (UUID: ${device.uuid})\n`;
    }
  }
  return { stdout, exitStatus };
}

/**
 * A simulated machine in a directory, shared by every process that runs its `nvidia-smi`:
 *
 * - `machine.json`: the state, replaced atomically under `machine.lock`
 * - `settings.json`: how long commands take
 * - `faults.json`, `fault-counts.json`: the faults that tests ask for
 * - `commands.log`: one JSON object a line, when a command starts and when it ends
 * - `bin/nvidia-smi`: the command, for the front of a PATH
 */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describeMachine, type MachineDescription } from "../driver/describe.ts";
import { SimulatedMachine } from "../driver/machine.ts";
import type { MachineState } from "../driver/state.ts";
import type { Fault, FaultCounts } from "./faults.ts";

export interface MachineSettings {
  /** Multiplies the durations of the commands. */
  readonly durationScale: number;
  /** The script that `bin/nvidia-smi` runs: the source, or what `bundleProgram` made of it. */
  readonly program: string;
}

const source = join(import.meta.dirname, "nvidia-smi.ts");

export type LoggedCommand =
  | { readonly event: "started"; readonly pid: number; readonly at: string; readonly argv: readonly string[] }
  | {
      readonly event: "ended";
      readonly pid: number;
      readonly at: string;
      readonly argv: readonly string[];
      /** Null where a fault ended it before it could answer. */
      readonly exitStatus: number | null;
    };

const defaults: MachineSettings = { durationScale: 0.1, program: source };

/** Makes the directory and everything in it; returns the folder to put in front of the PATH. */
export function createMachineDirectory(
  directory: string,
  description: MachineDescription | MachineState,
  settings: Partial<MachineSettings> = {},
): string {
  const bin = join(directory, "bin");
  mkdirSync(bin, { recursive: true });
  const state = "bootId" in description ? description : describeMachine(description);
  replaceJson(directory, "machine.json", state);
  replaceJson(directory, "settings.json", { ...defaults, ...settings });
  setFaults(directory, []);
  writeFileSync(join(directory, "commands.log"), "");
  const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
  const script = settings.program ?? source;
  // exec keeps the caller as the parent, which `kill-parent` needs, and takes about a millisecond.
  writeFileSync(
    join(bin, "nvidia-smi"),
    `#!/bin/sh\nTESSERA_SIMULATED_MACHINE=${quoted(directory)} exec ${quoted(process.execPath)} ${quoted(script)} "$@"\n`,
    { mode: 0o755 },
  );
  return bin;
}

/** Replaces the faults, and starts counting again. */
export function setFaults(directory: string, faults: readonly Fault[]): void {
  withLock(directory, () => {
    replaceJson(directory, "faults.json", faults);
    replaceJson(directory, "fault-counts.json", []);
  });
}

export function readFaults(directory: string): readonly Fault[] {
  return readJson<readonly Fault[]>(directory, "faults.json") ?? [];
}

export function readFaultCounts(directory: string): FaultCounts {
  return readJson<FaultCounts>(directory, "fault-counts.json") ?? [];
}

export function writeFaultCounts(directory: string, counts: FaultCounts): void {
  replaceJson(directory, "fault-counts.json", counts);
}

export function readSettings(directory: string): MachineSettings {
  return { ...defaults, ...readJson<Partial<MachineSettings>>(directory, "settings.json") };
}

/** What stands there now. Throws where the directory holds no machine. */
export function readMachine(directory: string): SimulatedMachine {
  const state = readJson<MachineState>(directory, "machine.json");
  if (state === null) throw new Error(`no simulated machine in ${directory}`);
  return new SimulatedMachine(state);
}

/** Reads, changes and replaces the machine as one step that no other process can come between. */
export function changeMachine<T>(directory: string, change: (machine: SimulatedMachine) => T): T {
  return withLock(directory, () => {
    const machine = readMachine(directory);
    const before = JSON.stringify(machine.state);
    const result = change(machine);
    if (JSON.stringify(machine.state) !== before) replaceJson(directory, "machine.json", machine.state);
    return result;
  });
}

export function logCommand(directory: string, command: LoggedCommand): void {
  appendFileSync(join(directory, "commands.log"), `${JSON.stringify(command)}\n`);
}

/** Everything that was run, in order. */
export function loggedCommands(directory: string): LoggedCommand[] {
  return readFileSync(join(directory, "commands.log"), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line): LoggedCommand => JSON.parse(line));
}

/** The argument vectors of the commands that were started and that change something. */
export function changingCommands(directory: string): (readonly string[])[] {
  const changes = /(^| )(-cgi|-cci|-dgi|-dci|-mig|--gpu-reset|-pm)( |$)/;
  return loggedCommands(directory)
    .filter((command) => command.event === "started" && changes.test(command.argv.join(" ")))
    .map((command) => command.argv);
}

function readJson<T>(directory: string, name: string): T | null {
  let text: string;
  try {
    text = readFileSync(join(directory, name), "utf8");
  } catch {
    return null;
  }
  return JSON.parse(text);
}

function replaceJson(directory: string, name: string, value: unknown): void {
  const temporary = join(directory, `.${name}.${process.pid}`);
  writeFileSync(temporary, JSON.stringify(value));
  renameSync(temporary, join(directory, name));
}

/** Hosts of the lab have process ids of their own. Empty where the system has no such thing. */
const processNamespace = existsSync("/proc/self/ns/pid") ? readlinkSync("/proc/self/ns/pid") : "";
const foreignHolderMs = 10_000;

const pause = new Int32Array(new SharedArrayBuffer(4));

/** Runs `work` while no other process holds the machine. The lock of a process that was killed is taken over. */
export function withLock<T>(directory: string, work: () => T): T {
  const path = join(directory, "machine.lock");
  for (;;) {
    try {
      writeFileSync(path, `${process.pid} ${processNamespace}`, { flag: "wx" });
      break;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
      if (!holderLives(path)) rmSync(path, { force: true });
      else Atomics.wait(pause, 0, 0, 2);
    }
  }
  try {
    return work();
  } finally {
    rmSync(path, { force: true });
  }
}

function holderLives(path: string): boolean {
  let text: string;
  let heldMs: number;
  try {
    text = readFileSync(path, "utf8");
    heldMs = Date.now() - statSync(path).mtimeMs;
  } catch {
    return true; // Released just now: try again.
  }
  // Empty: its holder is about to write its pid.
  if (text === "") return true;
  const [pid, namespace] = text.split(" ");
  // A process id of another namespace says nothing here; nobody holds a machine for long.
  if (namespace !== undefined && namespace !== processNamespace) return heldMs < foreignHolderMs;
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

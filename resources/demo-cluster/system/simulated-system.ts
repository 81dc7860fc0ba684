/** A simulated host as the host module sees it: the machine's tools and files, in this process. */
import type { Caller, Files, RunOptions, RunResult, System } from "../../host-module/src/system.ts";
import { FaultPlan } from "../bin/faults.ts";
import type { SimulatedMachine } from "../driver/machine.ts";
import { nvidiaSmi } from "../driver/nvidia-smi.ts";
import { timestamp } from "../driver/report.ts";
import { MemoryFiles } from "./memory-files.ts";
import { MortalFiles, never } from "./mortal-files.ts";

export interface SimulatedSystemOptions {
  /** The host's files; a fresh store when absent. */
  readonly files?: MemoryFiles;
  readonly root?: boolean;
  readonly caller?: Caller;
  /** A real file of this machine; no ledger when absent. */
  readonly ledgerPath?: string;
  readonly engine?: NonNullable<System["engine"]>;
  /** How long a command takes, given the driver's own measure; at once when absent. */
  readonly delayMs?: (argv: readonly string[], durationMs: number) => number;
  /** Shared by all systems of one machine; a plan of its own when absent. */
  readonly faults?: FaultPlan;
  /** Told before and after every `nvidia-smi` that changes something. */
  readonly onChange?: (phase: "begun" | "ended") => void;
  /** A `kill-parent` fault: the caller's process is to die. */
  readonly onKill?: () => void;
}

export class SimulatedSystem implements System {
  readonly machine: SimulatedMachine;
  readonly files: Files;
  readonly root: boolean;
  readonly caller: Caller;
  readonly ledgerPath: string | null;
  readonly engine?: NonNullable<System["engine"]>;
  readonly architecture = "x86_64";
  readonly #options: SimulatedSystemOptions;
  #dead = false;
  readonly faults: FaultPlan;
  /** Argument vectors of everything that was run, oldest first, at most the last 10,000. */
  readonly commands: (readonly string[])[] = [];

  constructor(machine: SimulatedMachine, options: SimulatedSystemOptions = {}) {
    this.machine = machine;
    this.files = new MortalFiles(options.files ?? new MemoryFiles(machine), () => !this.#dead);
    this.root = options.root ?? true;
    this.caller = options.caller ?? { uid: 0, user: "root" };
    this.ledgerPath = options.ledgerPath ?? null;
    if (options.engine !== undefined) this.engine = options.engine;
    this.faults = options.faults ?? new FaultPlan();
    this.#options = options;
  }

  get hostName(): string {
    return this.machine.state.hostName;
  }

  now(): Date {
    return this.machine.now();
  }

  /**
   * SIGKILL for the process that this system is: a command that runs goes on to its end, and nobody hears of it;
   * nothing else that was begun ever ends.
   */
  die(): void {
    this.#dead = true;
  }

  async run(argv: readonly string[], options: RunOptions): Promise<RunResult> {
    if (this.#dead) return never();
    const result = await this.#run(argv, options);
    return this.#dead ? never() : result;
  }

  async #run(argv: readonly string[], options: RunOptions): Promise<RunResult> {
    const startedAt = performance.now();
    if (this.commands.length >= 10_000) this.commands.shift();
    this.commands.push([...argv]);
    const [program = "", ...args] = argv;
    const name = program.split("/").at(-1) ?? "";
    const end = (stdout: string, exitStatus: number | null, more: Partial<RunResult> = {}): RunResult => ({
      argv,
      stdout: new TextEncoder().encode(stdout),
      stderr: new Uint8Array(),
      exitStatus,
      signal: null,
      timedOut: false,
      durationMs: performance.now() - startedAt,
      ...more,
    });
    if (options.signal?.aborted === true) return end("", null, { signal: "SIGKILL" });
    if (name !== "nvidia-smi") {
      const answer = otherProgram(this.machine, name, args);
      return answer === null
        ? end("", 127, { stderr: new TextEncoder().encode(`${program}: not found\n`) })
        : end(answer, 0);
    }
    return this.#runDriverTool(args, options, end);
  }

  async #runDriverTool(
    args: readonly string[],
    options: RunOptions,
    end: (stdout: string, exitStatus: number | null, more?: Partial<RunResult>) => RunResult,
  ): Promise<RunResult> {
    const action = this.faults.strike(args);
    const cut = (how: "limit" | "abort"): RunResult => end("", null, { signal: "SIGKILL", timedOut: how === "limit" });
    const changes = args.some((word) => /^(-cgi|-cci|-dgi|-dci|-mig|-r|--gpu-reset|-pm)$/.test(word));
    if (changes) this.#options.onChange?.("begun");
    try {
      if (action?.kind === "slow") {
        const how = await pause(action.milliseconds, options);
        if (how !== "elapsed") return cut(how);
      }
      if (action?.kind === "fail" && action.afterWork !== true) return end(action.stdout ?? "", action.exitStatus);
      if (action?.kind === "hang" && action.afterWork !== true) {
        return cut(await forever(options));
      }
      if (action?.kind === "kill-parent" && action.when !== "after") {
        this.#options.onKill?.();
        if (action.when === "before") return end("", null, { signal: "SIGKILL" });
      }
      const result = nvidiaSmi(this.machine, args, this.root);
      const delay = this.#options.delayMs?.(args, result.durationMs) ?? 0;
      if (delay > 0) {
        const how = await pause(delay, options);
        if (how !== "elapsed") return cut(how);
      }
      switch (action?.kind) {
        case "fail":
          return end(action.stdout ?? "", action.exitStatus);
        case "hang":
          return cut(await forever(options));
        case "crash":
          return end(result.stdout.slice(0, action.outputBytes), null, { signal: "SIGSEGV" });
        case "lie":
          return end("All done.\n", 0);
        case "kill-parent":
          this.#options.onKill?.();
          return end(result.stdout, result.exitStatus);
        default:
          return end(result.stdout, result.exitStatus);
      }
    } finally {
      if (changes) this.#options.onChange?.("ended");
    }
  }
}

/** Waits, and says what ended it: the time, the command's time limit, or the caller's signal. */
function pause(milliseconds: number, options: RunOptions): Promise<"elapsed" | "limit" | "abort"> {
  return new Promise((resolve) => {
    const settle = (how: "elapsed" | "limit" | "abort"): void => {
      clearTimeout(timer);
      options.signal?.removeEventListener("abort", abort);
      resolve(how);
    };
    const abort = (): void => settle("abort");
    const limited = milliseconds > options.timeoutMs;
    const timer = setTimeout(() => settle(limited ? "limit" : "elapsed"), Math.min(milliseconds, options.timeoutMs));
    options.signal?.addEventListener("abort", abort, { once: true });
  });
}

async function forever(options: RunOptions): Promise<"limit" | "abort"> {
  return (await pause(Number.POSITIVE_INFINITY, options)) === "abort" ? "abort" : "limit";
}

/** The few other programs that a host module asks; null where there is no such program. */
function otherProgram(machine: SimulatedMachine, name: string, args: readonly string[]): string | null {
  const { state } = machine;
  switch (name) {
    case "uname":
      return args.includes("-m") ? "x86_64\n" : args.includes("-r") ? `${state.kernel}\n` : "Linux\n";
    case "hostname":
      return `${state.hostName}\n`;
    case "getent":
      return accounts(machine, args);
    case "dmesg":
      return kernelLog(machine, args);
    default:
      return null;
  }
}

/** `getent passwd`, all of it or by user names and uids. What is not there is left out; the real one exits 2 then. */
function accounts({ state }: SimulatedMachine, [database, ...keys]: readonly string[]): string | null {
  if (database !== "passwd") return null;
  return state.users
    .filter(({ name, uid }) => keys.length === 0 || keys.includes(name) || keys.includes(String(uid)))
    .map(({ name, uid, gid }) => `${name}:x:${uid}:${gid}:${name}:/home/${name}:/bin/bash\n`)
    .join("");
}

/** `dmesg`, with the time stamps that `--time-format`, `-T` or nothing ask for. */
function kernelLog(machine: SimulatedMachine, args: readonly string[]): string {
  const words = args.join(" ");
  return machine.state.kernelLog
    .map(({ atMs, text }) => {
      const iso = new Date(atMs).toISOString();
      if (/time-format[= ]iso/.test(words)) return `${iso.slice(0, 19)},${iso.slice(20, 23)}000+00:00 ${text}\n`;
      if (/(^| )(-T|--ctime)( |$)/.test(words)) return `[${timestamp(new Date(atMs))}] ${text}\n`;
      return `[${((atMs - machine.state.bootedAtMs) / 1000).toFixed(6).padStart(12)}] ${text}\n`;
    })
    .join("");
}

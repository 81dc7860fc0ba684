/** One daemon on a machine of the lab: started, stopped and killed as a test wants. */
import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { childrenOf, type Machine, type MachineUser } from "./machine.ts";

export interface DaemonOptions {
  readonly name: string;
  /** Stays in the foreground and logs to stderr. */
  readonly argv: readonly string[];
  readonly as?: MachineUser;
  /** A file of this machine; every start appends. */
  readonly logFile: string;
  /** Whether it serves by now. */
  ready(): Promise<boolean>;
}

const startDeadlineMs = 30_000;
const stopDeadlineMs = 30_000;

export class Daemon {
  readonly name: string;
  readonly machine: Machine;
  readonly #options: DaemonOptions;
  #child: ChildProcess | null = null;

  constructor(machine: Machine, options: DaemonOptions) {
    this.name = options.name;
    this.machine = machine;
    this.#options = options;
  }

  get running(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** As this machine numbers it; null when it does not run. */
  get pid(): number | null {
    // nsenter's only child: nsenter stays outside, and what follows it on the command line is replaced by exec.
    return this.running ? (childrenOf(this.#child?.pid ?? -1)[0] ?? null) : null;
  }

  /** Returns when it serves. Nothing happens where it runs already. */
  async start(): Promise<void> {
    if (this.running) return;
    const { argv, as, logFile } = this.#options;
    const [program = "false", ...words] = this.machine.command(argv, as === undefined ? {} : { as });
    const child = spawn(program, words, { stdio: ["ignore", "pipe", "pipe"] });
    this.#child = child;
    const log = createWriteStream(logFile, { flags: "a", mode: 0o644 });
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    child.once("close", () => log.end());
    child.once("error", () => log.end());
    const deadline = Date.now() + startDeadlineMs;
    while (!(await this.#options.ready())) {
      if (!this.running) throw new Error(`${this.name} on ${this.machine.name} ended: ${this.lastWords()}`);
      if (Date.now() > deadline) throw new Error(`${this.name} does not serve: ${this.lastWords()}`);
      await sleep(40);
    }
  }

  /** As `systemctl stop` does it: SIGTERM, then its end is waited for. */
  async stop(): Promise<void> {
    await this.#end("SIGTERM");
  }

  /** SIGKILL: it can finish nothing. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  log(): string {
    return existsSync(this.#options.logFile) ? readFileSync(this.#options.logFile, "utf8") : "";
  }

  lastWords(): string {
    return this.log().trim().split("\n").slice(-8).join("\n");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    const pid = this.pid;
    if (child === null || pid === null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    process.kill(pid, signal);
    const late = setTimeout(() => process.kill(pid, "SIGKILL"), stopDeadlineMs);
    await ended;
    clearTimeout(late);
  }
}

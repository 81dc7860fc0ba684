/**
 * A host in memory: the simulated driver, files that keep what was written to them, and faults at chosen calls.
 * A crash makes every later call of the same process throw, so nothing more of it can reach the driver or a file;
 * the next `process()` begins on what it left, as after SIGKILL.
 */

import { describeMachine, type MachineDescription } from "../../resources/demo-cluster/driver/describe.ts";
import { SimulatedMachine } from "../../resources/demo-cluster/driver/machine.ts";
import { nvidiaSmi } from "../../resources/demo-cluster/driver/nvidia-smi.ts";
import type { MachineState } from "../../resources/demo-cluster/driver/state.ts";
import type { Files, RunResult, System } from "../../resources/host-module/src/system.ts";
import { AppError } from "../../shared/errors.ts";

export type FaultKind =
  /** The process dies before the call does anything. */
  | "crash-before"
  /** The call does its work, and the process dies before it hears of it. */
  | "crash-after"
  /** Half of what is written reaches the disk, then the process dies. */
  | "crash-torn"
  /** Half of the command's work is done (a GPU instance without its compute instance), then the process dies. */
  | "crash-half"
  | "disk-full"
  /** The driver answers an error and does nothing. */
  | "driver-fails"
  /** The driver does the work and answers an error. */
  | "driver-fails-after"
  /** The driver says that all is done, and does nothing. */
  | "driver-lies"
  /** The driver never answers and does nothing. */
  | "driver-hangs"
  /** The driver does the work and never answers. */
  | "driver-hangs-after"
  /** Not even SIGKILL ends the command; its work is done some time later. */
  | "driver-undead"
  /** The caller cancels while the call runs. */
  | "cancel"
  /** The connection is cut while the call runs. */
  | "hang-up";

export interface Fault {
  /** Position among the calls of `calls()`, from 0. */
  readonly at: number;
  readonly kind: FaultKind;
  /** From `at` on, every call of the kind fails (a disk stays full). */
  readonly stays?: boolean;
}

export interface Call {
  readonly kind: "read" | "change" | "write";
  readonly words: string;
}

class Crash extends Error {}

export class InProcessHost {
  machine: SimulatedMachine;
  private readonly content: Map<string, Uint8Array>;
  private clockMs = Date.UTC(2026, 0, 1);

  constructor(description: MachineDescription | InProcessHost) {
    if (description instanceof InProcessHost) {
      this.machine = new SimulatedMachine(structuredClone(description.machine.state));
      this.content = new Map(description.content);
      this.clockMs = description.clockMs;
    } else {
      this.machine = new SimulatedMachine(describeMachine(description));
      this.content = new Map();
    }
  }

  copy(): InProcessHost {
    return new InProcessHost(this);
  }

  /** The instances as the driver has them, by GPU, for comparing. */
  layouts(): readonly string[] {
    return this.machine.state.gpus.map((gpu) => {
      const instances = gpu.instances
        .map(({ profileId, start, computeInstances }) => {
          const inside = computeInstances.map((inner) => `${inner.profileId}@${inner.start}`).toSorted();
          return `${profileId}@${start}[${inside.join()}]`;
        })
        .toSorted();
      const pending = gpu.migEnabled === gpu.migPending ? "" : " (pending)";
      return `${gpu.migEnabled ? "on" : "off"}${pending} ${instances.join(" ")}`.trim();
    });
  }

  get state(): MachineState {
    return this.machine.state;
  }

  reboot(): void {
    this.machine.reboot();
  }

  /** Replaces a file as somebody else would, or removes it (null). */
  put(path: string, text: string | null): void {
    if (text === null) this.content.delete(path);
    else this.content.set(path, new TextEncoder().encode(text));
  }

  text(path: string): string | null {
    const content = this.content.get(path);
    return content === undefined ? null : new TextDecoder().decode(content);
  }

  /** A process that has a device file open and that the driver does not list. */
  addProcess(pid: number, name: string, uid: number, device: string): void {
    this.put(`/proc/${pid}/comm`, `${name}\n`);
    this.put(`/proc/${pid}/status`, `Name:\t${name}\nUid:\t${uid}\t${uid}\t${uid}\t${uid}\n`);
    this.put(`/proc/${pid}/fd/3`, device);
  }

  /** A new process of tessera-host on this host. */
  process(faults: readonly Fault[] = []): HostProcess {
    return new HostProcess(this, this.content, faults, () => {
      this.clockMs += 7;
      return new Date(this.clockMs);
    });
  }
}

export class HostProcess {
  readonly calls: Call[] = [];
  readonly cancel = new AbortController();
  readonly system: System;
  crashed = false;
  /** A command that nobody could end: call it to let it do its work. */
  undead: (() => void) | null = null;
  private readonly host: InProcessHost;
  private readonly faults: readonly Fault[];

  constructor(host: InProcessHost, content: Map<string, Uint8Array>, faults: readonly Fault[], now: () => Date) {
    this.host = host;
    this.faults = faults;
    this.system = {
      run: (argv) => this.run(argv),
      files: this.filesOver(content),
      now,
      hostName: host.state.hostName,
      architecture: "x86_64",
      ledgerPath: null,
      root: true,
      caller: { uid: 0, user: "root" },
    };
  }

  private begin(call: Call): FaultKind | null {
    if (this.crashed) throw new Crash("the process is dead");
    const at = this.calls.length;
    this.calls.push(call);
    const striking = this.faults.find(
      (fault) => at === fault.at || (fault.stays === true && at > fault.at && this.calls[fault.at]?.kind === call.kind),
    );
    return striking?.kind ?? null;
  }

  private crash(): never {
    this.crashed = true;
    throw new Crash("killed");
  }

  private interrupt(kind: FaultKind | null): void {
    if (kind === "cancel") {
      this.cancel.abort(new AppError({ code: "cancelled", message: "The operation was cancelled.", remedy: "" }));
    }
    if (kind === "hang-up") {
      this.cancel.abort(new AppError({ code: "ssh-closed", message: "The connection went away.", remedy: "" }));
    }
  }

  private async run(argv: readonly string[]): Promise<RunResult> {
    const [program, ...args] = argv;
    const changes = args.some((word) => ["-cgi", "-cci", "-dgi", "-dci", "-mig", "--gpu-reset"].includes(word));
    const fault = this.begin({ kind: changes ? "change" : "read", words: argv.join(" ") });
    const work = (list: readonly string[] = args) => nvidiaSmi(this.host.machine, list, true);
    const answer = (stdout: string, exitStatus: number | null, rest: Partial<RunResult> = {}): RunResult => ({
      argv,
      stdout: new TextEncoder().encode(stdout),
      stderr: new Uint8Array(),
      exitStatus,
      signal: null,
      timedOut: false,
      durationMs: 1,
      ...rest,
    });
    if (program !== "nvidia-smi") return answer("", 127);
    switch (fault) {
      case "crash-before":
        return this.crash();
      case "crash-half":
        work(args.filter((word) => word !== "-C"));
        return this.crash();
      case "crash-after":
        work();
        return this.crash();
      case "driver-fails":
        return answer("Unable to do so: Unknown Error\n", 255);
      case "driver-fails-after":
        work();
        return answer("Unable to do so: Unknown Error\n", 255);
      case "driver-lies":
        return answer("All done.\n", 0);
      case "driver-hangs":
        return answer("", null, { signal: "SIGKILL", timedOut: true });
      case "driver-hangs-after":
        work();
        return answer("", null, { signal: "SIGKILL", timedOut: true });
      case "driver-undead":
        this.undead = () => work();
        return answer("", null, { timedOut: true });
      default: {
        this.interrupt(fault);
        const result = work();
        return answer(result.stdout, result.exitStatus);
      }
    }
  }

  private write(words: string, torn: () => void, whole: () => void): void {
    const fault = this.begin({ kind: "write", words });
    if (fault === "crash-before") this.crash();
    if (fault === "crash-torn") {
      torn();
      this.crash();
    }
    if (fault === "disk-full") {
      throw new AppError({
        code: "disk-full",
        message: `There is no room left to write ${words}.`,
        remedy: "Free it.",
      });
    }
    this.interrupt(fault);
    whole();
    if (fault === "crash-after") this.crash();
  }

  private filesOver(content: Map<string, Uint8Array>): Files {
    const alive = () => {
      if (this.crashed) throw new Crash("the process is dead");
    };
    const joined = (a: Uint8Array | undefined, b: Uint8Array) => Buffer.concat([a ?? new Uint8Array(), b]);
    const directory = (path: string) => [...content.keys()].some((name) => name.startsWith(`${path}/`));
    const made = new Set<string>();
    return {
      read: async (path) => {
        alive();
        if (path === "/proc/sys/kernel/random/boot_id") return new TextEncoder().encode(this.host.state.bootId);
        return content.get(path) ?? null;
      },
      list: async (path) => {
        alive();
        const below = [...content.keys()].filter((name) => name.startsWith(`${path}/`));
        const names = new Set(below.map((name) => name.slice(path.length + 1).split("/")[0] ?? ""));
        return names.size === 0 ? null : [...names].toSorted();
      },
      status: async (path) => {
        alive();
        const file = content.get(path);
        const isDirectory = made.has(path) || directory(path);
        if (file === undefined && !isDirectory) return null;
        return {
          uid: 0,
          gid: 0,
          sizeBytes: file?.length ?? 0,
          changedAtMs: 0,
          kind: file === undefined ? "directory" : "file",
        };
      },
      // Links are kept as files that hold where they lead.
      readLink: async (path) => {
        const target = content.get(path);
        return target === undefined ? null : new TextDecoder().decode(target);
      },
      makeDirectory: async (path) => {
        alive();
        made.add(path);
      },
      replace: async (path, bytes) =>
        this.write(
          `replace ${path}`,
          () => undefined,
          () => void content.set(path, bytes.slice()),
        ),
      append: async (path, bytes) =>
        this.write(
          `append ${path}`,
          () => void content.set(path, joined(content.get(path), bytes.subarray(0, bytes.length >> 1))),
          () => void content.set(path, joined(content.get(path), bytes)),
        ),
      remove: async (path) => {
        alive();
        content.delete(path);
      },
      lock: async () => {
        alive();
        return { [Symbol.asyncDispose]: async () => undefined };
      },
      isLocked: async () => false,
    };
  }
}

/** A simulated machine with real processes of the bundled tessera-host on it. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  changeMachine,
  createMachineDirectory,
  readMachine,
} from "../../resources/demo-cluster/bin/machine-directory.ts";
import type { MachineDescription } from "../../resources/demo-cluster/driver/describe.ts";
import type { Layout } from "../../shared/mig/types.ts";
import type { ApplyResult, MigStatus } from "../../shared/protocol/contract.ts";

export interface Ended {
  readonly status: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Programs {
  readonly bundle: string;
  readonly driver: string;
}

export class ProcessHost {
  readonly machine: string;
  readonly state: string;
  private readonly bundle: string;
  private readonly environment: NodeJS.ProcessEnv;

  /** `programs`: the bundled tessera-host, and the simulated driver in one file, which starts in a third of the time. */
  constructor(programs: Programs, directory: string, description: MachineDescription, durationScale = 0) {
    this.bundle = programs.bundle;
    this.machine = join(directory, "machine");
    this.state = join(directory, "state");
    mkdirSync(directory, { recursive: true });
    const bin = createMachineDirectory(this.machine, description, { durationScale, program: programs.driver });
    this.environment = {
      ...process.env,
      PATH: `${bin}:${process.env.PATH ?? ""}`,
      TESSERA_STATE_DIRECTORY: this.state,
    };
  }

  start(args: readonly string[], environment: NodeJS.ProcessEnv = {}): ChildProcess {
    return spawn(process.execPath, [this.bundle, ...args], {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...this.environment, ...environment },
    });
  }

  async run(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<Ended> {
    const child = this.start(args, environment);
    child.stdin?.end();
    return ended(child);
  }

  wish(layouts: readonly { readonly gpuIndex: number; readonly layout: Layout }[]): string {
    const { gpus } = readMachine(this.machine).state;
    const file = join(this.machine, "wanted.json");
    const wanted = layouts.map(({ gpuIndex, layout }) => ({ gpuUuid: gpus[gpuIndex]?.uuid, layout }));
    writeFileSync(file, JSON.stringify({ gpus: wanted }));
    return file;
  }

  async json<T>(args: readonly string[]): Promise<T> {
    const { stdout, stderr } = await this.run([...args, "--json"]);
    if (stdout === "") throw new Error(`no answer to ${args.join(" ")}: ${stderr}`);
    return JSON.parse(stdout);
  }

  status(): Promise<MigStatus> {
    return this.json(["mig", "status"]);
  }

  recover(id: string, way: "finish" | "roll-back"): Promise<ApplyResult> {
    return this.json(["mig", "recover", id, "--way", way]);
  }

  /** Puts a process on the instance that starts there. */
  occupy(gpuIndex: number, start: number): void {
    changeMachine(this.machine, (machine) => {
      const gpu = machine.gpu(gpuIndex);
      const instance = gpu.instances.find((candidate) => candidate.start === start);
      if (instance === undefined) throw new Error(`nothing stands at ${start}`);
      machine.state.processes.push({
        pid: 4_242,
        uid: 1_000,
        command: ["python3"],
        startedAtMs: 0,
        gpu: { uuid: gpu.uuid, gpuInstanceId: instance.id, computeInstanceId: 0, usedMemoryMiB: 512 },
      });
    });
  }

  layouts(): readonly string[] {
    return readMachine(this.machine).state.gpus.map((gpu) => {
      const instances = gpu.instances.map(({ profileId, start, computeInstances }) => {
        const inside = computeInstances.map((inner) => `${inner.profileId}@${inner.start}`).toSorted();
        return `${profileId}@${start}[${inside.join()}]`;
      });
      return `${gpu.migEnabled ? "on" : "off"} ${instances.toSorted().join(" ")}`.trim();
    });
  }
}

export function ended(child: ChildProcess): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  return new Promise((resolve) => {
    // "exit" and not "close": a command that outlives its killed parent holds the pipes.
    child.on("exit", (status, signal) => setTimeout(() => resolve({ status, signal, stdout, stderr }), 20));
  });
}

/**
 * A host with simulated GPUs behind a real sshd. It has a name, a boot, an /opt and a state directory of its own: sshd
 * runs in a mount and a host name namespace, so that what the console installs as root never reaches this machine.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HostArtifacts } from "../../electron/services/deploy/artifacts.ts";
import packageJson from "../../package.json" with { type: "json" };
import {
  changeMachine,
  changingCommands,
  createMachineDirectory,
  readMachine,
  setFaults,
} from "../../resources/demo-cluster/bin/machine-directory.ts";
import type { GpuDescription } from "../../resources/demo-cluster/driver/describe.ts";
import { installBuild } from "./fleet.ts";
import { type KeyPair, type Lab, type Sshd, type SshdOptions, sshdMissing, startSshd } from "./sshd.ts";

/** Why no such host can be started here; null when it can. */
export function gpuHostsMissing(): string | null {
  const missing = sshdMissing();
  if (missing !== null) return missing;
  const tried = spawnSync("unshare", ["--mount", "--uts", "true"]);
  return tried.status === 0 ? null : "namespaces of its own (unshare --mount --uts) are not allowed here";
}

export interface GpuHostOptions {
  readonly name: string;
  readonly gpus?: readonly GpuDescription[];
  readonly sshd?: SshdOptions;
  /** What `bundleProgram` made of the simulated nvidia-smi; its source, which starts more slowly, when absent. */
  readonly program?: string;
  /** Share this host's /opt: what is installed there is installed here. */
  readonly sameInstallationAs?: GpuHost;
}

/** As root inside the namespaces: bind what is the host's own over what is the machine's, then become sshd. */
const enter = [
  'hostname "$1"; mount --bind "$2" /proc/sys/kernel/random/boot_id || exit 1; opt=$3; shift 3',
  // What else stands in /opt stays where it is: the tests' own Node may be there.
  'for d in /opt/*/; do [ -d "$opt/$(basename "$d")" ] && mount --rbind "$d" "$opt/$(basename "$d")"; done',
  'mount --rbind "$opt" /opt || exit 1; exec "$@"',
].join("; ");

export class GpuHost {
  readonly name: string;
  readonly hostKey: KeyPair;
  /** The simulated machine, for machine-directory.ts. */
  readonly machine: string;
  /** What stands in /opt on this host. */
  readonly opt: string;
  readonly stateDirectory: string;
  readonly #lab: Lab;
  readonly #bin: string;
  readonly #bootIdFile: string;
  readonly #sshdOptions: SshdOptions;
  #sshd: Sshd | null = null;
  #port: number | undefined;

  constructor(lab: Lab, options: GpuHostOptions) {
    const directory = lab.path(`host-${options.name}`);
    this.name = options.name;
    this.#lab = lab;
    this.#sshdOptions = options.sshd ?? {};
    this.hostKey = options.sshd?.hostKeys?.[0] ?? lab.key();
    this.machine = join(directory, "machine");
    this.stateDirectory = join(directory, "state");
    this.opt = options.sameInstallationAs?.opt ?? join(directory, "opt");
    const gpus = options.gpus ?? [{ instances: [] }, { instances: [] }];
    this.#bin = createMachineDirectory(
      this.machine,
      { hostName: options.name, gpus },
      options.program === undefined ? {} : { program: options.program },
    );
    // Every user of the host may run nvidia-smi, which keeps its state in this directory.
    execFileSync("chmod", ["-R", "a+rwX", this.machine]);
    mkdirSync(this.opt, { recursive: true });
    for (const entry of existsSync("/opt") ? readdirSync("/opt", { withFileTypes: true }) : []) {
      if (entry.isDirectory() && entry.name !== "tessera") mkdirSync(join(this.opt, entry.name), { recursive: true });
    }
    this.#bootIdFile = join(directory, "boot-id");
    writeFileSync(this.#bootIdFile, `${randomUUID()}\n`);
  }

  /** As if another console had installed this build here before. */
  async install(): Promise<void> {
    const distribution = join(import.meta.dirname, "..", "..", "dist");
    await installBuild(
      new HostArtifacts(distribution, packageJson.version),
      join(this.opt, "tessera", "versions"),
      true,
    );
  }

  async start(): Promise<void> {
    this.#sshd = await startSshd(this.#lab, {
      ...this.#sshdOptions,
      hostKeys: [this.hostKey],
      ...(this.#port === undefined ? {} : { port: this.#port }),
      environment: {
        PATH: `${this.#bin}:/usr/sbin:/usr/bin:/sbin:/bin`,
        TESSERA_STATE_DIRECTORY: this.stateDirectory,
        ...this.#sshdOptions.environment,
      },
      prefix: [...["unshare", "--mount", "--uts", "sh", "-c", enter, "sh"], ...[this.name, this.#bootIdFile, this.opt]],
    });
    this.#port = this.#sshd.port;
  }

  get sshd(): Sshd {
    if (this.#sshd === null) throw new Error(`${this.name} is not started`);
    return this.#sshd;
  }

  get port(): number {
    return this.sshd.port;
  }

  /** Power off: sshd and every process of its sessions, tessera-host and nvidia-smi among them, end at once. */
  async die(): Promise<void> {
    const { process: child } = this.sshd;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    this.sshd.kill("SIGKILL");
    await ended;
  }

  /** Off and on again: the driver forgets its instances, and the kernel has another boot id. */
  async reboot(): Promise<void> {
    await this.die();
    changeMachine(this.machine, (machine) => machine.reboot());
    writeFileSync(this.#bootIdFile, `${randomUUID()}\n`);
    await this.start();
  }

  /** `3g.40gb:4` for each instance of a GPU, by its place. */
  layout(gpu = 0): string[] {
    const machine = readMachine(this.machine);
    return machine
      .gpu(gpu)
      .instances.toSorted((a, b) => a.start - b.start)
      .map((instance) => `${machine.profileOf(gpu, instance).name}:${instance.start}`);
  }

  uuid(gpu = 0): string {
    return readMachine(this.machine).gpu(gpu).uuid;
  }

  /** Commands that change something, as they were run. */
  changes(): string[] {
    return changingCommands(this.machine).map((argv) => argv.join(" "));
  }

  /** Holds up every command that matches, so that a test can act while it runs. */
  slow(match: string, milliseconds: number): void {
    setFaults(this.machine, [{ match, action: { kind: "slow", milliseconds } }]);
  }

  healed(): void {
    setFaults(this.machine, []);
  }

  /** Builds of tessera-host in /opt. */
  builds(): string[] {
    const versions = join(this.opt, "tessera", "versions");
    return existsSync(versions) ? readdirSync(versions) : [];
  }

  /** As `ssh-keygen -lf` prints it. */
  fingerprint(): string {
    return fingerprintOf(this.hostKey);
  }

  /** Lines of an ssh_config for it. */
  config(...lines: readonly string[]): string {
    return [`Host ${this.name}`, "HostName 127.0.0.1", `Port ${this.port}`, "User root", ...lines].join("\n  ");
  }

  /** What sshd wrote about who logged in. */
  log(): string {
    return this.sshd.log();
  }

  journal(): string {
    const directory = join(this.stateDirectory, "journal");
    if (!existsSync(directory)) return "";
    return readdirSync(directory)
      .map((name) => readFileSync(join(directory, name), "utf8"))
      .join("\n");
  }
}

export function fingerprintOf(key: KeyPair): string {
  const said = execFileSync("ssh-keygen", ["-lf", `${key.path}.pub`], { encoding: "utf8" });
  return said.split(" ")[1] ?? "";
}

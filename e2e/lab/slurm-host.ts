/** A host of the Slurm lab: a machine with a network address, a real sshd, munge, and the simulated driver where it has GPUs. */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chownSync, existsSync, linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { HostArtifacts } from "../../electron/services/deploy/artifacts.ts";
import packageJson from "../../package.json" with { type: "json" };
import {
  changeMachine,
  createMachineDirectory,
  readMachine,
} from "../../resources/demo-cluster/bin/machine-directory.ts";
import type { GpuDescription } from "../../resources/demo-cluster/driver/describe.ts";
import type { SimulatedMachine } from "../../resources/demo-cluster/driver/machine.ts";
import { type Person, systemUser, writeAccounts } from "./accounts.ts";
import { Daemon } from "./daemon.ts";
import { installBuild } from "./fleet.ts";
import { type Keeper, Machine } from "./machine.ts";
import type { LabNetwork } from "./network.ts";
import { type KeyPair, type Lab, type Sshd, startSshd } from "./sshd.ts";

export const sshPort = 22;

/** What all hosts of a lab have in common. */
export interface LabGround {
  readonly lab: Lab;
  readonly keeper: Keeper;
  readonly network: LabNetwork;
  /** Of root on every host. */
  readonly rootKey: KeyPair;
  readonly mungeKey: Uint8Array;
  /** Lines of /etc/hosts. */
  readonly hostsFile: string;
  /** The directory with the hosts' programs; null for this machine's own. */
  readonly system: string | null;
  /** Directories of the keeper by where the hosts mount them. */
  readonly shared: Readonly<Record<string, string>>;
  people(): readonly Person[];
}

export interface SlurmHostOptions {
  readonly name: string;
  readonly address: string;
  readonly gpus: readonly GpuDescription[];
}

export class SlurmHost {
  readonly name: string;
  /** sshd listens on it, port 22; this machine reaches it. */
  readonly address: string;
  readonly machine: Machine;
  readonly hostKey: KeyPair;
  readonly munged: Daemon;
  /** The simulated machine, for machine-directory.ts; null on a host without GPUs. */
  readonly simulated: string | null;
  readonly #ground: LabGround;
  readonly #bootId: string;
  #sshd: Sshd | null = null;

  constructor(ground: LabGround, { name, address, gpus }: SlurmHostOptions) {
    const { lab } = ground;
    this.name = name;
    this.address = address;
    this.#ground = ground;
    this.#bootId = lab.write(`${name}.boot-id`, `${randomUUID()}\n`, 0o644);
    this.machine = new Machine(ground.keeper, {
      name,
      bootId: this.#bootId,
      shared: ground.shared,
      ...(ground.system === null ? {} : { system: ground.system }),
    });
    this.hostKey = lab.key({ name: `${name}.host-key` });
    this.simulated = gpus.length === 0 ? null : lab.path(`${name}.machine`);
    if (this.simulated !== null) {
      createMachineDirectory(this.simulated, { hostName: name, gpus });
      // Everybody on the host may run nvidia-smi, which keeps its state in this directory.
      execFileSync("chmod", ["-R", "a+rwX", this.simulated]);
    }
    this.munged = this.daemon("munged", ["munged", "--foreground", "--num-threads=2"], {
      as: systemUser("munge"),
      ready: () => connects({ path: this.machine.file("/run/munge/munge.socket.2") }),
    });
  }

  /** A daemon of this host; its log stands in the lab's directory. */
  daemon(
    name: string,
    argv: readonly string[],
    options: Pick<ConstructorParameters<typeof Daemon>[1], "as" | "ready">,
  ): Daemon {
    return new Daemon(this.machine, {
      name,
      argv,
      logFile: this.#ground.lab.path(`${this.name}.${name}.log`),
      ...options,
    });
  }

  /** Power on, up to sshd and munge. */
  async start(): Promise<void> {
    await this.machine.start();
    this.#ground.network.join(this.name, this.machine.pid, this.address);
    this.#furnish();
    if (this.simulated !== null) await listCapabilities(this.machine, this.gpus().state.gpus.length);
    const [sshd] = await Promise.all([this.#startSshd(), this.munged.start()]);
    this.#sshd = sshd;
  }

  get sshd(): Sshd {
    if (this.#sshd === null) throw new Error(`${this.name} is not started`);
    return this.#sshd;
  }

  /** Power off: every process of the host ends at once, and it is gone from the network. */
  async die(): Promise<void> {
    await this.machine.die();
  }

  /** Off and on again: the driver forgets its instances, and the kernel has another boot id. Slurm's daemons stay off. */
  async reboot(): Promise<void> {
    await this.die();
    if (this.simulated !== null) changeMachine(this.simulated, (machine) => machine.reboot());
    writeFileSync(this.#bootId, `${randomUUID()}\n`);
    await this.start();
  }

  /** The GPUs as they are now. */
  gpus(): SimulatedMachine {
    if (this.simulated === null) throw new Error(`${this.name} has no GPUs`);
    return readMachine(this.simulated);
  }

  /** As if a console had installed this build here before. */
  async install(): Promise<void> {
    const distribution = join(import.meta.dirname, "..", "..", "dist");
    const artifacts = new HostArtifacts(distribution, packageJson.version);
    await installBuild(artifacts, this.machine.file("/opt/tessera/versions"), true);
  }

  /** Accounts that came while it was off are made at its start. */
  refreshAccounts(): void {
    if (this.machine.running) writeAccounts(this.machine, this.#ground.people());
  }

  #furnish(): void {
    const { mungeKey, hostsFile } = this.#ground;
    const { machine } = this;
    this.refreshAccounts();
    writeFileSync(machine.file("/etc/hostname"), `${this.name}\n`);
    writeFileSync(machine.file("/etc/hosts"), hostsFile);
    // No name server answers in the lab's network, and Slurm asks for names of addresses: 10 s each until it gives up.
    const databases = ["passwd", "group", "shadow", "gshadow", "hosts", "networks", "protocols", "services"];
    writeFileSync(machine.file("/etc/nsswitch.conf"), databases.map((name) => `${name}: files\n`).join(""));
    mkdirSync(machine.file("/var/spool/slurmd"), { recursive: true });
    const munge = systemUser("munge");
    for (const [directory, mode] of [
      ["/etc/munge", 0o700],
      ["/run/munge", 0o755],
    ] as const) {
      mkdirSync(machine.file(directory), { recursive: true, mode });
      chownSync(machine.file(directory), munge.uid, munge.gid);
    }
    rmSync(machine.file("/etc/munge/munge.key"), { force: true });
    writeFileSync(machine.file("/etc/munge/munge.key"), mungeKey, { mode: 0o400 });
    chownSync(machine.file("/etc/munge/munge.key"), munge.uid, munge.gid);
    mkdirSync(machine.file("/var/root/.ssh"), { recursive: true, mode: 0o700 });
    writeFileSync(machine.file("/var/root/.ssh/authorized_keys"), `${this.#ground.rootKey.publicKey}\n`);
    if (this.simulated === null) return;
    makeDevices(machine, this.gpus().state.gpus.length);
    const program = machine.file("/usr/local/bin/nvidia-smi");
    rmSync(program, { force: true });
    symlinkSync(join(this.simulated, "bin", "nvidia-smi"), program);
  }

  #startSshd(): Promise<Sshd> {
    return startSshd(this.#ground.lab, {
      addresses: [this.address],
      port: sshPort,
      hostKeys: [this.hostKey],
      home: null,
      lines: ["AuthorizedKeysFile .ssh/authorized_keys", "ExposeAuthInfo yes"],
      prefix: this.machine.enter,
    });
  }
}

/**
 * Files that stand for what the driver would make in /dev, and for the slots of gres.conf that hold nothing. slurmd
 * gives a job no GPU whose file is not a device; all of these are the null device, whatever hardware there is.
 */
function makeDevices(machine: Machine, count: number): void {
  const range = (length: number) => Array.from({ length }, (_, index) => index);
  const control = machine.file("/dev/nvidiactl");
  execFileSync("mknod", ["--mode=666", control, "c", "1", "3"]);
  mkdirSync(machine.file("/dev/nvidia-caps"));
  const others = [
    "nvidia-uvm",
    ...range(count).map((gpu) => `nvidia${gpu}`),
    ...range(3 + 135 * count).map((minor) => `nvidia-caps/nvidia-cap${minor}`),
    ...range(count).flatMap((gpu) => range(8).map((pad) => `nvidia-caps/pad${gpu}.${pad}`)),
  ];
  for (const name of others) linkSync(control, machine.file(`/dev/${name}`));
}

/** What the driver says of its files in /dev/nvidia-caps: fifteen GPU instances a GPU, eight compute instances in each. */
async function listCapabilities(machine: Machine, count: number): Promise<void> {
  await machine.expect(["mount", "-t", "tmpfs", "-o", "mode=555", "tmpfs", "/proc/driver"]);
  const lines = ["config 1", "monitor 2"];
  for (let gpu = 0; gpu < count; gpu += 1) {
    for (let instance = 0; instance < 15; instance += 1) {
      const at = `gpu${gpu}/gi${instance}`;
      const minor = 3 + gpu * 135 + instance * 9;
      lines.push(`${at}/access ${minor}`);
      for (let compute = 0; compute < 8; compute += 1) lines.push(`${at}/ci${compute}/access ${minor + 1 + compute}`);
    }
  }
  mkdirSync(machine.file("/proc/driver/nvidia-caps"));
  writeFileSync(machine.file("/proc/driver/nvidia-caps/mig-minors"), `${lines.join("\n")}\n`);
}

/** Whether something listens there. */
export function connects(
  where: { readonly path: string } | { readonly host: string; readonly port: number },
): Promise<boolean> {
  if ("path" in where && !existsSync(where.path)) return Promise.resolve(false);
  return new Promise((resolve) => {
    const socket = connect(where);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

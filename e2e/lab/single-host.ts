/**
 * One machine without Slurm: a real sshd, sudo with the installed rule, people with keys of their own, and the simulated
 * driver. Its accounts, /etc and /var are its own (machine.ts).
 */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HostArtifacts } from "../../electron/services/deploy/artifacts.ts";
import packageJson from "../../package.json" with { type: "json" };
import { createMachineDirectory } from "../../resources/demo-cluster/bin/machine-directory.ts";
import type { GpuDescription } from "../../resources/demo-cluster/driver/describe.ts";
import { makeHome, newPerson, type Person, writeAccounts } from "./accounts.ts";
import { installBuild } from "./fleet.ts";
import { type HostSession, openSession } from "./host-session.ts";
import { clearLeftovers, markOwned } from "./leftovers.ts";
import { Keeper, Machine, machinesMissing } from "./machine.ts";
import { type LabNetwork, openNetwork } from "./network.ts";
import { type KeyPair, type Lab, type Sshd, sshdMissing, startSshd } from "./sshd.ts";

/** Why no such host can be started here; null when it can. */
export function singleHostMissing(): string | null {
  return sshdMissing() ?? machinesMissing();
}

export interface SingleHostOptions {
  readonly name: string;
  readonly gpus: readonly GpuDescription[];
  /** Unix accounts, all in the group of the sudo rule. */
  readonly people: readonly string[];
  /** What `bundleProgram` made of the simulated nvidia-smi; its source, which starts more slowly, when absent. */
  readonly program?: string;
}

const group = "gpuops";

export class SingleHost {
  readonly name: string;
  readonly address: string;
  readonly machine: Machine;
  readonly hostKey: KeyPair;
  readonly people: readonly Person[];
  readonly #lab: Lab;
  readonly #sshd: Sshd;

  private constructor(
    lab: Lab,
    name: string,
    address: string,
    machine: Machine,
    people: readonly Person[],
    sshd: Sshd,
  ) {
    this.name = name;
    this.address = address;
    this.machine = machine;
    this.people = people;
    this.#lab = lab;
    this.#sshd = sshd;
    const [hostKey] = sshd.hostKeys;
    if (hostKey === undefined) throw new Error("sshd has a host key");
    this.hostKey = hostKey;
  }

  /** Up to the installed sudo rule; there is no ledger. Everything ends with the lab. */
  static async start(lab: Lab, options: SingleHostOptions): Promise<SingleHost> {
    const { name, gpus } = options;
    clearLeftovers();
    markOwned(lab.directory);
    const directory = lab.path(`${name}.machines`);
    mkdirSync(directory);
    const keeper = await Keeper.start(directory);
    lab.onDispose(() => keeper.end());
    const network = openNetwork(keeper.pid);
    lab.onDispose(() => network.close());
    mkdirSync(`${keeper.outside}/home`);
    const people = options.people.map((person, index) =>
      newPerson(person, index, lab.key({ name: `${name}.person-${person}` })),
    );
    for (const person of people) makeHome(`${keeper.outside}/home`, person);
    const machine = new Machine(keeper, {
      name,
      bootId: lab.write(`${name}.boot-id`, `${randomUUID()}\n`, 0o644),
      shared: { "/var/home": `${keeper.directory}/home` },
    });
    await machine.start();
    lab.onDispose(() => machine.die());
    const address = joined(network, machine);
    furnish(machine, people, address);
    const simulated = lab.path(`${name}.driver`);
    createMachineDirectory(
      simulated,
      { hostName: name, gpus },
      options.program === undefined ? {} : { program: options.program },
    );
    execFileSync("chmod", ["-R", "a+rwX", simulated]);
    symlinkSync(join(simulated, "bin", "nvidia-smi"), machine.file("/usr/local/bin/nvidia-smi"));
    await installTessera(machine, people);
    const sshd = await startSshd(lab, {
      addresses: [address],
      port: 22,
      home: null,
      lines: ["AuthorizedKeysFile .ssh/authorized_keys", "ExposeAuthInfo yes"],
      prefix: machine.enter,
    });
    return new SingleHost(lab, name, address, machine, people, sshd);
  }

  person(name: string): Person {
    const found = this.people.find((person) => person.name === name);
    if (found === undefined) throw new RangeError(`${this.name} has no person ${name}`);
    return found;
  }

  knownHosts(): string {
    return this.#sshd.knownHosts(this.address);
  }

  /** Lines of an ssh_config that log in as that person. */
  config(person: string): string {
    const { key } = this.person(person);
    const lines = [`HostName ${this.address}`, `User ${person}`, `IdentityFile ${key.path}`, "IdentitiesOnly yes"];
    return [`Host ${this.name}`, ...lines].join("\n  ");
  }

  /** `tessera-host serve` as a person, through ssh and sudo. */
  open(person: string): Promise<HostSession> {
    const knownHostsFile = this.#lab.write(`${this.name}.known_hosts`, this.knownHosts(), 0o644);
    return openSession({ address: this.address, user: person, key: this.person(person).key, knownHostsFile }, [
      ...["sudo", "-n", "/opt/tessera/current/tessera-host", "serve"],
    ]);
  }
}

function joined(network: LabNetwork, machine: Machine): string {
  const address = `${network.subnet}.1`;
  network.join(machine.name, machine.pid, address);
  return address;
}

function furnish(machine: Machine, people: readonly Person[], address: string): void {
  writeAccounts(machine, people);
  writeFileSync(machine.file("/etc/hostname"), `${machine.name}\n`);
  writeFileSync(machine.file("/etc/hosts"), `127.0.0.1 localhost\n${address} ${machine.name}\n`);
  // No name server answers in the lab's network.
  const databases = ["passwd", "group", "shadow", "gshadow", "hosts", "networks", "protocols", "services"];
  writeFileSync(machine.file("/etc/nsswitch.conf"), databases.map((name) => `${name}: files\n`).join(""));
}

async function installTessera(machine: Machine, people: readonly Person[]): Promise<void> {
  const distribution = join(import.meta.dirname, "..", "..", "dist");
  await installBuild(new HostArtifacts(distribution, packageJson.version), machine.file("/opt/tessera/versions"), true);
  await machine.expect(["groupadd", "--force", group]);
  for (const { name } of people) await machine.expect(["gpasswd", "-a", name, group]);
  const [build = ""] = readdirSync(machine.file("/opt/tessera/versions"));
  const directory = `/opt/tessera/versions/${build}`;
  await machine.expect([`${directory}/node`, `${directory}/tessera-host.cjs`, "install", "--sudo-group", group]);
}

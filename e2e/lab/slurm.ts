/**
 * A real Slurm cluster on this machine: MariaDB, slurmdbd and slurmctld on a control host, slurmd on GPU hosts, munge
 * and sshd on all of them. Each host is a machine of its own (machine.ts) in a private network (network.ts), with the
 * simulated driver under it. Nothing of this machine's /etc, /var or services is touched.
 */
import { randomBytes } from "node:crypto";
import { chownSync, mkdirSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { GpuDescription } from "../../resources/demo-cluster/driver/describe.ts";
import { makeHome, newPerson, type Person, systemUser } from "./accounts.ts";
import type { Daemon } from "./daemon.ts";
import { debianTree } from "./debian.ts";
import { countedGres, gresSlots } from "./gres.ts";
import { clearLeftovers, markOwned } from "./leftovers.ts";
import { Keeper, type RunOptions, type RunResult } from "./machine.ts";
import { openNetwork } from "./network.ts";
import {
  clusterName,
  controlName,
  databaseSocket,
  databaseSql,
  gresConf,
  mariadbConf,
  type NodeConfiguration,
  slurmConf,
  slurmdbdConf,
} from "./slurm-configuration.ts";
import { connects, type LabGround, SlurmHost } from "./slurm-host.ts";
import { slurmLabMissing } from "./slurm-missing.ts";
import { type KeyPair, Lab } from "./sshd.ts";

export interface SlurmLabOptions {
  readonly hosts?: readonly { readonly name: string; readonly gpus: readonly GpuDescription[] }[];
  /** Unix accounts on every host; more can come later. */
  readonly people?: readonly string[];
  /** More lines of slurm.conf; they replace those that set the same. */
  readonly slurmConf?: readonly string[];
  /** The first job_submit.lua; with it slurm.conf has JobSubmitPlugins=lua. */
  readonly jobSubmit?: string;
  /**
   * The Debian release whose Slurm, MariaDB and OpenSSH the hosts run (`trixie`); default what TESSERA_LAB_DEBIAN
   * says, else this machine's own.
   */
  readonly debian?: string;
  /** What each host says it has; default 16 cores and 128 GiB. */
  readonly cpus?: number;
  readonly memoryMiB?: number;
}

/** Whole cards and divided ones. */
const defaultHosts = [
  {
    name: "g1",
    gpus: [{}, { instances: ["2g.20gb", "1g.10gb", "1g.10gb", "3g.40gb"].map((profile) => ({ profile })) }],
  },
  { name: "g2", gpus: [{}, {}] },
] satisfies SlurmLabOptions["hosts"];

export interface JobState {
  /** `RUNNING`, `PENDING` ... */
  readonly state: string;
  /** `AssocGrpGRES`, `None` ... */
  readonly reason: string;
  /** Every `Name=value` of `scontrol --oneliner show job`. */
  readonly fields: Readonly<Record<string, string>>;
}

const pollMs = 100;

export class SlurmLab implements AsyncDisposable {
  readonly lab: Lab;
  /** slurmctld, slurmdbd and MariaDB run here; it has no GPU. */
  readonly control: SlurmHost;
  readonly hosts: readonly SlurmHost[];
  readonly mariadb: Daemon;
  readonly slurmdbd: Daemon;
  readonly slurmctld: Daemon;
  /** Of root on every host. */
  readonly rootKey: KeyPair;
  readonly #slurmds: ReadonlyMap<string, Daemon>;
  readonly #ground: LabGround;
  readonly #people: Person[];

  /** Throws with what is missing, or with a daemon's last words. */
  static async start(options: SlurmLabOptions = {}): Promise<SlurmLab> {
    const missing = slurmLabMissing();
    if (missing !== null) throw new Error(`the Slurm lab cannot start: ${missing}`);
    clearLeftovers();
    const lab = new Lab();
    markOwned(lab.directory);
    try {
      const slurm = new SlurmLab(lab, await layGround(lab, options), options);
      await slurm.#bringUp(options);
      return slurm;
    } catch (error) {
      await lab[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(lab: Lab, ground: LabGround & { readonly mutablePeople: Person[] }, options: SlurmLabOptions) {
    this.lab = lab;
    this.rootKey = ground.rootKey;
    this.#ground = ground;
    this.#people = ground.mutablePeople;
    this.control = new SlurmHost(ground, { name: controlName, address: addressOf(ground, 0), gpus: [] });
    this.hosts = (options.hosts ?? defaultHosts).map(
      ({ name, gpus }, index) => new SlurmHost(ground, { name, address: addressOf(ground, index + 1), gpus }),
    );
    const { control } = this;
    this.mariadb = control.daemon("mariadbd", ["mariadbd", "--defaults-file=/etc/mysql/lab.cnf"], {
      ready: () => connects({ path: control.machine.file(databaseSocket) }),
    });
    this.slurmdbd = control.daemon("slurmdbd", ["slurmdbd", "-D"], {
      ready: async () =>
        (await connects({ host: control.address, port: 6819 })) &&
        (await succeeds(this.run(["sacctmgr", "-nP", "show", "cluster"]))),
    });
    this.slurmctld = control.daemon("slurmctld", ["slurmctld", "-D"], {
      ready: () => succeeds(this.run(["timeout", "1", "scontrol", "ping"])),
    });
    this.#slurmds = new Map(
      this.hosts.map((host) => [
        host.name,
        host.daemon("slurmd", ["slurmd", "-D"], { ready: () => connects({ host: host.address, port: 6818 }) }),
      ]),
    );
  }

  /** This machine's link into the lab's network. */
  get uplink(): string {
    return this.#ground.network.uplink;
  }

  host(name: string): SlurmHost {
    const found = [this.control, ...this.hosts].find((host) => host.name === name);
    if (found === undefined) throw new RangeError(`the lab has no host ${name}`);
    return found;
  }

  slurmd(name: string): Daemon {
    const found = this.#slurmds.get(name);
    if (found === undefined) throw new RangeError(`the lab has no GPU host ${name}`);
    return found;
  }

  get people(): readonly Person[] {
    return this.#people;
  }

  person(name: string): Person {
    const found = this.#people.find((person) => person.name === name);
    if (found === undefined) throw new RangeError(`the lab has no person ${name}`);
    return found;
  }

  /** A Unix account on every host, with a key to log in with; Slurm knows nothing of it yet. */
  addPerson(name: string): Person {
    const person = newPerson(name, this.#people.length, this.lab.key({ name: `person-${name}` }));
    this.#people.push(person);
    makeHome(`${this.#ground.keeper.outside}/home`, person);
    for (const host of [this.control, ...this.hosts]) host.refreshAccounts();
    return person;
  }

  /** Runs a command on the control host, as root or as a person. Never throws for what the command says. */
  run(argv: readonly string[], options: RunOptions = {}): Promise<RunResult> {
    return this.control.machine.run(argv, options);
  }

  /** As `run`; throws with what it said when its exit status is not 0. */
  expect(argv: readonly string[], options: RunOptions = {}): Promise<string> {
    return this.control.machine.expect(argv, options);
  }

  /** `sacctmgr` as root, without questions. */
  sacctmgr(...argv: readonly string[]): Promise<string> {
    return this.expect(["sacctmgr", "--immediate", ...argv]);
  }

  /** Submits a batch job from the person's home and returns its id. `argv` is sbatch's; throws where Slurm refuses it. */
  async submit(person: Person, argv: readonly string[], script = "#!/bin/sh\nexec sleep 3600\n"): Promise<number> {
    const said = await this.expect(["sbatch", "--parsable", "--output=/dev/null", ...argv], {
      as: person,
      input: script,
    });
    return Number(said.trim().split(";")[0]);
  }

  /** Where a job stands; throws where Slurm does not know it. */
  async job(id: number): Promise<JobState> {
    const said = await this.expect(["scontrol", "--oneliner", "show", "job", String(id)]);
    const fields = Object.fromEntries(
      said
        .trim()
        .split(" ")
        .filter((word) => word.includes("="))
        .map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]),
    );
    const { JobState: state = "", Reason: reason = "" } = fields;
    return { state, reason, fields };
  }

  /** Waits until the job is as `wanted`. Throws with where it stands when that has not come in time. */
  async waitForJob(
    id: number,
    wanted: { readonly state?: string; readonly reason?: string },
    deadlineMs = 30_000,
  ): Promise<JobState> {
    const deadline = Date.now() + deadlineMs;
    for (;;) {
      const job = await this.job(id);
      if ((wanted.state ?? job.state) === job.state && (wanted.reason ?? job.reason) === job.reason) return job;
      if (Date.now() > deadline) {
        throw new Error(
          `job ${id} is ${job.state} (${job.reason}), not ${JSON.stringify(wanted)}, after ${deadlineMs} ms`,
        );
      }
      await sleep(pollMs);
    }
  }

  /** Cancels jobs and waits until nothing of them runs. */
  async cancel(...ids: readonly number[]): Promise<void> {
    await this.expect(["scancel", ...ids.map(String)]);
    for (const id of ids) await this.waitForJob(id, { state: "CANCELLED" });
  }

  /** Waits until these hosts, or all, can take jobs: idle or with some already. */
  async waitForHosts(names = this.hosts.map((host) => host.name), deadlineMs = 30_000): Promise<void> {
    const deadline = Date.now() + deadlineMs;
    for (;;) {
      const said = await this.expect(["sinfo", "--noheader", "--Node", "--nodes", names.join(","), "--format=%N %T"]);
      const states = said.trim().split("\n");
      if (states.length === names.length && states.every((line) => / (idle|mixed|allocated)$/.test(line))) return;
      if (Date.now() > deadline) throw new Error(`hosts are not ready: ${states.join(", ")}`);
      await sleep(pollMs);
    }
  }

  /** Writes slurm.conf and gres.conf for the GPUs as they are now; `scontrol reconfigure` or a restart makes it count. */
  writeConfiguration(options: SlurmLabOptions): void {
    const directory = `${this.#ground.keeper.outside}/slurm`;
    const nodes = this.hosts.map(
      (host): NodeConfiguration => ({
        name: host.name,
        address: host.address,
        cpus: options.cpus ?? 16,
        memoryMiB: options.memoryMiB ?? 131_072,
        slots: gresSlots(host.gpus()),
        counted: countedGres(host.gpus()),
      }),
    );
    const plugins = options.jobSubmit === undefined ? [] : ["JobSubmitPlugins=lua"];
    const lines = [...(options.slurmConf ?? []), ...plugins];
    writeFileSync(`${directory}/slurm.conf`, slurmConf({ controlAddress: this.control.address, nodes, lines }));
    writeFileSync(`${directory}/gres.conf`, gresConf(nodes));
    const slurm = systemUser("slurm");
    writeFileSync(`${directory}/slurmdbd.conf`, slurmdbdConf(), { mode: 0o600 });
    chownSync(`${directory}/slurmdbd.conf`, slurm.uid, slurm.gid);
  }

  /** Ends every process and removes the directory; nothing of the lab is left. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.lab[Symbol.asyncDispose]();
  }

  async #bringUp(options: SlurmLabOptions): Promise<void> {
    const all = [this.control, ...this.hosts];
    for (const host of all) this.lab.onDispose(() => host.die());
    for (const name of options.people ?? []) this.addPerson(name);
    this.writeConfiguration(options);
    if (options.jobSubmit !== undefined) {
      writeFileSync(`${this.#ground.keeper.outside}/slurm/job_submit.lua`, options.jobSubmit);
    }
    // The database takes longest: the hosts start while it is made.
    await this.control.start();
    const hosts = Promise.all(this.hosts.map((host) => host.start()));
    // Awaited below; without this a host's failure would be nobody's when the database fails first.
    hosts.catch(() => {});
    await this.#startDatabase();
    await this.slurmdbd.start();
    await this.sacctmgr("add", "cluster", clusterName);
    await hosts;
    await this.slurmctld.start();
    await Promise.all([...this.#slurmds.values()].map((slurmd) => slurmd.start()));
    await this.waitForHosts();
  }

  async #startDatabase(): Promise<void> {
    const { machine } = this.control;
    for (const directory of ["/run/mysqld", "/etc/mysql"]) mkdirSync(machine.file(directory), { recursive: true });
    writeFileSync(machine.file("/etc/mysql/lab.cnf"), mariadbConf());
    writeFileSync(machine.file("/etc/mysql/lab.sql"), databaseSql());
    const quick = ["--auth-root-authentication-method=socket", "--skip-test-db", "--skip-name-resolve"];
    await machine.expect(["mariadb-install-db", "--defaults-file=/etc/mysql/lab.cnf", ...quick]);
    const slurm = systemUser("slurm");
    mkdirSync(machine.file("/var/spool/slurmctld"), { recursive: true });
    chownSync(machine.file("/var/spool/slurmctld"), slurm.uid, slurm.gid);
    await this.mariadb.start();
  }
}

async function layGround(
  lab: Lab,
  options: SlurmLabOptions,
): Promise<LabGround & { readonly mutablePeople: Person[] }> {
  const debian = options.debian ?? process.env.TESSERA_LAB_DEBIAN ?? "";
  const directory = lab.path("machines");
  mkdirSync(directory);
  const keeper = await Keeper.start(directory);
  lab.onDispose(() => keeper.end());
  const network = openNetwork(keeper.pid);
  lab.onDispose(() => network.close());
  for (const name of ["home", "slurm"]) mkdirSync(`${keeper.outside}/${name}`);
  const names = [controlName, ...(options.hosts ?? defaultHosts).map((host) => host.name)];
  const people: Person[] = [];
  return {
    lab,
    keeper,
    network,
    rootKey: lab.key({ name: "root-key" }),
    mungeKey: randomBytes(128),
    hostsFile: [
      "127.0.0.1 localhost",
      ...names.map((name, index) => `${network.subnet}.${index + 1} ${name}`),
      "",
    ].join("\n"),
    system: debian === "" ? null : debianTree(debian),
    shared: { "/var/home": `${keeper.directory}/home`, "/etc/slurm": `${keeper.directory}/slurm` },
    people: () => people,
    mutablePeople: people,
  };
}

function addressOf(ground: LabGround, index: number): string {
  return `${ground.network.subnet}.${index + 1}`;
}

async function succeeds(run: Promise<RunResult>): Promise<boolean> {
  return (await run).status === 0;
}

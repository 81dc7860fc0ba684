/**
 * One machine of the lab on this one: its own host name, network, processes, /dev, /run and copies of /etc, /opt,
 * /usr/local and /var, made of namespaces and overlays. What runs in it as root installs and breaks nothing here.
 *
 * Its first process holds everything: when that is killed, the kernel ends all others and takes the mounts and the
 * network away. It is killed when the test process ends in whatever way (PR_SET_PDEATHSIG), so nothing stays behind.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Why no such machine can be made here; null when it can. */
export function machinesMissing(): string | null {
  if (process.platform !== "linux") return "the lab's machines need Linux";
  if (process.getuid?.() !== 0) return "the lab's machines need root: they are made of namespaces and mounts";
  for (const program of ["unshare", "nsenter", "setpriv", "mount", "ip"]) {
    if (spawnSync("sh", ["-c", `command -v ${program}`]).status !== 0) {
      return `${program} is not installed (apt-get install util-linux mount iproute2)`;
    }
  }
  for (const { right, argv } of trials) {
    const tried = spawnSync("unshare", argv, { encoding: "utf8" });
    if (tried.status !== 0) return `${right} is not allowed here: ${tried.stderr.trim().split("\n")[0] ?? ""}`;
  }
  return null;
}

const trials = [
  {
    right: "a namespace of its own for mounts, processes, host name and network (CAP_SYS_ADMIN)",
    argv: ["--mount", "--uts", "--ipc", "--net", "--pid", "--fork", "true"],
  },
  {
    right: "an overlay over a tmpfs (CAP_SYS_ADMIN, the kernel's overlay module)",
    argv: [
      ...["--mount", "sh", "-c"],
      "mount -t tmpfs tmpfs /mnt && mkdir /mnt/u /mnt/w && mount -t overlay -o lowerdir=/etc,upperdir=/mnt/u,workdir=/mnt/w overlay /etc",
    ],
  },
  {
    right: "a bridge and a veth pair (CAP_NET_ADMIN, the kernel's bridge and veth modules)",
    argv: ["--net", "sh", "-c", "ip link add name b type bridge && ip link add name v type veth peer name w"],
  },
] as const;

/** Holds what the lab's machines share: a tmpfs for their files, and the network namespace of the switch. */
export class Keeper {
  readonly #process: NamespaceProcess;
  /** The tmpfs, by a path that works inside the keeper and its machines. */
  readonly directory: string;

  private constructor(holder: NamespaceProcess, directory: string) {
    this.#process = holder;
    this.directory = directory;
  }

  /** `directory` exists and is empty. */
  static async start(directory: string): Promise<Keeper> {
    const argv = ["unshare", "--mount", "--net", "--pid", ...forked, "sh", "-c", keeperScript, "keeper"];
    return new Keeper(await startHolder([...argv, directory], "the lab's keeper"), directory);
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** The tmpfs as this process sees it. */
  get outside(): string {
    return `/proc/${this.pid}/root${this.directory}`;
  }

  async end(): Promise<void> {
    await this.#process.kill();
  }
}

export interface MachineOptions {
  readonly name: string;
  /** The file that its boot id is read from. */
  readonly bootId: string;
  /** The directory with another Debian release's programs (debian.ts); this machine's own when absent. */
  readonly system?: string;
  /** Directories that machines share, as over NFS: of the keeper, by where they are mounted. */
  readonly shared: Readonly<Record<string, string>>;
}

/** How a command is run on a machine. */
export interface RunOptions {
  /** Who; root when absent. */
  readonly as?: MachineUser;
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** SIGKILL after so long; default 60 s. */
  readonly timeoutMs?: number;
}

export interface MachineUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

export interface RunResult {
  /** Null where a signal ended it, the time limit's for one. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export const machinePath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const rootUser: MachineUser = { name: "root", uid: 0, gid: 0, home: "/var/root" };

export class Machine {
  readonly name: string;
  readonly #keeper: Keeper;
  readonly #options: MachineOptions;
  #process: NamespaceProcess | null = null;

  constructor(keeper: Keeper, options: MachineOptions) {
    this.name = options.name;
    this.#keeper = keeper;
    this.#options = options;
  }

  /** Power on. What stands in /etc, /opt, /usr/local and /var is what stood there before; /run and /dev are new. */
  async start(): Promise<void> {
    const { name, bootId, system = "/" } = this.#options;
    const shared = Object.entries(this.#options.shared).flatMap(([at, directory]) => [directory, at]);
    const enter = ["nsenter", "--target", String(this.#keeper.pid), "--mount"];
    const apart = ["unshare", "--mount", "--uts", "--ipc", "--net", "--pid", ...forked, "--mount-proc"];
    const script = ["sh", bootScript, name, join(this.#keeper.directory, name), bootId, system, ...shared];
    this.#process = await startHolder([...enter, ...apart, ...script], `machine ${name}`);
  }

  /** Its first process, as this machine numbers it. */
  get pid(): number {
    if (this.#process === null) throw new Error(`${this.name} is off`);
    return this.#process.pid;
  }

  get running(): boolean {
    return this.#process?.running ?? false;
  }

  /** A file of the running machine, for this process to read and write. Names of users are this machine's own. */
  file(path: string): string {
    return `/proc/${this.pid}/root${path}`;
  }

  /** What stands in front of a command line to run it there. */
  get enter(): readonly string[] {
    return ["nsenter", "--target", String(this.pid), "--mount", "--uts", "--ipc", "--net", "--pid"];
  }

  command(argv: readonly string[], options: Pick<RunOptions, "as" | "environment"> = {}): readonly string[] {
    const user = options.as ?? rootUser;
    const own = { HOME: user.home, USER: user.name, LOGNAME: user.name, SHELL: "/bin/sh", PATH: machinePath };
    const environment = Object.entries({ ...own, LANG: "C.UTF-8", ...options.environment });
    return [
      ...this.enter,
      ...["env", "-i", `--chdir=${user.home}`, ...environment.map(([name, value]) => `${name}=${value}`)],
      ...(user.uid === 0 ? [] : ["setpriv", `--reuid=${user.uid}`, `--regid=${user.gid}`, "--init-groups"]),
      ...argv,
    ];
  }

  /** Runs a command to its end. Never throws for what the command says. */
  run(argv: readonly string[], options: RunOptions = {}): Promise<RunResult> {
    const [program = "false", ...words] = this.command(argv, options);
    return new Promise((resolve, reject) => {
      const child = spawn(program, words, {
        stdio: ["pipe", "pipe", "pipe"],
        timeout: options.timeoutMs ?? 60_000,
        killSignal: "SIGKILL",
      });
      const stdout: Buffer[] = [];
      const stderr: Buffer[] = [];
      child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
      child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
      child.stdin.on("error", () => {}); // It need not read what it was given.
      child.once("error", reject);
      child.once("close", (status) =>
        resolve({ status, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() }),
      );
      child.stdin.end(options.input ?? "");
    });
  }

  /** As `run`; throws with everything the command said when its exit status is not 0. */
  async expect(argv: readonly string[], options: RunOptions = {}): Promise<string> {
    const { status, stdout, stderr } = await this.run(argv, options);
    if (status === 0) return stdout;
    throw new Error(`${this.name}: ${argv.join(" ")} ended with ${status}: ${(stderr || stdout).trim()}`);
  }

  /** Power off: every process ends at once. */
  async die(): Promise<void> {
    await this.#process?.kill();
    this.#process = null;
  }
}

const forked = ["--fork", "--kill-child=KILL"] as const;
const bootScript = join(import.meta.dirname, "machine.sh");
const keeperScript = 'mount -t tmpfs -o mode=755 tmpfs "$1" && ip link set lo up && echo ready && exec sleep infinity';

interface NamespaceProcess {
  /** Of the first process of the namespace. */
  readonly pid: number;
  readonly running: boolean;
  kill(): Promise<void>;
}

async function startHolder(argv: readonly string[], what: string): Promise<NamespaceProcess> {
  const child = spawn("setpriv", ["--pdeathsig", "KILL", ...argv], { stdio: ["ignore", "pipe", "pipe"] });
  await ready(child, what);
  const outer = child.pid ?? -1;
  const [pid] = childrenOf(outer);
  if (pid === undefined) throw new Error(`${what} has no first process`);
  const running = () => child.exitCode === null && child.signalCode === null;
  return {
    pid,
    get running() {
      return running();
    },
    kill: async () => {
      if (!running()) return;
      const ended = new Promise((resolve) => child.once("exit", resolve));
      process.kill(pid, "SIGKILL");
      await ended;
    },
  };
}

function ready(child: ChildProcess, what: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = "";
    const hear = (chunk: Buffer) => {
      said += chunk.toString();
      if (said.endsWith("ready\n")) resolve();
    };
    child.stdout?.on("data", hear);
    child.stderr?.on("data", hear);
    child.once("error", reject);
    child.once("exit", (status) => reject(new Error(`${what} did not start (${status}): ${said.trim()}`)));
  });
}

/** Process ids of a process's children, from /proc. */
export function childrenOf(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8").trim().split(" ").filter(Boolean).map(Number);
}

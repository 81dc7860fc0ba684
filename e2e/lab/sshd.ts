/**
 * Real OpenSSH servers on loopback with throw-away keys and configuration, for tests and benchmarks. Needs sshd and
 * ssh-keygen, and root: sshd hands sessions to users. `sshdMissing()` says what is lacking.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const sshdPath = "/usr/sbin/sshd";

/** Why no sshd can be started here; null when it can. */
export function sshdMissing(): string | null {
  if (process.platform !== "linux") return "sshd tests run on Linux only";
  if (!existsSync(sshdPath)) return `${sshdPath} is not installed (apt-get install openssh-server)`;
  if (process.getuid?.() !== 0) return "sshd needs root to hand sessions to users";
  return null;
}

export interface KeyPair {
  /** Path of the private key; the public one is beside it. */
  readonly path: string;
  readonly privateKey: string;
  /** `ssh-ed25519 AAAA...`, without a comment. */
  readonly publicKey: string;
}

/** A folder of its own, removed with everything started in it. */
export class Lab implements AsyncDisposable {
  readonly directory = openDirectory();
  readonly #cleanups: (() => void | Promise<void>)[] = [];
  #count = 0;

  path(name: string): string {
    return join(this.directory, name);
  }

  write(name: string, content: string, mode = 0o600): string {
    const path = this.path(name);
    writeFileSync(path, content, { mode });
    return path;
  }

  key(options: { type?: "ed25519" | "rsa" | "ecdsa"; passphrase?: string; name?: string } = {}): KeyPair {
    const type = options.type ?? "ed25519";
    const path = this.path(options.name ?? `key-${++this.#count}`);
    const argv = ["-q", "-t", type, "-N", options.passphrase ?? "", "-C", "lab", "-f", path];
    execFileSync("ssh-keygen", type === "rsa" ? [...argv, "-b", "2048"] : argv);
    const words = readFileSync(`${path}.pub`, "utf8").trim().split(" ");
    return { path, privateKey: readFileSync(path, "utf8"), publicKey: words.slice(0, 2).join(" ") };
  }

  onDispose(cleanup: () => void | Promise<void>): void {
    this.#cleanups.push(cleanup);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const cleanup of this.#cleanups.splice(0).reverse()) await cleanup();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Readable by every user: sshd reads authorized keys as the user who logs in. */
function openDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "tessera-lab-"));
  chmodSync(directory, 0o755);
  return directory;
}

export interface SshdOptions {
  /** Addresses to listen on; default 127.0.0.1. */
  readonly addresses?: readonly string[];
  readonly port?: number;
  readonly hostKeys?: readonly KeyPair[];
  /** Public keys that may log in as root. */
  readonly authorized?: readonly string[];
  /** HOME of the sessions; default an empty directory, so that no start file of this machine's user runs. Null: the account's own. */
  readonly home?: string | null;
  /** More of the sessions' environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** More lines of sshd_config; they come first, so they win. */
  readonly lines?: readonly string[];
  /** What sshd's command line stands behind, such as `unshare --mount`; must end in an exec. */
  readonly prefix?: readonly string[];
}

export interface Sshd {
  readonly address: string;
  readonly port: number;
  readonly hostKeys: readonly KeyPair[];
  readonly process: ChildProcess;
  /** Lines for a known_hosts file. */
  knownHosts(name?: string): string;
  log(): string;
  /** Kills the server and every session of it. */
  kill(signal?: NodeJS.Signals): void;
  /** Process ids of the sessions' sshd. */
  sessions(): number[];
}

export async function startSshd(lab: Lab, options: SshdOptions = {}): Promise<Sshd> {
  mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  const addresses = options.addresses ?? ["127.0.0.1"];
  const port = options.port ?? (await freePort(addresses[0] ?? "127.0.0.1"));
  const hostKeys = options.hostKeys ?? [lab.key()];
  const label = `sshd-${port}-${(addresses[0] ?? "").replaceAll(":", "_")}`;
  const authorized = lab.write(`${label}.authorized`, `${(options.authorized ?? []).join("\n")}\n`, 0o644);
  const home = options.home === undefined ? lab.path("home") : options.home;
  const environment = Object.entries({ ...(home === null ? {} : { HOME: home }), ...options.environment });
  if (home !== null) mkdirSync(home, { recursive: true, mode: 0o777 });
  const config = lab.write(
    `${label}.conf`,
    [
      ...(options.lines ?? []),
      `Port ${port}`,
      ...addresses.map((address) => `ListenAddress ${address}`),
      ...hostKeys.map((key) => `HostKey ${key.path}`),
      `AuthorizedKeysFile ${authorized}`,
      `PidFile ${lab.path(`${label}.pid`)}`,
      "PermitRootLogin yes",
      ...(environment.length === 0
        ? []
        : [`SetEnv ${environment.map(([name, value]) => `${name}=${value}`).join(" ")}`]),
      "StrictModes no",
      "PasswordAuthentication no",
      "KbdInteractiveAuthentication no",
      "UsePAM no",
      "PrintMotd no",
      "PrintLastLog no",
      "UseDNS no",
      "LogLevel INFO",
      "",
    ].join("\n"),
  );
  const [program = sshdPath, ...argv] = [...(options.prefix ?? []), sshdPath, "-D", "-e", "-f", config];
  const child = spawn(program, argv, { stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    log = (log + chunk.toString("utf8")).slice(-200_000);
  });
  const sessions = () => descendants(child.pid ?? -1);
  const sshd: Sshd = {
    address: addresses[0] ?? "127.0.0.1",
    port,
    hostKeys,
    process: child,
    knownHosts: (name) => {
      const host = name ?? (port === 22 ? addresses.join(",") : addresses.map((a) => `[${a}]:${port}`).join(","));
      return hostKeys.map((key) => `${host} ${key.publicKey}\n`).join("");
    },
    log: () => log,
    sessions,
    kill: (signal = "SIGKILL") => {
      for (const pid of [...sessions(), child.pid ?? -1]) {
        try {
          if (pid > 0) process.kill(pid, signal);
        } catch {
          // It ended by itself.
        }
      }
    },
  };
  lab.onDispose(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    sshd.kill();
    await ended;
  });
  await Promise.all(addresses.map((address) => listening(address, port, child, () => log)));
  return sshd;
}

async function freePort(address: string): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const found = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof found !== "object" || found === null) throw new Error("no free port");
  return found.port;
}

async function listening(address: string, port: number, child: ChildProcess, log: () => string): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    if (child.exitCode !== null) throw new Error(`sshd ended: ${log()}`);
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, address);
      socket.once("connect", () => {
        socket.destroy();
        resolve(true);
      });
      socket.once("error", () => resolve(false));
    });
    if (open) return;
    await sleep(25);
  }
  throw new Error(`sshd does not listen on ${address} port ${port}: ${log()}`);
}

/** All processes below one, from /proc. */
function descendants(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const line of execFileSync("ps", ["-e", "-o", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n")) {
    const [child = -1, parent = -1] = line.trim().split(/\s+/).map(Number);
    children.set(parent, [...(children.get(parent) ?? []), child]);
  }
  const found: number[] = [];
  const visit = (parent: number) => {
    for (const child of children.get(parent) ?? []) {
      found.push(child);
      visit(child);
    }
  };
  visit(pid);
  return found;
}

/** A user that can log in with a password, until the lab is gone. */
export function addUser(lab: Lab, name: string, password: string): { readonly home: string } {
  const home = lab.path(`home-${name}`);
  execFileSync("useradd", ["--create-home", "--home-dir", home, "--shell", "/bin/sh", name]);
  lab.onDispose(() => {
    execFileSync("userdel", ["--force", name], { stdio: "ignore" });
  });
  execFileSync("chpasswd", { input: `${name}:${password}\n` });
  return { home };
}

/** An ssh-agent that holds these keys. */
export function startAgent(lab: Lab, keys: readonly KeyPair[]): string {
  const socket = lab.path(`agent-${Math.random().toString(36).slice(2)}`);
  const child = spawn("ssh-agent", ["-D", "-a", socket], { stdio: "ignore" });
  lab.onDispose(() => {
    child.kill();
  });
  for (let attempt = 0; attempt < 100 && !existsSync(socket); attempt++) execFileSync("sleep", ["0.05"]);
  for (const key of keys) {
    execFileSync("ssh-add", ["-q", key.path], { env: { ...process.env, SSH_AUTH_SOCK: socket }, stdio: "ignore" });
  }
  return socket;
}

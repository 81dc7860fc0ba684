/**
 * One simulated host behind a real SSH server on the loopback address. It has no shell: it knows the few commands by
 * which the console looks for tessera-host and becomes its server, and `serve` is the real host module, running in
 * this process over the simulated machine.
 */
import { createServer, type Server as NetServer, type Socket } from "node:net";
import ssh2, { type AuthContext, type Connection, type ServerChannel } from "ssh2";
import type { Caller } from "../../host-module/src/system.ts";
import { FaultPlan } from "../bin/faults.ts";
import { MemoryFiles } from "../system/memory-files.ts";
import { SimulatedSystem, type SimulatedSystemOptions } from "../system/simulated-system.ts";
import type { DescribedHost } from "./describe.ts";
import { newKeyPair } from "./keys.ts";

/** As the console's script prints it before standard output belongs to the protocol. */
const serveMarker = /\becho (tessera-host:serve)\b/;
const serveCommand = /\btessera-host(\.cjs)?['"]? serve\b/;
const versionCommand = /\btessera-host(\.cjs)?['"]? --version\b/;

export interface HostServerOptions {
  readonly user: string;
  /** `ssh-ed25519 AAAA...`: the only key that may log in. */
  readonly authorizedKey: string;
  readonly caller: Caller;
  /** Of the host that keeps the ledger. */
  readonly governed?: Pick<SimulatedSystemOptions, "ledgerPath" | "engine">;
  readonly delayMs: (argv: readonly string[], durationMs: number) => number;
}

export class HostServer {
  readonly described: DescribedHost;
  readonly files: MemoryFiles;
  readonly faults = new FaultPlan();
  /** `ssh-ed25519 AAAA...` */
  readonly hostKey: string;
  readonly #options: HostServerOptions;
  readonly #listener: NetServer;
  readonly #sockets = new Set<Socket>();
  readonly #hangUps = new Set<AbortController>();
  readonly #modules = new Set<SimulatedSystem>();
  #port = 0;
  #refusing = false;
  #hanging = false;
  #changing = 0;
  #changedAtMs = Number.NEGATIVE_INFINITY;

  constructor(described: DescribedHost, options: HostServerOptions) {
    this.described = described;
    this.#options = options;
    this.files = new MemoryFiles(described.machine);
    const key = newKeyPair();
    this.hostKey = key.publicKey;
    const server = new ssh2.Server({ hostKeys: [key.privateKey] }, (client) => this.#welcome(client));
    this.#listener = createServer({ noDelay: true }, (socket) => {
      if (this.#refusing) {
        socket.destroy();
        return;
      }
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
      if (this.#hanging) {
        socket.on("error", () => undefined);
        return;
      }
      server.injectSocket(socket);
    });
  }

  get port(): number {
    return this.#port;
  }

  /** Whether something was changed here within this time, or is being changed now. */
  changedWithin(milliseconds: number): boolean {
    return this.#changing > 0 || performance.now() - this.#changedAtMs < milliseconds;
  }

  /** Whether a console is connected. */
  get connected(): boolean {
    return this.#hangUps.size > 0;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#listener.once("error", reject);
      this.#listener.listen(0, "127.0.0.1", () => resolve());
    });
    const address = this.#listener.address();
    this.#port = typeof address === "object" && address !== null ? address.port : 0;
    // The cluster lives as long as whoever started it; it keeps no process alive by itself.
    this.#listener.unref();
  }

  async close(): Promise<void> {
    this.cut();
    if (!this.#listener.listening) return;
    await new Promise<void>((resolve) => this.#listener.close(() => resolve()));
  }

  /** Ends every connection without a goodbye, as a pulled cable or a killed sshd does. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
    for (const hangUp of this.#hangUps) hangUp.abort();
  }

  /** SIGKILL for every tessera-host that runs here: locks fall, journals stay as they are, commands that run end unheard. */
  kill(): void {
    for (const module of this.#modules) module.die();
    this.#modules.clear();
    this.files.releaseLocks();
    this.cut();
  }

  /** While set, every new connection is closed at once. */
  set refusing(refusing: boolean) {
    this.#refusing = refusing;
    if (refusing) this.cut();
  }

  /** While set, the host takes connections and says nothing any more: a dead peer that nobody has noticed. */
  set hanging(hanging: boolean) {
    this.#hanging = hanging;
    for (const socket of this.#sockets) {
      if (hanging) {
        socket.pause();
        socket.cork();
      } else {
        socket.uncork();
        socket.resume();
      }
    }
  }

  system(): SimulatedSystem {
    return new SimulatedSystem(this.described.machine, {
      files: this.files,
      caller: this.#options.caller,
      ...this.#options.governed,
      faults: this.faults,
      delayMs: this.#options.delayMs,
      onChange: (phase) => {
        this.#changing += phase === "begun" ? 1 : -1;
        this.#changedAtMs = performance.now();
      },
      onKill: () => this.kill(),
    });
  }

  #welcome(client: Connection): void {
    client.on("error", () => undefined);
    client.on("authentication", (context) => this.#authenticate(context));
    client.on("ready", () => {
      client.on("session", (accept) => {
        accept().on("exec", (acceptExec, _reject, { command }) => this.#run(client, acceptExec(), command));
      });
    });
  }

  #authenticate(context: AuthContext): void {
    if (context.method !== "publickey" || context.username !== this.#options.user) {
      context.reject(["publickey"]);
      return;
    }
    const allowed = ssh2.utils.parseKey(this.#options.authorizedKey);
    const key = Array.isArray(allowed) ? allowed[0] : allowed;
    if (key === undefined || key instanceof Error) {
      context.reject();
      return;
    }
    const same = key.getPublicSSH().equals(context.key.data);
    // Without a signature the client only asks whether the key would do.
    const signed =
      context.signature === undefined || context.blob === undefined
        ? true
        : key.verify(context.blob, context.signature, context.hashAlgo) === true;
    if (same && signed) context.accept();
    else context.reject(["publickey"]);
  }

  #run(client: Connection, channel: ServerChannel, command: string): void {
    channel.on("error", () => undefined);
    const marker = serveMarker.exec(command)?.[1];
    if (marker !== undefined || serveCommand.test(command)) {
      if (marker !== undefined) channel.write(`${marker}\n`);
      void this.#serve(client, channel);
      return;
    }
    void answer(command, this.described.machine.state.hostName).then(({ stdout, exitStatus }) => {
      if (exitStatus === 127) channel.stderr.write(`sh: 1: ${command.slice(0, 80)}: not found\n`);
      channel.write(stdout);
      channel.exit(exitStatus);
      channel.end();
    });
  }

  async #serve(client: Connection, channel: ServerChannel): Promise<void> {
    const hangUp = new AbortController();
    this.#hangUps.add(hangUp);
    client.once("close", () => {
      this.#hangUps.delete(hangUp);
      hangUp.abort();
    });
    const system = this.system();
    this.#modules.add(system);
    try {
      const { serveHost } = await import("../../host-module/src/serve/index.ts");
      await serveHost(system, channel, channel, hangUp.signal);
      if (channel.writable) {
        channel.exit(0);
        channel.end();
      }
    } catch (error) {
      if (!channel.writable) return;
      channel.stderr.write(`tessera-host: ${error instanceof Error ? error.message : String(error)}\n`);
      channel.exit(1);
      channel.end();
    } finally {
      this.#hangUps.delete(hangUp);
      this.#modules.delete(system);
    }
  }
}

/** The commands that are no `serve`. */
async function answer(command: string, hostName: string): Promise<{ stdout: string; exitStatus: number }> {
  if (versionCommand.test(command)) {
    const { version } = await import("../../host-module/src/version.ts");
    return { stdout: `${version}\n`, exitStatus: 0 };
  }
  switch (command.trim()) {
    case "true":
    case ":":
      return { stdout: "", exitStatus: 0 };
    case "uname -m":
      return { stdout: "x86_64\n", exitStatus: 0 };
    case "uname -s":
      return { stdout: "Linux\n", exitStatus: 0 };
    case "uname -sm":
    case "uname -s -m":
      return { stdout: "Linux x86_64\n", exitStatus: 0 };
    case "hostname":
      return { stdout: `${hostName}\n`, exitStatus: 0 };
    case "id -u":
      return { stdout: "1000\n", exitStatus: 0 };
    default:
      return { stdout: "", exitStatus: 127 };
  }
}

/** Connections with ssh2: settings, way (direct, jump hosts, ProxyCommand), handshake, and what hosts share. */
import { connect as connectSocket } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { SshAlias } from "../../../shared/api/contract.ts";
import { AppError } from "../../../shared/errors.ts";
import { Answers } from "./authentication.ts";
import { parseDestination } from "./config/destination.ts";
import { SshConfigResolver } from "./config/resolve.ts";
import { type ConnectionLimits, Ssh2Connection } from "./connection.ts";
import { connectError, type Peer, sshError } from "./errors.ts";
import { handshake, hungUp, offeredHostKeys } from "./handshake.ts";
import { HostKeys } from "./host-keys.ts";
import { IdentityStore } from "./identities.ts";
import {
  type ConnectOptions,
  memorySecretStore,
  type Prompter,
  type SecretStore,
  type SshConnection,
  type SshTarget,
  type SshTransport,
  silentPrompter,
} from "./interfaces.ts";
import { KnownHostsFiles } from "./known-hosts/file.ts";
import { startProxyCommand } from "./proxy-command.ts";
import { Semaphore } from "./semaphore.ts";
import { expandTokens, type SshSettings, settingsFromDirect } from "./settings.ts";

/** sshd drops connections at random once ten wait for their login (MaxStartups 10:30:100). */
const handshakesThroughBastion = 8;
const handshakesAtOnce = 32;
const maxJumps = 8;
const hangUpRetries = 3;

export interface Ssh2TransportOptions {
  readonly prompter?: Prompter;
  readonly secrets?: SecretStore;
  readonly resolver?: SshConfigResolver;
  readonly limits?: ConnectionLimits & { readonly handshakesAtOnce?: number };
}

interface Bastion {
  readonly key: string;
  readonly connection: Promise<Ssh2Connection>;
  readonly handshakes: Semaphore;
  users: number;
}

interface Way {
  readonly socket: Duplex;
  readonly proxyWords: () => string;
  /** Gives up what the way went through. */
  readonly leave: () => void;
}

interface Attempt {
  readonly options: ConnectOptions;
  readonly signal: AbortSignal;
  readonly jumps: readonly string[];
}

export class Ssh2Transport implements SshTransport {
  readonly #resolver: SshConfigResolver;
  readonly #prompter: Prompter;
  readonly #hostKeys = new HostKeys(new KnownHostsFiles());
  readonly #identities = new IdentityStore();
  readonly #answers: Answers;
  readonly #handshakes: Semaphore;
  readonly #limits: ConnectionLimits;
  readonly #bastions = new Map<string, Bastion>();
  readonly #closing = new AbortController();

  constructor(options: Ssh2TransportOptions = {}) {
    this.#resolver = options.resolver ?? new SshConfigResolver();
    this.#prompter = options.prompter ?? silentPrompter;
    this.#answers = new Answers(options.secrets ?? memorySecretStore());
    this.#handshakes = new Semaphore(options.limits?.handshakesAtOnce ?? handshakesAtOnce);
    this.#limits = options.limits ?? {};
  }

  async connect(target: SshTarget, options: ConnectOptions = {}): Promise<SshConnection> {
    options.onPhase?.("resolving");
    const signal = AbortSignal.any([this.#closing.signal, ...(options.signal === undefined ? [] : [options.signal])]);
    const settings =
      target.kind === "direct" ? settingsFromDirect(target.settings) : await this.#resolver.resolve(target.name);
    return await this.#connect(settings, { options, signal, jumps: [] });
  }

  /** The hosts that ssh config names. */
  aliases(): Promise<readonly SshAlias[]> {
    return this.#resolver.aliases();
  }

  close(): void {
    this.#closing.abort(new AppError({ code: "cancelled", message: "The console is closing.", remedy: "" }));
    for (const { connection } of this.#bastions.values()) connection.then((c) => c.close()).catch(() => {});
    this.#bastions.clear();
    this.#resolver.clear();
    this.#identities.clear();
    this.#answers.clear();
  }

  /** A host that hangs up before its greeting limits how many may log in at once: it is asked again a little later. */
  async #connect(settings: SshSettings, attempt: Attempt): Promise<Ssh2Connection> {
    for (let again = 0; ; again++) {
      try {
        return await this.#connectOnce(settings, attempt);
      } catch (error) {
        if (again >= hangUpRetries || !(error instanceof AppError) || error.cause !== hungUp) throw error;
        await sleep((again + 1) * (150 + Math.random() * 350), undefined, { signal: attempt.signal }).catch(() => {
          throw error;
        });
      }
    }
  }

  async #connectOnce(written: SshSettings, attempt: Attempt): Promise<Ssh2Connection> {
    const { options, signal } = attempt;
    const settings =
      options.keepaliveSeconds === undefined
        ? written
        : { ...written, keepaliveIntervalMs: options.keepaliveSeconds * 1_000 };
    const peer: Peer = { name: settings.name, hostName: settings.hostName, port: settings.port };
    if (attempt.jumps.length > maxJumps) throw jumpLoop(peer, attempt.jumps);

    const bastion = settings.proxyJump.length === 0 ? null : await this.#bastion(settings, attempt);
    const places: (() => void)[] = [];
    const release = () => {
      for (const give of places.splice(0)) give();
    };
    let way: Way | null = null;
    try {
      // The bastion stands before any place is taken: waiting for it with a place in hand could stop everybody.
      if (bastion !== null) places.push(await bastion.handshakes.take(signal));
      places.push(await this.#handshakes.take(signal));
      const hostKeys = await offeredHostKeys(settings, this.#hostKeys);
      way = await this.#way(settings, bastion, peer);
      const client = await handshake(settings, way.socket, hostKeys, {
        hostKeys: this.#hostKeys,
        identities: this.#identities,
        answers: this.#answers,
        prompter: options.prompter ?? this.#prompter,
        signal,
        onPhase: options.onPhase ?? (() => {}),
        onAsking: release,
        proxyWords: way.proxyWords,
      });
      const connection = new Ssh2Connection(client, peer, this.#limits);
      connection.onClose(way.leave);
      return connection;
    } catch (error) {
      way?.leave();
      if (way === null && bastion !== null) this.#leaveBastion(bastion);
      if (signal.aborted && !(error instanceof AppError)) {
        throw new AppError({ code: "cancelled", message: `Connecting to ${peer.name} was cancelled.`, remedy: "" });
      }
      throw withNotes(connectError(error, peer), settings.notes);
    } finally {
      release();
    }
  }

  async #way(settings: SshSettings, bastion: Bastion | null, peer: Peer): Promise<Way> {
    if (bastion !== null) {
      const through = await bastion.connection;
      const socket = await through.forward(settings.hostName, settings.port);
      return { socket, proxyWords: () => "", leave: () => this.#leaveBastion(bastion) };
    }
    if (settings.proxyCommand !== null) {
      const context = this.#resolver.context(parseDestination(settings.name).host);
      const command = expandTokens(settings.proxyCommand, context, {
        hostName: settings.hostName,
        user: settings.user,
        port: settings.port,
        hostKeyAlias: settings.hostKeyAlias ?? context.name,
      });
      const proxy = startProxyCommand(command, context.environment.SHELL ?? "/bin/sh");
      return { socket: proxy.stream, proxyWords: proxy.stderrTail, leave: () => proxy.stream.destroy() };
    }
    if (settings.hostName === "") throw sshError("ssh-config", peer, "The host has no name.", "Set HostName.");
    const socket = connectSocket({
      host: settings.hostName,
      port: settings.port,
      noDelay: true,
      ...(settings.addressFamily === "any" ? {} : { family: settings.addressFamily === "inet" ? 4 : 6 }),
      ...(settings.bindAddress === null ? {} : { localAddress: settings.bindAddress }),
    });
    return { socket, proxyWords: () => "", leave: () => {} };
  }

  /** The last hop, itself reached through the hops before it. One connection serves every host behind it. */
  async #bastion(settings: SshSettings, attempt: Attempt): Promise<Bastion> {
    const hops = settings.proxyJump;
    const last = hops.at(-1) ?? "";
    if (attempt.jumps.includes(last)) {
      throw jumpLoop({ name: settings.name, hostName: settings.hostName, port: settings.port }, attempt.jumps);
    }
    const key = hops.join(",");
    const shared = this.#bastions.get(key);
    if (shared !== undefined) {
      shared.users++;
      await untilAborted(shared.connection, attempt.signal);
      return shared;
    }
    const hop = await this.#resolver.resolve(last);
    const raced = this.#bastions.get(key);
    if (raced !== undefined) {
      raced.users++;
      await untilAborted(raced.connection, attempt.signal);
      return raced;
    }
    // Hops before the last are given by the target; only the first follows its own configuration (ssh -J).
    const hopSettings = hops.length > 1 ? { ...hop, proxyJump: hops.slice(0, -1), proxyCommand: null } : hop;
    // Not the first host's signal: giving that one up must not cut off the others that wait for the bastion.
    const connection = this.#connect(hopSettings, {
      options: attempt.options.prompter === undefined ? {} : { prompter: attempt.options.prompter },
      signal: this.#closing.signal,
      jumps: [...attempt.jumps, last],
    });
    const bastion: Bastion = { key, connection, handshakes: new Semaphore(handshakesThroughBastion), users: 1 };
    this.#bastions.set(key, bastion);
    const forget = () => {
      if (this.#bastions.get(key) === bastion) this.#bastions.delete(key);
    };
    connection.then((opened) => opened.onClose(forget), forget);
    await untilAborted(connection, attempt.signal);
    return bastion;
  }

  #leaveBastion(bastion: Bastion): void {
    bastion.users--;
    if (bastion.users > 0) return;
    if (this.#bastions.get(bastion.key) === bastion) this.#bastions.delete(bastion.key);
    bastion.connection.then((connection) => connection.close()).catch(() => {});
  }
}

function jumpLoop(peer: Peer, jumps: readonly string[]): AppError {
  return sshError(
    "ssh-config",
    peer,
    `The jump hosts of ${peer.name} lead in a circle or through more than ${maxJumps} hops.`,
    "Correct ProxyJump in your ssh config.",
    jumps.join(" > "),
  );
}

/** A login that fails may fail for what was left out of the configuration. */
function withNotes(error: AppError, notes: readonly string[]): AppError {
  if (notes.length === 0) return error;
  const details = [error.evidence?.details ?? "", ...notes].join("\n").trim();
  return new AppError({ ...error.toData(), evidence: { ...error.evidence, details } }, { cause: error.cause });
}

/** Stops waiting; the work itself goes on for the others that wait for it. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** One logged-in SSH connection: channels, their limits, and one clear end. */
import type { Duplex, Readable } from "node:stream";
import type { Client, ClientChannel } from "ssh2";
import { AppError, type Evidence } from "../../../shared/errors.ts";
import { closedError, isPassing, type Peer, sshError } from "./errors.ts";
import type { ExecOptions, ExecResult, SshConnection, SshStream } from "./interfaces.ts";
import { quoteArguments } from "./quote.ts";
import { Semaphore } from "./semaphore.ts";

/** sshd allows ten sessions on a connection unless told otherwise (MaxSessions); two stay free for others. */
const channelLimit = 8;
const channelOpenTimeoutMs = 20_000;
const defaultMaxBytes = 32 * 1024 * 1024;
const stderrTailBytes = 8 * 1024;

/** Marks a channel that the server refused, which may be granted later, from one that never opened. */
const refused = Symbol("channel refused");

export interface ConnectionLimits {
  readonly channelOpenTimeoutMs?: number;
}

export class Ssh2Connection implements SshConnection {
  readonly name: string;
  readonly #client: Client;
  readonly #peer: Peer;
  readonly #channels = new Semaphore(channelLimit);
  readonly #listeners = new Set<(error: AppError | null) => void>();
  readonly #closing = new AbortController();
  readonly #channelOpenTimeoutMs: number;
  #end: { readonly error: AppError | null } | null = null;

  constructor(client: Client, peer: Peer, limits: ConnectionLimits = {}) {
    this.name = peer.name;
    this.#client = client;
    this.#peer = peer;
    this.#channelOpenTimeoutMs = limits.channelOpenTimeoutMs ?? channelOpenTimeoutMs;
    client.on("error", (error) => {
      if (!isPassing(error)) this.#finish(closedError(peer, error));
    });
    client.on("close", () => this.#finish(closedError(peer, null)));
  }

  get closed(): boolean {
    return this.#end !== null;
  }

  onClose(listener: (error: AppError | null) => void): void {
    if (this.#end === null) this.#listeners.add(listener);
    else listener(this.#end.error);
  }

  close(): void {
    this.#finish(null);
    this.#client.end();
    // A peer that is gone never answers the goodbye.
    setTimeout(() => this.#client.destroy(), 1_000).unref();
  }

  #finish(error: AppError | null): void {
    if (this.#end !== null) return;
    this.#end = { error };
    this.#closing.abort(error ?? closedError(this.#peer, null));
    if (error !== null) this.#client.destroy();
    for (const listener of this.#listeners) listener(error);
    this.#listeners.clear();
  }

  async exec(argv: readonly string[], options: ExecOptions): Promise<ExecResult> {
    const deadline = AbortSignal.timeout(options.timeoutMs);
    const signal = AbortSignal.any([deadline, ...(options.signal === undefined ? [] : [options.signal])]);
    try {
      await using opened = await this.#openChannel(argv, signal);
      return await collect(opened.channel, argv, options, AbortSignal.any([signal, this.#closing.signal]), this.#peer);
    } catch (error) {
      if (error instanceof AppError) throw error;
      if (deadline.aborted && options.signal?.aborted !== true) {
        const message = `A command on ${this.name} did not end in ${options.timeoutMs / 1_000} s.`;
        const evidence = { host: this.name, command: argv, exitStatus: null };
        throw new AppError({ code: "timeout", message, remedy: "Check the load of the host.", evidence });
      }
      if (signal.aborted) throw cancelled(this.#peer);
      throw error;
    }
  }

  async open(argv: readonly string[], options: { readonly signal?: AbortSignal } = {}): Promise<SshStream> {
    const opened = await this.#openChannel(argv, options.signal);
    const { channel } = opened;
    const tail = new Tail(channel.stderr);
    const { promise: ended, resolve } = Promise.withResolvers<number | null>();
    const finish = (status: number | null) => {
      resolve(status);
      void opened[Symbol.asyncDispose]();
    };
    channel.on("close", (status: unknown) => finish(typeof status === "number" ? status : null));
    // ssh2 does not close the channels of a connection that was cut; the reader must not wait for ever.
    this.#closing.signal.addEventListener("abort", () => {
      finish(null);
      if (!channel.readableEnded) channel.push(null);
      channel.emit("close");
    });
    channel.on("error", () => {});
    return { stream: channel, stderrTail: () => tail.text(), ended, close: () => channel.close() };
  }

  forward(host: string, port: number): Promise<Duplex> {
    const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
    const peer = this.#peer;
    const timer = setTimeout(() => {
      const message = `${peer.name} did not open a way to ${host} port ${port} in time.`;
      reject(sshError("ssh-channel", peer, message, "Check the jump host's network."));
    }, this.#channelOpenTimeoutMs);
    const abandon = () => reject(this.#end?.error ?? closedError(peer, null));
    this.#closing.signal.addEventListener("abort", abandon, { once: true });
    const settle = () => {
      clearTimeout(timer);
      this.#closing.signal.removeEventListener("abort", abandon);
    };
    try {
      this.#client.forwardOut("127.0.0.1", 0, host, port, (error, channel) => {
        settle();
        if (error === undefined || error === null) {
          channel.on("error", () => {});
          this.#closing.signal.addEventListener("abort", () => channel.emit("close"), { once: true });
          resolve(channel);
          return;
        }
        const message = `${peer.name} cannot reach ${host} port ${port}.`;
        const remedy = "Check that the jump host can reach it and that AllowTcpForwarding is not off there.";
        reject(sshError("ssh-unreachable", peer, message, remedy, error.message));
      });
    } catch (error) {
      settle();
      reject(this.#end?.error ?? closedError(peer, error));
    }
    return promise;
  }

  async #openChannel(argv: readonly string[], signal?: AbortSignal): Promise<OpenedChannel> {
    const command = quoteArguments(argv);
    for (;;) {
      this.#throwIfClosed();
      const waiting = AbortSignal.any([this.#closing.signal, ...(signal === undefined ? [] : [signal])]);
      const release = await this.#channels.take(waiting);
      try {
        const channel = await this.#execChannel(command, argv, signal);
        channel.on("close", release);
        this.#closing.signal.addEventListener("abort", release, { once: true });
        return {
          channel,
          [Symbol.asyncDispose]: async () => {
            release();
          },
        };
      } catch (error) {
        release();
        // A server with a smaller MaxSessions: wait for one of ours to end rather than fail.
        const wasRefused = error instanceof AppError && error.cause === refused;
        if (!wasRefused || this.#channels.held === 0 || this.#end !== null) throw error;
        this.#channels.lowerTo(this.#channels.held);
      }
    }
  }

  #throwIfClosed(): void {
    if (this.#end !== null) throw this.#end.error ?? closedError(this.#peer, null);
  }

  #execChannel(command: string, argv: readonly string[], signal: AbortSignal | undefined): Promise<ClientChannel> {
    const { promise, resolve, reject } = Promise.withResolvers<ClientChannel>();
    const peer = this.#peer;
    let abandoned = false;
    const abandon = (error: unknown) => {
      abandoned = true;
      reject(error);
    };
    const timer = setTimeout(() => {
      const message = `${peer.name} did not open a channel in ${this.#channelOpenTimeoutMs / 1_000} s.`;
      abandon(sshError("ssh-channel", peer, message, "The host is overloaded or its sshd hangs: try again."));
    }, this.#channelOpenTimeoutMs);
    const onClosed = () => abandon(this.#end?.error ?? closedError(peer, null));
    const onAbort = () => abandon(signal?.reason);
    this.#closing.signal.addEventListener("abort", onClosed, { once: true });
    signal?.addEventListener("abort", onAbort, { once: true });
    const settle = () => {
      clearTimeout(timer);
      this.#closing.signal.removeEventListener("abort", onClosed);
      signal?.removeEventListener("abort", onAbort);
    };
    promise.then(settle, settle);
    try {
      this.#client.exec(command, (error, channel) => {
        if (error !== undefined && error !== null) {
          const remedy = "sshd allows fewer sessions than needed (MaxSessions), or refuses commands for this user.";
          const message = `${peer.name} refused a channel.`;
          const evidence: Evidence = { host: peer.name, command: argv, exitStatus: null, details: error.message };
          reject(
            this.#end?.error ?? new AppError({ code: "ssh-channel", message, remedy, evidence }, { cause: refused }),
          );
        } else if (abandoned) {
          channel.close();
        } else {
          resolve(channel);
        }
      });
    } catch (error) {
      reject(this.#end?.error ?? closedError(peer, error));
    }
    return promise;
  }
}

interface OpenedChannel extends AsyncDisposable {
  readonly channel: ClientChannel;
}

function cancelled(peer: Peer): AppError {
  return new AppError({ code: "cancelled", message: `A command on ${peer.name} was cancelled.`, remedy: "" });
}

/** Reads a command to its end. Whatever is not an exit status of its own is thrown. */
async function collect(
  channel: ClientChannel,
  argv: readonly string[],
  options: ExecOptions,
  signal: AbortSignal,
  peer: Peer,
): Promise<ExecResult> {
  const { promise, resolve, reject } = Promise.withResolvers<ExecResult>();
  const maxBytes = options.maxBytes ?? defaultMaxBytes;
  const chunks: Buffer[] = [];
  let size = 0;
  const tail = new Tail(channel.stderr);
  const stop = (error: unknown) => {
    reject(error);
    // sshd passes signals on for sessions of other users than root only; a root command ends at its closed pipes.
    channel.signal("KILL");
    channel.close();
  };
  const onAbort = () => stop(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  channel.on("error", () => {});
  channel.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= maxBytes) {
      chunks.push(chunk);
      return;
    }
    const message = `A command on ${peer.name} wrote more than ${maxBytes} bytes.`;
    stop(new AppError({ code: "unreadable", message, remedy: "", evidence: { host: peer.name, command: argv } }));
  });
  channel.on("close", (status: unknown, signalName: unknown) => {
    const stderr = tail.bytes();
    if (typeof status === "number") {
      resolve({ stdout: Buffer.concat(chunks), stderr, exitStatus: status });
      return;
    }
    // Nothing here may pass for an empty, successful answer.
    const evidence: Evidence = {
      host: peer.name,
      command: argv,
      exitStatus: null,
      ...(typeof signalName === "string" ? { signal: signalName } : {}),
      stderr: stderr.toString("utf8"),
    };
    const killed = typeof signalName === "string";
    reject(
      new AppError({
        code: killed ? "ssh-channel" : "ssh-closed",
        message: killed
          ? `A command on ${peer.name} was killed (${signalName}).`
          : `A command on ${peer.name} ended without an exit status.`,
        remedy: "It is not known whether it did its work: look before doing it again.",
        evidence,
      }),
    );
  });
  send(channel, options.stdin);
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function send(channel: ClientChannel, stdin: Readable | Uint8Array | undefined): void {
  if (stdin === undefined) channel.end();
  else if (stdin instanceof Uint8Array) channel.end(stdin);
  else {
    stdin.on("error", () => channel.close());
    stdin.pipe(channel);
  }
}

/** The end of a stream, so that a chatty program cannot fill the memory. */
class Tail {
  #bytes = Buffer.alloc(0);

  constructor(stream: Readable) {
    stream.on("data", (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk]).subarray(-stderrTailBytes);
    });
    stream.on("error", () => {});
  }

  bytes(): Buffer {
    return this.#bytes;
  }

  text(): string {
    return this.#bytes.toString("utf8");
  }
}

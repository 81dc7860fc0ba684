/** From a host's name to a running tessera-host: connect, look, put it there where it is missing, start it. */
import type { ConnectPhase } from "../../../shared/api/snapshot.ts";
import { AppError, type AppErrorData } from "../../../shared/errors.ts";
import type {
  Hello,
  HostAnswer,
  HostInput,
  HostMethod,
  HostProgress,
  HostTask,
} from "../../../shared/protocol/contract.ts";
import type { HostLink } from "../clusters/connector.ts";
import type { ConnectOptions, Prompter, SshConnection, SshStream, SshTarget, SshTransport } from "../ssh/interfaces.ts";
import { Semaphore } from "../ssh/semaphore.ts";
import type { Bundle, HostArtifacts } from "./artifacts.ts";
import { closedError, HostChannel } from "./host-channel.ts";
import { absentMarker, serveMarker, serveScript } from "./scripts.ts";
import { type AbsentHost, type UploadProgress, upload } from "./upload.ts";

/** A start includes loading the runtime from a cold disk or a network file system. */
const startTimeoutMs = 60_000;
/** What a login shell may say before our marker. */
const maxChatterBytes = 64 * 1024;
/** Uploads share the operator's line; with shared home directories the first ones serve all others. */
const uploadsAtOnce = 4;

export interface ConnectHostOptions {
  readonly signal?: AbortSignal;
  readonly keepaliveSeconds?: number;
  readonly prompter?: Prompter;
  readonly onPhase?: (phase: ConnectPhase) => void;
  readonly onUpload?: (progress: UploadProgress) => void;
}

export class HostConnections {
  readonly #transport: SshTransport;
  readonly #artifacts: HostArtifacts;
  readonly #uploads = new Semaphore(uploadsAtOnce);

  constructor(transport: SshTransport, artifacts: HostArtifacts) {
    this.#transport = transport;
    this.#artifacts = artifacts;
  }

  /** Throws AppError, and leaves neither a connection nor a half-written file behind when it does. */
  async connectHost(target: SshTarget, options: ConnectHostOptions = {}): Promise<HostSession> {
    const signal = options.signal ?? new AbortController().signal;
    const bundle = await this.#artifacts.bundle();
    const connection = await this.#transport.connect(target, connectOptions(options));
    try {
      return await this.#serve(connection, bundle, options, signal);
    } catch (error) {
      connection.close();
      if (error instanceof AppError || !signal.aborted) throw error;
      throw new AppError({ code: "cancelled", message: `Connecting to ${connection.name} was cancelled.`, remedy: "" });
    }
  }

  async #serve(
    connection: SshConnection,
    bundle: Bundle,
    options: ConnectHostOptions,
    signal: AbortSignal,
  ): Promise<HostSession> {
    options.onPhase?.("starting");
    const first = await this.#start(connection, bundle, signal);
    if (first instanceof HostSession) return first;
    options.onPhase?.("installing");
    const release = await this.#uploads.take(signal);
    try {
      await upload(connection, first, this.#artifacts, bundle, {
        signal,
        ...(options.onUpload === undefined ? {} : { onProgress: options.onUpload }),
      });
    } finally {
      release();
    }
    options.onPhase?.("starting");
    const second = await this.#start(connection, bundle, signal);
    if (second instanceof HostSession) return second;
    throw new AppError({
      code: "deploy-failed",
      message: `tessera-host was put on ${connection.name} and is not there.`,
      remedy: "Check that nothing clears the directory, then connect again.",
      evidence: { host: connection.name, details: `${second.system} ${second.machine} ${second.home}` },
    });
  }

  /** Hello is sent before the host has said anything: it waits in the channel until the server reads it. */
  async #start(connection: SshConnection, bundle: Bundle, signal: AbortSignal): Promise<HostSession | AbsentHost> {
    const script = serveScript({ version: this.#artifacts.version, id: bundle.id, bundleSha256: bundle.sha256 });
    const opened = await connection.open(["sh", "-c", script], { signal });
    const channel = new HostChannel(connection.name, opened.stream);
    void opened.ended.then((status) => channel.end(endedError(connection.name, status, opened.stderrTail())));
    const hello = channel.hello(`tessera ${this.#artifacts.version}`);
    hello.catch(() => {});
    try {
      const answer = await firstAnswer(connection.name, opened, signal);
      if (answer.kind === "absent") {
        channel.end(closedError(connection.name, ""));
        opened.close();
        return answer.host;
      }
      channel.start(answer.rest);
      return new HostSession(connection, channel, await hello);
    } catch (error) {
      channel.end(closedError(connection.name, ""));
      opened.close();
      throw error;
    }
  }
}

function connectOptions(options: ConnectHostOptions): ConnectOptions {
  return {
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    ...(options.keepaliveSeconds === undefined ? {} : { keepaliveSeconds: options.keepaliveSeconds }),
    ...(options.prompter === undefined ? {} : { prompter: options.prompter }),
    ...(options.onPhase === undefined ? {} : { onPhase: options.onPhase }),
  };
}

/** A running tessera-host with the connection it lives on. */
export class HostSession implements HostLink {
  readonly hello: Hello;
  /** For further commands beside the server. */
  readonly connection: SshConnection;
  readonly #channel: HostChannel;
  readonly closed: Promise<AppErrorData>;

  constructor(connection: SshConnection, channel: HostChannel, hello: Hello) {
    this.hello = hello;
    this.connection = connection;
    this.#channel = channel;
    this.closed = channel.closed;
    connection.onClose((error) => channel.end(error?.toData() ?? closedError(connection.name, "")));
    // Without its server the connection is of no use to anybody.
    void channel.closed.then(() => connection.close());
  }

  request<M extends Exclude<HostMethod, HostTask>>(
    method: M,
    input: HostInput<M>,
    signal?: AbortSignal,
  ): Promise<HostAnswer<M>> {
    return this.#channel.request(method, input, signal);
  }

  task<M extends HostTask>(
    method: M,
    input: HostInput<M>,
    progress: (progress: HostProgress<M>) => void,
    signal?: AbortSignal,
  ): Promise<HostAnswer<M>> {
    return this.#channel.task(method, input, progress, signal);
  }

  close(): void {
    this.#channel.end(closedError(this.connection.name, "closed by this console"));
    this.connection.close();
  }
}

type FirstAnswer =
  | { readonly kind: "serve"; readonly rest: Buffer }
  | { readonly kind: "absent"; readonly host: AbsentHost };

/** Reads up to our marker, past whatever the login shell's start files print. */
async function firstAnswer(name: string, opened: SshStream, signal: AbortSignal): Promise<FirstAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<FirstAnswer>();
  const { stream } = opened;
  let received = Buffer.alloc(0);
  const onData = (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    const rest = afterLine(received, serveMarker);
    if (rest !== null) {
      stream.pause();
      stream.off("data", onData);
      resolve({ kind: "serve", rest });
    } else if (received.length > maxChatterBytes) {
      reject(startError(name, "The login shell of the host prints too much.", received, opened));
    }
  };
  const onEnded = (status: number | null) => {
    const after = afterLine(received, absentMarker);
    const host = after === null || status !== 0 ? null : parseAbsent(after.toString("utf8"));
    if (host !== null) resolve({ kind: "absent", host });
    else reject(startError(name, `tessera-host did not start on ${name}.`, received, opened, status));
  };
  const timer = setTimeout(() => {
    reject(startError(name, `tessera-host did not start on ${name} in ${startTimeoutMs / 1_000} s.`, received, opened));
  }, startTimeoutMs);
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  stream.on("data", onData);
  void opened.ended.then(onEnded);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    stream.off("data", onData);
  }
}

/** What follows the line that is exactly this marker; null while there is none. */
function afterLine(received: Buffer, marker: string): Buffer | null {
  for (let at = received.indexOf(marker); at >= 0; at = received.indexOf(marker, at + 1)) {
    const end = at + marker.length;
    const startsLine = at === 0 || received[at - 1] === 0x0a;
    if (startsLine && received[end] === 0x0a) return received.subarray(end + 1);
  }
  return null;
}

function parseAbsent(text: string): AbsentHost | null {
  const [system, machine, home, uid, ...missingTools] = text.split("\n").map((line) => line.trim());
  if (system === undefined || machine === undefined || home === undefined || uid === undefined) return null;
  return { system, machine, home, root: uid === "0", missingTools: missingTools.filter((tool) => tool !== "") };
}

function startError(name: string, message: string, received: Buffer, opened: SshStream, exitStatus?: number | null) {
  return new AppError({
    code: "deploy-failed",
    message,
    remedy: "Log in with ssh and see whether the shell works, then connect again.",
    evidence: {
      host: name,
      ...(exitStatus === undefined ? {} : { exitStatus }),
      stdout: received.toString("utf8").slice(-1_000),
      stderr: opened.stderrTail(),
    },
  });
}

function endedError(host: string, status: number | null, stderr: string): AppErrorData {
  const data = closedError(host, "");
  return { ...data, evidence: { host, exitStatus: status, stderr } };
}

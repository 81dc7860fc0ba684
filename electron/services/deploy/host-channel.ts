/** JSON-RPC with a running `tessera-host serve`, typed by its contract. */
import { type Duplex, PassThrough } from "node:stream";
import {
  type CancellationToken,
  CancellationTokenSource,
  createMessageConnection,
  type MessageConnection,
  NullLogger,
  ProgressType,
  ResponseError,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-jsonrpc/node";
import { AppError, type AppErrorData, isErrorCode } from "../../../shared/errors.ts";
import {
  type Hello,
  type HostAnswer,
  type HostInput,
  type HostMethod,
  type HostProgress,
  type HostTask,
  protocolVersion,
} from "../../../shared/protocol/contract.ts";
import type { Call } from "../../../shared/protocol/wire.ts";

export class HostChannel {
  readonly #host: string;
  readonly #connection: MessageConnection;
  readonly #incoming = new PassThrough();
  readonly #outgoing: Duplex;
  readonly #end = Promise.withResolvers<AppErrorData>();
  #ended: AppErrorData | null = null;
  #progressToken = 0;

  /** Writes to `stream` at once; reads only what `start` hands over, since a login shell may talk first. */
  constructor(host: string, stream: Duplex) {
    this.#host = host;
    this.#outgoing = stream;
    this.#connection = createMessageConnection(
      new StreamMessageReader(this.#incoming),
      new StreamMessageWriter(stream),
      NullLogger,
    );
    this.#connection.onError(([error]) => this.end(closedError(host, error.message)));
    this.#connection.onClose(() => this.end(closedError(host, "")));
    this.#connection.listen();
  }

  /** Resolves with why, once the channel has gone. Never rejects. */
  get closed(): Promise<AppErrorData> {
    return this.#end.promise;
  }

  /** From here on, everything the stream says is the protocol's; `first` was read from it already. */
  start(first: Buffer): void {
    this.#incoming.write(first);
    this.#outgoing.pipe(this.#incoming);
  }

  /** The first request. Throws AppError `version-mismatch` where the host speaks another protocol. */
  async hello(client: string): Promise<Hello> {
    const hello = await this.request("hello", { protocolVersion, client });
    if (hello.protocolVersion === protocolVersion) return hello;
    throw new AppError({
      code: "version-mismatch",
      message: `${this.#host} runs tessera-host ${hello.version} with protocol ${hello.protocolVersion}; this console speaks ${protocolVersion}.`,
      remedy: "Install this console's version of tessera-host on the host (tessera-host install).",
      evidence: { host: this.#host },
    });
  }

  /** An aborted signal cancels on the host and rejects at once. */
  async request<M extends Exclude<HostMethod, HostTask>>(
    method: M,
    input: HostInput<M>,
    signal?: AbortSignal,
  ): Promise<HostAnswer<M>> {
    const call: Call<HostInput<M>> = { input };
    const answer = this.#send<HostAnswer<M>>(method, call, signal);
    if (signal === undefined) return await answer;
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const onAbort = () => reject(cancelledError(this.#host));
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await Promise.race([answer, aborted]);
    } finally {
      signal.removeEventListener("abort", onAbort);
      answer.catch(() => {});
    }
  }

  /** An aborted signal asks the host to stop; the task still ends by itself, with its answer or with `cancelled`. */
  async task<M extends HostTask>(
    method: M,
    input: HostInput<M>,
    progress: (progress: HostProgress<M>) => void,
    signal?: AbortSignal,
  ): Promise<HostAnswer<M>> {
    const progressToken = ++this.#progressToken;
    const type = new ProgressType<HostProgress<M>>();
    const listening = this.#connection.onProgress(type, progressToken, progress);
    try {
      const call: Call<HostInput<M>> = { input, progressToken };
      return await this.#send<HostAnswer<M>>(method, call, signal);
    } finally {
      listening.dispose();
    }
  }

  /** Everything pending rejects with this, and so does everything asked later. */
  end(error: AppErrorData): void {
    if (this.#ended !== null) return;
    this.#ended = error;
    this.#end.resolve(error);
    this.#outgoing.unpipe(this.#incoming);
    this.#incoming.end();
    this.#connection.dispose();
  }

  async #send<Answer>(method: HostMethod, call: Call<unknown>, signal: AbortSignal | undefined): Promise<Answer> {
    if (this.#ended !== null) throw new AppError(this.#ended);
    if (signal?.aborted === true) throw cancelledError(this.#host);
    const source = new CancellationTokenSource();
    const onAbort = () => source.cancel();
    signal?.addEventListener("abort", onAbort, { once: true });
    const gone = this.#end.promise.then((error) => {
      throw new AppError(error);
    });
    try {
      return await Promise.race([this.#sendRequest<Answer>(method, call, source.token), gone]);
    } catch (error) {
      throw this.#ended === null ? rebuilt(error, this.#host) : new AppError(this.#ended);
    } finally {
      signal?.removeEventListener("abort", onAbort);
      source.dispose();
      gone.catch(() => {});
    }
  }

  #sendRequest<Answer>(method: HostMethod, call: Call<unknown>, token: CancellationToken): Promise<Answer> {
    return this.#connection.sendRequest<Answer>(method, call, token);
  }
}

/** The AppError that the host threw, or what else the library says. */
function rebuilt(error: unknown, host: string): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof ResponseError && isErrorData(error.data)) return new AppError(withHost(error.data, host));
  const words = error instanceof Error ? error.message : String(error);
  return new AppError({
    code: "internal",
    message: `tessera-host on ${host} answered with a fault: ${words}`,
    remedy: "Export the troubleshooting log and report it.",
    evidence: { host },
  });
}

function isErrorData(value: unknown): value is AppErrorData {
  return (
    typeof value === "object" &&
    value !== null &&
    "code" in value &&
    isErrorCode(value.code) &&
    "message" in value &&
    typeof value.message === "string" &&
    "remedy" in value &&
    typeof value.remedy === "string"
  );
}

function withHost(data: AppErrorData, host: string): AppErrorData {
  return { ...data, evidence: { host, ...data.evidence } };
}

export function closedError(host: string, details: string): AppErrorData {
  return {
    code: "ssh-closed",
    message: `The connection to tessera-host on ${host} was closed.`,
    remedy: "It is opened again by itself; a step that was running on the host has gone on to its end.",
    evidence: { host, ...(details === "" ? {} : { details }) },
  };
}

function cancelledError(host: string): AppError {
  return new AppError({ code: "cancelled", message: `A request to ${host} was cancelled.`, remedy: "" });
}

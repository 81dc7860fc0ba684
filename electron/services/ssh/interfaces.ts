/** What the SSH services ask of whoever uses them, and what they give. */
import type { Duplex, Readable } from "node:stream";
import type { Prompt, PromptAnswer } from "../../../shared/api/contract.ts";
import type { ConnectPhase } from "../../../shared/api/snapshot.ts";
import type { AppError } from "../../../shared/errors.ts";
import type { DirectSettings } from "./settings.ts";

type WithoutIds<P> = P extends unknown ? Omit<P, "id" | "clusterId"> : never;
/** A question for a person; the prompt service gives it its number and its cluster. */
export type Question = WithoutIds<Prompt>;

export interface Prompter {
  /** Resolves to `cancel` where nobody answers; must give up when the signal is aborted. */
  ask(question: Question, signal: AbortSignal): Promise<PromptAnswer>;
}

/** Keeps what an operator asked to be remembered: the system's keyring, or memory. */
export interface SecretStore {
  get(key: string): Promise<string | null>;
  set(key: string, value: string): Promise<void>;
  delete(key: string): Promise<void>;
}

/** For tests, and where the system has no keyring: nothing outlives the process. */
export function memorySecretStore(): SecretStore {
  const values = new Map<string, string>();
  return {
    get: async (key) => values.get(key) ?? null,
    set: async (key, value) => {
      values.set(key, value);
    },
    delete: async (key) => {
      values.delete(key);
    },
  };
}

/** Nobody is there to ask: what would be a question is a refusal. */
export const silentPrompter: Prompter = { ask: async () => ({ kind: "cancel" }) };

export type SshTarget =
  /** An alias of ssh config or `[user@]host[:port]`. */
  { readonly kind: "name"; readonly name: string } | { readonly kind: "direct"; readonly settings: DirectSettings };

export interface ConnectOptions {
  readonly signal?: AbortSignal;
  /** Seconds between keepalives instead of what the configuration says; 0 sends none. */
  readonly keepaliveSeconds?: number;
  readonly onPhase?: (phase: ConnectPhase) => void;
  /** Asked instead of the transport's own, so that a question knows its cluster. */
  readonly prompter?: Prompter;
}

export interface SshTransport {
  connect(target: SshTarget, options?: ConnectOptions): Promise<SshConnection>;
  /** Closes what hosts share: bastions, cached settings, keys and answers. */
  close(): void;
}

export interface ExecOptions {
  /** Covers the opening of the channel too. */
  readonly timeoutMs: number;
  /** Of standard output; past it the command is given up. Default 32 MiB. */
  readonly maxBytes?: number;
  /** Sent to the command's standard input, which is closed after it. */
  readonly stdin?: Readable | Uint8Array;
  readonly signal?: AbortSignal;
}

export interface ExecResult {
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** Always the command's own: a missing one is thrown as AppError. */
  readonly exitStatus: number;
}

export interface SshStream {
  /** The command's standard output to read, its standard input to write. */
  readonly stream: Duplex;
  /** The last 8 KiB of standard error. */
  stderrTail(): string;
  /** Once: null where the link was cut or the command was killed. */
  readonly ended: Promise<number | null>;
  close(): void;
}

export interface SshConnection {
  /** As the operator wrote the host. */
  readonly name: string;
  exec(argv: readonly string[], options: ExecOptions): Promise<ExecResult>;
  open(argv: readonly string[], options?: { readonly signal?: AbortSignal }): Promise<SshStream>;
  /** A TCP stream from the host to an address it can reach. */
  forward(host: string, port: number): Promise<Duplex>;
  /** Once; null where it was closed on purpose. Called at once when it is already closed. */
  onClose(listener: (error: AppError | null) => void): void;
  readonly closed: boolean;
  close(): void;
}

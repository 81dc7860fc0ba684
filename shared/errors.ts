/**
 * The one error shape of Tessera. It crosses JSON-RPC, MessagePort and WebSocket unchanged,
 * because those keep plain data and drop the fields of an Error.
 */
import type { Fraction } from "./quota/fraction.ts";
import type { QuotaLevel } from "./quota/tree.ts";

/** Every code an operator can meet. A code is stable: scripts and tests match on it, never on the sentence. */
export const errorCodes = [
  "bad-request", // the caller sent something the contract does not allow
  "not-found",
  "forbidden", // the caller's role or permissions do not allow it
  "cancelled",
  "timeout",
  "internal", // a fault of Tessera's own
  "illegal-layout", // the wanted layout breaks a rule of MIG
  "stale-plan", // the layout is no longer the one the plan was made for
  "conflict", // the object was changed since the version that the edit was made against
  "in-use", // something running holds what would have to change
  "locked", // another operation holds the host's lock
  "journal-open", // an earlier operation did not finish: resume or undo it first
  "driver-missing", // no nvidia-smi, no driver, no library
  "driver-failed", // nvidia-smi answered with an error
  "driver-timeout", // nvidia-smi did not answer in time
  "gpu-lost", // the GPU has fallen off the bus
  "permission", // the driver or the operating system wants root
  "disk-full",
  "unreadable", // output that could not be understood
  "version-mismatch", // console and host module do not speak the same protocol
  "ssh-config",
  "ssh-unreachable", // no route, refused, name not found, time-out before the handshake
  "ssh-auth", // every offered method failed
  "ssh-host-key-unknown",
  "ssh-host-key-changed",
  "ssh-host-key-revoked",
  "ssh-unsupported", // certificates, FIDO keys outside an agent, GSSAPI
  "ssh-closed", // the connection went away
  "ssh-channel", // a channel was refused, or never opened
  "deploy-failed",
] as const;

export type ErrorCode = (typeof errorCodes)[number];

/** One field of an object that somebody else changed, for the person whose edit came second. */
export interface FieldChange {
  readonly field: string;
  /** JSON of the value; null where the object was not there before, or is not there after. */
  readonly before: string | null;
  readonly after: string | null;
  /** User name, or the uid where no name is known. */
  readonly by: string;
  /** ISO 8601. */
  readonly at: string;
}

/** A limit that is in the way of what was asked for: `used + asked` is more than `limit`, by `missing`. */
export interface LimitInTheWay {
  /** Null where the caller may not see it; its name is empty then, limit and use are zero. */
  readonly subject: string | null;
  readonly level: QuotaLevel;
  readonly name: string;
  /** A resource of the quota tree, or Slurm's own name of it. */
  readonly resource: string;
  readonly limit: Fraction;
  readonly used: Fraction;
  readonly asked: Fraction | null;
  readonly missing: Fraction;
  /** Who can change that limit. */
  readonly changedBy: "administrator" | "lead";
}

/** What was run and what came back, for the person who has to find out why. Never holds a secret. */
export interface Evidence {
  readonly host?: string;
  /** Argument vector as it was run. */
  readonly command?: readonly string[];
  /** Null when the process was killed or the link was cut: never to be read as success. */
  readonly exitStatus?: number | null;
  readonly signal?: string;
  readonly stdout?: string;
  readonly stderr?: string;
  /** Anything else worth reading, one fact a line. */
  readonly details?: string;
  /** For `conflict`: what was changed since the version that the edit was made against, oldest first. */
  readonly changedMeanwhile?: readonly FieldChange[];
  /** For `conflict` with limits: every one in the way, the lowest level first. */
  readonly blockedBy?: readonly LimitInTheWay[];
}

/** AppError as plain data. */
export interface AppErrorData {
  readonly code: ErrorCode;
  /** One sentence for the operator. */
  readonly message: string;
  /** What to do about it, one sentence, or empty where nothing helps. */
  readonly remedy: string;
  readonly evidence?: Evidence;
}

export class AppError extends Error {
  readonly code: ErrorCode;
  readonly remedy: string;
  readonly evidence: Evidence | undefined;

  constructor(data: AppErrorData, options?: { cause?: unknown }) {
    super(data.message, options);
    this.name = "AppError";
    this.code = data.code;
    this.remedy = data.remedy;
    this.evidence = data.evidence;
  }

  toData(): AppErrorData {
    return {
      code: this.code,
      message: this.message,
      remedy: this.remedy,
      ...(this.evidence === undefined ? {} : { evidence: this.evidence }),
    };
  }
}

/** What crosses a process border instead of a thrown error. */
export type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: AppErrorData };

export function ok<T>(value: T): Result<T> {
  return { ok: true, value };
}

export function failed(error: unknown): { readonly ok: false; readonly error: AppErrorData } {
  return { ok: false, error: toErrorData(error) };
}

/** Any thrown value as AppErrorData; what is not an AppError is a fault of ours and says so. */
export function toErrorData(error: unknown): AppErrorData {
  if (error instanceof AppError) return error.toData();
  const message = error instanceof Error ? error.message : String(error);
  const stack = error instanceof Error ? error.stack : undefined;
  return {
    code: "internal",
    message: `Unexpected fault: ${message}`,
    remedy: "Export the troubleshooting log and report it.",
    ...(stack === undefined ? {} : { evidence: { details: stack } }),
  };
}

/** Unwraps a Result, throwing the AppError it carries. */
export function unwrap<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new AppError(result.error);
}

export function isErrorCode(value: unknown): value is ErrorCode {
  return errorCodes.some((code) => code === value);
}

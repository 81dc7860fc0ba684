/** What keeps the limits: what it enforces, what is wrong with it, and where it differs from the ledger. */
import * as z from "zod/mini";
import type { AppErrorData } from "../../errors.ts";

export type EngineKind = "local" | "slurm";

/** Which limits hold for real; what is not enforced is shown as such and never as a limit that holds. */
export interface Enforcement {
  /** `cards`, `gpuMemoryGiB`, `cpuCores`, `memoryGiB`, `cardHours`, `gpuTypes`. */
  readonly resource: string;
  readonly enforced: boolean;
  /** Why not, one sentence; empty where it is. */
  readonly why: string;
}

export interface EngineFinding {
  readonly check: string;
  readonly level: "ok" | "warning" | "problem";
  readonly message: string;
  readonly remedy: string;
  /** The change to make, line by line, with the file it belongs in; absent where there is none. */
  readonly change?: { readonly file: string; readonly lines: readonly string[] };
}
export interface EngineStatus {
  readonly kind: EngineKind;
  /** `22.05.8`; null for the local engine, or where nothing answered. */
  readonly version: string | null;
  readonly enforcement: readonly Enforcement[];
  readonly findings: readonly EngineFinding[];
}

/** A difference between the ledger and the engine: somebody changed one of them past us, or a change broke half way. */
export interface Drift {
  /** Stable while the difference stands as it is. */
  readonly id: string;
  readonly subject: string | null;
  /** `account`, `member`, `limits`, `coordinator`, `default-account`, `foreign` (not ours), `unread` (could not be read). */
  readonly what: string;
  /** In words; null where it is not there. */
  readonly ledger: string | null;
  readonly engine: string | null;
  /** Which way it can be resolved. */
  readonly ways: readonly ("ledger" | "engine")[];
}
export const driftResolveSchema = z.object({
  resolutions: z
    .array(z.object({ id: z.string().check(z.maxLength(300)), take: z.enum(["ledger", "engine"]) }))
    .check(z.minLength(1), z.maxLength(20_000)),
});
export interface DriftResult {
  readonly outcomes: readonly {
    readonly id: string;
    readonly outcome: "done" | "failed" | "unknown";
    readonly error?: AppErrorData;
  }[];
}

/** Jobs and leases, and why one waits. */
import * as z from "zod/mini";
import type { LimitInTheWay } from "../../errors.ts";
import type { Fraction } from "../../quota/fraction.ts";
import { subjectSchema } from "./fields.ts";

/** A Slurm job or a lease. Of another tenant nobody but administrators hears of it. */
export interface AllocationView {
  /** Job id or lease id. */
  readonly id: string;
  readonly kind: "job" | "lease";
  /** `t3f2k_p01/12001`; null for work of accounts that are not ours. */
  readonly subject: string | null;
  readonly user: string | null;
  readonly name: string;
  readonly state: "running" | "waiting";
  readonly cards: Fraction;
  readonly gpuMemoryGiB: Fraction;
  readonly cpuCores: Fraction;
  readonly memoryGiB: Fraction;
  readonly gpuTypes: Readonly<Record<string, number>>;
  readonly startedAt: string | null;
  /** The end by its time limit; null where it has none. */
  readonly endsAt: string | null;
  /** Where it runs, `g1`; null while it waits. */
  readonly hosts: string | null;
  /** Slurm's own word for why it waits (`AssocGrpGRES`); null for what runs. */
  readonly reason: string | null;
}

export const explainSchema = z.object({ subject: subjectSchema, allocationId: z.string().check(z.maxLength(40)) });

/** Why something waits, in terms of limits: which level, by how much, who can change it. */
export interface WaitReason {
  /** Slurm's own word. */
  readonly reason: string;
  /** One sentence. */
  readonly sentence: string;
  /** Every limit that holds it up, the lowest level first. */
  readonly blockers: readonly LimitInTheWay[];
}

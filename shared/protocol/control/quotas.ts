/** Limits and use of all levels, and changing many of them at once. */
import * as z from "zod/mini";
import type { AppErrorData } from "../../errors.ts";
import type { CardShareRule } from "../../quota/card-share.ts";
import type { Limits, Usage } from "../../quota/limits.ts";
import type { QuotaLevel } from "../../quota/tree.ts";
import type { AllocationView } from "./allocations.ts";
import type { Enforcement } from "./engine.ts";
import { limitsSchema, subjectSchema, versionSchema } from "./fields.ts";
import type { GrantView } from "./requests.ts";

export interface QuotaNodeView {
  /** The subject. */
  readonly id: string;
  readonly level: QuotaLevel;
  readonly parentId: string | null;
  /** For people: display name, or the user's name. */
  readonly name: string;
  /** What was set, without grants. */
  readonly limits: Limits;
  /** 0 where nothing was set yet. */
  readonly version: number;
  /** In use by the node itself; absent where nothing is. */
  readonly usage?: Usage;
}

export interface QuotaAnswer {
  readonly revision: number;
  /** By which rule an instance counts as a part of its card, for every figure of cards here. */
  readonly rule: CardShareRule;
  /** Cut to who asks. The cluster comes first, without its limits and usage for all but administrators. */
  readonly nodes: readonly QuotaNodeView[];
  /** Active and coming ones. */
  readonly grants: readonly GrantView[];
  readonly allocations: readonly AllocationView[];
  readonly enforcement: readonly Enforcement[];
}

export const quotaEditSchema = z.object({
  subject: subjectSchema,
  /** All of its limits: what is absent has no limit afterwards. */
  limits: limitsSchema,
  basedOn: versionSchema,
});
export type QuotaEdit = z.infer<typeof quotaEditSchema>;
export const quotaSetSchema = z.object({
  edits: z.array(quotaEditSchema).check(z.minLength(1), z.maxLength(20_000)),
  /** Answers with the commands and changes nothing. */
  dryRun: z.optional(z.boolean()),
});

export interface QuotaProgress {
  readonly done: number;
  readonly total: number;
}
export type QuotaOutcome = { readonly subject: string } & (
  | { readonly outcome: "done" | "unchanged" | "dry-run"; readonly version: number }
  /** `failed`: not done. `unknown`: the engine did not answer; look at the drift. */
  | { readonly outcome: "failed" | "unknown"; readonly error: AppErrorData }
);
export interface QuotaResult {
  readonly outcomes: readonly QuotaOutcome[];
  /** The exact commands, in order: those run, or those that would be. */
  readonly commands: readonly (readonly string[])[];
}

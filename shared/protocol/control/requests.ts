/** Asking for more, and what was granted. */
import * as z from "zod/mini";
import type { Limits } from "../../quota/limits.ts";
import { limitsSchema, subjectSchema, timeSchema, versionSchema, wordsSchema } from "./fields.ts";
import type { PersonName } from "./organisation.ts";

export interface RequestView {
  readonly id: string;
  readonly subject: string;
  readonly raise: Limits;
  readonly why: string;
  readonly until: string;
  readonly askedBy: PersonName;
  readonly askedAt: string;
  readonly state: "asked" | "approved" | "refused" | "withdrawn";
  readonly decidedBy: PersonName | null;
  readonly decidedAt: string | null;
  readonly answer: string | null;
  readonly version: number;
  /** Who may decide now: the lead where it fits the tenant; absent once decided. */
  readonly approver?: "lead" | "administrator";
  /** Why an administrator is needed, or what would go on binding; one sentence each. */
  readonly notes: readonly string[];
}
export interface GrantView {
  readonly id: string;
  readonly requestId: string;
  readonly subject: string;
  readonly raise: Limits;
  readonly until: string;
  readonly state: "approved" | "running" | "ended" | "cut short";
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly version: number;
}
export interface RequestsAnswer {
  /** Open ones first, then newest first; the last 500. */
  readonly requests: readonly RequestView[];
  readonly grants: readonly GrantView[];
}
export const requestAskSchema = z.object({
  subject: subjectSchema,
  /** What comes on top of the limits; card-hours count in the period that the limit has. */
  raise: limitsSchema,
  why: z.string().check(z.minLength(1), z.maxLength(2_000)),
  until: timeSchema,
});
const requestId = z.string().check(z.regex(/^r[0-9a-z]{6}$/));
const grantId = z.string().check(z.regex(/^g[0-9a-z]{6}$/));
export const requestWithdrawSchema = z.object({ subject: subjectSchema, requestId, basedOn: versionSchema });
export const requestDecideSchema = z.object({
  subject: subjectSchema,
  requestId,
  basedOn: versionSchema,
  decision: z.enum(["approve", "refuse"]),
  answer: wordsSchema,
  /** Less than was asked for, or for a shorter time; what was asked where absent. */
  raise: z.optional(limitsSchema),
  until: z.optional(timeSchema),
});
export const grantCutSchema = z.object({ subject: subjectSchema, grantId, basedOn: versionSchema });

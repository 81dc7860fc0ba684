/** The record of who changed what, and what Slurm was told beside it. */
import * as z from "zod/mini";
import { subjectSchema, timeSchema } from "./fields.ts";

export const auditListSchema = z.object({
  /** `cluster`: everything, for administrators; a tenant: its rows, for its leads too. */
  subject: subjectSchema,
  actor: z.optional(z.string().check(z.maxLength(256))),
  object: z.optional(z.string().check(z.maxLength(200))),
  command: z.optional(z.string().check(z.maxLength(100))),
  outcome: z.optional(z.enum(["begun", "done", "failed", "refused"])),
  text: z.optional(z.string().check(z.maxLength(200))),
  from: z.optional(timeSchema),
  to: z.optional(timeSchema),
  /** `next` of the page before. */
  before: z.optional(z.int().check(z.positive())),
  limit: z.optional(z.int().check(z.minimum(1), z.maximum(1_000))),
});
export interface AuditRowView {
  /** 1, 2, 3 ... without a gap. */
  readonly seq: number;
  readonly at: string;
  readonly uid: number;
  readonly user: string | null;
  /**
   * The uid that logged in, where it is known; another one than `uid` after `su`. This, key and address are null for leads
   * where the actor is not of their tenant: how an administrator logs in is not theirs to know.
   */
  readonly loginUid: number | null;
  readonly keyFingerprint: string | null;
  readonly address: string | null;
  readonly role: string;
  /** The command of the contract, `tenant.rename`. */
  readonly command: string;
  /** The tenant whose people may read this row; null: administrators only. */
  readonly tenant: string | null;
  /** `tenant/t3f2k`, `member/t3f2k_p01/1000`; null where the attempt names none. */
  readonly object: string | null;
  /** JSON of the object before; null where it was not there. */
  readonly before: string | null;
  readonly after: string | null;
  /** JSON of the argument vector that was run, where one was. */
  readonly commandLine: string | null;
  readonly outcome: string;
  /** JSON of code, message and remedy. */
  readonly error: string | null;
  /** SHA-256 over everything above and the hash of the row before, 64 hexadecimal digits. */
  readonly hash: string;
}
export interface AuditPageView {
  /** Newest first. */
  readonly rows: readonly AuditRowView[];
  readonly next: number | null;
}
export interface AuditVerdictView {
  readonly intact: boolean;
  readonly rows: number;
  readonly head: { readonly seq: number; readonly hash: string };
  readonly findings: readonly { readonly seq: number | null; readonly kind: string; readonly message: string }[];
  readonly more: number;
  readonly notes: readonly string[];
}
/** One row of what Slurm was told past us, or by us. */
export interface SlurmTransactionView {
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly where: string;
  readonly info: string;
}
const daySchema = z.string().check(z.regex(/^\d{4}-\d{2}-\d{2}$/));
/** The first and the last day, by UTC; everything where an end is open. */
export const auditSlurmSchema = z.object({ since: z.optional(daySchema), until: z.optional(daySchema) });
export type AuditSlurmInput = z.infer<typeof auditSlurmSchema>;

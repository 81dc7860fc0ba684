/** Leases of the embedded engine. */
import * as z from "zod/mini";
import { projectIdSchema, subjectSchema, timeSchema } from "./fields.ts";

export const leaseTakeSchema = z.object({
  projectId: projectIdSchema,
  gpuUuid: z.string().check(z.minLength(1), z.maxLength(64)),
  /** Null: the whole GPU. */
  gpuInstanceId: z.nullable(z.int().check(z.nonnegative())),
  until: z.optional(timeSchema),
  /** An administrator's word that it is taken although somebody else's program runs there; of others it counts nothing. */
  besidePrograms: z.optional(z.boolean()),
});
export const leaseReleaseSchema = z.object({ subject: subjectSchema, leaseId: z.string().check(z.maxLength(40)) });
export interface LeaseView {
  readonly id: string;
  readonly subject: string;
  readonly user: string | null;
  readonly gpuUuid: string;
  readonly gpuInstanceId: number | null;
  readonly takenAt: string;
  readonly until: string | null;
  readonly version: number;
}

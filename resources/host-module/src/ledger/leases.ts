import * as z from "zod/mini";
import { limitsSchema } from "../../../../shared/protocol/control.ts";
import { defineTable } from "./object-table.ts";
import { projectId, tenantId, time, uid } from "./organisation.ts";

/** Who holds which instance or GPU of a single machine, and since when. One that is over stays: its hours were used. */
export const leases = defineTable({
  kind: "lease",
  table: "leases",
  key: ["id"],
  shape: {
    id: z.string().check(z.regex(/^l[0-9a-z]{6}$/)),
    subject: z.string(),
    scope: z.literal("person"),
    tenantId,
    projectId,
    uid,
    gpuUuid: z.string().check(z.minLength(1), z.maxLength(64)),
    /** Null: the whole GPU. */
    gpuInstanceId: z.nullable(z.int().check(z.nonnegative())),
    /** For people: the profile, or the GPU's name. */
    name: z.string().check(z.maxLength(100)),
    /** What it counts for, as it was when it was taken. */
    amounts: limitsSchema,
    takenAt: time,
    /** When it ends by itself; null: never. */
    until: z.nullable(time),
    releasedAt: z.nullable(time),
  },
  json: ["amounts"],
  tenantOf: (lease) => lease.tenantId,
});

/** Who holds which GPU instance of a machine whose limits no scheduler keeps, and who held it. */
import * as z from "zod/mini";
import { limitsSchema } from "../../../../shared/protocol/control.ts";
import { defineTable } from "./object-table.ts";
import { time } from "./organisation.ts";
import { subjectShape } from "./subject.ts";

export const leases = defineTable({
  kind: "lease",
  table: "leases",
  key: ["id"],
  shape: {
    id: z.string().check(z.regex(/^l[0-9a-z]{6}$/)),
    ...subjectShape,
    gpuUuid: z.string().check(z.minLength(1), z.maxLength(64)),
    /** Null: the whole GPU. */
    gpuInstanceId: z.nullable(z.int().check(z.nonnegative())),
    /** What it counts for, without card-hours: those come of its time. */
    amounts: limitsSchema,
    takenAt: time,
    /** From that instant on it is over, whether or not anybody released it. */
    until: z.nullable(time),
    releasedAt: z.nullable(time),
  },
  json: ["amounts"],
  tenantOf: (lease) => lease.tenantId,
});

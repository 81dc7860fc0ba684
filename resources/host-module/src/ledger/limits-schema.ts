import * as z from "zod/mini";

/**
 * Limits as the ledger keeps them, no more than needed to keep nonsense out. The domain's own definition (levels, exact
 * card shares, periods) takes this one's place; only `limitsSchema` is used elsewhere.
 */
const fraction = z.string().check(z.regex(/^\d{1,9}(\/[1-9]\d{0,8})?$/, { error: "a whole number or a fraction" }));
/** null: no limit of this kind. */
const wholeLimit = z.nullable(z.int().check(z.nonnegative()));

export const periods = ["none", "day", "week", "month", "quarter"] as const;

export const limitsSchema = z.strictObject({
  /** Cards, a partition by its share: `7/2`. */
  gpuCards: z.nullable(fraction),
  gpuMemoryGiB: wholeLimit,
  cpuCores: wholeLimit,
  ramGiB: wholeLimit,
  /** Card-hours in each period; when a period ends is said by the object's reset. */
  cardHours: z.nullable(fraction),
  /** Counts by model or profile, as the engine names its types. */
  gpuTypes: z.record(z.string().check(z.minLength(1), z.maxLength(100)), z.int().check(z.nonnegative())),
});
export type Limits = z.infer<typeof limitsSchema>;

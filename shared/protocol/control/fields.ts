/** Fields that many of the shapes have, checked where they come in. */
import * as z from "zod/mini";
import { projectIdPattern, subjectPattern, tenantIdPattern } from "../../organisation/subject.ts";
import type { Limits } from "../../quota/limits.ts";
import { describeRefusal, parseLimits } from "../../quota/parse-limits.ts";

export const tenantIdSchema = z.string().check(z.regex(tenantIdPattern, { error: "an id of a tenant, as in t3f2k" }));
export const projectIdSchema = z
  .string()
  .check(z.regex(projectIdPattern, { error: "an id of a project, as in t3f2k_p01" }));
/** The largest one stands for "none" in the kernel. */
export const uidSchema = z.int().check(z.nonnegative(), z.maximum(0xffff_fffe));
export const subjectSchema = z
  .string()
  .check(z.regex(subjectPattern, { error: "cluster, a tenant, a project, or a person in a project" }));
export const versionSchema = z.int().check(z.nonnegative());
export const timeSchema = z.iso.datetime({ precision: 3 });
export const nameSchema = z.string().check(z.minLength(1), z.maxLength(200));
export const wordsSchema = z.string().check(z.maxLength(2_000));

/** Limits as people and files write them, read by the quota rules: everything that is wrong is named at once. */
export const limitsSchema = z.pipe(
  z.unknown(),
  z.transform((value, context): Limits => {
    const parsed = parseLimits(value);
    if (parsed.ok) return parsed.value;
    for (const refusal of parsed.refusals) {
      context.issues.push({
        code: "custom",
        input: value,
        message: describeRefusal(refusal).replace(/\.$/, ""),
        path: [],
      });
    }
    return z.NEVER;
  }),
);

import * as z from "zod/mini";
import { defineTable } from "./object-table.ts";

/** Settings of the whole cluster by name; what a value means is up to whoever reads it, and is parsed there. */
export const settings = defineTable({
  kind: "setting",
  table: "settings",
  key: ["name"],
  shape: {
    name: z.string().check(z.regex(/^[a-z][a-z0-9-]{0,63}$/)),
    /** Not null: a setting that is not set is not there. */
    value: z.json().check(z.refine((value) => value !== null)),
  },
  json: ["value"],
  tenantOf: () => null,
});

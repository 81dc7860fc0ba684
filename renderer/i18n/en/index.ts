import { en } from "../en.ts";
import { flatten } from "../flatten.ts";
import { common } from "./common.ts";
import { errors } from "./errors.ts";
import { inspector } from "./inspector.ts";
import { keys } from "./keys.ts";
import { pages } from "./pages.ts";
import { partition } from "./partition.ts";
import { rules } from "./rules.ts";
import { tenants } from "./tenants.ts";

export const english = {
  ...flatten(en),
  ...common,
  ...errors,
  ...inspector,
  ...keys,
  ...pages,
  ...partition,
  ...rules,
  ...tenants,
} as const;

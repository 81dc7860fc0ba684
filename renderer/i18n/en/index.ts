import { en } from "../en.ts";
import { flatten } from "../flatten.ts";
import { audit } from "./audit.ts";
import { auditCommands } from "./audit-commands.ts";
import { common } from "./common.ts";
import { errors } from "./errors.ts";
import { inspector } from "./inspector.ts";
import { keys } from "./keys.ts";
import { leases } from "./leases.ts";
import { ledger } from "./ledger.ts";
import { pages } from "./pages.ts";
import { partition } from "./partition.ts";
import { quota } from "./quota.ts";
import { requests } from "./requests.ts";
import { rules } from "./rules.ts";
import { tenants } from "./tenants.ts";

export const english = {
  ...flatten(en),
  ...audit,
  ...auditCommands,
  ...common,
  ...errors,
  ...inspector,
  ...keys,
  ...leases,
  ...ledger,
  ...pages,
  ...partition,
  ...quota,
  ...requests,
  ...rules,
  ...tenants,
} as const;

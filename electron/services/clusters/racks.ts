import type { RackRule } from "../../../shared/api/contract.ts";
import { AppError } from "../../../shared/errors.ts";
import { hostNameOf } from "./destination.ts";

/** The rack of each host; an empty name is a host without one. Throws `bad-request` for a pattern that is none. */
export function rackOf(rule: RackRule): (destination: string) => string {
  switch (rule.kind) {
    case "none":
      return () => "";
    case "map": {
      const racks = new Map(Object.entries(rule.racks));
      return (destination) => racks.get(destination) ?? racks.get(hostNameOf(destination)) ?? "";
    }
    case "pattern": {
      const pattern = compile(rule.pattern);
      return (destination) => {
        const match = pattern.exec(hostNameOf(destination));
        return match === null ? "" : (match[1] ?? match[0]);
      };
    }
  }
}

function compile(pattern: string): RegExp {
  try {
    return new RegExp(pattern, "u");
  } catch (error) {
    throw new AppError({
      code: "bad-request",
      message: `'${pattern}' is not a pattern for racks.`,
      remedy: "Write a regular expression with one group, for instance ^(r\\d+)- for r12-gpu03.",
      evidence: { details: error instanceof Error ? error.message : String(error) },
    });
  }
}

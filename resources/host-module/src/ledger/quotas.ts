/** What everybody may use: limits, requests for more, grants of it, and when usage starts anew. */
import * as z from "zod/mini";
import { AppError } from "../../../../shared/errors.ts";
import { limitsSchema } from "../../../../shared/protocol/control.ts";
import { periodKinds } from "../../../../shared/quota/index.ts";
import { defineTable } from "./object-table.ts";
import { time, uid } from "./organisation.ts";
import { subjectShape } from "./subject.ts";

const requestId = z.string().check(z.regex(/^r[0-9a-z]{6}$/));
const grantId = z.string().check(z.regex(/^g[0-9a-z]{6}$/));
/** One or more lines; what a person wrote to another. */
const words = z.string().check(z.maxLength(2_000));

export const limits = defineTable({
  kind: "limits",
  table: "limits",
  key: ["subject"],
  shape: { ...subjectShape, limits: limitsSchema },
  json: ["limits"],
  tenantOf: (row) => row.tenantId,
});

/** Why a limit on card-hours counts from where it does. `late`: the period had begun before anybody could look. */
export const countingReasons = ["set", "period", "late", "set back", "faded"] as const;

/** When the usage of an object starts anew, when it last did, and what of it does not count. */
export const resets = defineTable({
  kind: "reset",
  table: "resets",
  key: ["subject"],
  shape: {
    ...subjectShape,
    period: z.enum(periodKinds),
    /** A name of the tz database, `Asia/Shanghai`. */
    timeZone: z.string().check(z.refine(isTimeZone, { error: "a time zone, as in Asia/Shanghai" })),
    lastDoneAt: z.nullable(time),
    why: z.enum(countingReasons),
    /** When the use that does not count was read; null where all counts. */
    countsFrom: z.nullable(time),
    /** Minutes on the engine's counter that do not count: they stand in its limit on top of ours. */
    notCounted: z.int().check(z.nonnegative()),
    /** When the engine's limit was last written with them. */
    writtenAt: z.nullable(time),
  },
  tenantOf: (row) => row.tenantId,
});

/** All counts: nothing had been used, or nobody counts but the ledger itself. */
export const fromZero = { why: "set", countsFrom: null, notCounted: 0, writtenAt: null } as const;

const requestWays = {
  asked: ["approved", "refused", "withdrawn"],
  approved: [],
  refused: [],
  withdrawn: [],
} as const;

/** Somebody asks for more, for a while. */
export const requests = defineTable({
  kind: "request",
  table: "requests",
  key: ["id"],
  shape: {
    id: requestId,
    ...subjectShape,
    /** What comes on top of the limits. */
    amount: limitsSchema,
    why: words,
    until: time,
    askedBy: uid,
    askedAt: time,
    state: z.enum(["asked", "approved", "refused", "withdrawn"]),
    decidedBy: z.nullable(uid),
    decidedAt: z.nullable(time),
    answer: z.nullable(words),
  },
  json: ["amount"],
  tenantOf: (row) => row.tenantId,
  allow: (before, after) => allowWay("request", requestWays, before.state, after.state),
});

const grantWays = {
  approved: ["running", "ended", "cut short"],
  running: ["ended", "cut short"],
  ended: [],
  "cut short": [],
} as const;

/**
 * A raise that was approved. Before it is set, `revert` says what the limits go back to, so that whoever finds a grant
 * past its time can undo it, whatever happened to the one who set it.
 */
export const grants = defineTable({
  kind: "grant",
  table: "grants",
  key: ["id"],
  shape: {
    id: grantId,
    requestId,
    ...subjectShape,
    amount: limitsSchema,
    until: time,
    state: z.enum(["approved", "running", "ended", "cut short"]),
    revert: z.nullable(limitsSchema),
    startedAt: z.nullable(time),
    endedAt: z.nullable(time),
  },
  json: ["amount", "revert"],
  tenantOf: (row) => row.tenantId,
  allow: (before, after) => {
    allowWay("grant", grantWays, before.state, after.state);
    // In a change of its own: only then is it on disk before the raise is set.
    if (before.state === "approved" && after.state === "running" && before.revert === null) {
      throw notAllowed("The way back of a grant has to be recorded before the grant runs.");
    }
    if (before.startedAt !== null && JSON.stringify(before.revert) !== JSON.stringify(after.revert)) {
      throw notAllowed("The way back of a grant cannot be changed once the grant has run.");
    }
  },
});

function allowWay<State extends string>(
  kind: string,
  ways: Readonly<Record<State, readonly string[]>>,
  from: State,
  to: State,
): void {
  if (from !== to && !ways[from].includes(to)) throw notAllowed(`A ${kind} that is ${from} cannot become ${to}.`);
}

function notAllowed(message: string): AppError {
  return new AppError({ code: "bad-request", message, remedy: "Nothing was changed. Look at where it stands now." });
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

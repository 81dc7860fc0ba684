/**
 * What sacctmgr answered to a change. Its exit status alone says little (22.05.8, tried): "Nothing modified" and "Nothing
 * new added" exit 1, and a value that it could not read exits 0 with "Modified" and an error beside it. A change whose
 * outcome is not certain is `unknown`, and is to be read back before anything else is done.
 */

import type { SlurmChange } from "./commands.ts";
import { linesOf } from "./reading.ts";

export type AnswerReason =
  | "absent" // what was to be changed is not there
  | "exists"
  | "permission"
  | "unreachable" // slurmdbd or its database: nothing was sent
  | "jobs-active"
  | "default-account" // somebody's default account would go, though that person is in others
  | "bad-value"
  | "no-tool"
  | "interrupted" // killed, or the connection was lost after the change was sent
  | "partly" // done, with an error beside it
  | "other";

export interface SlurmAnswer {
  /**
   * `done`: it says so. `nothing-to-do`: it stood so before. `refused`: nothing was changed. `unknown`: it may be done,
   * in part or not: read back.
   */
  readonly outcome: "done" | "nothing-to-do" | "refused" | "unknown";
  readonly reason: AnswerReason | null;
  /** What it said on the matter, one line, as it is. */
  readonly words: string;
  /** Of a joined command: the names that it passed over in silence, since there is no such object. The others are done. */
  readonly missing: readonly string[];
}

/** The part of a finished process that counts (`RunResult` has it). */
export interface ToolResult {
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly exitStatus: number | null;
  readonly timedOut: boolean;
}

/** Of kinds where "nothing" means that it stands as wanted; for the others it means that there is no such object. */
const nothingIsFine: ReadonlySet<SlurmChange["kind"]> = new Set([
  "add-account",
  "add-member",
  "add-qos",
  "delete-account",
  "remove-member",
  "delete-qos",
  "remove-coordinator",
  "move-account",
]);

/** Words of a refusal, and what they mean. The first that fits counts. */
const refusals: readonly { readonly words: RegExp; readonly reason: AnswerReason }[] = [
  { words: /Access\/permission denied|doesn't have privilege|not allowed to/i, reason: "permission" },
  { words: /Job\(s\) active|cancel job\(s\) before remove/i, reason: "jobs-active" },
  { words: /can not remove the default account/i, reason: "default-account" },
  // The connection never stood: nothing was sent.
  {
    words: /Sending PersistInit msg|Protocol authentication error|Problem getting .* from (the )?database/i,
    reason: "unreachable",
  },
  { words: /doesn't exist|non-existent|does not exist|Failed to find|aren't associated/i, reason: "absent" },
  {
    words:
      /Unknown (option|condition|QOS flag)|Invalid |Bad .* (format|value)|no TRES known|You gave a bad|can only be set|invalid option|unrecognized option|Need name of|No blank names/i,
    reason: "bad-value",
  },
];
/** The change was sent, and its answer did not come: slurmdbd may have done it. */
const lost =
  /Getting response to message type|DBD_\w+ failure|slurm_persist_(recv|send)|Connection reset|Broken pipe|timed out/i;
const nothing = /^\s*Nothing (new added|modified|deleted|removed|changed)/im;
const success =
  /^\s*(Adding|Added|Modified|Deleting|Deleted|Removing|Removed|Associations)\b|resetting on local cluster/im;
const trouble = /error|problem|unable|invalid/i;
const anything = /\S/;

/** Kinds whose answer lists what was modified, whole. */
const listsNames: ReadonlySet<SlurmChange["kind"]> = new Set([
  "set-limits",
  "set-shares",
  "allow-qos",
  "move-account",
  "set-default-account",
  "set-qos",
]);

/**
 * Reads the answer to a command of `commandsFor`: `kind` is that of its changes, `names` the names that it joined. Never
 * throws.
 */
export function readAnswer(kind: SlurmChange["kind"], result: ToolResult, names: readonly string[] = []): SlurmAnswer {
  const stdout = linesOf(result.stdout).join("\n");
  const stderr = linesOf(result.stderr).join("\n");
  const answer = (outcome: SlurmAnswer["outcome"], reason: AnswerReason | null, pattern: RegExp): SlurmAnswer => ({
    outcome,
    reason,
    words: lineWith(pattern, `${stderr}\n${stdout}`),
    missing: [],
  });
  if (result.timedOut || result.exitStatus === null) return answer("unknown", "interrupted", anything);
  if (result.exitStatus === 127) return answer("refused", "no-tool", anything);
  const refusal = refusals.find((candidate) => candidate.words.test(`${stderr}\n${stdout}`));
  if (refusal?.reason !== "permission" && lost.test(stderr)) return answer("unknown", "interrupted", lost);
  if (result.exitStatus === 0) {
    if (refusal !== undefined || trouble.test(stderr)) return answer("unknown", "partly", refusal?.words ?? trouble);
    if (nothing.test(stdout)) return answerToNothing(kind, answer("nothing-to-do", null, nothing));
    if (!success.test(stdout) && anything.test(stdout)) return answer("unknown", "other", anything);
    return withMissing(kind, answer("done", null, success), stdout, names);
  }
  if (refusal !== undefined) return answer("refused", refusal.reason, refusal.words);
  if (nothing.test(stdout)) return answerToNothing(kind, answer("nothing-to-do", null, nothing));
  return answer("unknown", "other", anything);
}

function answerToNothing(kind: SlurmChange["kind"], answer: SlurmAnswer): SlurmAnswer {
  if (!nothingIsFine.has(kind)) return { ...answer, outcome: "refused", reason: "absent" };
  return kind.startsWith("add-") ? { ...answer, reason: "exists" } : answer;
}

/** `C = lab A = t1 of root`, `A = t1_p01 U = alice`, or the name alone: one that is not listed was not there. */
function withMissing(
  kind: SlurmChange["kind"],
  answer: SlurmAnswer,
  stdout: string,
  names: readonly string[],
): SlurmAnswer {
  if (!listsNames.has(kind) || names.length < 2) return answer;
  const listed = new Set(stdout.split(/\s+/));
  const missing = names.filter((name) => !listed.has(name));
  return missing.length === 0 ? answer : { ...answer, outcome: "unknown", reason: "partly", missing };
}

function lineWith(pattern: RegExp, text: string): string {
  const single = new RegExp(pattern.source, pattern.flags.replace("m", ""));
  const line = text.split("\n").find((candidate) => single.test(candidate));
  return (line ?? "").trim().slice(0, 300);
}

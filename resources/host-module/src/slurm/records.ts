/**
 * `scontrol show node|job|partition`: records of `Key=value`, on many lines or (`-o`) on one. Values are not quoted, and some of them
 * a user writes: a job may be called `x UserId=root(0)`. So a key that stands twice in a record with different values has
 * no value at all, and is listed: whoever tries that hides his own job, and nobody else's.
 */
import { linesOf, type Reading } from "./reading.ts";

export type ScontrolRecord = ReadonlyMap<string, string>;

/** Values that run to the end of their line: what a user writes, and what holds spaces. */
const freeText: ReadonlySet<string> = new Set(
  (
    "JobName Command WorkDir StdErr StdIn StdOut SubmitLine Comment AdminComment SystemComment Extra OS Reason " +
    "Dependency MailUser Container Network CpusPerTres"
  ).split(" "),
);
const keyPattern = /(?:^|\s+)([A-Z][A-Za-z0-9_]*(?:[:/][A-Za-z0-9_:/]*)?)=/g;

/** Records that begin with `first=` (`JobId`, `NodeName`). Lines before the first record are listed as unread. */
export function readRecords(output: Uint8Array | string, first: string, reading: Reading): readonly ScontrolRecord[] {
  const groups: string[][] = [];
  for (const line of linesOf(output)) {
    if (line.startsWith(`${first}=`)) groups.push([line]);
    else if (groups.length > 0 && /^\s/.test(line)) groups.at(-1)?.push(line);
    else if (line !== "" && !/^No (jobs|nodes|partitions) in the system$/.test(line))
      reading.reject("", "not part of a record", line);
  }
  return groups.map((lines) => recordOf(lines, first, reading));
}

function recordOf(lines: readonly string[], first: string, reading: Reading): ScontrolRecord {
  const values = new Map<string, string>();
  const doubtful = new Set<string>();
  const isOneLine = lines.filter((line) => line.trim() !== "").length === 1;
  for (const line of lines) {
    for (const [key, value] of pairsOf(line, isOneLine)) {
      const known = values.get(key);
      if (known === undefined) values.set(key, value);
      // The lines of `-d` about each node repeat some keys: `Nodes=g1 CPU_IDs=0-3 Mem=8192 GRES=...`.
      else if (detailKeys.has(key)) values.set(key, `${known}\n${value}`);
      else if (known !== value) doubtful.add(key);
    }
  }
  const name = values.get(first) ?? "";
  for (const key of doubtful) {
    reading.reject(
      `${first}=${name} ${key}`,
      "given twice with different values: one of them is in a user's text",
      values.get(key) ?? "",
    );
    values.delete(key);
  }
  return values;
}

const detailKeys: ReadonlySet<string> = new Set(["Nodes", "CPU_IDs", "Mem", "GRES"]);

function pairsOf(line: string, isOneLine: boolean): readonly (readonly [key: string, value: string])[] {
  const keys = [...line.matchAll(keyPattern)];
  const pairs: [string, string][] = [];
  for (const [at, match] of keys.entries()) {
    const key = match[1] ?? "";
    const from = match.index + match[0].length;
    if (freeText.has(key) && !isOneLine) {
      pairs.push([key, freeValue(line.slice(from), key)]);
      if (key !== "Reason" && key !== "Dependency") break;
      continue;
    }
    pairs.push([key, line.slice(from, keys[at + 1]?.index ?? line.length).trim()]);
  }
  return pairs;
}

/** A job's reason and dependency share their line; a node's reason has its own. */
function freeValue(rest: string, key: string): string {
  if (key !== "Reason" && key !== "Dependency") return rest.trim();
  return rest.split(/\s+Dependency=/)[0]?.trim() ?? "";
}

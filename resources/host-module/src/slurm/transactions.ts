/**
 * `sacctmgr -P show transactions`: what was changed in the accounting, by whom, also past us. Text in every version (with
 * `--json` too, up to 26.05). slurmdbd writes it as pieces of SQL, with numbers in place of resources.
 */
import { linesOf, Reading, type ReadOptions, type SlurmFacts } from "./reading.ts";
import { nameTres, readTres, staticTresIds, type TresIds, writeTres } from "./tres.ts";

export interface SlurmTransaction {
  /** Seconds since the epoch; null where it could not be read. */
  readonly at: number | null;
  /** `Modify Associations`, `Add Accounts`. */
  readonly action: string;
  /** The Unix user who did it. */
  readonly actor: string;
  /** On what, as it is printed: `id_assoc=3`, `tenant_a`. */
  readonly where: string;
  /** Associations that it names by number: those of `where`. */
  readonly associationIds: readonly number[];
  /** What was set, in Slurm's own words where they are known; `null` cleared. Bookkeeping of the database is left out. */
  readonly changes: Readonly<Record<string, string | null>>;
  /** As it is printed. */
  readonly info: string;
}

/** Days as `2026-12-01`, by the clock of the tool that is asked; both count. */
export interface TransactionDays {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** The conditions for `sacctmgr show transactions`, whose end is the first instant that no longer counts. */
export function transactionConditions({ since, until }: TransactionDays): readonly string[] {
  const after = until === undefined ? Number.NaN : Date.parse(`${until}T00:00:00Z`) + 86_400_000;
  return [
    ...(since !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(since) ? [`Start=${since}`] : []),
    ...(Number.isFinite(after) ? [`End=${new Date(after).toISOString().slice(0, 10)}`] : []),
  ];
}

interface TransactionOptions extends ReadOptions {
  /** From `readTresIds`; without it resources of the site stay numbers. */
  readonly tresIds?: TresIds;
}

/** The `where` of several associations has ` || ` in it, and a description may have `|`: the first three cells are sure. */
export function readTransactions(
  output: Uint8Array | string,
  options: TransactionOptions = {},
): SlurmFacts<readonly SlurmTransaction[]> {
  const reading = new Reading(options.source ?? "sacctmgr -P show transactions");
  const facts: SlurmTransaction[] = [];
  for (const line of linesOf(output)) {
    if (line.trim() === "" || /^Time\|Action\|/i.test(line)) continue;
    const match = /^([^|]*)\|([^|]*)\|([^|]*)\|(.*)$/.exec(line);
    const [, time = "", action = "", actor = "", rest = ""] = match ?? [];
    const split = splitWhere(rest);
    if (match === null || split === null) {
      reading.reject("transactions", "not Time|Action|Actor|Where|Info, or cut", line);
      continue;
    }
    facts.push({
      at: reading.time("transactions.time", time, options.utcOffsetMinutes ?? 0),
      action,
      actor,
      where: split.where,
      associationIds: [...split.where.matchAll(/\bid_assoc=(\d{1,15})\b/g)].map(([, id]) => Number(id)),
      changes: changesOf(split.info, options.tresIds ?? staticTresIds),
      info: split.info,
    });
  }
  return { facts, unread: reading.unread };
}

function splitWhere(rest: string): { readonly where: string; readonly info: string } | null {
  const at = rest.replaceAll(" || ", " .. ").indexOf("|");
  return at < 0 ? null : { where: rest.slice(0, at), info: rest.slice(at + 1) };
}

/** Slurm's words for the columns that limits and roles stand in (as_mysql_assoc.c, as_mysql_qos.c). */
const columnWords: Readonly<Record<string, string>> = {
  shares: "Fairshare",
  grp_tres: "GrpTRES",
  grp_tres_mins: "GrpTRESMins",
  grp_tres_run_mins: "GrpTRESRunMins",
  grp_jobs: "GrpJobs",
  grp_submit_jobs: "GrpSubmitJobs",
  grp_wall: "GrpWall",
  max_jobs: "MaxJobs",
  max_submit_jobs: "MaxSubmitJobs",
  max_wall_pj: "MaxWall",
  max_tres_pj: "MaxTRESPerJob",
  max_tres_pn: "MaxTRESPerNode",
  max_tres_mins_pj: "MaxTRESMinsPerJob",
  max_tres_pu: "MaxTRESPerUser",
  max_tres_pa: "MaxTRESPerAccount",
  parent_acct: "Parent",
  acct: "Account",
  user: "User",
  admin_level: "AdminLevel",
  description: "Description",
  organization: "Organization",
  priority: "Priority",
  usage_factor: "UsageFactor",
  preempt: "Preempt",
  def_qos_id: "DefaultQOS",
  qos: "QOS",
};

/** `a=1, b = if (id_assoc=3, 'x', b), c='y, z'`: values may have commas in quotes and in brackets. */
const assignment = /`?(\w+)`?\s*=\s*(?:if\s*\([^,]*,\s*('(?:[^'\\]|\\.)*'|[^,)]*)[^)]*\)|('(?:[^'\\]|\\.)*')|([^,]*))/g;

function changesOf(info: string, ids: TresIds): SlurmTransaction["changes"] {
  const changes = new Map<string, string | null>();
  for (const [, column = "", conditional, quoted, bare] of info.matchAll(assignment)) {
    const word = Object.hasOwn(columnWords, column) ? columnWords[column] : undefined;
    const raw = (conditional ?? quoted ?? bare ?? "").trim();
    const value = raw.startsWith("'") ? raw.slice(1, -1) : raw;
    if (word === undefined) continue;
    const isCleared = value === "NULL" || value === "";
    changes.set(word, isCleared ? null : word.includes("TRES") ? namedTres(value, ids) : value.replace(/^,|,$/g, ""));
  }
  return Object.fromEntries(changes);
}

function namedTres(value: string, ids: TresIds): string {
  const reading = new Reading("");
  const counts = readTres(value, "", reading);
  return reading.unread.length > 0 ? value : (writeTres(nameTres(counts, ids)) ?? value);
}

/** `sacctmgr -P show tres`: the numbers of this site's resources. */
export function readTresIds(output: Uint8Array | string, options: ReadOptions = {}): SlurmFacts<TresIds> {
  const reading = new Reading(options.source ?? "sacctmgr -P show tres");
  const ids = new Map(staticTresIds);
  for (const line of linesOf(output)) {
    if (line === "" || /^Type\|Name\|ID/i.test(line)) continue;
    const match = /^([\w-]+)\|([^|]*)\|(\d{1,9})\|?$/.exec(line);
    if (match === null) reading.reject("tres", "not Type|Name|ID", line);
    else ids.set(Number(match[3]), match[2] === "" ? (match[1] ?? "") : `${match[1]}/${match[2]}`);
  }
  return { facts: ids, unread: reading.unread };
}

/**
 * `scontrol show assoc_mgr flags=assoc,qos`: the live limits and use of every association and QOS, as slurmctld counts
 * them. Text in every version up to 26.05 (`--json` prints text too). `N` is no limit: `gres/gpu=4(3)`, `GrpJobs=N(2)`.
 */
import { linesOf, Reading, type ReadOptions, type SlurmFacts } from "./reading.ts";
import { amountOf, readTres, readTresLimits, type TresCounts, type TresLimit } from "./tres.ts";

/** A limit on a number of jobs, and how many there are. */
export interface CountLimit {
  readonly limit: number | null;
  readonly used: number | null;
}

/** What all jobs of an association or a QOS share. */
export interface LiveGroup {
  readonly tres: readonly TresLimit[];
  /** Resource minutes used since the last reset, with decay where it is set. */
  readonly tresMins: readonly TresLimit[];
  /** Resource minutes that the running jobs may still take. */
  readonly tresRunMins: readonly TresLimit[];
  readonly jobs: CountLimit;
  readonly submitJobs: CountLimit;
  readonly wallMinutes: CountLimit;
}

/** What one job may take. */
export interface LivePerJob {
  readonly maxTres: TresCounts;
  readonly maxTresPerNode: TresCounts;
  readonly maxTresMins: TresCounts;
  readonly maxWallMinutes: number | null;
  /** The least that a job must ask for; of a QOS only. */
  readonly minTres: TresCounts;
}

export interface LiveAssociation {
  readonly id: number | null;
  readonly cluster: string;
  readonly account: string;
  readonly user: string | null;
  readonly userId: number | null;
  readonly partition: string | null;
  readonly parentAccount: string | null;
  readonly group: LiveGroup;
  readonly perJob: LivePerJob;
  readonly maxJobs: CountLimit;
  readonly maxSubmitJobs: CountLimit;
  readonly usageRaw: number | null;
}

/** A QOS's limits for one user or one account. */
export interface LiveShare {
  /** Null where the version prints the user's number only (22.05). */
  readonly name: string | null;
  readonly userId: number | null;
  readonly tres: readonly TresLimit[];
  readonly tresRunMins: readonly TresLimit[];
  readonly jobs: CountLimit;
  readonly submitJobs: CountLimit;
}

export interface LiveQos {
  readonly id: number | null;
  readonly name: string;
  readonly group: LiveGroup;
  readonly perJob: LivePerJob;
  readonly perAccount: readonly LiveShare[];
  readonly perUser: readonly LiveShare[];
}

export interface AssociationManager {
  readonly associations: readonly LiveAssociation[];
  readonly qos: readonly LiveQos[];
}

const associationLine = /^ClusterName=(.*?) Account=(.*?) UserName=(.*?) Partition=(.*?) Priority=(\d+) ID=(\d+)$/;
const qosLine = /^QOS=(.*)\((\d+)\)$/;

/** Reads the whole. A record whose first line is not as Slurm prints it is listed and left out. */
export function readAssociationManager(
  output: Uint8Array | string,
  options: ReadOptions = {},
): SlurmFacts<AssociationManager> {
  const reading = new Reading(options.source ?? "scontrol show assoc_mgr flags=assoc,qos");
  const associations: LiveAssociation[] = [];
  const qos: LiveQos[] = [];
  for (const [head = "", ...body] of records(output, reading)) {
    const association = associationLine.exec(head);
    const named = qosLine.exec(head);
    if (association !== null) associations.push(associationOf(association, fieldsOf(body), reading));
    else if (named !== null) qos.push(qosOf(named[1] ?? "", Number(named[2]), body, reading));
    else reading.reject("", "not the first line of an association or a QOS, or cut", head);
  }
  return { facts: { associations, qos }, unread: reading.unread };
}

/** A record is a line that begins at the margin with `ClusterName=` or `QOS=`, and the indented lines below it. */
function records(output: Uint8Array | string, reading: Reading): readonly (readonly string[])[] {
  const all: string[][] = [];
  let sawTitle = false;
  for (const line of linesOf(output)) {
    if (/^(ClusterName|QOS)=/.test(line)) all.push([line]);
    else if (/^\s+\S/.test(line)) all.at(-1)?.push(line);
    else if (/^(Current Association Manager state|Association Records|QOS Records|User Records)$/.test(line))
      sawTitle = true;
    else if (line !== "" && !/^No .* currently cached|^UserName=/.test(line))
      reading.reject("", "not a line of the association manager", line);
  }
  if (!sawTitle && all.length === 0) reading.reject("", "no records of the association manager", "");
  return all;
}

type Fields = ReadonlyMap<string, string>;

/** `Comment` is free text and the last of its record. */
function fieldsOf(lines: readonly string[]): Fields {
  const fields = new Map<string, string>();
  for (const line of lines) {
    if (/^\s*Comment=/.test(line)) continue;
    for (const [, key = "", value = ""] of line.matchAll(/(?:^|\s)([A-Za-z][\w/]*)=(\S*)/g)) {
      if (!fields.has(key)) fields.set(key, value);
    }
  }
  return fields;
}

function associationOf(head: RegExpExecArray, fields: Fields, reading: Reading): LiveAssociation {
  const [, cluster = "", account = "", userWords = "", partition = "", , id] = head;
  const user = /^(.*?)(?:\((\d+)\))?$/.exec(userWords);
  const name = user?.[1] ?? "";
  const field = `associations[${name === "" ? account : `${account}/${name}`}]`;
  return {
    id: Number(id),
    cluster,
    account,
    user: name === "" ? null : name,
    userId: user?.[2] === undefined ? null : Number(user[2]),
    partition: partition === "" ? null : partition,
    parentAccount: fields.get("ParentAccount")?.replace(/\(\d+\)$/, "") || null,
    group: groupOf(fields, field, reading),
    perJob: perJobOf(fields, field, reading),
    maxJobs: countLimit(fields.get("MaxJobs"), `${field}.MaxJobs`, reading),
    maxSubmitJobs: countLimit(fields.get("MaxSubmitJobs"), `${field}.MaxSubmitJobs`, reading),
    usageRaw: reading.number(`${field}.UsageRaw`, fields.get("UsageRaw/Norm/Efctv")?.split("/")[0]),
  };
}

function groupOf(fields: Fields, field: string, reading: Reading): LiveGroup {
  const tres = (key: string) => readTresLimits(fields.get(key), `${field}.${key}`, reading);
  const count = (key: string) => countLimit(fields.get(key), `${field}.${key}`, reading);
  for (const key of ["GrpTRES", "GrpTRESMins", "GrpJobs"]) {
    if (!fields.has(key)) reading.reject(`${field}.${key}`, "not printed, or cut", "");
  }
  return {
    tres: tres("GrpTRES"),
    tresMins: tres("GrpTRESMins"),
    tresRunMins: tres("GrpTRESRunMins"),
    jobs: count("GrpJobs"),
    submitJobs: count("GrpSubmitJobs"),
    wallMinutes: count("GrpWall"),
  };
}

function perJobOf(fields: Fields, field: string, reading: Reading): LivePerJob {
  const tres = (key: string) => readTres(fields.get(key), `${field}.${key}`, reading);
  return {
    maxTres: tres("MaxTRESPJ"),
    maxTresPerNode: tres("MaxTRESPN"),
    maxTresMins: tres("MaxTRESMinsPJ"),
    maxWallMinutes: reading.count(`${field}.MaxWallPJ`, fields.get("MaxWallPJ")),
    minTres: tres("MinTRESPJ"),
  };
}

/** `N(2)`, `4(1)`, `N(0.55)`; `3` and nothing where a version does not print the use. */
function countLimit(raw: string | undefined, field: string, reading: Reading): CountLimit {
  if (raw === undefined || raw === "") return { limit: null, used: null };
  const match = /^(N|\d+(?:\.\d+)?)(?:\((\d+(?:\.\d+)?)\))?$/.exec(raw);
  if (match === null) {
    reading.reject(field, "not limit(used)", raw);
    return { limit: null, used: null };
  }
  return {
    limit: match[1] === "N" ? null : amountOf("", match[1] ?? ""),
    used: match[2] === undefined ? null : Number(match[2]),
  };
}

function qosOf(name: string, id: number, body: readonly string[], reading: Reading): LiveQos {
  const field = `qos[${name}]`;
  const at = body.findIndex((line) => /^\s*Account Limits$/.test(line));
  const below = body.findIndex((line) => /^\s*User Limits$/.test(line));
  const own = fieldsOf(at < 0 ? body : body.slice(0, at));
  return {
    id,
    name,
    group: groupOf(own, field, reading),
    perJob: perJobOf(own, field, reading),
    perAccount: at < 0 ? [] : sharesOf(body.slice(at + 1, below < 0 ? undefined : below), "PA", field, reading),
    perUser: below < 0 ? [] : sharesOf(body.slice(below + 1), "PU", field, reading),
  };
}

/** `      lab_alice(5101)`, from 23.11 on; `      5101` before; an account's name. Below it the lines with `=`. */
function sharesOf(
  lines: readonly string[],
  suffix: "PA" | "PU",
  field: string,
  reading: Reading,
): readonly LiveShare[] {
  const shares: LiveShare[] = [];
  lines.forEach((line, at) => {
    const head = line.trim();
    if (head.includes("=") || /^No (Accounts|Users)$/.test(head)) return;
    const rest = lines.slice(at + 1);
    const end = rest.findIndex((next) => !next.includes("="));
    const fields = fieldsOf(end < 0 ? rest : rest.slice(0, end));
    const user = suffix === "PU" ? /^(?:(.*)\()?(\d+)\)?$/.exec(head) : null;
    const place = `${field}.${suffix}[${head}]`;
    shares.push({
      name: suffix === "PA" ? head : (user?.[1] ?? (user === null ? head : null)),
      userId: user?.[2] === undefined ? null : Number(user[2]),
      tres: readTresLimits(fields.get(`MaxTRES${suffix}`), `${place}.MaxTRES`, reading),
      tresRunMins: readTresLimits(fields.get(`MaxTRESRunMins${suffix}`), `${place}.MaxTRESRunMins`, reading),
      jobs: countLimit(fields.get(`MaxJobs${suffix}`), `${place}.MaxJobs`, reading),
      submitJobs: countLimit(fields.get(`MaxSubmitJobs${suffix}`), `${place}.MaxSubmitJobs`, reading),
    });
  });
  return shares;
}

/** The entry for one resource; no limit and no use where there is none. */
export function limitOf(limits: readonly TresLimit[], tres: string): TresLimit {
  return limits.find((limit) => limit.tres === tres) ?? { tres, limit: null, used: 0 };
}

/**
 * `sacctmgr -P show assoc|account|user|qos`: parsable text, of every version. Columns are found by their header, so that
 * any `format=` and any version's default will do.
 */
import type { Association, Qos, SlurmAccount, SlurmUser } from "./associations.ts";
import type { AssociationLimits, QosLimits, SharedLimits } from "./limits.ts";
import { listOf, Reading, type ReadOptions, type SlurmFacts } from "./reading.ts";
import { cell, type Row, readTable } from "./table.ts";
import { readTres, type TresCounts } from "./tres.ts";

/** What to ask for: all that the facts hold, in the words of 20.11 to 26.05. */
export const associationColumns =
  "cluster,account,user,partition,parentname,share,priority,grpjobs,grptres,grptresmins,grptresrunmins,grpsubmit,grpwall,maxjobs,maxtres,maxtrespernode,maxtresmins,maxsubmit,maxwall,qos,defaultqos,id";

interface TableOptions extends ReadOptions {
  /** Names of the columns of an output without header (`-n`). */
  readonly columns?: readonly string[];
}

/** `sacctmgr -P show assoc`. A row without cluster or account is listed and left out. */
export function readAssociations(
  output: Uint8Array | string,
  options: TableOptions = {},
): SlurmFacts<readonly Association[]> {
  const reading = new Reading(options.source ?? "sacctmgr -P show assoc");
  const facts = readTable(output, reading, options.columns).flatMap((row) => {
    const account = reading.text(row.get("account"));
    const cluster = reading.text(row.get("cluster"));
    if (account !== null && cluster !== null) return [associationOf(row, cluster, account, reading)];
    reading.reject("associations", "a row without account or cluster", [...row.values()].join("|"));
    return [];
  });
  return { facts, unread: reading.unread };
}

function associationOf(row: Row, cluster: string, account: string, reading: Reading): Association {
  const user = reading.text(row.get("user"));
  const field = `associations[${[account, user].filter((part) => part !== null).join("/")}]`;
  return {
    id: reading.count(`${field}.id`, row.get("id")),
    cluster,
    account,
    user,
    partition: reading.text(row.get("partition")),
    parentAccount: user === null ? reading.text(cell(row, "parentname", "parname")) : null,
    shares: sharesOf(row, field, reading),
    priority: reading.count(`${field}.priority`, row.get("priority")),
    qos: listOf(row.get("qos")).toSorted(),
    defaultQos: reading.text(cell(row, "defqos", "defaultqos")),
    limits: associationLimitsOf(row, field, reading),
  };
}

function sharesOf(row: Row, field: string, reading: Reading): number | "parent" | null {
  const raw = cell(row, "share", "fairshare");
  return raw?.trim() === "parent" ? "parent" : reading.count(`${field}.shares`, raw);
}

function associationLimitsOf(row: Row, field: string, reading: Reading): AssociationLimits {
  return {
    ...sharedLimitsOf(row, field, reading),
    maxJobs: reading.count(`${field}.maxJobs`, row.get("maxjobs")),
    maxSubmitJobs: reading.count(`${field}.maxSubmitJobs`, cell(row, "maxsubmit", "maxsubmitjobs")),
  };
}

function sharedLimitsOf(row: Row, field: string, reading: Reading): SharedLimits {
  const tres = (name: string, ...columns: readonly string[]) =>
    readTres(cell(row, ...columns), `${field}.${name}`, reading);
  const minutes = (name: string, ...columns: readonly string[]) => {
    const value = reading.minutes(`${field}.${name}`, cell(row, ...columns));
    return value === "unlimited" ? null : value;
  };
  return {
    grpTres: { ...tres("grpTres", "grptres"), ...olderTres(row, field, olderGroup, reading) },
    grpTresMins: tres("grpTresMins", "grptresmins"),
    grpTresRunMins: tres("grpTresRunMins", "grptresrunmins"),
    grpJobs: reading.count(`${field}.grpJobs`, row.get("grpjobs")),
    grpSubmitJobs: reading.count(`${field}.grpSubmitJobs`, cell(row, "grpsubmit", "grpsubmitjobs")),
    grpWallMinutes: minutes("grpWallMinutes", "grpwall"),
    maxTres: {
      ...tres("maxTres", "maxtres", "maxtresperjob", "maxtrespj"),
      ...olderTres(row, field, olderMax, reading),
    },
    maxTresPerNode: tres("maxTresPerNode", "maxtrespernode", "maxtrespn"),
    maxTresMins: tres("maxTresMins", "maxtresmins", "maxtresminsperjob", "maxtresminspj"),
    maxWallMinutes: minutes("maxWallMinutes", "maxwall", "maxwalldurationperjob", "maxwallpj"),
  };
}

/** `show account|user withassoc` prints one column a resource, in whole numbers, and nothing of GPUs. */
const olderGroup = { grpcpus: "cpu", grpmem: "mem", grpnodes: "node" };
const olderMax = { maxcpus: "cpu", maxnodes: "node" };

function olderTres(row: Row, field: string, columns: Readonly<Record<string, string>>, reading: Reading): TresCounts {
  const counts = Object.entries(columns).flatMap(([column, tres]) => {
    const count = reading.count(`${field}.${column}`, row.get(column));
    return count === null ? [] : [[tres, count] as const];
  });
  return Object.fromEntries(counts);
}

/** `sacctmgr -P show account [withcoord|withassoc]`. An account of several rows (`withassoc`) is one fact. */
export function readAccounts(
  output: Uint8Array | string,
  options: TableOptions = {},
): SlurmFacts<readonly SlurmAccount[]> {
  const reading = new Reading(options.source ?? "sacctmgr -P show account withcoord");
  const accounts = new Map<string, SlurmAccount>();
  for (const row of readTable(output, reading, options.columns)) {
    const name = reading.text(row.get("account"));
    if (name === null) {
      reading.reject("accounts", "a row without account", [...row.values()].join("|"));
      continue;
    }
    const coordinators = cell(row, "coordaccounts", "coordinators", "coord");
    accounts.set(name, {
      name,
      description: cell(row, "descr", "description") ?? "",
      organization: cell(row, "org", "organization") ?? "",
      coordinators: coordinators === undefined ? null : listOf(coordinators).toSorted(),
    });
  }
  return { facts: [...accounts.values()], unread: reading.unread };
}

/** `sacctmgr -P show user [withassoc]`. A user of several rows is one fact. */
export function readUsers(output: Uint8Array | string, options: TableOptions = {}): SlurmFacts<readonly SlurmUser[]> {
  const reading = new Reading(options.source ?? "sacctmgr -P show user");
  const users = new Map<string, SlurmUser>();
  for (const row of readTable(output, reading, options.columns)) {
    const name = reading.text(row.get("user"));
    if (name === null) {
      reading.reject("users", "a row without user", [...row.values()].join("|"));
      continue;
    }
    users.set(name, {
      name,
      defaultAccount: reading.text(cell(row, "defacct", "defaultaccount")),
      adminLevel: adminLevelOf(cell(row, "admin", "adminlevel"), `users[${name}].adminLevel`, reading),
    });
  }
  return { facts: [...users.values()], unread: reading.unread };
}

/** `None`, `Operator`, `Administrator`; `Not Set` counts as none. */
export function adminLevelOf(raw: string | undefined, field: string, reading: Reading): SlurmUser["adminLevel"] {
  const word = raw?.trim().toLowerCase();
  if (word === undefined || word === "") return null;
  if (word === "none" || word === "not set") return "none";
  if (word === "operator" || word === "administrator") return word;
  return reading.reject(field, "not a level of administration", raw ?? "");
}

/** `sacctmgr -P show qos`. */
export function readQos(output: Uint8Array | string, options: TableOptions = {}): SlurmFacts<readonly Qos[]> {
  const reading = new Reading(options.source ?? "sacctmgr -P show qos");
  const facts = readTable(output, reading, options.columns).flatMap((row) => {
    const name = reading.text(row.get("name"));
    if (name !== null) return [qosOf(row, name, reading)];
    reading.reject("qos", "a row without name", [...row.values()].join("|"));
    return [];
  });
  return { facts, unread: reading.unread };
}

function qosOf(row: Row, name: string, reading: Reading): Qos {
  const field = `qos[${name}]`;
  const seconds = (column: string) => {
    const value = reading.seconds(`${field}.${column}`, row.get(column));
    return value === "unlimited" ? null : value;
  };
  return {
    id: reading.count(`${field}.id`, row.get("id")),
    name,
    priority: reading.count(`${field}.priority`, row.get("priority")),
    flags: listOf(row.get("flags")).toSorted(),
    preempts: listOf(row.get("preempt")).toSorted(),
    preemptMode: reading.text(row.get("preemptmode"))?.toLowerCase() ?? "cluster",
    graceTimeSeconds: seconds("gracetime"),
    preemptExemptSeconds: seconds("preemptexempttime"),
    usageFactor: reading.number(`${field}.usageFactor`, row.get("usagefactor")),
    limits: qosLimitsOf(row, field, reading),
  };
}

function qosLimitsOf(row: Row, field: string, reading: Reading): QosLimits {
  const tres = (name: string, ...columns: readonly string[]) =>
    readTres(cell(row, ...columns), `${field}.${name}`, reading);
  const count = (name: string, ...columns: readonly string[]) =>
    reading.count(`${field}.${name}`, cell(row, ...columns));
  return {
    ...sharedLimitsOf(row, field, reading),
    maxTresPerUser: tres("maxTresPerUser", "maxtrespu", "maxtresperuser"),
    maxTresPerAccount: tres("maxTresPerAccount", "maxtrespa", "maxtresperaccount"),
    maxTresRunMinsPerUser: tres("maxTresRunMinsPerUser", "maxtresrunminspu"),
    maxTresRunMinsPerAccount: tres("maxTresRunMinsPerAccount", "maxtresrunminspa"),
    maxJobsPerUser: count("maxJobsPerUser", "maxjobspu", "maxjobsperuser"),
    maxJobsPerAccount: count("maxJobsPerAccount", "maxjobspa", "maxjobsperaccount"),
    maxSubmitJobsPerUser: count("maxSubmitJobsPerUser", "maxsubmitpu", "maxsubmitjobsperuser", "maxsubmitjobspu"),
    maxSubmitJobsPerAccount: count(
      "maxSubmitJobsPerAccount",
      "maxsubmitpa",
      "maxsubmitjobsperaccount",
      "maxsubmitjobspa",
    ),
    minTres: tres("minTres", "mintres", "mintresperjob"),
  };
}

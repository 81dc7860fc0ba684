/**
 * `sacctmgr show assoc|account|user|qos --json`, data_parser v0.0.39 (23.02) to v0.0.45 (26.05): the same facts as from
 * the text. What a parser leaves out is listed once and null: up to v0.0.41 a QOS's GrpTRESMins and GrpSubmitJobs.
 */
import type { Association, Qos, SlurmAccount, SlurmUser } from "./associations.ts";
import { adminLevelOf } from "./associations-text.ts";
import { at, finiteIn, list, numberIn, object, readJson, string, strings } from "./json.ts";
import type { AssociationLimits, QosLimits } from "./limits.ts";
import { Reading, type ReadOptions, type SlurmFacts } from "./reading.ts";
import { isTresName, type TresCounts } from "./tres.ts";

/** `SLURMDB_FS_USE_PARENT`: the row has no shares of its own. */
const sharesOfParent = 0x7fffffff;

/** Null facts where this is no JSON: the text reader is for that. */
export function readAssociationsJson(
  output: Uint8Array | string,
  options: ReadOptions = {},
): SlurmFacts<readonly Association[] | null> {
  const reading = new Reading(options.source ?? "sacctmgr show assoc --json");
  const json = readJson(output, reading);
  if (json === null) return { facts: null, unread: reading.unread };
  const facts = list(json.root.associations).flatMap((value) => {
    const account = string(at(value, "account"));
    const cluster = string(at(value, "cluster"));
    if (account !== null && cluster !== null) return [associationOf(value, cluster, account, reading)];
    reading.reject("associations", "an entry without account or cluster", JSON.stringify(value));
    return [];
  });
  return { facts, unread: reading.unread };
}

function associationOf(value: unknown, cluster: string, account: string, reading: Reading): Association {
  const user = string(at(value, "user"));
  const field = `associations[${[account, user].filter((part) => part !== null).join("/")}]`;
  const shares = finiteIn(at(value, "shares_raw"));
  return {
    id: finiteIn(at(value, "id", "id") ?? at(value, "id")) || null,
    cluster,
    account,
    user,
    partition: string(at(value, "partition")),
    parentAccount: user === null ? string(at(value, "parent_account")) : null,
    shares: shares === sharesOfParent ? "parent" : shares,
    priority: finiteIn(at(value, "priority")),
    qos: strings(at(value, "qos")).toSorted(),
    defaultQos: string(at(value, "default", "qos")),
    limits: associationLimitsOf(at(value, "max"), field, reading),
  };
}

function associationLimitsOf(max: unknown, field: string, reading: Reading): AssociationLimits {
  const tres = (name: string, ...path: readonly string[]) => tresOf(at(max, ...path), `${field}.${name}`, reading);
  return {
    grpTres: tres("grpTres", "tres", "total"),
    grpTresMins: tres("grpTresMins", "tres", "group", "minutes"),
    grpTresRunMins: tres("grpTresRunMins", "tres", "group", "active"),
    grpJobs: finiteIn(at(max, "jobs", "per", "count")),
    grpSubmitJobs: finiteIn(at(max, "jobs", "per", "submitted")),
    grpWallMinutes: finiteIn(at(max, "per", "account", "wall_clock")),
    maxTres: tres("maxTres", "tres", "per", "job"),
    maxTresPerNode: tres("maxTresPerNode", "tres", "per", "node"),
    maxTresMins: tres("maxTresMins", "tres", "minutes", "per", "job"),
    maxWallMinutes: finiteIn(at(max, "jobs", "per", "wall_clock")),
    maxJobs: finiteIn(at(max, "jobs", "active")),
    maxSubmitJobs: finiteIn(at(max, "jobs", "total")),
  };
}

/** `[{"type": "gres", "name": "gpu", "id": 1001, "count": 8}]` */
function tresOf(value: unknown, field: string, reading: Reading): TresCounts {
  const counts = list(value).flatMap((entry) => {
    const type = string(at(entry, "type")) ?? "";
    const name = string(at(entry, "name"));
    const tres = name === null ? type : `${type}/${name}`;
    const count = numberIn(at(entry, "count"));
    if (typeof count === "number" && count >= 0 && isTresName(tres)) return [[tres, count] as const];
    if (count !== null && count !== "unlimited" && count !== -1) {
      reading.reject(field, "not a resource with a count", JSON.stringify(entry));
    }
    return [];
  });
  return Object.fromEntries(counts);
}

/** `sacctmgr show account [withcoord] --json`; coordinators are null where the answer lists none of any account. */
export function readAccountsJson(
  output: Uint8Array | string,
  options: ReadOptions & { readonly withCoordinators?: boolean } = {},
): SlurmFacts<readonly SlurmAccount[] | null> {
  const reading = new Reading(options.source ?? "sacctmgr show account withcoord --json");
  const json = readJson(output, reading);
  if (json === null) return { facts: null, unread: reading.unread };
  const facts = list(json.root.accounts).flatMap((value): readonly SlurmAccount[] => {
    const name = string(at(value, "name"));
    if (name === null) {
      reading.reject("accounts", "an entry without name", JSON.stringify(value));
      return [];
    }
    const coordinators = list(at(value, "coordinators")).flatMap(
      (coordinator) => string(coordinator) ?? string(at(coordinator, "name")) ?? [],
    );
    return [
      {
        name,
        description: string(at(value, "description")) ?? "",
        organization: string(at(value, "organization")) ?? "",
        // An empty list is printed without `withcoord` too.
        coordinators: options.withCoordinators === true || coordinators.length > 0 ? coordinators.toSorted() : null,
      },
    ];
  });
  return { facts, unread: reading.unread };
}

/** `sacctmgr show user --json` */
export function readUsersJson(
  output: Uint8Array | string,
  options: ReadOptions = {},
): SlurmFacts<readonly SlurmUser[] | null> {
  const reading = new Reading(options.source ?? "sacctmgr show user --json");
  const json = readJson(output, reading);
  if (json === null) return { facts: null, unread: reading.unread };
  const facts = list(json.root.users).flatMap((value): readonly SlurmUser[] => {
    const name = string(at(value, "name"));
    if (name === null) {
      reading.reject("users", "an entry without name", JSON.stringify(value));
      return [];
    }
    const [level] = strings(at(value, "administrator_level"));
    return [
      {
        name,
        defaultAccount: string(at(value, "default", "account")),
        adminLevel: adminLevelOf(level, `users[${name}].adminLevel`, reading),
      },
    ];
  });
  return { facts, unread: reading.unread };
}

/** sacctmgr's words for the flags of data_parser; others stay as they are. */
const flagWords: Readonly<Record<string, string>> = {
  PARTITION_MINIMUM_NODE: "PartitionMinNodes",
  PARTITION_MAXIMUM_NODE: "PartitionMaxNodes",
  PARTITION_TIME_LIMIT: "PartitionTimeLimit",
  ENFORCE_USAGE_THRESHOLD: "EnforceUsageThreshold",
  NO_RESERVE: "NoReserve",
  REQUIRED_RESERVATION: "RequiresReservation",
  DENY_LIMIT: "DenyOnLimit",
  OVERRIDE_PARTITION_QOS: "OverPartQOS",
  PARTITION_QOS: "OverPartQOS",
  NO_DECAY: "NoDecay",
  USAGE_FACTOR_SAFE: "UsageFactorSafe",
  RELATIVE: "Relative",
};

/** From v0.0.42 on a QOS's GrpTRESMins and GrpSubmitJobs are printed. */
const qosCompleteSince = 42;

/** `sacctmgr show qos --json` */
export function readQosJson(output: Uint8Array | string, options: ReadOptions = {}): SlurmFacts<readonly Qos[] | null> {
  const reading = new Reading(options.source ?? "sacctmgr show qos --json");
  const json = readJson(output, reading);
  if (json === null) return { facts: null, unread: reading.unread };
  const isComplete = (json.parserNumber ?? qosCompleteSince) >= qosCompleteSince;
  if (!isComplete) reading.reject("qos[].limits.grpTresMins", "this parser does not print it", json.parser);
  if (!isComplete) reading.reject("qos[].limits.grpSubmitJobs", "this parser does not print it", json.parser);
  const facts = list(json.root.qos).flatMap((value) => {
    const name = string(at(value, "name"));
    if (name !== null) return [qosOf(value, name, reading)];
    reading.reject("qos", "an entry without name", JSON.stringify(value));
    return [];
  });
  return { facts, unread: reading.unread };
}

function qosOf(value: unknown, name: string, reading: Reading): Qos {
  const modes = strings(at(value, "preempt", "mode")).map((mode) => mode.toLowerCase());
  return {
    id: finiteIn(at(value, "id")),
    name,
    priority: finiteIn(at(value, "priority")),
    flags: strings(at(value, "flags"))
      .filter((flag) => !/^(NOT_SET|ADD|REMOVE|DELETED)$/.test(flag))
      .map((flag) => flagWords[flag] ?? flag)
      .toSorted(),
    preempts: strings(at(value, "preempt", "list")).toSorted(),
    // 0 is PREEMPT_MODE_OFF, which sacctmgr prints as `cluster` and data_parser as DISABLED.
    preemptMode: modes.filter((mode) => mode !== "disabled").join(",") || "cluster",
    graceTimeSeconds: finiteIn(at(value, "limits", "grace_time")),
    preemptExemptSeconds: finiteIn(at(value, "preempt", "exempt_time")),
    usageFactor: finiteIn(at(value, "usage_factor")),
    limits: qosLimitsOf(object(at(value, "limits")), `qos[${name}].limits`, reading),
  };
}

function qosLimitsOf(limits: unknown, field: string, reading: Reading): QosLimits {
  const max = at(limits, "max");
  const tres = (name: string, ...path: readonly string[]) =>
    tresOf(at(max, "tres", ...path), `${field}.${name}`, reading);
  return {
    grpTres: tres("grpTres", "total"),
    grpTresMins: at(max, "tres", "minutes", "total") === undefined ? null : tres("grpTresMins", "minutes", "total"),
    grpTresRunMins: tres("grpTresRunMins", "minutes", "per", "qos"),
    grpJobs: finiteIn(at(max, "active_jobs", "count")),
    grpSubmitJobs: finiteIn(at(max, "jobs", "count")),
    grpWallMinutes: finiteIn(at(max, "wall_clock", "per", "qos")),
    maxTres: tres("maxTres", "per", "job"),
    maxTresPerNode: tres("maxTresPerNode", "per", "node"),
    maxTresMins: tres("maxTresMins", "minutes", "per", "job"),
    maxWallMinutes: finiteIn(at(max, "wall_clock", "per", "job")),
    maxTresPerUser: tres("maxTresPerUser", "per", "user"),
    maxTresPerAccount: tres("maxTresPerAccount", "per", "account"),
    maxTresRunMinsPerUser: tres("maxTresRunMinsPerUser", "minutes", "per", "user"),
    maxTresRunMinsPerAccount: tres("maxTresRunMinsPerAccount", "minutes", "per", "account"),
    maxJobsPerUser: finiteIn(at(max, "jobs", "active_jobs", "per", "user")),
    maxJobsPerAccount: finiteIn(at(max, "jobs", "active_jobs", "per", "account")),
    maxSubmitJobsPerUser: finiteIn(at(max, "jobs", "per", "user")),
    maxSubmitJobsPerAccount: finiteIn(at(max, "jobs", "per", "account")),
    minTres: tresOf(at(limits, "min", "tres", "per", "job"), `${field}.minTres`, reading),
  };
}

/**
 * Slurm's words for a job that waits on a limit (job_state_reason.c, 20.11 to 26.05): `AssocGrpGRES`,
 * `QOSMaxCpuPerUserLimit`, `AssocGrpCPURunMinutesLimit`, `MaxGRESPerAccount`. They tell whose limit of which kind on which
 * family of resources; not which level of accounts, which type of GPU, nor how much.
 */

/** By sacctmgr's names. */
export type LimitName =
  | "GrpTRES"
  | "GrpTRESMins"
  | "GrpTRESRunMins"
  | "GrpJobs"
  | "GrpSubmitJobs"
  | "GrpWall"
  | "MaxTRESPerJob"
  | "MaxTRESPerNode"
  | "MaxTRESMinsPerJob"
  | "MaxWall"
  | "MaxJobs"
  | "MaxSubmitJobs"
  | "MaxTRESPerUser"
  | "MaxTRESRunMinsPerUser"
  | "MaxJobsPerUser"
  | "MaxSubmitJobsPerUser"
  | "MaxTRESPerAccount"
  | "MaxTRESRunMinsPerAccount"
  | "MaxJobsPerAccount"
  | "MaxSubmitJobsPerAccount"
  | "MinTRES"
  | "UsageThreshold";

export type TresFamily = "cpu" | "mem" | "node" | "gres" | "billing" | "energy" | "license" | "bb" | "other";

export interface LimitReason {
  readonly scope: "association" | "qos";
  /** One, but for the three words of old that do not say which. */
  readonly limits: readonly LimitName[];
  /** Null where the limit is on no resource (jobs, time), or on any. */
  readonly family: TresFamily | null;
}

const resources: Readonly<Record<string, TresFamily>> = {
  cpu: "cpu",
  mem: "mem",
  memory: "mem",
  node: "node",
  gres: "gres",
  billing: "billing",
  energy: "energy",
  license: "license",
  bb: "bb",
  unknown: "other",
};

const resourcePattern =
  /^(Assoc|QOS|)(Grp|Max|Min)(Cpu|Memory|Mem|Node|GRES|Billing|Energy|License|BB|Unknown)(RunMinutes|RunMins|Minutes|Mins)?(PerJob|PerNode|PerUser|PerAccount|NotSatisfied)?(?:Limit)?$/i;

const others: Readonly<Record<string, readonly LimitName[]>> = {
  grpjobslimit: ["GrpJobs"],
  grpsubmitjobslimit: ["GrpSubmitJobs"],
  grpwalllimit: ["GrpWall"],
  maxjobslimit: ["MaxJobs"],
  maxsubmitjoblimit: ["MaxSubmitJobs"],
  maxwalldurationperjoblimit: ["MaxWall"],
  maxjobsperuserlimit: ["MaxJobsPerUser"],
  maxsubmitjobperuserlimit: ["MaxSubmitJobsPerUser"],
  maxjobsperaccount: ["MaxJobsPerAccount"],
  maxsubmitjobsperaccount: ["MaxSubmitJobsPerAccount"],
  usagethreshold: ["UsageThreshold"],
  iationjoblimit: ["GrpJobs", "MaxJobs"],
  joblimit: ["GrpJobs", "MaxJobsPerUser"],
  iationresourcelimit: ["GrpTRES", "MaxTRESPerJob", "MaxTRESPerNode"],
  resourcelimit: ["GrpTRES", "MaxTRESPerJob", "MaxTRESPerNode", "MaxTRESPerUser"],
  iationtimelimit: ["MaxWall", "GrpWall", "GrpTRESMins"],
  timelimit: ["MaxWall", "GrpWall", "GrpTRESMins"],
};

/** Null for a reason that is no limit of an association or a QOS: `Priority`, `Resources`, `Dependency`, ... */
export function readLimitReason(reason: string | null): LimitReason | null {
  const word = reason?.trim().replace(/^\((.*)\)$/, "$1") ?? "";
  const match = resourcePattern.exec(word);
  if (match !== null) {
    const [, owner = "", kind = "", resource = "", period = "", per = ""] = match;
    const limit = resourceLimit(kind.toLowerCase(), period.toLowerCase(), per.toLowerCase());
    // Without owner only the limits of a QOS for each account are written: `MaxGRESPerAccount`.
    const isKnown = owner !== "" || per.toLowerCase() === "peraccount";
    if (limit === null || !isKnown) return null;
    return {
      scope: /^assoc$/i.test(owner) ? "association" : "qos",
      limits: [limit],
      family: resources[resource.toLowerCase()] ?? "other",
    };
  }
  const named = /^(Assoc|QOS|)(.*)$/i.exec(word);
  const key = named?.[2]?.toLowerCase() ?? "";
  const limits = Object.hasOwn(others, key) ? others[key] : undefined;
  const hasOwner = (named?.[1] ?? "") !== "" || key.endsWith("peraccount");
  if (limits === undefined || !hasOwner) return null;
  return { scope: /^assoc$/i.test(named?.[1] ?? "") ? "association" : "qos", limits, family: null };
}

function resourceLimit(kind: string, period: string, per: string): LimitName | null {
  const isRun = period.startsWith("run");
  if (kind === "min") return "MinTRES";
  if (kind === "grp") return isRun ? "GrpTRESRunMins" : period === "" ? "GrpTRES" : "GrpTRESMins";
  if (per === "peruser") return isRun ? "MaxTRESRunMinsPerUser" : "MaxTRESPerUser";
  if (per === "peraccount") return isRun ? "MaxTRESRunMinsPerAccount" : "MaxTRESPerAccount";
  if (per === "pernode") return "MaxTRESPerNode";
  if (per === "perjob") return period === "" ? "MaxTRESPerJob" : "MaxTRESMinsPerJob";
  return null;
}

/** Whether a resource is of the family: `gres/gpu:a100` is of `gres`. */
export function isOfFamily(tres: string, family: TresFamily | null): boolean {
  if (family === null) return true;
  const [type = ""] = tres.split("/");
  if (family === "other") return !Object.values(resources).some((known) => known !== "other" && known === type);
  return type === family;
}

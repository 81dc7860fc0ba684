/**
 * Whether limits hold here. Slurm accepts every limit and enforces none by default: nothing is called enforced that is
 * not, and each finding comes with the change to make.
 */
import type { DoctorFinding } from "../../../../shared/protocol/contract.ts";
import type { SlurmSettings } from "./config.ts";
import { padType } from "./nodes.ts";
import type { SlurmCapabilities } from "./version.ts";

/** The line to write, where, and what makes it count. */
export interface ConfigChange {
  readonly file: "slurm.conf" | "slurmdbd.conf" | "cgroup.conf";
  readonly key: string;
  readonly value: string;
  readonly afterwards: string;
}

export interface SlurmFinding extends DoctorFinding {
  /** Null where there is nothing to change, or no single line that does it. */
  readonly change: ConfigChange | null;
}

export type QuotaKind = "gpu-cards" | "gpu-types" | "gpu-memory" | "cpu-cores" | "memory" | "card-hours" | "billing";

/** "A quota on X is enforced here: yes or no, because". */
export interface QuotaEnforcement {
  readonly quota: QuotaKind;
  readonly enforced: boolean;
  readonly because: string;
}

export interface SlurmCheckup {
  readonly findings: readonly SlurmFinding[];
  readonly quotas: readonly QuotaEnforcement[];
}

/** The counted resource that stands for GPU memory in GiB: Slurm has no limit on the memory of a GPU. */
export const gpuMemoryGres = "vram";

const restart = "Restart slurmctld.";
const reconfigure = "Run scontrol reconfigure.";

/** Checks the settings. `gpuTypes` are those of the nodes' gres (`a100_1g.5gb`); `pad` is none. */
export function checkSlurm(
  settings: SlurmSettings,
  capabilities: SlurmCapabilities,
  gpuTypes: readonly string[] = [],
): SlurmCheckup {
  const types = [...new Set(gpuTypes)].filter((type) => type !== padType).toSorted();
  const findings = [
    ...versionFinding(capabilities),
    storageFinding(settings),
    enforceFinding(settings),
    tresFinding(settings, types),
    selectFinding(settings),
    priorityFinding(settings),
    decayFinding(settings),
    resetFinding(settings),
    submitFinding(settings),
    privacyFinding("slurm.conf", settings.privateData),
    privacyFinding("slurmdbd.conf", settings.dbdPrivateData),
    overRunFinding(settings),
    isolationFinding(settings),
    devicesFinding(settings),
    gatherFinding(settings),
  ];
  return { findings, quotas: quotasOf(settings, capabilities, types) };
}

function ok(check: string, message: string): SlurmFinding {
  return { check, level: "ok", message, remedy: "", change: null };
}

function bad(check: string, level: "warning" | "problem", message: string, change: ConfigChange): SlurmFinding {
  return {
    check,
    level,
    message,
    remedy: `In ${change.file}: ${change.key}=${change.value}. ${change.afterwards}`,
    change,
  };
}

function slurmConf(key: string, value: string, afterwards: string = restart): ConfigChange {
  return { file: "slurm.conf", key, value, afterwards };
}

function versionFinding({ note }: SlurmCapabilities): readonly SlurmFinding[] {
  return note === "" ? [] : [{ check: "version", level: "warning", message: note, remedy: "", change: null }];
}

const slurmdbdStorage = "accounting_storage/slurmdbd";

function storageFinding({ accountingStorageType }: SlurmSettings): SlurmFinding {
  if (accountingStorageType === slurmdbdStorage) return ok("accounting", "Accounts and use are kept in slurmdbd.");
  const message = `Accounting is ${accountingStorageType ?? "not configured"}: without slurmdbd there are no accounts and no limits.`;
  return bad("accounting", "problem", message, slurmConf("AccountingStorageType", slurmdbdStorage));
}

const wantedEnforce = ["associations", "limits", "qos", "safe"];

function enforceFinding({ enforce }: SlurmSettings): SlurmFinding {
  const missing = wantedEnforce.filter((word) => !enforce.includes(word));
  if (missing.length === 0)
    return ok("enforcement", "Associations, limits and QOS are enforced, and no running job is ended by a limit.");
  const isLimits = missing.includes("limits");
  const message = isLimits
    ? `AccountingStorageEnforce lacks ${missing.join(", ")}: limits are stored, shown, and not enforced.`
    : `AccountingStorageEnforce lacks ${missing.join(", ")}${missing.includes("safe") ? ": running jobs are killed when a quota of card-hours is used up" : ""}.`;
  const value = [...new Set([...enforce.filter((word) => word !== "none"), ...wantedEnforce])].join(",");
  const level = missing.every((word) => word === "safe") ? "warning" : "problem";
  return bad("enforcement", level, message, slurmConf("AccountingStorageEnforce", value));
}

function tresFinding({ trackedTres }: SlurmSettings, types: readonly string[]): SlurmFinding {
  const wanted = ["gres/gpu", ...types.map((type) => `gres/gpu:${type}`)];
  const missing = wanted.filter((tres) => !trackedTres.includes(tres));
  const pads = trackedTres.includes(`gres/gpu:${padType}`);
  if (missing.length === 0 && !pads) return ok("tracked resources", "GPUs are tracked, all and by type.");
  const kept = [...trackedTres.filter((tres) => !defaultTres.has(tres) && tres !== `gres/gpu:${padType}`), ...missing];
  const message =
    missing.length > 0
      ? `AccountingStorageTRES lacks ${missing.join(", ")}: no limit on it can hold, and no report shows it.`
      : `AccountingStorageTRES has gres/gpu:${padType}, which stands for nothing.`;
  const level = missing.includes("gres/gpu") ? "problem" : "warning";
  return bad("tracked resources", level, message, slurmConf("AccountingStorageTRES", kept.join(",")));
}

/** Those that Slurm tracks without being told. */
const defaultTres: ReadonlySet<string> = new Set(
  "cpu mem energy node billing fs/disk vmem pages gres/gpumem gres/gpuutil".split(" "),
);

function selectFinding({ selectType, selectTypeParameters }: SlurmSettings): SlurmFinding {
  if (selectType !== "select/cons_tres") {
    const message = `SelectType is ${selectType ?? "not known"}: only select/cons_tres gives out single GPUs.`;
    return bad("selection", "problem", message, slurmConf("SelectType", "select/cons_tres"));
  }
  if (selectTypeParameters.some((word) => word.includes("MEMORY")))
    return ok("selection", "CPUs, memory and GPUs are given out one by one.");
  const message = "SelectTypeParameters has no memory: jobs are given none, and a limit on memory cannot hold.";
  return bad("selection", "warning", message, slurmConf("SelectTypeParameters", "CR_Core_Memory"));
}

function priorityFinding({ priorityType }: SlurmSettings): SlurmFinding {
  if (priorityType === "priority/multifactor") return ok("priority", "Use is counted by priority/multifactor.");
  const message = `PriorityType is ${priorityType ?? "not known"}: without priority/multifactor no use is counted, so card-hours have no limit.`;
  return bad("priority", "problem", message, slurmConf("PriorityType", "priority/multifactor"));
}

/**
 * Half-lives from here on are as good as none: a thousandth in a month. None at all (0) makes Slurm refuse its whole
 * configuration, unless it also zeroes everybody's use by PriorityUsageResetPeriod; much more than this is a bad value to
 * 22.05.
 */
const slowestHalfLifeDays = 18_250;

function fades({ decayHalfLifeSeconds }: SlurmSettings): boolean {
  return (
    decayHalfLifeSeconds === null || (decayHalfLifeSeconds !== 0 && decayHalfLifeSeconds < slowestHalfLifeDays * 86_400)
  );
}

function isZeroedBySlurm({ usageResetPeriod }: SlurmSettings): boolean {
  return usageResetPeriod !== null && usageResetPeriod !== "NONE";
}

function decayFinding(settings: SlurmSettings): SlurmFinding {
  const { decayHalfLifeSeconds } = settings;
  if (decayHalfLifeSeconds === null)
    return { check: "decay", level: "warning", message: "Whether use fades is not known.", remedy: "", change: null };
  const slow = slurmConf("PriorityDecayHalfLife", `${slowestHalfLifeDays}-0`);
  if (decayHalfLifeSeconds === 0) {
    if (!isZeroedBySlurm(settings)) return ok("decay", "Use does not fade.");
    const message =
      "PriorityDecayHalfLife is 0: Slurm starts with that only where PriorityUsageResetPeriod zeroes everybody's use.";
    return bad("decay", "warning", message, slow);
  }
  if (!fades(settings)) return ok("decay", "Use fades by no more than a thousandth a month.");
  const days = Math.round(decayHalfLifeSeconds / 8640) / 10;
  const message = `Use fades to its half in ${days} days (good for fair share): a quota of card-hours then lets through more than it says.`;
  return bad("decay", "warning", message, {
    ...slow,
    afterwards: `${restart} Or keep it, and give the jobs a QOS with the flag NoDecay.`,
  });
}

function resetFinding(settings: SlurmSettings): SlurmFinding {
  if (!isZeroedBySlurm(settings)) return ok("reset", "Slurm resets no use by itself.");
  const message = `PriorityUsageResetPeriod is ${settings.usageResetPeriod}: Slurm zeroes everybody's use, and fair share with it.`;
  const afterwards =
    settings.decayHalfLifeSeconds === 0 ? `With PriorityDecayHalfLife=${slowestHalfLifeDays}-0. ${restart}` : restart;
  return bad("reset", "warning", message, slurmConf("PriorityUsageResetPeriod", "NONE", afterwards));
}

function submitFinding({ jobSubmitPlugins }: SlurmSettings): SlurmFinding {
  if (jobSubmitPlugins.includes("lua")) return ok("submission", "job_submit.lua looks at every job.");
  const message =
    "There is no job_submit.lua: a job that asks for a GPU without naming its type passes by every limit on a type.";
  return bad(
    "submission",
    "warning",
    message,
    slurmConf(
      "JobSubmitPlugins",
      [...jobSubmitPlugins, "lua"].join(","),
      "Put job_submit.lua beside slurm.conf. Restart slurmctld.",
    ),
  );
}

const wantedPrivate = ["accounts", "jobs", "reservations", "usage", "users"];
function privacyFinding(file: "slurm.conf" | "slurmdbd.conf", privateData: readonly string[] | null): SlurmFinding {
  const check = file === "slurm.conf" ? "privacy" : "privacy in the database";
  if (privateData === null) {
    return {
      check,
      level: "warning",
      message: `What ${file} keeps private is not known.`,
      remedy: "Run sacctmgr show config as root.",
      change: null,
    };
  }
  const missing = wantedPrivate.filter((word) => !privateData.includes(word));
  if (missing.length === 0) return ok(check, `${file} keeps other people's jobs and accounts private.`);
  const value = [...new Set([...privateData, ...wantedPrivate])].toSorted().join(",");
  const message = `PrivateData of ${file} lacks ${missing.join(", ")}: one tenant sees another's.`;
  return bad(check, "problem", message, {
    file,
    key: "PrivateData",
    value,
    afterwards: file === "slurm.conf" ? reconfigure : "Restart slurmdbd.",
  });
}

function overRunFinding({ resvOverRunMinutes }: SlurmSettings): SlurmFinding {
  if (resvOverRunMinutes !== 0) return ok("reservations", "Jobs may outlast their reservation.");
  const message = "ResvOverRun is 0: jobs are killed when their reservation ends.";
  return bad("reservations", "warning", message, slurmConf("ResvOverRun", "UNLIMITED", reconfigure));
}

function isolationFinding({ proctrackType, taskPlugins }: SlurmSettings): SlurmFinding {
  if (proctrackType !== "proctrack/cgroup") {
    const message = `ProctrackType is ${proctrackType ?? "not known"}: a job's processes can escape its end.`;
    return bad(
      "job containment",
      "problem",
      message,
      slurmConf("ProctrackType", "proctrack/cgroup", "Restart slurmctld and every slurmd, with no job running."),
    );
  }
  if (taskPlugins.includes("cgroup")) return ok("job containment", "Jobs run in control groups.");
  const message = "TaskPlugin has no task/cgroup: a job can use CPUs, memory and GPUs that it was not given.";
  const value = [...taskPlugins, "cgroup"].map((word) => `task/${word}`).join(",");
  return bad(
    "job containment",
    "problem",
    message,
    slurmConf("TaskPlugin", value, "Restart slurmctld and every slurmd."),
  );
}

function devicesFinding({ constrainDevices }: SlurmSettings): SlurmFinding {
  if (constrainDevices === true) return ok("devices", "A job sees its own GPUs only.");
  const message =
    constrainDevices === null
      ? "Whether jobs are kept to their own GPUs is not known: cgroup.conf was not read."
      : "ConstrainDevices is not set: a job can open every GPU of its host.";
  const change: ConfigChange = {
    file: "cgroup.conf",
    key: "ConstrainDevices",
    value: "yes",
    afterwards: "Restart every slurmd.",
  };
  return bad("devices", constrainDevices === null ? "warning" : "problem", message, change);
}

function gatherFinding({ jobAcctGatherType }: SlurmSettings): SlurmFinding {
  if (jobAcctGatherType === "jobacct_gather/cgroup")
    return ok("measuring", "What jobs use is measured by control group.");
  const message = `JobAcctGatherType is ${jobAcctGatherType ?? "not set"}: what jobs really use is measured roughly or not at all.`;
  return bad(
    "measuring",
    "warning",
    message,
    slurmConf("JobAcctGatherType", "jobacct_gather/cgroup", "Restart slurmctld and every slurmd."),
  );
}

function quotasOf(
  settings: SlurmSettings,
  capabilities: SlurmCapabilities,
  types: readonly string[],
): readonly QuotaEnforcement[] {
  const { trackedTres, enforce, selectType, selectTypeParameters, jobSubmitPlugins } = settings;
  const isTracked = (tres: string) => trackedTres.includes(tres);
  const limits: readonly Why[] = [
    [settings.accountingStorageType === slurmdbdStorage, "there is no slurmdbd"],
    [enforce.includes("limits"), "AccountingStorageEnforce lacks limits"],
  ];
  const cards: readonly Why[] = [
    ...limits,
    [selectType === "select/cons_tres", "SelectType is not select/cons_tres"],
    [isTracked("gres/gpu"), "AccountingStorageTRES lacks gres/gpu"],
  ];
  const guarded: Why = [
    jobSubmitPlugins.includes("lua"),
    "there is no job_submit.lua, and a job may ask for GPUs without type",
  ];
  const untracked = types.filter((type) => !isTracked(`gres/gpu:${type}`));
  const qos: Why = [enforce.includes("qos"), "AccountingStorageEnforce lacks qos, so jobs may name any QOS"];
  return [
    quota("gpu-cards", "AssocGrpGRES holds jobs back at the limit", [...cards, qos]),
    quota("gpu-types", "types are tracked, and untyped requests are refused", [
      ...cards,
      qos,
      [untracked.length === 0, `AccountingStorageTRES lacks ${untracked.map((type) => `gres/gpu:${type}`).join(", ")}`],
      guarded,
    ]),
    quota("gpu-memory", `job_submit.lua counts it as gres/${gpuMemoryGres}`, [
      ...limits,
      qos,
      [
        settings.gresTypes.includes(gpuMemoryGres) && isTracked(`gres/${gpuMemoryGres}`),
        `gres/${gpuMemoryGres} is not configured and tracked`,
      ],
      guarded,
    ]),
    quota("cpu-cores", "AssocGrpCpuLimit holds jobs back at the limit", [...limits, qos]),
    quota("memory", "AssocGrpMemLimit holds jobs back at the limit", [
      ...limits,
      qos,
      [selectTypeParameters.some((word) => word.includes("MEMORY")), "SelectTypeParameters has no memory"],
    ]),
    quota("card-hours", "use is counted, and does not fade", [
      ...cards,
      qos,
      [settings.priorityType === "priority/multifactor", "PriorityType is not priority/multifactor"],
      [
        !fades(settings),
        "use fades (PriorityDecayHalfLife), so more than the limit gets through, unless the QOS has NoDecay",
      ],
      [!isZeroedBySlurm(settings), "Slurm zeroes all use by PriorityUsageResetPeriod, whatever the quota's period"],
      [enforce.includes("safe"), "AccountingStorageEnforce lacks safe, so running jobs are killed at the limit"],
    ]),
    quota("billing", "this release enforces it", [
      ...limits,
      qos,
      [capabilities.grpTresBillingEnforced, "releases before 24.11 accept a limit on billing and do not enforce it"],
    ]),
  ];
}

type Why = readonly [holds: boolean, because: string];

function quota(kind: QuotaKind, yes: string, conditions: readonly Why[]): QuotaEnforcement {
  const reasons = conditions.filter(([holds]) => !holds).map(([, because]) => because);
  const enforced = reasons.length === 0;
  return { quota: kind, enforced, because: sentence(enforced ? yes : reasons.join("; ")) };
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

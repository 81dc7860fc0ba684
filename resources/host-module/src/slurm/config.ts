/**
 * What Slurm is configured to do: `scontrol show config` (JSON from 26.05 on), `sacctmgr show config` for slurmdbd's part,
 * and the files slurm.conf, slurmdbd.conf and cgroup.conf. Passwords are left out as they are read.
 */
import { at, isObject, readJson } from "./json.ts";
import { linesOf, listOf, Reading, type ReadOptions, type SlurmFacts } from "./reading.ts";

/** By the key in lower case; values as they are. */
export type ConfigValues = ReadonlyMap<string, string>;

export interface ConfigSections {
  /** slurm.conf as slurmctld runs it. */
  readonly slurm: ConfigValues;
  /** `Cgroup Support Configuration`; null where this output has none. */
  readonly cgroup: ConfigValues | null;
  /** `SlurmDBD configuration` of `sacctmgr show config`; null where slurmdbd did not answer or was not asked. */
  readonly slurmdbd: ConfigValues | null;
}

const secret = /pass(word)?$|secret|token/i;

/** `Key = value`, in sections. */
export function readConfig(output: Uint8Array | string, options: ReadOptions = {}): SlurmFacts<ConfigSections> {
  const reading = new Reading(options.source ?? "scontrol show config");
  const sections = new Map<string, Map<string, string>>();
  let section = "slurm";
  for (const line of linesOf(output)) {
    const title = /^(?:(Cgroup Support)|(SlurmDBD)|.*) Configuration:$/i.exec(line);
    const pair = /^\s*([\w[\]/]+)\s*=\s?(.*)$/.exec(line);
    if (title !== null) section = title[1] !== undefined ? "cgroup" : title[2] !== undefined ? "slurmdbd" : "other";
    else if (pair !== null) put(sections, section, pair[1] ?? "", pair[2] ?? "");
    else if (line.trim() !== "" && !/^Configuration data as of|^Slurmctld\(|^\s/.test(line)) {
      reading.reject("", "not KEY = VALUE", line);
    }
  }
  const slurm = sections.get("slurm") ?? new Map<string, string>();
  if (slurm.size === 0) reading.reject("", "no configuration", "");
  return {
    facts: { slurm, cgroup: sections.get("cgroup") ?? null, slurmdbd: sections.get("slurmdbd") ?? null },
    unread: reading.unread,
  };
}

function put(sections: Map<string, Map<string, string>>, section: string, key: string, value: string): void {
  if (secret.test(key)) return;
  const values = sections.get(section) ?? new Map<string, string>();
  values.set(key.toLowerCase(), value.trim());
  sections.set(section, values);
}

/** `scontrol show config --json`; null where this is none (before 26.05 it prints text and exits 0). */
export function readConfigJson(
  output: Uint8Array | string,
  options: ReadOptions = {},
): SlurmFacts<ConfigSections | null> {
  const reading = new Reading(options.source ?? "scontrol show config --json");
  const json = readJson(output, reading);
  const conf = json === null ? null : at(json.root, "slurm_conf");
  if (json === null) return { facts: null, unread: reading.unread };
  if (!isObject(conf))
    return {
      facts: reading.reject("slurm_conf", "the answer has no configuration", json.parser),
      unread: reading.unread,
    };
  const meta = at(json.root, "slurm_conf_meta");
  const all = Object.entries({ ...conf, ...(isObject(meta) ? meta : {}) });
  const slurm = new Map(
    all.filter(([key]) => !secret.test(key)).map(([key, value]) => [key.toLowerCase(), plain(value)] as const),
  );
  return { facts: { slurm, cgroup: null, slurmdbd: null }, unread: reading.unread };
}

function plain(value: unknown): string {
  if (Array.isArray(value)) return value.map((word) => plain(word)).join(",");
  if (isObject(value)) {
    if (value.infinite === true) return "UNLIMITED";
    return value.set === false ? "" : plain(value.number);
  }
  return value === null || value === undefined ? "" : String(value);
}

/** slurm.conf, slurmdbd.conf, cgroup.conf: `Key=value`, `#` comments, lines continued with `\`. The last of a key counts. */
export function readConfigFile(output: Uint8Array | string, options: ReadOptions = {}): SlurmFacts<ConfigValues> {
  const reading = new Reading(options.source ?? "slurm.conf");
  const values = new Map<string, string>();
  const joined = linesOf(output)
    .join("\n")
    .replace(/\\\n\s*/g, "");
  for (const raw of joined.split("\n")) {
    const line = raw.replace(/(^|\s)#.*$/, "").trim();
    // Nodes and partitions have lines of many keys; they are no settings. `Include` names a file that was not read.
    if (line === "" || /^(NodeName|PartitionName|DownNodes|NodeSet|SwitchName)\s*=/i.test(line)) continue;
    if (/^include\s/i.test(line)) reading.reject("Include", "a file that is included and was not read", line);
    else {
      const pair = /^(\w+)\s*=\s*("?)(.*?)\2$/.exec(line);
      if (pair === null) reading.reject("", "not KEY=VALUE", line);
      else if (!secret.test(pair[1] ?? "")) values.set((pair[1] ?? "").toLowerCase(), pair[3] ?? "");
    }
  }
  return { facts: values, unread: reading.unread };
}

/** What limits, privacy and isolation depend on. Null where it is not known; an empty list where nothing is set. */
export interface SlurmSettings {
  readonly cluster: string | null;
  readonly release: string | null;
  readonly accountingStorageType: string | null;
  readonly enforce: readonly string[];
  /** `cpu`, `gres/gpu`, `gres/gpu:a100`. */
  readonly trackedTres: readonly string[];
  readonly gresTypes: readonly string[];
  readonly selectType: string | null;
  readonly selectTypeParameters: readonly string[];
  readonly priorityType: string | null;
  readonly usageResetPeriod: string | null;
  readonly decayHalfLifeSeconds: number | null;
  readonly privateData: readonly string[];
  readonly dbdPrivateData: readonly string[] | null;
  readonly resvOverRunMinutes: number | "unlimited" | null;
  readonly jobSubmitPlugins: readonly string[];
  readonly proctrackType: string | null;
  readonly taskPlugins: readonly string[];
  readonly jobAcctGatherType: string | null;
  readonly constrainDevices: boolean | null;
}

/** The sections of one or two outputs (slurmctld's, and slurmdbd's from sacctmgr or its file) as settings. */
export function settingsOf(sections: {
  readonly slurm: ConfigValues;
  readonly cgroup: ConfigValues | null;
  readonly slurmdbd: ConfigValues | null;
}): SlurmFacts<SlurmSettings> {
  const { slurm, cgroup, slurmdbd } = sections;
  const reading = new Reading("scontrol show config");
  const text = (key: string) => reading.text(slurm.get(key));
  const words = (key: string) => wordsOf(slurm.get(key));
  const enforce = words("accountingstorageenforce");
  const decay = reading.seconds("PriorityDecayHalfLife", slurm.get("prioritydecayhalflife"));
  const facts: SlurmSettings = {
    cluster: text("clustername"),
    release: text("slurm_version"),
    accountingStorageType: text("accountingstoragetype"),
    enforce: enforce.includes("all") ? ["associations", "limits", "qos", "safe"] : impliedBy(enforce),
    trackedTres: listOf(slurm.get("accountingstoragetres")),
    gresTypes: listOf(slurm.get("grestypes")),
    selectType: text("selecttype"),
    selectTypeParameters: listOf(slurm.get("selecttypeparameters")).map((word) => word.toUpperCase()),
    priorityType: text("prioritytype"),
    usageResetPeriod: slurm.get("priorityusageresetperiod")?.toUpperCase() ?? null,
    decayHalfLifeSeconds: decay === "unlimited" ? 0 : decay,
    privateData: words("privatedata"),
    dbdPrivateData: slurmdbd === null ? null : wordsOf(slurmdbd.get("privatedata")),
    resvOverRunMinutes: reading.minutes("ResvOverRun", slurm.get("resvoverrun")?.replace(/\s*min$/, "")),
    jobSubmitPlugins: words("jobsubmitplugins"),
    proctrackType: text("proctracktype"),
    taskPlugins: words("taskplugin")
      .map((word) => word.replace(/^task\//, ""))
      .filter((word) => word !== "none"),
    jobAcctGatherType: text("jobacctgathertype"),
    constrainDevices: yesNo(cgroup?.get("constraindevices"), cgroup !== null),
  };
  return { facts, unread: reading.unread };
}

/** `none` is no word among others. */
function wordsOf(raw: string | undefined): readonly string[] {
  return listOf(raw)
    .map((word) => word.toLowerCase())
    .filter((word) => word !== "none");
}

/** `safe` turns on limits, and limits and QOS turn on associations (slurm.conf(5)). */
function impliedBy(enforce: readonly string[]): readonly string[] {
  const all = new Set(enforce);
  if (all.has("safe")) all.add("limits");
  if (all.has("limits") || all.has("qos")) all.add("associations");
  return [...all].toSorted();
}

/** The default of ConstrainDevices is no. */
function yesNo(raw: string | undefined, isRead: boolean): boolean | null {
  if (raw === undefined) return isRead ? false : null;
  return /^(yes|true|1|on)$/i.test(raw.trim());
}

/**
 * Which Slurm this is, and what that release can do. Facts from running 22.05.8, 23.11.11, 24.05.8, 24.11.7, 25.05.8,
 * 25.11.7 and 26.05.3; releases between them count as the older of their neighbours.
 */
import { linesOf, Reading, type ReadOptions, type SlurmFacts } from "./reading.ts";

export interface SlurmVersion {
  /** `22.05.8`, `24.05.0-0rc1` */
  readonly release: string;
  readonly year: number;
  readonly month: number;
  readonly micro: number | null;
}

/**
 * Reads `slurm-wlm 22.05.8` (`sinfo --version`, `scontrol version`, `sacctmgr --version`), or `22.05.8` alone. Null where
 * there is no version in it.
 */
export function readVersion(output: Uint8Array | string, options: ReadOptions = {}): SlurmFacts<SlurmVersion | null> {
  const reading = new Reading(options.source ?? "sinfo --version");
  const lines = linesOf(output).filter((line) => line.trim() !== "");
  for (const line of lines) {
    const match = /^(?:slurm[\w-]*\s+)?v?((\d{2})\.(\d{2})(?:\.(\d+))?(?:[-.~+]?[\w.~+-]*)?)$/i.exec(line.trim());
    if (match === null) continue;
    const [, release = "", year, month, micro] = match;
    const facts = {
      release,
      year: Number(year),
      month: Number(month),
      micro: micro === undefined ? null : Number(micro),
    };
    return { facts, unread: reading.unread };
  }
  reading.reject("version", "no version of Slurm", lines[0] ?? "");
  return { facts: null, unread: reading.unread };
}

type Release = readonly [year: number, month: number];

/** Negative where `version` is older than the release, as `[24, 11]`. */
export function compareRelease(version: SlurmVersion, [year, month]: Release): number {
  return version.year === year ? version.month - month : version.year - year;
}

/** Commands that some release answers with `--json`. */
export type JsonCommand =
  | "squeue"
  | "sinfo"
  | "sacct"
  | "scontrol show node"
  | "scontrol show job"
  | "scontrol show config"
  | "sacctmgr show assoc"
  | "sacctmgr show account"
  | "sacctmgr show user"
  | "sacctmgr show qos"
  | "sshare";

const jsonSince: Readonly<Record<JsonCommand, Release>> = {
  squeue: [21, 8],
  sinfo: [21, 8],
  sacct: [21, 8],
  "scontrol show node": [23, 2],
  "scontrol show job": [23, 2],
  "scontrol show config": [26, 5],
  "sacctmgr show assoc": [23, 2],
  "sacctmgr show account": [23, 2],
  "sacctmgr show user": [23, 2],
  "sacctmgr show qos": [23, 2],
  sshare: [23, 2],
};

export interface SlurmCapabilities {
  /** Which commands are worth asking for JSON. The answer's `meta` has the last word (`isJson`). */
  readonly json: Readonly<Record<JsonCommand, boolean>>;
  /** `GrpTRES=billing=N` holds jobs back (`AssocGrpBilling`); before 24.11 it is accepted and not enforced. */
  readonly grpTresBillingEnforced: boolean;
  /** Reservations of part of a node's GPUs (`TRES=gres/gpu:a100=2`); 22.05 refuses them. */
  readonly typedReservations: boolean;
  /** QOS `Flags=Relative`: limits in percent of the cluster. */
  readonly relativeQos: boolean;
  /** A layout of the same total count is taken over by `scontrol reconfigure`, without restarting slurmctld. */
  readonly gresByReconfigure: boolean;
  /** QOS `MaxTRESRunMinsPerUser` and `PerAccount` are among the columns of `sacctmgr show qos`. */
  readonly qosRunMinutes: boolean;
  /** What to say where the release is not one that was tested; empty where it is. */
  readonly note: string;
}

const tested: readonly Release[] = [
  [22, 5],
  [23, 11],
  [24, 5],
  [24, 11],
  [25, 5],
  [25, 11],
  [26, 5],
];

/**
 * What a release can do. Without version everything is read as text and nothing is taken to be enforced; a release newer
 * than the newest tested is taken for that one, and the note says so.
 */
export function capabilities(version: SlurmVersion | null): SlurmCapabilities {
  const since = (release: Release) => version !== null && compareRelease(version, release) >= 0;
  const commands = Object.entries(jsonSince).map(([command, release]) => [command, since(release)]);
  return {
    json: { ...noJson, ...Object.fromEntries(commands) },
    grpTresBillingEnforced: since([24, 11]),
    typedReservations: since([23, 11]),
    relativeQos: since([23, 11]),
    gresByReconfigure: since([23, 11]),
    qosRunMinutes: since([24, 5]),
    note: noteOn(version),
  };
}

const noJson: Readonly<Record<JsonCommand, boolean>> = {
  squeue: false,
  sinfo: false,
  sacct: false,
  "scontrol show node": false,
  "scontrol show job": false,
  "scontrol show config": false,
  "sacctmgr show assoc": false,
  "sacctmgr show account": false,
  "sacctmgr show user": false,
  "sacctmgr show qos": false,
  sshare: false,
};

function noteOn(version: SlurmVersion | null): string {
  if (version === null)
    return "The version of Slurm is not known: everything is read as text, and no limit is trusted.";
  if (tested.some((release) => compareRelease(version, release) === 0)) return "";
  const { release } = version;
  const [oldest, newest] = [tested[0], tested.at(-1)];
  if (newest !== undefined && compareRelease(version, newest) > 0) {
    return `Slurm ${release} is newer than any that was tested: it is read like ${name(newest)}, and what cannot be read is listed.`;
  }
  if (oldest !== undefined && compareRelease(version, oldest) < 0) {
    return `Slurm ${release} is older than any that was tested: it is read as text, and what cannot be read is listed.`;
  }
  return `Slurm ${release} was not tested; its neighbours were.`;
}

function name([year, month]: Release): string {
  return `${year}.${String(month).padStart(2, "0")}`;
}

/**
 * Whether the tools and the daemons are of one release; a sentence where they are not. Tools may be two releases older
 * than slurmctld, and slurmdbd must be the newest of all.
 */
export function versionMismatch(versions: Readonly<Record<string, SlurmVersion | null>>): string | null {
  const known = Object.entries(versions).flatMap(([tool, version]) => (version === null ? [] : [{ tool, version }]));
  const releases = new Set(known.map(({ version }) => `${version.year}.${version.month}`));
  if (releases.size < 2) return null;
  return `Slurm's parts are of different releases: ${known.map(({ tool, version }) => `${tool} ${version.release}`).join(", ")}.`;
}

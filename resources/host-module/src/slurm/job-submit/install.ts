/**
 * job_submit.lua on the control host. slurmctld reads the script anew at the next submission when its file has changed,
 * and keeps the one it has when the new one does not load: so a probe (a submission that is never queued) both makes it
 * load the new script and tells which one is in force. A script that does not answer is taken back before a restart of
 * slurmctld could trip over it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../../../../../shared/errors.ts";
import type { RunResult, System } from "../../system.ts";
import { readConfig, settingsOf } from "../config.ts";
import { identityIn, type JobSubmitFacts, jobSubmitLua, probeType } from "./script.ts";

export interface InstallOptions {
  /** Replace a script that is not Tessera's; it is kept as job_submit.lua.before-tessera. */
  readonly takeOver?: boolean;
  /** Between two probes: slurmctld compares whole seconds of the file's time. Default 1100. */
  readonly probeIntervalMs?: number;
}

export interface JobSubmitState {
  /** Where the script stands, or would. */
  readonly path: string;
  /** `foreign` is somebody else's; the one that a removal leaves, which lets every job pass, counts as absent. */
  readonly script: "ours" | "foreign" | "absent";
  /** Version and facts of the file, and of what slurmctld runs; null where it is none of ours. */
  readonly installed: string | null;
  readonly inForce: string | null;
  /** Whether JobSubmitPlugins has lua. */
  readonly configured: boolean;
  /** The line that slurm.conf still needs, and what makes it count; empty where it has it. */
  readonly change: string;
  /** The program that can check a script before it is written; null where the host has none, and only the probe tells. */
  readonly checker: string | null;
}

interface Place {
  readonly path: string;
  readonly configured: boolean;
  readonly plugins: readonly string[];
}

const timeoutMs = 30_000;
const mode = 0o644;
const probes = 3;
const lastGoodOf = (path: string) => `${path}.last-good`;
const foreignOf = (path: string) => `${path}.before-tessera`;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Where the script stands and what is in force. Throws AppError `unreadable` where slurmctld does not answer. */
export async function jobSubmitState(system: System): Promise<JobSubmitState> {
  const place = await placeOf(system);
  const text = await readText(system, place.path);
  const installed = text === null ? null : identityIn(text);
  return {
    path: place.path,
    script: text === null || text === passingScript ? "absent" : installed === null ? "foreign" : "ours",
    installed,
    inForce: place.configured ? await inForce(system) : null,
    configured: place.configured,
    change: place.configured ? "" : changeOf(place),
    checker: (await checkerOf(system))?.program ?? null,
  };
}

/**
 * Installs the script for these facts. Where slurm.conf has no lua yet the script is written and waits; the state says the
 * line. Throws AppError `conflict` for somebody else's script without `takeOver`, `unreadable` for a script that does not
 * load; then the one before stands again.
 */
export async function installJobSubmit(
  system: System,
  facts: JobSubmitFacts,
  options: InstallOptions = {},
): Promise<JobSubmitState> {
  return installScript(system, jobSubmitLua(facts), options);
}

/** As `installJobSubmit`, of a text; its first line has to be the header of `jobSubmitLua`. */
export async function installScript(
  system: System,
  text: string,
  options: InstallOptions = {},
): Promise<JobSubmitState> {
  const identity = identityIn(text);
  if (identity === null) {
    throw new AppError({ code: "bad-request", message: "The script is not one of Tessera's.", remedy: "" });
  }
  const place = await placeOf(system);
  const before = await readText(system, place.path);
  if (before !== null && before !== passingScript && identityIn(before) === null) {
    if (options.takeOver !== true) throw foreignScript(place.path);
    await system.files.replace(foreignOf(place.path), encoder.encode(before), mode);
  }
  await checkBeforehand(system, place.path, text);
  await system.files.replace(place.path, encoder.encode(text), mode);
  if (place.configured) await proveOrPutBack(system, place.path, { text, identity, before }, options);
  return jobSubmitState(system);
}

/**
 * Takes our script away: a script that stood there before Tessera stands again; else JobSubmitPlugins has to lose `lua`
 * first, because slurmctld does not start without its script, and until then one that lets every job pass is left there.
 * Throws AppError `conflict` where the script is somebody else's.
 */
export async function removeJobSubmit(system: System, options: InstallOptions = {}): Promise<JobSubmitState> {
  const place = await placeOf(system);
  const text = await readText(system, place.path);
  if (text !== null && text !== passingScript && identityIn(text) === null) throw foreignScript(place.path);
  const foreign = await readText(system, foreignOf(place.path));
  const left = foreign ?? (place.configured ? passingScript : null);
  if (left === null) await system.files.remove(place.path);
  else await system.files.replace(place.path, encoder.encode(left), mode);
  if (left !== null && place.configured) await takeEffect(system, place.path, left, options);
  for (const path of [lastGoodOf(place.path), foreignOf(place.path)]) {
    if ((await system.files.status(path)) !== null) await system.files.remove(path);
  }
  return jobSubmitState(system);
}

const passingScript = `-- Tessera removed its job_submit.lua: this one lets every job pass. Take lua out of JobSubmitPlugins and delete it.
function slurm_job_submit(job_desc, part_list, submit_uid)
  return slurm.SUCCESS
end

function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
  return slurm.SUCCESS
end

return slurm.SUCCESS
`;

interface Trial {
  readonly text: string;
  readonly identity: string;
  readonly before: string | null;
}

async function proveOrPutBack(system: System, path: string, trial: Trial, options: InstallOptions): Promise<void> {
  const { text, identity, before } = trial;
  const said = await takeEffect(system, path, text, options);
  if (said === identity) {
    await system.files.replace(lastGoodOf(path), encoder.encode(text), mode);
    return;
  }
  const isForeign = before !== null && identityIn(before) === null;
  const lastGood = isForeign ? before : ((await readText(system, lastGoodOf(path))) ?? before);
  if (lastGood === null) await system.files.remove(path);
  else {
    await system.files.replace(path, encoder.encode(lastGood), mode);
    await takeEffect(system, path, lastGood, options);
  }
  throw new AppError({
    code: "unreadable",
    message: `slurmctld did not take the new job_submit.lua; ${lastGood === null ? "it was removed again" : "the last good one stands again"}.`,
    remedy: "Look for job_submit/lua in slurmctld's log.",
    evidence: { details: `wanted: ${identity}\nin force: ${said ?? "none of Tessera's"}` },
  });
}

/**
 * Has slurmctld load the script that was just written and returns what is in force then. A script as young as the last
 * load is never read: it is written again, a second later. Somebody else's does not answer, so it is always written twice.
 */
async function takeEffect(
  system: System,
  path: string,
  text: string,
  { probeIntervalMs = 1100 }: InstallOptions,
): Promise<string | null> {
  const identity = identityIn(text);
  let said = await inForce(system);
  for (let probe = 1; probe < probes && (said !== identity || (identity === null && probe === 1)); probe++) {
    await sleep(probeIntervalMs);
    await system.files.replace(path, encoder.encode(text), mode);
    said = await inForce(system);
  }
  return said;
}

/** What slurmctld answers the probe with; null where no script of ours runs. The job is never queued. */
async function inForce(system: System): Promise<string | null> {
  const argv = ["sbatch", "--test-only", `--gres=gpu:${probeType}:1`, "--wrap=true"];
  const { stderr, stdout } = await system.run(argv, { timeoutMs });
  const said = `${decoder.decode(stdout)}\n${decoder.decode(stderr)}`;
  return /Tessera job_submit\.lua (version \d+, facts [0-9a-f]{16})/.exec(said)?.[1] ?? null;
}

interface Checker {
  readonly program: string;
  readonly argv: (path: string) => readonly string[];
}

/** Those that parse a script without running it. */
const checkers: readonly Checker[] = [
  ...["luac", "luac5.1", "luac5.3", "luac5.4"].map((program) => ({
    program,
    argv: (path: string) => [program, "-p", path],
  })),
  ...["lua", "lua5.1", "lua5.3", "lua5.4", "luajit"].map((program) => ({
    program,
    argv: (path: string) => [program, "-e", "assert(loadfile(arg[0]))", path],
  })),
];

async function checkerOf(system: System): Promise<Checker | null> {
  for (const checker of checkers) {
    if ((await system.run([checker.program, "-v"], { timeoutMs })).exitStatus === 0) return checker;
  }
  return null;
}

async function checkBeforehand(system: System, path: string, text: string): Promise<void> {
  const checker = await checkerOf(system);
  if (checker === null) return;
  const trial = `${path}.trial`;
  await system.files.replace(trial, encoder.encode(text), mode);
  const result = await system.run(checker.argv(trial), { timeoutMs });
  await system.files.remove(trial);
  if (result.exitStatus !== 0) throw notLoaded(checker, result);
}

function notLoaded({ program }: Checker, { argv, exitStatus, stderr }: RunResult): AppError {
  return new AppError({
    code: "unreadable",
    message: `${program} does not read the new job_submit.lua; the one before is untouched.`,
    remedy: "Report it: the script was generated.",
    evidence: { command: argv, exitStatus, stderr: decoder.decode(stderr) },
  });
}

function foreignScript(path: string): AppError {
  return new AppError({
    code: "conflict",
    message: `${path} is a script of somebody else.`,
    remedy: "Move its rules elsewhere, or have it taken over: it is kept beside the new one.",
  });
}

async function placeOf(system: System): Promise<Place> {
  const argv = ["scontrol", "show", "config"];
  const result = await system.run(argv, { timeoutMs });
  if (result.exitStatus !== 0) {
    throw new AppError({
      code: "unreadable",
      message: "slurmctld does not tell its configuration.",
      remedy: "Run scontrol show config on this host.",
      evidence: { command: argv, exitStatus: result.exitStatus, stderr: decoder.decode(result.stderr) },
    });
  }
  const { slurm } = readConfig(result.stdout).facts;
  const { jobSubmitPlugins } = settingsOf({ slurm, cgroup: null, slurmdbd: null }).facts;
  const folder = slurm.get("slurm_conf")?.replace(/\/[^/]*$/, "") ?? "/etc/slurm";
  return { path: `${folder}/job_submit.lua`, configured: jobSubmitPlugins.includes("lua"), plugins: jobSubmitPlugins };
}

function changeOf({ plugins }: Place): string {
  return `In slurm.conf: JobSubmitPlugins=${[...plugins, "lua"].join(",")}. Restart slurmctld.`;
}

async function readText(system: System, path: string): Promise<string | null> {
  const content = await system.files.read(path);
  return content === null ? null : decoder.decode(content);
}

/** `nvidia-smi mig ...`: listing, making and destroying instances, in the tool's own words and order. */
import { type Answer, EarlyEnd, selectGpus, three } from "./answer.ts";
import { migHelp } from "./help.ts";
import {
  computeInstances,
  computeInstancesHeader,
  computePlacements,
  computeProfiles,
  computeProfilesHeader,
  gpuInstancePlacements,
  gpuInstanceProfiles,
  gpuInstances,
  instancesHeader,
  profilesHeader,
} from "./listings.ts";
import type { SimulatedMachine } from "./machine.ts";
import { type MigOptions, parseMigOptions } from "./mig-options.ts";
import { exitStatusOf, type NvmlError, wordsOf } from "./nvml.ts";
import { computeProfileById } from "./placement.ts";
import type { SimulatedComputeInstance, SimulatedGpuInstance } from "./state.ts";

type Target = { readonly index: number; readonly instance: SimulatedGpuInstance };

export function migCommand(machine: SimulatedMachine, argv: readonly string[], asRoot: boolean): Answer {
  const options = parseMigOptions(argv);
  if (options.action === "help") return { stdout: migHelp, exitStatus: 0 };
  const selected = selectGpus(machine, options.gpus);
  if (options.action === "-lgip" || options.action === "-lgipp") return listProfiles(machine, selected, options.action);
  const enabled = selected.filter((index) => machine.gpu(index).migEnabled);
  if (enabled.length === 0) return { stdout: "No MIG-enabled devices found.\n", exitStatus: 0 };
  if (options.action === "-cgi") return createGpuInstances(machine, enabled, options, asRoot);
  if (!asRoot && options.action.startsWith("-l")) {
    const what = options.action === "-lgi" ? "GPU instances" : "compute instances";
    return failure([], `Failed to display ${what}`, "no-permission");
  }

  const targets: Target[] = enabled.flatMap((index) =>
    machine
      .instancesOf(index)
      .filter(({ id }) => options.gpuInstanceIds?.includes(id) ?? true)
      .map((instance) => ({ index, instance })),
  );
  if (targets.length === 0) return failure([], "No GPU instances found", "not-found");
  switch (options.action) {
    case "-lgi":
      return printed([...instancesHeader, ...enabled.flatMap((index) => gpuInstances(machine, index))]);
    case "-lcip":
      return printed([
        ...computeProfilesHeader,
        ...targets.flatMap(({ index, instance }) => computeProfiles(machine, index, instance)),
      ]);
    case "-lcipp":
      return printed(targets.flatMap(({ index, instance }) => computePlacements(machine, index, instance)));
    case "-cci":
      return createComputeInstances(machine, targets, options, asRoot);
    case "-dgi":
      return destroyGpuInstances(machine, targets, asRoot);
    default:
      return overComputeInstances(machine, targets, options, asRoot);
  }
}

function printed(lines: readonly string[]): Answer {
  return { stdout: lines.map((line) => `${line}\n`).join(""), exitStatus: 0 };
}

function failure(lines: readonly string[], sentence: string, error: NvmlError): Answer {
  return { stdout: printed([...lines, `${sentence}: ${wordsOf(error)}`]).stdout, exitStatus: exitStatusOf(error) };
}

function listProfiles(machine: SimulatedMachine, selected: readonly number[], action: "-lgip" | "-lgipp"): Answer {
  const lines = action === "-lgip" ? [...profilesHeader] : [];
  const enabled = selected.filter((index) => machine.gpu(index).migEnabled);
  if (enabled.length === 0) {
    const what = action === "-lgip" ? "profiles" : "possible placements";
    return failure(lines, `Failed to display GPU instance ${what}`, "not-supported");
  }
  for (const index of enabled) {
    lines.push(...(action === "-lgip" ? gpuInstanceProfiles(machine, index) : gpuInstancePlacements(machine, index)));
  }
  return printed(lines);
}

/** Left to right, stops at the first failure and keeps what it made. */
function createGpuInstances(
  machine: SimulatedMachine,
  enabled: readonly number[],
  options: MigOptions,
  asRoot: boolean,
): Answer {
  const lines: string[] = [];
  for (const index of enabled) {
    for (const word of options.profiles ?? []) {
      const refuse = (error: NvmlError): Answer => {
        lines.push(`Unable to create a GPU instance on GPU ${three(index)} using profile ${word}: ${wordsOf(error)}`);
        return failure(lines, "Failed to create GPU instances", error);
      };
      const { name, start } = profileWord(word);
      const profile = machine
        .geometry(index)
        ?.profiles.find((candidate) => String(candidate.id) === name || candidate.name === name);
      if (profile === undefined || start === undefined) return refuse("invalid-argument");
      const made = machine.createGpuInstance(index, profile, start, asRoot);
      if (!made.ok) return refuse(made.error);
      lines.push(
        `Successfully created GPU instance ID ${three(made.value.id)} on GPU ${three(index)} using profile ` +
          `MIG ${profile.name} (ID ${three(profile.id)})`,
      );
      if (!options.withComputeInstance) continue;
      const compute = machine.createComputeInstance(index, made.value, null, null, asRoot);
      if (!compute.ok) {
        lines.push(`${unableToCreateCompute(index, made.value)} default: ${wordsOf(compute.error)}`);
        return failure(lines, "Failed to create GPU instances", compute.error);
      }
      lines.push(createdCompute(machine, index, made.value, compute.value));
    }
  }
  return printed(lines);
}

/** `9`, `3g.40gb`, `9:4`; a start that is left empty counts as none, one that is no number as wrong. */
function profileWord(word: string): { name: string; start: number | null | undefined } {
  const [name = "", start = ""] = word.split(":");
  if (start === "") return { name, start: null };
  return { name, start: /^\d+$/.test(start) ? Number(start) : undefined };
}

function unableToCreateCompute(index: number, instance: SimulatedGpuInstance): string {
  return (
    `Unable to create a compute instance on GPU ${three(index)} GPU instance ID ${three(instance.id)} ` +
    "using profile"
  );
}

function createdCompute(
  machine: SimulatedMachine,
  index: number,
  instance: SimulatedGpuInstance,
  made: SimulatedComputeInstance,
): string {
  const own = computeProfileById(machine.profileOf(index, instance), made.profileId);
  return (
    `Successfully created compute instance ID ${three(made.id)} on GPU ${three(index)} GPU instance ID ` +
    `${three(instance.id)} using profile MIG ${own.name} (ID ${three(own.id)})`
  );
}

function createComputeInstances(
  machine: SimulatedMachine,
  targets: readonly Target[],
  options: MigOptions,
  asRoot: boolean,
): Answer {
  const lines: string[] = [];
  for (const { index, instance } of targets) {
    for (const word of options.profiles ?? [null]) {
      const wanted = word === null ? { id: null, start: null } : computeWord(machine, index, instance, word);
      const made =
        wanted === null
          ? ({ ok: false, error: "invalid-argument" } as const)
          : machine.createComputeInstance(index, instance, wanted.id, wanted.start, asRoot);
      if (!made.ok) {
        lines.push(`${unableToCreateCompute(index, instance)} ${word ?? "default"}: ${wordsOf(made.error)}`);
        return failure(lines, "Failed to create compute instances", made.error);
      }
      lines.push(createdCompute(machine, index, instance, made.value));
    }
  }
  return printed(lines);
}

function computeWord(
  machine: SimulatedMachine,
  index: number,
  instance: SimulatedGpuInstance,
  word: string,
): { id: number; start: number | null } | null {
  const { name, start } = profileWord(word);
  const own = machine
    .profileOf(index, instance)
    .computeInstanceProfiles.find((candidate) => String(candidate.id) === name || candidate.name === name);
  return own === undefined || start === undefined ? null : { id: own.id, start };
}

function destroyGpuInstances(machine: SimulatedMachine, targets: readonly Target[], asRoot: boolean): Answer {
  const lines: string[] = [];
  for (const { index, instance } of targets) {
    const gone = machine.destroyGpuInstance(index, instance.id, asRoot);
    if (!gone.ok) {
      lines.push(
        `Unable to destroy GPU instance ID ${three(instance.id)} from GPU ${three(index)}: ${wordsOf(gone.error)}`,
      );
      return failure(lines, "Failed to destroy GPU instances", gone.error);
    }
    lines.push(`Successfully destroyed GPU instance ID ${three(instance.id)} from GPU ${three(index)}`);
  }
  return printed(lines);
}

function overComputeInstances(
  machine: SimulatedMachine,
  targets: readonly Target[],
  options: MigOptions,
  asRoot: boolean,
): Answer {
  const found = targets.flatMap(({ index, instance }) =>
    instance.computeInstances
      .filter(({ id }) => options.computeInstanceIds?.includes(id) ?? true)
      .toSorted((a, b) => a.id - b.id)
      .map(({ id }) => ({ index, instance, id })),
  );
  if (found.length === 0) return failure([], "No compute instances found", "not-found");
  if (options.action === "-lci") {
    return printed([
      ...computeInstancesHeader,
      ...targets.flatMap(({ index, instance }) => computeInstances(machine, index, instance)),
    ]);
  }
  if (options.action !== "-dci") throw new EarlyEnd("", 255);
  const lines: string[] = [];
  for (const { index, instance, id } of found) {
    const where = `compute instance ID ${three(id)} from GPU ${three(index)} GPU instance ID ${three(instance.id)}`;
    const gone = machine.destroyComputeInstance(index, instance, id, asRoot);
    if (!gone.ok) {
      lines.push(`Unable to destroy ${where}: ${wordsOf(gone.error)}`);
      return failure(lines, "Failed to destroy compute instances", gone.error);
    }
    lines.push(`Successfully destroyed ${where}`);
  }
  return printed(lines);
}

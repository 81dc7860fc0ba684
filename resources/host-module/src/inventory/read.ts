/**
 * The live reading of a host. What it costs, in calls of nvidia-smi (50 to 500 ms each):
 *
 * - a refresh is one call, `-q -x`, and so is the first reading of a watch on a host without MIG;
 * - where a GPU is in MIG mode, `-L`, `mig -lgi` and `mig -lci` are added when the XML's devices changed, when `forget` was
 *   called (after every change of our own), and every `instancesMaxAgeMs`, since an instance without compute instance
 *   is not in the XML;
 * - `mig -lgip`, `-lgipp` and `topo -m` once per boot, driver and set of GPUs with their MIG modes;
 *   `-lcip` and `-lcipp` once per set of GPU instances; `nvlink -s` every `nvlinksMaxAgeMs`.
 *
 * One GPU that is lost fails every reading of the whole host: then each GPU is read alone, by its index.
 */
import type { HostInventory, Unread } from "../../../../shared/protocol/inventory.ts";
import { failureOf } from "../nvidia-smi/failure.ts";
import { failureIn, messagesOf } from "../nvidia-smi/messages.ts";
import type { QueryReport } from "../nvidia-smi/query.ts";
import { runNvidiaSmi } from "../nvidia-smi/run.ts";
import { textOf } from "../nvidia-smi/text.ts";
import type { RunResult, System } from "../system.ts";
import { assembleInventory } from "./assemble.ts";
import { gpusOf, type KnownGpu, withRemembered } from "./gpus.ts";
import { type HolderSource, processHolders } from "./holders.ts";
import { type DriverGpu, hasNvidiaGpu, readDriverGpus } from "./host-files.ts";
import { HostReader } from "./host-reader.ts";
import { jobHolders } from "./job-holders.ts";
import { type Output, reportOf } from "./output.ts";
import { readOutputs } from "./outputs.ts";

export interface ReadOptions {
  readonly signal?: AbortSignal;
  /** Later ones override earlier ones. Default: the processes, and Slurm's jobs where slurmd runs. */
  readonly holderSources?: readonly HolderSource[];
  /** Leaves links, managers and Xid events to the next reading: GPUs, instances and who uses them are there sooner. */
  readonly first?: boolean;
}

export const instancesMaxAgeMs = 30_000;
export const nvlinksMaxAgeMs = 60_000;
/** How long a GPU that may not be opened is left alone before it is asked again. */
const missingMaxAgeMs = 60_000;
const commandNotFound = 127;

/** Reads once, without memory of an earlier reading. Throws the AppError of a host whose driver cannot be asked at all. */
export function readInventory(system: System, options: ReadOptions = {}): Promise<HostInventory> {
  return new InventoryReader(system).read(options);
}

interface Kept {
  readonly key: string;
  readonly atMs: number;
  readonly outputs: readonly Output[];
}

/** Reads again and again, and asks only for what can have changed. One per serve process. */
export class InventoryReader {
  private readonly system: System;
  private readonly host: HostReader;
  private readonly holderSources: readonly HolderSource[];
  private readonly kept = new Map<string, Kept>();
  private gpuCount: number | null = null;
  /** By PCI bus id: a GPU that is lost no longer says who it is. */
  private readonly identities = new Map<string, DriverGpu>();

  constructor(system: System) {
    this.system = system;
    this.host = new HostReader(system);
    this.holderSources = [processHolders, jobHolders(system)];
  }

  /** Makes the next reading ask for the instances again, whatever the XML says of them. */
  forget(): void {
    // The other listings are kept by keys that a change of mode or layout changes.
    this.kept.delete("instances");
    this.kept.delete("missing");
  }

  async read(options: ReadOptions = {}): Promise<HostInventory> {
    const { signal } = options;
    const takenAt = this.system.now().toISOString();
    const reports = await this.reports(signal);
    const first = readOutputs(reports.outputs);
    const gpus = gpusOf(first);
    const usable = gpus.filter((gpu) => gpu.failure === null);
    for (const { pciBusId, uuid, name } of usable) {
      if (pciBusId !== null) this.identities.set(pciBusId, { pciBusId, uuid, name });
    }
    const kernel = await this.host.kernel();
    const modes = usable.map((gpu) => `${gpu.uuid}=${gpu.migCurrent}`).join();
    const bootKey = [kernel.bootId, first.driverVersion, reports.isWhole, modes].join("/");

    const outputs = [...reports.outputs];
    if (usable.length > 0 && options.first !== true) outputs.push(...(await this.topology(bootKey, signal)));
    const divided = usable.filter((gpu) => gpu.migCurrent === "enabled");
    if (divided.length > 0) {
      const devices = divided.map((gpu) => JSON.stringify([gpu.uuid, gpu.migDevices?.map(deviceKey)])).join();
      outputs.push(...(await this.profiles(bootKey, divided, reports.isWhole, signal)));
      const instances = await this.instances(`${bootKey}/${devices}`, divided, reports, signal);
      outputs.push(...instances);
      const listed = readOutputs(instances).gpuInstances ?? [];
      if (listed.length > 0) {
        const key = `${bootKey}/${listed.map((row) => `${row.gpuIndex}:${row.gpuInstanceId}:${row.profileId}`).join()}`;
        outputs.push(...(await this.computeProfiles(key, divided, reports.isWhole, signal)));
      }
    }
    const read = readOutputs(outputs);
    return assembleInventory({
      takenAt,
      outputs: read,
      holderSources: options.holderSources ?? this.holderSources,
      unread: reports.unread,
      driverGpus: withRemembered(await readDriverGpus(this.system.files), this.identities),
      ...(await this.host.read(gpusOf(read), read.topology?.nics ?? [], kernel, options.first === true)),
    });
  }

  /** `-q -x` of the whole host, else of each GPU alone. */
  private async reports(signal: AbortSignal | undefined): Promise<Reports> {
    const whole = await this.run(["-q", "-x"], signal);
    // A control or login host: it has no driver because it has nothing to drive.
    if (whole.exitStatus === commandNotFound && (await hasNvidiaGpu(this.system.files)) === false) {
      return { outputs: [], unread: [], isWhole: true, listed: false };
    }
    const output = outputOf(whole);
    const report = reportOf(output).facts;
    const attached = report.attachedGpus ?? report.gpus.length;
    const isComplete = whole.exitStatus === 0 && attached === report.gpus.length && report.gpus.length > 0;
    if (isComplete || isNothing(whole)) {
      this.gpuCount = attached;
      return { outputs: [output], unread: [], isWhole: true, listed: false };
    }
    if (whole.exitStatus === 0 && report.gpus.length > 0) return this.withMissing(output, report, signal);
    const failure = failureOf(whole, this.system.hostName);
    if (failure !== null && report.gpus.length === 0 && !isAboutOneGpu(whole)) throw failure;
    return this.reportsOneByOne(signal);
  }

  /** The driver left GPUs out without a word: `-L` says which, and each of them is asked why. */
  private async withMissing(whole: Output, report: QueryReport, signal: AbortSignal | undefined): Promise<Reports> {
    const uuids = report.gpus.map((gpu) => gpu.uuid);
    const outputs = await this.keep("missing", uuids.join(), missingMaxAgeMs, async () => {
      const list = outputOf(await this.run(["-L"], signal));
      const listed = gpusOf(readOutputs([list]));
      const present = new Set(listed.filter((gpu) => uuids.includes(gpu.uuid)).map((gpu) => gpu.index));
      const failed: Output[] = [];
      for (let index = 0; index < (report.attachedGpus ?? 0); index += 1) {
        if (present.has(index)) continue;
        const single = await this.run(["-q", "-x", "-i", String(index)], signal);
        const answer = outputOf(single);
        const report = reportOf(answer).facts;
        const speaks = report.gpus.length > 0 || isAboutOneGpu(single);
        failed.push(speaks ? answer : failedOutput(single, index, report));
      }
      return [list, ...failed];
    });
    return { outputs: [whole, ...outputs], unread: [], isWhole: false, listed: true };
  }

  private async reportsOneByOne(signal: AbortSignal | undefined): Promise<Reports> {
    const list = await this.run(["-L"], signal);
    const listed = readOutputs([outputOf(list)]);
    const claimed = await readDriverGpus(this.system.files);
    const known = gpusOf(listed);
    const count = Math.max(claimed.length, this.gpuCount ?? 0, ...known.map((gpu) => gpu.index + 1));
    if (count === 0) {
      const failure = failureOf(list, this.system.hostName);
      if (failure !== null) throw failure;
    }
    const outputs: Output[] = [outputOf(list)];
    const unread: Unread[] = [];
    for (let index = 0; index < count; index += 1) {
      const uuid = known.find((gpu) => gpu.index === index)?.uuid;
      const single = await this.run(["-q", "-x", "-i", String(index)], signal);
      const answer = outputOf(single);
      const report = reportOf(answer).facts;
      const answered = report.gpus[0];
      // The index of a GPU moves when another drops out while we read: the UUID decides.
      if (
        answered?.uuid !== undefined &&
        answered.uuid !== null &&
        uuid !== undefined &&
        uuid !== null &&
        answered.uuid !== uuid
      ) {
        unread.push({
          source: single.argv.join(" "),
          field: `gpus[${index}]`,
          reason: "answered for another GPU than -L lists under this index; it is read again at the next refresh",
          raw: `${answered.uuid} instead of ${uuid}`,
        });
        continue;
      }
      outputs.push(answer);
      if (report.gpus.length === 0 && !isAboutOneGpu(single)) outputs.push(failedOutput(single, index, report));
    }
    return { outputs, unread, isWhole: false, listed: true };
  }

  private async topology(key: string, signal: AbortSignal | undefined): Promise<readonly Output[]> {
    const topology = await this.keep("topology", key, Infinity, async () => [
      outputOf(await this.run(["topo", "-m"], signal)),
    ]);
    const nvlinks = await this.keep("nvlink", key, nvlinksMaxAgeMs, async () => [
      outputOf(await this.run(["nvlink", "-s"], signal)),
    ]);
    return [...topology, ...nvlinks];
  }

  private profiles(
    key: string,
    divided: readonly KnownGpu[],
    isWhole: boolean,
    signal: AbortSignal | undefined,
  ): Promise<readonly Output[]> {
    return this.keep("profiles", key, Infinity, () => this.listings(["-lgip", "-lgipp"], divided, isWhole, signal));
  }

  private computeProfiles(
    key: string,
    divided: readonly KnownGpu[],
    isWhole: boolean,
    signal: AbortSignal | undefined,
  ): Promise<readonly Output[]> {
    return this.keep("compute profiles", key, Infinity, () =>
      this.listings(["-lcip", "-lcipp"], divided, isWhole, signal),
    );
  }

  private instances(
    key: string,
    divided: readonly KnownGpu[],
    reports: Reports,
    signal: AbortSignal | undefined,
  ): Promise<readonly Output[]> {
    return this.keep("instances", key, instancesMaxAgeMs, async () => {
      const list = reports.listed ? [] : [outputOf(await this.run(["-L"], signal))];
      return [...list, ...(await this.listings(["-lgi", "-lci"], divided, reports.isWhole, signal))];
    });
  }

  /** `mig OPTION` for the whole host, or for each GPU alone where one of them fails the whole. */
  private async listings(
    options: readonly string[],
    divided: readonly KnownGpu[],
    isWhole: boolean,
    signal: AbortSignal | undefined,
  ): Promise<readonly Output[]> {
    const outputs: Output[] = [];
    for (const option of options) {
      if (isWhole) outputs.push(outputOf(await this.run(["mig", option], signal)));
      else {
        for (const gpu of divided) {
          outputs.push(outputOf(await this.run(["mig", option, "-i", String(gpu.index)], signal)));
        }
      }
    }
    return outputs;
  }

  private async keep(
    name: string,
    key: string,
    maxAgeMs: number,
    ask: () => Promise<readonly Output[]>,
  ): Promise<readonly Output[]> {
    const nowMs = this.system.now().getTime();
    const kept = this.kept.get(name);
    if (kept !== undefined && kept.key === key && nowMs - kept.atMs < maxAgeMs) return kept.outputs;
    const outputs = await ask();
    this.kept.set(name, { key, atMs: nowMs, outputs });
    return outputs;
  }

  private run(args: readonly string[], signal: AbortSignal | undefined): Promise<RunResult> {
    return runNvidiaSmi(this.system, args, signal === undefined ? {} : { signal });
  }
}

interface Reports {
  readonly outputs: readonly Output[];
  readonly unread: readonly Unread[];
  readonly isWhole: boolean;
  /** Whether `-L` is among the outputs. */
  readonly listed: boolean;
}

export function outputOf(result: RunResult): Output {
  const said = result.stdout.length > 0 ? result.stdout : result.stderr;
  return { source: result.argv.join(" "), argv: result.argv, content: said };
}

/** In place of a GPU that did not answer: the sentence by which `-L` would say so, with the words that there are. */
function failedOutput(result: RunResult, index: number, report: QueryReport): Output {
  const silence = result.timedOut ? "No answer within the time limit" : `No answer, exit status ${result.exitStatus}`;
  // An empty report at exit status 0 is how the driver leaves out what the caller may not open.
  const left = result.exitStatus === 0 && report.attachedGpus !== null ? "Insufficient Permissions" : silence;
  const said = failureIn(result.stdout)?.words ?? left;
  return {
    source: result.argv.join(" "),
    argv: ["nvidia-smi", "-i", String(index)],
    content: `Unable to determine the device handle for gpu: ${said.replaceAll(":", ",")}\n`,
  };
}

function isNothing(result: RunResult): boolean {
  return messagesOf(result.stdout).some((message) => message.kind === "nothing" && message.of === "devices");
}

function isAboutOneGpu(result: RunResult): boolean {
  return /Unable to determine the device handle|Problem with GPU/i.test(textOf(result.stdout));
}

function deviceKey(device: {
  deviceIndex: number | null;
  gpuInstanceId: number | null;
  computeInstanceId: number | null;
}) {
  return [device.deviceIndex, device.gpuInstanceId, device.computeInstanceId];
}

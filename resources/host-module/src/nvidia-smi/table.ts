/** The table of `nvidia-smi` without options, from 440 to 610: GPUs, MIG devices, processes. */

import { migModeOf } from "./mig-mode.ts";
import {
  type GpuObservation,
  nothingObserved,
  type ObservedMigDevice,
  type ObservedProcess,
  processKindOf,
} from "./observation.ts";
import { linesOf, type Parsed } from "./text.ts";
import { normalBusId, percentLimits, ValueReader } from "./values.ts";

export interface TableReport {
  readonly driverVersion: string | null;
  readonly cudaVersion: string | null;
  readonly gpus: readonly GpuObservation[];
}

const versionLine = /NVIDIA-SMI\s+(\S+)\s+(?:Driver|KMD) Version:\s*(\S+)(?:\s+CUDA (?:UMD )?Version:\s*(\S+))?/;
/** `|   0  NVIDIA H100 80GB HBM3   On  |   00000000:1A:00.0 Off |   0 |` */
const gpuRow =
  /^\|\s*(\d+)\s+(.+?)\s+(\S+)\s*\|\s*([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f])\s+(\S+)\s*\|\s*(.*?)\s*\|$/i;
/** `| N/A   34C    P0     95W /  700W |       0MiB /  81920MiB |      0%      Default |` */
const usageRow = /^\|\s*(\S+?)\s+(\S+)\s+(\S+)\s+(\S+)\s*\/\s*(\S+)\s*\|\s*(.*?)\s*\|\s*(\S+)\s+(.*?)\s*\|$/;
/** `|  0    2   0   0  |           11091MiB / 40448MiB    | 60      0 |` */
const migRow = /^\|\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s*\|\s*(\S+)\s*\/\s*(\S+)\s*\|\s*(\d+)\s+(\S+)\s*\|/;
/** `|    0    2    0            21180      C   /root/tools/memhog        2296MiB |`; before 450 without the instance ids. */
const processRow = /^\|\s*(\d+)\s+(?:(\d+|N\/A)\s+(\d+|N\/A)\s+)?(\d+)\s+([CGM+]+)\s+(.*?)\s+(\S+)\s*\|$/;

/** A driver says "ERR!" where it could not read one number; the rest of the row stands. */
export function parseTable(output: Uint8Array | string): Parsed<TableReport> {
  const reader = new ValueReader();
  const gpus: GpuObservation[] = [];
  const devices = new Map<number, ObservedMigDevice[]>();
  const processes = new Map<number, ObservedProcess[]>();
  let versions: RegExpExecArray | null = null;
  let sawProcesses = false;
  let part: "gpus" | "mig" | "processes" = "gpus";
  let rowOfGpu = 0;
  for (const line of linesOf(output)) {
    const row = line.trim();
    versions ??= versionLine.exec(row);
    if (/^\|\s*MIG devices:/.test(row)) part = "mig";
    else if (/^\|\s*Processes:/.test(row)) part = "processes";
    if (part === "processes" && /No running processes found|^\|=+/.test(row)) sawProcesses = true;
    const gpu = part === "gpus" ? gpuRow.exec(row) : null;
    if (gpu !== null) {
      gpus.push(firstRow(gpu, reader));
      rowOfGpu = 1;
    } else if (rowOfGpu > 0 && part === "gpus") {
      const last = gpus.length - 1;
      const known = gpus[last];
      if (known !== undefined) gpus[last] = nextRow(known, rowOfGpu, row, reader);
      rowOfGpu = rowOfGpu === 1 ? 2 : 0;
    } else if (part === "mig") {
      const device = migRow.exec(row);
      if (device !== null) listed(devices, Number(device[1])).push(migDeviceOf(device, reader));
    } else if (part === "processes") {
      const process = processRow.exec(row);
      if (process !== null) listed(processes, Number(process[1])).push(processOf(process, reader));
    }
  }
  const facts = {
    driverVersion: /^\d+(\.\d+)+$/.test(versions?.[2] ?? "") ? (versions?.[2] ?? null) : null,
    cudaVersion: /^\d+(\.\d+)+$/.test(versions?.[3] ?? "") ? (versions?.[3] ?? null) : null,
    gpus: gpus.map((gpu) => ({
      ...gpu,
      migDevices: devices.get(gpu.index ?? -1) ?? (gpu.migCurrent === "enabled" ? null : []),
      processes: sawProcesses ? (processes.get(gpu.index ?? -1) ?? []) : null,
    })),
  };
  return { facts, unread: reader.unread };
}

function listed<Value>(map: Map<number, Value[]>, key: number): Value[] {
  const values = map.get(key) ?? [];
  map.set(key, values);
  return values;
}

function firstRow(match: RegExpExecArray, reader: ValueReader): GpuObservation {
  const [, index, name, persistence, busId, , ecc] = match;
  const at = `gpus[${index}].`;
  // The ECC column counts errors while ECC is on, and says Off or N/A while it is not; under MIG it says On.
  const eccOn = ecc === "On" || /^\d+$/.test(ecc ?? "");
  return {
    ...nothingObserved,
    index: Number(index),
    name: name ?? null,
    nameIsCut: name?.endsWith("...") ?? false,
    pciBusId: normalBusId(busId),
    // Windows prints the driver model (WDDM, TCC, MCDM) in this column.
    persistenceMode: /^(On|Off)$/.test(persistence ?? "") ? persistence === "On" : null,
    eccEnabled: ecc === "Off" ? false : eccOn ? true : null,
    volatileUncorrected: /^\d+$/.test(ecc ?? "") ? reader.whole(`${at}ecc.volatileUncorrected`, ecc) : null,
  };
}

function nextRow(gpu: GpuObservation, rowOfGpu: number, row: string, reader: ValueReader): GpuObservation {
  const at = `gpus[${gpu.index}].`;
  if (rowOfGpu === 2) {
    const mode = /^\|[^|]*\|[^|]*\|\s*(\S+)\s*\|$/.exec(row)?.[1];
    if (mode === undefined) return gpu;
    const current = migModeOf(reader, `${at}mig.current`, mode.replace("*", ""));
    // `Enabled*`: what is asked for, not yet in effect.
    if (!mode.endsWith("*")) return { ...gpu, migCurrent: current, migPending: current };
    return { ...gpu, migCurrent: current === "enabled" ? "disabled" : "enabled", migPending: current };
  }
  const match = usageRow.exec(row);
  if (match === null) return gpu;
  const [, fan, temperature, , draw, limit, memory, utilisation, computeMode] = match;
  const [used, total] = (memory ?? "").split("/");
  return {
    ...gpu,
    fanPercent: reader.number(`${at}fanPercent`, fan, { min: 0, max: 200 }),
    temperatureCelsius: reader.number(`${at}temperatureCelsius`, temperature, { min: -100, max: 300 }),
    powerDrawWatts: reader.number(`${at}power.drawWatts`, draw, { min: 0, max: 100_000 }),
    powerLimitWatts: reader.number(`${at}power.limitWatts`, limit, { min: 0, max: 100_000 }),
    memoryUsedMiB: reader.mebibytes(`${at}memory.usedMiB`, used),
    memoryTotalMiB: total === undefined ? null : reader.mebibytes(`${at}memory.totalMiB`, total),
    utilisationPercent: reader.number(`${at}utilisationPercent`, utilisation, percentLimits),
    computeMode: computeModeOf(computeMode),
  };
}

/** The table shortens what `-q` spells out; both spell it out here. */
function computeModeOf(shown: string | undefined): string | null {
  if (shown === undefined || shown === "" || shown === "N/A") return null;
  return { "E. Process": "Exclusive_Process", "E. Thread": "Exclusive_Thread" }[shown] ?? shown;
}

function migDeviceOf(match: RegExpExecArray, reader: ValueReader): ObservedMigDevice {
  const [, gpu, instance, compute, device, used, total, multiprocessors] = match;
  const field = `gpus[${gpu}].migDevices[${device}].`;
  return {
    deviceIndex: Number(device),
    gpuInstanceId: Number(instance),
    computeInstanceId: Number(compute),
    multiprocessors: Number(multiprocessors),
    memoryTotalMiB: reader.mebibytes(`${field}memory.totalMiB`, total),
    memoryUsedMiB: reader.mebibytes(`${field}memory.usedMiB`, used),
    uuid: null,
    profile: null,
  };
}

function processOf(match: RegExpExecArray, reader: ValueReader): ObservedProcess {
  const [, gpu, instance, compute, pid, kind, name, used] = match;
  return {
    pid: Number(pid),
    name: name ?? null,
    kind: processKindOf(kind),
    usedMemoryMiB: reader.mebibytes(`gpus[${gpu}].processes.usedMemoryMiB`, used),
    gpuInstanceId: instance === undefined || instance === "N/A" ? null : Number(instance),
    computeInstanceId: compute === undefined || compute === "N/A" ? null : Number(compute),
  };
}

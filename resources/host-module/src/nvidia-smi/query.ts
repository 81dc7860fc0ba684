/** Facts of `nvidia-smi -q` and `-q -x`, from the tree that either becomes. */

import { migModeOf } from "./mig-mode.ts";
import {
  type GpuObservation,
  nothingObserved,
  type ObservedMigDevice,
  type ObservedProcess,
  processKindOf,
} from "./observation.ts";
import { parseQueryText } from "./query-text.ts";
import { childOf, firstPresent, type QueryNode, type QueryTree, valueAt } from "./query-tree.ts";
import { parseQueryXml } from "./query-xml.ts";
import { type Parsed, type PartialRead, partialRead } from "./text.ts";
import { countLimits, isAbsent, memoryLimits, normalBusId, percentLimits, ValueReader } from "./values.ts";

export interface QueryReport {
  readonly driverVersion: string | null;
  readonly cudaVersion: string | null;
  /** How many GPUs the driver knows; fewer are listed where one may not be opened. */
  readonly attachedGpus: number | null;
  readonly gpus: readonly GpuObservation[];
}

/** `nvidia-smi -q -x [-i ID]`. */
export function parseQueryXmlReport(output: Uint8Array | string): Parsed<QueryReport> {
  return readReport(parseQueryXml(output));
}

/** `nvidia-smi -q [-d ...] [-i ID]`. */
export function parseQueryTextReport(output: Uint8Array | string): Parsed<QueryReport> {
  return readReport(parseQueryText(output));
}

function readReport(tree: QueryTree): Parsed<QueryReport> {
  const reader = new ValueReader();
  const { root } = tree;
  const gpus = root.children.filter((child) => child.key === "gpu");
  const facts = {
    driverVersion: versionOf(root, "kmd_version", "driver_version"),
    cudaVersion: versionOf(root, "cuda_umd_version", "cuda_version"),
    attachedGpus: reader.whole("attached_gpus", valueAt(root, ["attached_gpus"])),
    gpus: gpus.map((gpu, at) => readGpu(gpu, reader, `gpus[${at}].`)),
  };
  const unread: PartialRead[] = [...reader.unread];
  if (!tree.complete) unread.push(partialRead("", "the output stops before its end", lastKeyOf(root)));
  return { facts, unread };
}

/** 610 and newer print `610.57 [Deprecated; will be removed ...]` under the old names. */
function versionOf(root: QueryNode, ...keys: readonly string[]): string | null {
  for (const key of keys) {
    const match = /^\d+(\.\d+)+/.exec(valueAt(root, [key]) ?? "");
    if (match !== null) return match[0];
  }
  return null;
}

function lastKeyOf(node: QueryNode): string {
  const last = node.children.at(-1);
  return last === undefined ? node.key : `${node.key}/${lastKeyOf(last)}`;
}

function readGpu(gpu: QueryNode, reader: ValueReader, at: string): GpuObservation {
  const value = (...paths: readonly (readonly string[])[]) => firstPresent(gpu, isAbsent, ...paths);
  const failure = failureWordsOf(gpu);
  const migCurrent = migModeOf(reader, `${at}mig.current`, value(["mig_mode", "current_mig"], ["mig_mode", "current"]));
  const power = (key: string) => [
    ["gpu_power_readings", key],
    ["power_readings", key],
  ];
  // One entry says that the GPU is lost; thirty unread fields that repeat it help nobody.
  const values = failure === null ? reader : new ValueReader();
  if (failure !== null) reader.reject(`${at.slice(0, -1)}`, "the driver answered with an error", failure.words);
  return {
    ...nothingObserved,
    uuid: values.text(`${at}uuid`, value(["uuid"], ["gpu_uuid"])),
    pciBusId: normalBusId(value(["pci", "pci_bus_id"], ["pci", "bus_id"], ["@id"])),
    minorNumber: values.whole(`${at}minorNumber`, value(["minor_number"])),
    pciDeviceId: pciDeviceIdOf(value(["pci", "pci_device_id"], ["pci", "device_id"])),
    name: values.text(`${at}name`, value(["product_name"])),
    failure,
    migCurrent,
    migPending: migModeOf(values, `${at}mig.pending`, value(["mig_mode", "pending_mig"], ["mig_mode", "pending"])),
    memoryTotalMiB: values.mebibytes(`${at}memory.totalMiB`, value(["fb_memory_usage", "total"])),
    memoryUsedMiB: values.mebibytes(`${at}memory.usedMiB`, value(["fb_memory_usage", "used"])),
    utilisationPercent: values.number(
      `${at}utilisationPercent`,
      value(["utilization", "gpu_util"], ["utilization", "gpu"]),
      percentLimits,
    ),
    memoryUtilisationPercent: values.number(
      `${at}memoryUtilisationPercent`,
      value(["utilization", "memory_util"], ["utilization", "memory"]),
      percentLimits,
    ),
    powerDrawWatts: values.number(
      `${at}power.drawWatts`,
      value(
        ...power("power_draw"),
        ...power("average_power_draw"),
        ...power("instant_power_draw"),
        ...power("instantaneous_power_draw"),
      ),
      { min: 0, max: 100_000 },
    ),
    powerLimitWatts: values.number(
      `${at}power.limitWatts`,
      // 610 moved the limit one level down.
      value(
        ...power("current_power_limit"),
        ["gpu_power_readings", "gpu_ceiling_power_limit", "current_power_limit"],
        ...power("enforced_power_limit"),
        ...power("power_limit"),
      ),
      { min: 0, max: 100_000 },
    ),
    temperatureCelsius: values.number(
      `${at}temperatureCelsius`,
      value(["temperature", "gpu_temp"], ["temperature", "gpu_current_temp"]),
      { min: -100, max: 300 },
    ),
    fanPercent: values.number(`${at}fanPercent`, value(["fan_speed"]), { min: 0, max: 200 }),
    eccEnabled: values.flag(`${at}ecc.enabled`, value(["ecc_mode", "current_ecc"], ["ecc_mode", "current"])),
    volatileUncorrected: uncorrectedOf(gpu, "volatile", values, `${at}ecc.volatileUncorrected`),
    aggregateUncorrected: uncorrectedOf(gpu, "aggregate", values, `${at}ecc.aggregateUncorrected`),
    memoryRepair: memoryRepairOf(value, values, at),
    persistenceMode: values.flag(`${at}persistenceMode`, value(["persistence_mode"])),
    computeMode: values.text(`${at}computeMode`, value(["compute_mode"])),
    migDevices: migDevicesOf(gpu, values, at),
    processes: processesOf(gpu, values, at),
  };
}

function pciDeviceIdOf(raw: string | undefined): string | null {
  return /^(?:0x)?([0-9a-f]{8})$/i.exec(raw?.trim() ?? "")?.[1]?.toUpperCase() ?? null;
}

/** A GPU that falls off the bus while it is read answers `GPU is lost` for all that is not cached. */
function failureWordsOf(gpu: QueryNode): GpuObservation["failure"] {
  const words: string[] = [];
  let values = 0;
  const visit = (node: QueryNode) => {
    if (node.value !== null && node.value !== "") {
      values += 1;
      words.push(node.value);
    }
    for (const child of node.children) visit(child);
  };
  visit(gpu);
  const lost = words.find((word) => /^\[?GPU is lost/i.test(word));
  if (lost !== undefined) return { kind: "failed", reason: "lost", words: lost };
  const reset = words.find((word) => /^\[?(GPU requires reset|Reset Required)\]?$/i.test(word));
  if (reset !== undefined) return { kind: "failed", reason: "unknown", words: reset };
  const denied = words.filter((word) => /^\[?Insufficient Permissions\]?$/i.test(word));
  if (denied.length * 2 > values) return { kind: "failed", reason: "no-permission", words: denied[0] ?? "" };
  const unknown = words.filter((word) => /^\[?Unknown Error\]?$/i.test(word));
  if (unknown.length > 0 && unknown.length * 4 > values) {
    return { kind: "failed", reason: "unknown", words: unknown[0] ?? "" };
  }
  return null;
}

/**
 * Ampere and newer count SRAM (parity, SEC-DED) and DRAM apart; Volta and older have a total of double-bit errors.
 * Null unless at least one of the counters is told.
 */
function uncorrectedOf(gpu: QueryNode, span: string, reader: ValueReader, field: string): number | null {
  const node = childOf(childOf(gpu, "ecc_errors"), span);
  if (node === undefined) return null;
  const counters = node.children.filter((child) => /^(sram|dram)_uncorrectable(_|$)/.test(child.key));
  const total = valueAt(node, ["double_bit", "total"]);
  const raws = counters.length > 0 ? counters.map((child) => child.value ?? undefined) : [total];
  const counts = raws.map((raw) => reader.whole(field, raw, countLimits)).filter((count) => count !== null);
  return counts.length === 0 ? null : counts.reduce((sum, count) => sum + count, 0);
}

type ValueLookup = (...paths: readonly (readonly string[])[]) => string | undefined;

function memoryRepairOf(value: ValueLookup, reader: ValueReader, at: string): GpuObservation["memoryRepair"] {
  const flag = (...paths: readonly (readonly string[])[]) => reader.flag(`${at}memoryRepair`, value(...paths));
  const failed = flag(["remapped_rows", "remapped_row_failure"], ["remapped_rows", "remapping_failure_occurred"]);
  const remapping = flag(["remapped_rows", "remapped_row_pending"], ["remapped_rows", "pending"]);
  const retiring = flag(
    ["retired_pages", "pending_retirement"],
    ["retired_pages", "pending_page_blacklist"],
    ["retired_pages", "pending_blacklist"],
  );
  if (failed === true) return "failed";
  if (remapping === true || retiring === true) return "pending";
  return failed === null && remapping === null && retiring === null ? null : "none";
}

function migDevicesOf(gpu: QueryNode, reader: ValueReader, at: string): readonly ObservedMigDevice[] | null {
  const group = childOf(gpu, "mig_devices");
  const devices = [gpu, group].flatMap((node) => node?.children.filter((child) => child.key === "mig_device") ?? []);
  // `<mig_devices>None</mig_devices>`; in text nothing is printed, and only the mode says that there could be some.
  if (devices.length === 0 && group === undefined && childOf(gpu, "mig_mode") === undefined) return null;
  return devices.map((device, index) => {
    const field = `${at}migDevices[${index}].`;
    const id = (key: string) => reader.whole(`${field}${key}`, valueAt(device, [key]), { min: 0, max: 1000 });
    const memory = (key: string) =>
      reader.mebibytes(
        `${field}memory.${key}`,
        valueAt(device, ["fb_memory_usage", key], ["shared_fb_memory_usage", key]),
      );
    return {
      deviceIndex: id("index"),
      gpuInstanceId: id("gpu_instance_id"),
      computeInstanceId: id("compute_instance_id"),
      multiprocessors: reader.whole(
        `${field}multiprocessors`,
        valueAt(device, ["device_attributes", "shared", "multiprocessor_count"]),
      ),
      memoryTotalMiB: memory("total"),
      memoryUsedMiB: memory("used"),
      uuid: reader.text(`${field}uuid`, valueAt(device, ["uuid"], ["mig_device_uuid"])),
      profile: null,
    };
  });
}

/** XML groups a process in `process_info`; the text prints its instance ids, its number and, deeper, the rest. */
function processesOf(gpu: QueryNode, reader: ValueReader, at: string): readonly ObservedProcess[] | null {
  const group = childOf(gpu, "processes");
  if (
    group === undefined ||
    (group.value !== null && isAbsent(group.value) && !/^(None)?$/i.test(group.value.trim()))
  ) {
    return null;
  }
  const processes: ObservedProcess[] = [];
  let instance: string | undefined;
  let compute: string | undefined;
  for (const node of group.children) {
    if (node.key === "gpu_instance_id") instance = node.value ?? undefined;
    else if (node.key === "compute_instance_id") compute = node.value ?? undefined;
    else if (node.key === "process_info") {
      const read = processOf(node, valueAt(node, ["pid"]), reader, `${at}processes[${processes.length}].`, {
        instance: valueAt(node, ["gpu_instance_id"]),
        compute: valueAt(node, ["compute_instance_id"]),
      });
      if (read !== null) processes.push(read);
    } else if (node.key === "process_id") {
      const field = `${at}processes[${processes.length}].`;
      const read = processOf(node, node.value ?? undefined, reader, field, { instance, compute });
      if (read !== null) processes.push(read);
      instance = undefined;
      compute = undefined;
    }
  }
  return processes;
}

function processOf(
  node: QueryNode,
  pidText: string | undefined,
  reader: ValueReader,
  field: string,
  ids: { readonly instance: string | undefined; readonly compute: string | undefined },
): ObservedProcess | null {
  const pid = reader.whole(`${field}pid`, pidText, { min: 1, max: 2 ** 31 });
  if (pid === null) return null;
  const used = valueAt(node, ["used_memory"], ["used_gpu_memory"]);
  return {
    pid,
    name: reader.text(`${field}name`, valueAt(node, ["process_name"], ["name"])),
    kind: processKindOf(valueAt(node, ["type"])),
    usedMemoryMiB: reader.mebibytes(`${field}usedMemoryMiB`, used),
    gpuInstanceId: reader.whole(`${field}gpuInstanceId`, ids.instance, memoryLimits),
    computeInstanceId: reader.whole(`${field}computeInstanceId`, ids.compute, memoryLimits),
  };
}

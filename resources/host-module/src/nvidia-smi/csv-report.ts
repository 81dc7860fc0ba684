/** Facts of the CSV queries, by the names of their columns. */
import type { CsvTable } from "./csv.ts";
import { migModeOf } from "./mig-mode.ts";
import { type GpuObservation, nothingObserved, type ObservedProcess } from "./observation.ts";
import type { Parsed } from "./text.ts";
import { isErrorWord, normalBusId, percentLimits, ValueReader } from "./values.ts";

export interface CsvReport {
  readonly driverVersion: string | null;
  readonly gpus: readonly GpuObservation[];
}

/** `--query-gpu`: one observation a row; a later row of the same GPU (`-l`) replaces the earlier one. */
export function observeGpus(table: CsvTable): Parsed<CsvReport> {
  const reader = new ValueReader();
  const gpus = new Map<string, GpuObservation>();
  let driverVersion: string | null = null;
  for (const [at, row] of table.rows.entries()) {
    const gpu = gpuOf(row, reader, at);
    gpus.set(gpu.uuid ?? gpu.pciBusId ?? String(gpu.index ?? `row ${at}`), gpu);
    driverVersion ??= reader.text("driver_version", row.get("driver_version"));
  }
  return { facts: { driverVersion, gpus: [...gpus.values()] }, unread: reader.unread };
}

function gpuOf(row: ReadonlyMap<string, string>, reader: ValueReader, rowNumber: number): GpuObservation {
  const first = (...names: readonly string[]) => names.map((name) => row.get(name)).find((raw) => raw !== undefined);
  const index = reader.whole("index", row.get("index"), { min: 0, max: 10_000 });
  const at = `gpus[${index ?? rowNumber}].`;
  const watts = { min: 0, max: 100_000 };
  const failure = failureOf(row);
  const values = failure === null ? reader : new ValueReader();
  if (failure !== null) reader.reject(at.slice(0, -1), "the driver answered with an error", failure.words);
  return {
    ...nothingObserved,
    index,
    uuid: reader.text(`${at}uuid`, first("uuid", "gpu_uuid")),
    pciBusId: normalBusId(first("pci.bus_id", "gpu_bus_id")),
    name: reader.text(`${at}name`, first("name", "gpu_name")),
    failure,
    migCurrent: migModeOf(reader, `${at}mig.current`, row.get("mig.mode.current")),
    migPending: migModeOf(reader, `${at}mig.pending`, row.get("mig.mode.pending")),
    memoryTotalMiB: values.mebibytes(`${at}memory.totalMiB`, row.get("memory.total")),
    memoryUsedMiB: values.mebibytes(`${at}memory.usedMiB`, row.get("memory.used")),
    utilisationPercent: values.number(`${at}utilisationPercent`, row.get("utilization.gpu"), percentLimits),
    memoryUtilisationPercent: values.number(
      `${at}memoryUtilisationPercent`,
      row.get("utilization.memory"),
      percentLimits,
    ),
    powerDrawWatts: values.number(
      `${at}power.drawWatts`,
      first("power.draw", "power.draw.average", "power.draw.instant"),
      watts,
    ),
    powerLimitWatts: values.number(`${at}power.limitWatts`, first("power.limit", "enforced.power.limit"), watts),
    temperatureCelsius: values.number(`${at}temperatureCelsius`, row.get("temperature.gpu"), { min: -100, max: 300 }),
    fanPercent: values.number(`${at}fanPercent`, row.get("fan.speed"), { min: 0, max: 200 }),
    eccEnabled: values.flag(`${at}ecc.enabled`, row.get("ecc.mode.current")),
    volatileUncorrected: values.whole(`${at}ecc.volatileUncorrected`, row.get("ecc.errors.uncorrected.volatile.total")),
    aggregateUncorrected: values.whole(
      `${at}ecc.aggregateUncorrected`,
      row.get("ecc.errors.uncorrected.aggregate.total"),
    ),
    memoryRepair: memoryRepairOf(row, values, at),
    persistenceMode: values.flag(`${at}persistenceMode`, row.get("persistence_mode")),
    computeMode: values.text(`${at}computeMode`, row.get("compute_mode")),
  };
}

function failureOf(row: ReadonlyMap<string, string>): GpuObservation["failure"] {
  const cells = [...row.values()];
  const lost = cells.find((cell) => /^\[?GPU is lost/i.test(cell));
  if (lost !== undefined) return { kind: "failed", reason: "lost", words: lost };
  const broken = cells.filter((cell) => /Unknown Error|GPU requires reset/i.test(cell) && isErrorWord(cell));
  if (broken.length * 2 <= cells.length) return null;
  return { kind: "failed", reason: "unknown", words: broken[0] ?? "" };
}

function memoryRepairOf(
  row: ReadonlyMap<string, string>,
  reader: ValueReader,
  at: string,
): GpuObservation["memoryRepair"] {
  const flag = (name: string) => reader.flag(`${at}memoryRepair`, row.get(name));
  const failed = flag("remapped_rows.failure");
  const pending = [flag("remapped_rows.pending"), flag("retired_pages.pending")];
  if (failed === true) return "failed";
  if (pending.includes(true)) return "pending";
  return failed === null && pending.every((value) => value === null) ? null : "none";
}

/** `--query-compute-apps`: the compute processes of each GPU. */
export function observeComputeApps(table: CsvTable): Parsed<readonly GpuObservation[]> {
  const reader = new ValueReader();
  const gpus = new Map<string, { gpu: GpuObservation; processes: ObservedProcess[] }>();
  for (const row of table.rows) {
    const uuid = reader.text("gpu_uuid", row.get("gpu_uuid"));
    const pciBusId = normalBusId(row.get("gpu_bus_id"));
    const key = uuid !== null && !isMaskedUuid(uuid) ? uuid : (pciBusId ?? "");
    const known = gpus.get(key) ?? {
      gpu: { ...nothingObserved, uuid, pciBusId, name: reader.text("gpu_name", row.get("gpu_name")) },
      processes: [],
    };
    gpus.set(key, known);
    const pid = reader.whole("processes.pid", row.get("pid"), { min: 1, max: 2 ** 31 });
    if (pid === null || known.processes.some((process) => process.pid === pid)) continue;
    known.processes.push({
      pid,
      name: reader.text("processes.name", row.get("process_name")),
      kind: "compute",
      usedMemoryMiB: reader.mebibytes("processes.usedMemoryMiB", row.get("used_gpu_memory") ?? row.get("used_memory")),
      gpuInstanceId: null,
      computeInstanceId: null,
    });
  }
  // Graphics processes are not in this listing, so that an empty one proves nothing.
  const facts = [...gpus.values()].map(({ gpu, processes }) => ({
    ...gpu,
    processes: processes.length === 0 ? null : processes,
  }));
  return { facts, unread: reader.unread };
}

/** `--query-retired-pages` and `--query-accounted-apps`: only the GPUs they name. */
export function observeNamedGpus(table: CsvTable): Parsed<readonly GpuObservation[]> {
  const { facts, unread } = observeComputeApps({
    ...table,
    rows: table.rows.map((row) => new Map([...row, ["pid", ""]])),
  });
  return { facts, unread };
}

/** Captures that were made anonymous carry zeros in every UUID. */
export function isMaskedUuid(uuid: string): boolean {
  return /^(GPU|MIG)-[0-]+$/.test(uuid);
}

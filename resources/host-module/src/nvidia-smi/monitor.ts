/** `nvidia-smi dmon` and `pmon`: samples in columns; the newest of each GPU or process counts. */
import { type GpuObservation, nothingObserved, type ObservedProcess, processKindOf } from "./observation.ts";
import { linesOf, type Parsed, type PartialRead, partialRead } from "./text.ts";
import { percentLimits, ValueReader } from "./values.ts";

type Row = ReadonlyMap<string, string>;

/** Rows by column name, from output whose first `#` line names the columns and whose second gives their units. */
function rowsOf(output: Uint8Array | string, isNamed: (columns: readonly string[]) => boolean): Parsed<readonly Row[]> {
  const rows: Row[] = [];
  const unread: PartialRead[] = [];
  let columns: readonly string[] = [];
  for (const line of linesOf(output)) {
    const cells = line.trim().split(/\s+/);
    if (cells[0] === "#" || cells[0] === "#gpu") {
      const named = line
        .replace(/^\s*#\s*/, "")
        .trim()
        .split(/\s+/);
      if (isNamed(named)) columns = named;
      continue;
    }
    if (columns.length === 0 || !/^\d+$/.test(cells[0] ?? "")) continue;
    if (cells.length < columns.length) {
      unread.push(partialRead("sample", "the row is cut", line));
      continue;
    }
    // The last column is a command, which may hold spaces.
    const fitted = [...cells.slice(0, columns.length - 1), cells.slice(columns.length - 1).join(" ")];
    rows.push(new Map(columns.map((column, at) => [column, fitted[at] ?? ""])));
  }
  return { facts: rows, unread };
}

/** `dmon`: power, temperature and utilisation of each GPU in its last sample. */
export function parseDeviceMonitor(output: Uint8Array | string): Parsed<readonly GpuObservation[]> {
  const { facts: rows, unread } = rowsOf(output, (columns) => columns[0] === "gpu" && !columns.includes("pid"));
  const reader = new ValueReader();
  const last = new Map(rows.map((row) => [row.get("gpu") ?? "", row]));
  const facts = [...last].map(([gpu, row]) => {
    const at = `gpus[${gpu}].`;
    return {
      ...nothingObserved,
      index: Number(gpu),
      powerDrawWatts: reader.number(`${at}power.drawWatts`, row.get("pwr"), { min: 0, max: 100_000 }),
      temperatureCelsius: reader.number(`${at}temperatureCelsius`, row.get("gtemp"), { min: -100, max: 300 }),
      utilisationPercent: reader.number(`${at}utilisationPercent`, row.get("sm"), percentLimits),
      memoryUtilisationPercent: reader.number(`${at}memoryUtilisationPercent`, row.get("mem"), percentLimits),
      memoryUsedMiB: reader.mebibytes(`${at}memory.usedMiB`, row.get("fb")),
    };
  });
  return { facts, unread: [...unread, ...reader.unread] };
}

/** `pmon`: the processes of each GPU, each once. */
export function parseProcessMonitor(output: Uint8Array | string): Parsed<readonly GpuObservation[]> {
  const { facts: rows, unread } = rowsOf(output, (columns) => columns[0] === "gpu" && columns.includes("pid"));
  const reader = new ValueReader();
  const gpus = new Map<number, Map<number, ObservedProcess>>();
  for (const row of rows) {
    const gpu = Number(row.get("gpu"));
    const processes = gpus.get(gpu) ?? new Map<number, ObservedProcess>();
    gpus.set(gpu, processes);
    const pid = reader.whole(`gpus[${gpu}].processes.pid`, row.get("pid"), { min: 1, max: 2 ** 31 });
    if (pid === null) continue; // a row of dashes: nothing runs
    processes.set(pid, {
      pid,
      name: reader.text(`gpus[${gpu}].processes.name`, row.get("command")),
      kind: processKindOf(row.get("type")),
      usedMemoryMiB: reader.mebibytes(`gpus[${gpu}].processes.usedMemoryMiB`, row.get("fb")),
      gpuInstanceId: null,
      computeInstanceId: null,
    });
  }
  const facts = [...gpus].map(([index, processes]) => ({
    ...nothingObserved,
    index,
    processes: [...processes.values()],
  }));
  return { facts, unread: [...unread, ...reader.unread] };
}

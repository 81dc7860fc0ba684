/** `--query-gpu` and `--query-compute-apps`: comma separated values. */
import { type Answer, EarlyEnd } from "./answer.ts";
import { utilisationOf } from "./device-facts.ts";
import type { SimulatedMachine } from "./machine.ts";

/** A column: the unit stands in the heading and after each value. `null` is `[N/A]`. */
interface Column {
  readonly unit: string | null;
  readonly value: (machine: SimulatedMachine, index: number) => string | number | null;
}

const plain = (value: Column["value"]): Column => ({ unit: null, value });
const inUnit = (unit: string, value: Column["value"]): Column => ({ unit, value });
const capable = (value: (machine: SimulatedMachine, index: number) => string): Column =>
  plain((machine, index) => (machine.geometry(index) === null ? null : value(machine, index)));
const onOff = (on: boolean): string => (on ? "Enabled" : "Disabled");
const number = (value: string): number | null => (value === "N/A" ? null : Number(value));
const mib = (value: (machine: SimulatedMachine, index: number) => number): Column => inUnit("MiB", value);
const watts = (value: (machine: SimulatedMachine, index: number) => number): Column =>
  inUnit("W", (machine, index) => value(machine, index).toFixed(2));
const clock = (machine: SimulatedMachine, index: number): number => machine.model(index).graphicsClockMhz;

const stamp = (machine: SimulatedMachine): string => {
  const iso = machine.now().toISOString();
  return `${iso.slice(0, 10).replaceAll("-", "/")} ${iso.slice(11, 23)}`;
};

const columns: Readonly<Record<string, Column>> = {
  timestamp: plain(stamp),
  driver_version: plain((machine) => machine.state.driverVersion),
  count: plain((machine) => machine.state.gpus.length),
  index: plain((_, index) => index),
  name: plain((machine, index) => machine.gpu(index).productName),
  uuid: plain((machine, index) => machine.gpu(index).uuid),
  serial: plain((machine, index) => machine.gpu(index).serial),
  "pci.bus_id": plain((machine, index) => machine.busId(index)),
  "pci.domain": plain(() => "0x0000"),
  "pci.bus": plain((machine, index) => `0x${machine.gpu(index).bus.slice(0, 2)}`),
  "pci.device": plain(() => "0x00"),
  "pci.device_id": plain((machine, index) => `0x${machine.model(index).pciDeviceId}`),
  "pcie.link.gen.current": plain(() => 5),
  "pcie.link.gen.max": plain(() => 5),
  "pcie.link.width.current": plain(() => 16),
  "pcie.link.width.max": plain(() => 16),
  display_mode: plain(() => "Disabled"),
  display_active: plain(() => "Disabled"),
  persistence_mode: plain((machine, index) => onOff(machine.gpu(index).persistenceMode)),
  "accounting.mode": plain(() => "Disabled"),
  vbios_version: plain((machine, index) => machine.model(index).vbios),
  "fan.speed": inUnit("%", () => null),
  pstate: plain(() => "P0"),
  "memory.total": mib((machine, index) => machine.model(index).memoryMiB),
  "memory.reserved": mib((machine, index) => machine.model(index).reservedMiB),
  "memory.used": mib((machine, index) => machine.usedMemoryMiB(index)),
  "memory.free": mib((machine, index) => {
    const model = machine.model(index);
    return model.memoryMiB - model.reservedMiB - machine.usedMemoryMiB(index);
  }),
  compute_mode: plain(() => "Default"),
  compute_cap: plain((machine, index) => machine.model(index).computeCapability),
  "utilization.gpu": inUnit("%", (machine, index) => number(utilisationOf(machine, index).gpu)),
  "utilization.memory": inUnit("%", (machine, index) => number(utilisationOf(machine, index).memory)),
  "ecc.mode.current": plain(() => "Enabled"),
  "ecc.mode.pending": plain(() => "Enabled"),
  "ecc.errors.corrected.volatile.total": plain(() => 0),
  "ecc.errors.corrected.aggregate.total": plain(() => 0),
  "ecc.errors.uncorrected.volatile.total": plain((machine, index) => machine.gpu(index).volatileUncorrected),
  "ecc.errors.uncorrected.aggregate.total": plain((machine, index) => machine.gpu(index).aggregateUncorrected),
  "retired_pages.pending": plain(() => "No"),
  "temperature.gpu": plain((machine, index) => machine.gpu(index).temperatureCelsius),
  "temperature.memory": plain((machine, index) => machine.gpu(index).temperatureCelsius - 2),
  "power.management": plain(() => "Enabled"),
  "power.draw": watts((machine, index) => machine.gpu(index).powerWatts),
  "power.draw.average": watts((machine, index) => machine.gpu(index).powerWatts),
  "power.draw.instant": watts((machine, index) => machine.gpu(index).powerWatts),
  "power.limit": watts((machine, index) => machine.model(index).powerLimitWatts),
  "enforced.power.limit": watts((machine, index) => machine.model(index).powerLimitWatts),
  "power.default_limit": watts((machine, index) => machine.model(index).powerLimitWatts),
  "power.min_limit": watts((machine, index) => Math.min(200, machine.model(index).powerLimitWatts)),
  "power.max_limit": watts((machine, index) => machine.model(index).powerLimitWatts),
  "clocks.current.graphics": inUnit("MHz", clock),
  "clocks.current.sm": inUnit("MHz", clock),
  "clocks.current.memory": inUnit("MHz", (machine, index) => machine.model(index).memoryClockMhz),
  "clocks.max.graphics": inUnit("MHz", clock),
  "clocks.max.sm": inUnit("MHz", clock),
  "clocks.max.memory": inUnit("MHz", (machine, index) => machine.model(index).memoryClockMhz),
  "mig.mode.current": capable((machine, index) => onOff(machine.gpu(index).migEnabled)),
  "mig.mode.pending": capable((machine, index) => onOff(machine.gpu(index).migPending)),
  "fabric.state": plain(() => "Completed"),
  "fabric.status": plain(() => "Success"),
};

const otherNames: Readonly<Record<string, string>> = {
  gpu_name: "name",
  gpu_uuid: "uuid",
  gpu_serial: "serial",
  gpu_bus_id: "pci.bus_id",
};

interface Format {
  readonly header: boolean;
  readonly units: boolean;
}

function formatOf(format: string | null): Format {
  if (format === null) {
    throw new EarlyEnd(`"--format=" switch is missing. Please run 'nvidia-smi -h' for help.\n\n`, 2);
  }
  const words = format.split(",");
  if (!words.every((word) => ["csv", "noheader", "nounits"].includes(word))) {
    throw new EarlyEnd("Format modifier is not recognized.\n", 2);
  }
  return { header: !words.includes("noheader"), units: !words.includes("nounits") };
}

function cell(value: string | number | null, unit: string | null, format: Format): string {
  if (value === null) return "[N/A]";
  return unit === null || !format.units ? String(value) : `${value} ${unit}`;
}

function heading(names: readonly string[], units: readonly (string | null)[]): string {
  return names.map((name, at) => (units[at] === null ? name : `${name} [${units[at]}]`)).join(", ");
}

function unknownField(name: string): EarlyEnd {
  return new EarlyEnd(`Field "${name}" is not a valid field to query.\n\n`, 2);
}

export function queryGpu(
  machine: SimulatedMachine,
  selected: readonly number[],
  fields: string,
  formatWords: string | null,
): Answer {
  const format = formatOf(formatWords);
  const names = fields.split(",").map((name) => name.trim());
  const chosen = names.map((name) => {
    const column = columns[otherNames[name] ?? name];
    if (column === undefined) throw unknownField(name);
    return column;
  });
  const lines = format.header
    ? [
        heading(
          names.map((name) => otherNames[name] ?? name),
          chosen.map((column) => column.unit),
        ),
      ]
    : [];
  for (const index of selected) {
    lines.push(chosen.map((column) => cell(column.value(machine, index), column.unit, format)).join(", "));
  }
  return { stdout: lines.map((line) => `${line}\n`).join(""), exitStatus: 0 };
}

const processFields = [
  "timestamp",
  "gpu_name",
  "gpu_bus_id",
  "gpu_serial",
  "gpu_uuid",
  "pid",
  "process_name",
  "used_gpu_memory",
];
const otherProcessNames: Readonly<Record<string, string>> = { name: "process_name", used_memory: "used_gpu_memory" };

export function queryComputeApps(
  machine: SimulatedMachine,
  selected: readonly number[],
  fields: string,
  formatWords: string | null,
): Answer {
  const format = formatOf(formatWords);
  const names = fields.split(",").map((name) => {
    const known = otherProcessNames[name.trim()] ?? name.trim();
    if (!processFields.includes(known)) throw unknownField(name.trim());
    return known;
  });
  const unitOf = (name: string): string | null => (name === "used_gpu_memory" ? "MiB" : null);
  const lines = format.header ? [heading(names, names.map(unitOf))] : [];
  for (const index of selected) {
    for (const process of machine.processesOf(index)) {
      const facts: Readonly<Record<string, string | number>> = {
        timestamp: stamp(machine),
        gpu_name: machine.gpu(index).productName,
        gpu_bus_id: machine.busId(index),
        gpu_serial: machine.gpu(index).serial,
        gpu_uuid: machine.gpu(index).uuid,
        pid: process.pid,
        process_name: process.command[0] ?? "",
        used_gpu_memory: process.gpu?.usedMemoryMiB ?? 0,
      };
      lines.push(names.map((name) => cell(facts[name] ?? null, unitOf(name), format)).join(", "));
    }
  }
  return { stdout: lines.map((line) => `${line}\n`).join(""), exitStatus: 0 };
}

/** The table that `nvidia-smi` prints without arguments. */
import { deviceEngines, deviceMemory, utilisationOf } from "./device-facts.ts";
import type { SimulatedMachine } from "./machine.ts";
import { timestamp } from "./report.ts";

const wide = "-".repeat(89);
const rowRule = `+${"-".repeat(41)}+${"-".repeat(24)}+${"-".repeat(22)}+`;
const deviceRule = `+${"-".repeat(18)}+${"-".repeat(34)}+${"-".repeat(11)}+${"-".repeat(23)}+`;
const siblingRule = `+${"-".repeat(18)}+${" ".repeat(34)}+${"-".repeat(11)}+${"-".repeat(23)}+`;

function shortened(name: string): string {
  return (name.length > 27 ? `${name.slice(0, 24)}...` : name).padEnd(28);
}

export function summaryTable(machine: SimulatedMachine, selected: readonly number[]): string {
  const { driverVersion, cudaVersion } = machine.state;
  const lines = [
    `${timestamp(machine.now())}       `,
    `+${wide}+`,
    `| NVIDIA-SMI ${driverVersion.padEnd(23)}Driver Version: ${driverVersion.padEnd(15)}CUDA Version: ${cudaVersion.padEnd(9)}|`,
    `|${rowRule.slice(1)}`,
    "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |",
    "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |",
    "|                                         |                        |               MIG M. |",
    `|${"=".repeat(41)}+${"=".repeat(24)}+${"=".repeat(22)}|`,
  ];
  for (const index of selected) lines.push(...gpuRow(machine, index), rowRule);
  if (selected.some((index) => machine.gpu(index).migEnabled)) lines.push("", ...migDevices(machine, selected));
  lines.push(" ".repeat(89), ...processes(machine, selected));
  return lines.map((line) => `${line}\n`).join("");
}

function gpuRow(machine: SimulatedMachine, index: number): string[] {
  const gpu = machine.gpu(index);
  const model = machine.model(index);
  const capable = machine.geometry(index) !== null;
  const state = gpu.migEnabled ? "Enabled" : "Disabled";
  const mode = !capable
    ? "N/A"
    : gpu.migPending === gpu.migEnabled
      ? state
      : `${gpu.migPending ? "Enabled" : "Disabled"}*`;
  const utilisation = utilisationOf(machine, index).gpu;
  const ecc = gpu.migEnabled ? "On" : String(gpu.volatileUncorrected);
  return [
    `|${String(index).padStart(4)}  ${shortened(gpu.productName)}${(gpu.persistenceMode ? "On" : "Off").padStart(5)}  |   ` +
      `${machine.busId(index)} Off |${ecc.padStart(21)} |`,
    `| N/A${`${gpu.temperatureCelsius}C`.padStart(6)}    P0  ${`${Math.round(gpu.powerWatts)}W`.padStart(14)} / ` +
      `${`${model.powerLimitWatts}W`.padStart(5)} |${`${machine.usedMemoryMiB(index)}MiB`.padStart(11)} / ` +
      `${`${model.memoryMiB}MiB`.padStart(9)} |${(utilisation === "N/A" ? utilisation : `${utilisation}%`).padStart(8)}` +
      `${"Default".padStart(13)} |`,
    `|${" ".repeat(41)}|${" ".repeat(24)}|${mode.padStart(21)} |`,
  ];
}

function migDevices(machine: SimulatedMachine, selected: readonly number[]): string[] {
  const lines = [
    `+${wide}+`,
    "| MIG devices:                                                                            |",
    deviceRule,
    "| GPU  GI  CI  MIG |                     Memory-Usage |        Vol|      Shared           |",
    "|      ID  ID  Dev |                       BAR1-Usage | SM     Unc| CE ENC DEC OFA JPG    |",
    "|                  |                                  |        ECC|                       |",
    `|${"=".repeat(18)}+${"=".repeat(34)}+${"=".repeat(11)}+${"=".repeat(23)}|`,
  ];
  const rows = selected.flatMap((index) =>
    machine.gpu(index).migEnabled ? machine.devicesOf(index).map((device) => ({ index, device })) : [],
  );
  if (rows.length === 0) return [...lines, `|  ${"No MIG devices found".padEnd(87)}|`, `+${wide}+`];
  for (const [at, { index, device }] of rows.entries()) {
    const memory = deviceMemory(machine, index, device);
    const engines = deviceEngines(device);
    const before = rows[at - 1];
    const after = rows[at + 1];
    const sameAs = (other: typeof before): boolean =>
      other !== undefined && other.index === index && other.device.instance.id === device.instance.id;
    const first = !sameAs(before);
    const usage = first
      ? `${`${memory.usedMiB}MiB`.padStart(19)} / ${`${memory.totalMiB}MiB`.padStart(8)}    `
      : " ".repeat(34);
    const bar1 = first ? `${"0MiB".padStart(21)} / ${`${memory.bar1MiB}MiB`.padStart(8)}  ` : " ".repeat(34);
    lines.push(
      `|${String(index).padStart(3)}${String(device.instance.id).padStart(5)}` +
        `${String(device.computeInstance.id).padStart(4)}${String(device.index).padStart(4)}  |${usage}|` +
        `${String(engines.multiprocessors).padStart(3)}${"0".padStart(7)} |${String(engines.copy).padStart(3)}` +
        `${String(engines.encoder).padStart(4)}${String(engines.decoder).padStart(5)}` +
        `${String(engines.opticalFlow).padStart(5)}${String(engines.jpeg).padStart(5)} |`,
      `|${" ".repeat(18)}|${bar1}|${" ".repeat(11)}|${" ".repeat(23)}|`,
      sameAs(after) ? siblingRule : deviceRule,
    );
  }
  return lines;
}

function processes(machine: SimulatedMachine, selected: readonly number[]): string[] {
  const rows = selected.flatMap((index) =>
    machine.processesOf(index).map((process) => {
      const id = (value: number | null | undefined): string => String(value ?? "N/A");
      const name = process.command[0] ?? "";
      const memory = `${process.gpu?.usedMemoryMiB ?? 0}MiB`;
      return (
        `|${String(index).padStart(5)}${id(process.gpu?.gpuInstanceId).padStart(6)}` +
        `${id(process.gpu?.computeInstanceId).padStart(5)}${String(process.pid).padStart(10)}${"C".padStart(7)}   ` +
        `${(name.length > 42 ? `...${name.slice(-39)}` : name).padEnd(42)}${memory.padStart(10)} |`
      );
    }),
  );
  return [
    `+${wide}+`,
    "| Processes:                                                                              |",
    "|  GPU   GI   CI        PID   Type   Process name                              GPU Memory |",
    "|        ID   ID                                                               Usage      |",
    `|${"=".repeat(89)}|`,
    ...(rows.length === 0
      ? ["|  No running processes found                                                             |"]
      : rows),
    `+${wide}+`,
  ];
}

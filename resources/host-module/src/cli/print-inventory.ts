import { geometryOfKey } from "../../../../shared/mig/geometry.ts";
import { layoutOf } from "../../../../shared/mig/layout.ts";
import type { DoctorFinding } from "../../../../shared/protocol/contract.ts";
import type { Gpu, HostInventory } from "../../../../shared/protocol/inventory.ts";
import { amount, drawLayout, printable, table } from "./drawing.ts";

export function inventoryText(inventory: HostInventory): string {
  const { host, driver } = inventory;
  const facts = [
    host.name,
    host.architecture,
    host.cpuCount === null ? null : `${host.cpuCount} CPUs`,
    host.memoryMiB === null ? null : `${Math.round(host.memoryMiB / 1024)} GiB`,
    driver.version === null ? null : `driver ${driver.version}`,
    driver.cudaVersion === null ? null : `CUDA ${driver.cudaVersion}`,
    host.kernel,
  ];
  const rows = inventory.gpus.map((gpu) => [
    String(gpu.index),
    gpu.name,
    gpu.pciBusId ?? "?",
    amount(gpu.numaNode),
    modeOf(gpu),
    `${amount(gpu.memory.usedMiB)}/${amount(gpu.memory.totalMiB)}`,
    amount(gpu.utilisationPercent, "%"),
    amount(gpu.power.drawWatts),
    amount(gpu.temperatureCelsius),
    healthOf(gpu),
    gpu.uuid,
  ]);
  const header = ["GPU", "NAME", "BUS", "NUMA", "MIG", "MiB", "UTIL", "W", "C", "HEALTH", "UUID"];
  return [
    printable(facts.filter((fact) => fact !== null && fact !== "").join("  ")),
    "",
    ...(rows.length === 0 ? ["No GPU is listed."] : table(header, rows)),
    ...inventory.gpus.flatMap((gpu) => divisionOf(gpu, inventory)),
    ...processesOf(inventory),
    ...(inventory.unread.length === 0 ? [] : ["", `Not understood (${inventory.unread.length}):`]),
    ...inventory.unread
      .slice(0, 20)
      .map(({ source, field, reason }) => printable(`  ${source}${field === "" ? "" : `, ${field}`}: ${reason}`)),
    ...(inventory.unread.length > 20 ? [`  and ${inventory.unread.length - 20} more (all with --json)`] : []),
  ].join("\n");
}

function modeOf(gpu: Gpu): string {
  const { current, pending } = gpu.mig;
  const name = current === "not-supported" ? "-" : (current ?? "?");
  return pending !== null && pending !== current ? `${name}, ${pending} pending` : name;
}

function healthOf(gpu: Gpu): string {
  if (gpu.state.kind === "failed") return `FAILED: ${gpu.state.words}`;
  const troubles = [
    gpu.ecc.volatileUncorrected === null || gpu.ecc.volatileUncorrected === 0
      ? null
      : `${gpu.ecc.volatileUncorrected} uncorrected`,
    gpu.memoryRepair === "pending" || gpu.memoryRepair === "failed" ? `memory repair ${gpu.memoryRepair}` : null,
    gpu.xids.length === 0 ? null : `Xid ${[...new Set(gpu.xids.map(({ code }) => code))].join(",")}`,
  ].filter((trouble) => trouble !== null);
  if (troubles.length > 0) return troubles.join("; ");
  // Output that speaks of no health at all, as a list of names, calls no card healthy.
  const read = [gpu.ecc.volatileUncorrected, gpu.memoryRepair, gpu.temperatureCelsius, gpu.memory.usedMiB];
  return read.every((value) => value === null) ? "?" : "ok";
}

function divisionOf(gpu: Gpu, inventory: HostInventory): readonly string[] {
  if (gpu.mig.current !== "enabled") return [];
  const geometry = gpu.geometry === null ? null : (inventory.geometries[gpu.geometry] ?? geometryOfKey(gpu.geometry));
  // Where no output gives placements, a drawing would show the slices as free.
  const unplaced = gpu.instances.filter(({ placement }) => placement.start < 0);
  if (unplaced.length > 0) {
    const names = gpu.instances.map(({ profile }) => printable(profile)).join(", ");
    return ["", `GPU ${gpu.index}`, `  ${names}; where they stand was not read`];
  }
  return ["", `GPU ${gpu.index}`, ...drawLayout(layoutOf(gpu, geometry), geometry)];
}

function processesOf(inventory: HostInventory): readonly string[] {
  const rows = inventory.gpus.flatMap((gpu) =>
    gpu.processes.map((process) => [
      String(gpu.index),
      process.gpuInstanceId === null ? "" : String(process.gpuInstanceId),
      String(process.pid),
      process.user ?? "?",
      amount(process.usedMemoryMiB),
      process.name,
    ]),
  );
  return rows.length === 0 ? [] : ["", ...table(["GPU", "GI", "PID", "USER", "MiB", "PROCESS"], rows)];
}

export function doctorText(findings: readonly DoctorFinding[]): string {
  const marks = { ok: "ok      ", warning: "WARNING ", problem: "PROBLEM " };
  return findings
    .flatMap(({ level, check, message, remedy }) => [
      `${marks[level]} ${check}: ${message}`,
      ...(level === "ok" || remedy === "" ? [] : [`          -> ${remedy}`]),
    ])
    .join("\n");
}

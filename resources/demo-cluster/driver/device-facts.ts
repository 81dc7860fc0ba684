/** What the tool says about one MIG device, and about the memory and load of the GPU around it. */
import { type Fact, fact, group } from "./fact.ts";
import type { MigDevice, SimulatedMachine } from "./machine.ts";
import { computeProfileById } from "./placement.ts";

/** Memory that an empty MIG device reports as used. */
export const deviceOverheadMiB = 13;
const deviceBar1MiB = 16383;

export function deviceMemory(machine: SimulatedMachine, index: number, device: MigDevice) {
  const totalMiB = device.profile.memoryMiB ?? 0;
  const held = machine.processesOf(index, device.instance.id);
  const usedMiB = held.reduce((sum, process) => sum + (process.gpu?.usedMemoryMiB ?? 0), deviceOverheadMiB);
  return { totalMiB, usedMiB: Math.min(usedMiB, totalMiB), bar1MiB: deviceBar1MiB };
}

/** Multiprocessors of a MIG device and the engines it shares with the rest of its GPU instance. */
export function deviceEngines(device: MigDevice) {
  const own = computeProfileById(device.profile, device.computeInstance.profileId);
  const { engines } = device.profile;
  return {
    multiprocessors: own.multiprocessors ?? 0,
    copy: engines.copy ?? 0,
    encoder: engines.encoder ?? 0,
    decoder: engines.decoder ?? 0,
    opticalFlow: engines.opticalFlow ?? 0,
    jpeg: engines.jpeg ?? 0,
  };
}

export function memoryFacts(totalMiB: number, usedMiB: number, reservedMiB: number | null): Fact[] {
  return [
    fact("Total", "total", `${totalMiB} MiB`),
    ...(reservedMiB === null ? [] : [fact("Reserved", "reserved", `${reservedMiB} MiB`)]),
    fact("Used", "used", `${usedMiB} MiB`),
    fact("Free", "free", `${totalMiB - usedMiB - (reservedMiB ?? 0)} MiB`),
  ];
}

export function migDevice(machine: SimulatedMachine, index: number, device: MigDevice): Fact {
  const engines = deviceEngines(device);
  const memory = deviceMemory(machine, index, device);
  return group("MIG Device", "mig_device", [
    fact("Index", "index", device.index),
    fact("GPU Instance ID", "gpu_instance_id", device.instance.id),
    fact("Compute Instance ID", "compute_instance_id", device.computeInstance.id),
    group("Device Attributes", "device_attributes", [
      group("Shared", "shared", [
        fact("Multiprocessor count", "multiprocessor_count", engines.multiprocessors),
        fact("Copy Engine count", "copy_engine_count", engines.copy),
        fact("Encoder count", "encoder_count", engines.encoder),
        fact("Decoder count", "decoder_count", engines.decoder),
        fact("OFA count", "ofa_count", engines.opticalFlow),
        fact("JPG count", "jpg_count", engines.jpeg),
      ]),
    ]),
    group(
      "ECC Errors",
      "ecc_error_count",
      [group("Volatile", "volatile_count", [fact("SRAM Uncorrectable", "sram_uncorrectable", 0)])],
      "ECC",
    ),
    group("FB Memory Usage", "fb_memory_usage", memoryFacts(memory.totalMiB, memory.usedMiB, 0)),
    group("BAR1 Memory", "bar1_memory_usage", memoryFacts(memory.bar1MiB, 0, null)),
  ]);
}

/** What the driver gives for utilisation: nothing while the GPU is divided. */
export function utilisationOf(machine: SimulatedMachine, index: number): { gpu: string; memory: string } {
  const gpu = machine.gpu(index);
  if (!gpu.migEnabled) return { gpu: `${gpu.utilisationPercent}`, memory: `${gpu.memoryUtilisationPercent}` };
  const value = machine.state.zeroUtilisationUnderMig ? "0" : "N/A";
  return { gpu: value, memory: value };
}

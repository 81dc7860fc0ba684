/** `scontrol show partition`: which QOS a partition gives to every job in it. */
import { isAbsent, Reading, type ReadOptions, type SlurmFacts } from "./reading.ts";
import { readRecords } from "./records.ts";

export interface SlurmPartition {
  readonly name: string;
  /** `QoS=` of the partition; null where it has none. Its limits go before those of a job's own QOS. */
  readonly qos: string | null;
}

/** The text, on many lines or (`-o`) on one. */
export function readPartitions(
  output: Uint8Array | string,
  options: ReadOptions = {},
): SlurmFacts<readonly SlurmPartition[]> {
  const reading = new Reading(options.source ?? "scontrol show partition");
  const facts = readRecords(output, "PartitionName", reading).map((record) => {
    const qos = record.get("QoS");
    return { name: record.get("PartitionName") ?? "", qos: qos === undefined || isAbsent(qos) ? null : qos };
  });
  return { facts, unread: reading.unread };
}

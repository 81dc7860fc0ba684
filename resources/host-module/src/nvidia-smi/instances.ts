/**
 * `nvidia-smi mig -lgi` and `mig -lci`: the instances that exist. `-lgi` is the truth: an instance without
 * compute instance is in neither `-L` nor the XML.
 */
import type { Placement } from "../../../../shared/mig/types.ts";
import { linesOf, type Parsed, type PartialRead, partialRead } from "./text.ts";

export interface ListedGpuInstance {
  readonly gpuIndex: number;
  /** Without "MIG ". */
  readonly profile: string;
  readonly profileId: number;
  readonly gpuInstanceId: number;
  /** In memory slices of the GPU. */
  readonly placement: Placement;
}

export interface ListedComputeInstance {
  readonly gpuIndex: number;
  readonly gpuInstanceId: number;
  /** Without "MIG ": `1c.3g.40gb`, or the instance's own name where it fills it. */
  readonly profile: string;
  readonly profileId: number;
  readonly computeInstanceId: number;
  /** In compute slices of the GPU instance. */
  readonly placement: Placement;
}

// The closing bar is demanded: "0:1" of a cut line may have been "0:12".
const gpuInstanceRow = /^\|\s*(\d+)\s+MIG\s+(\S+)\s+(\d+)\s+(\d+)\s+(\d+):(\d+)\s*\|$/;
const computeInstanceRow = /^\|\s*(\d+)\s+(\d+)\s+MIG\s+(\S+)\s+(\d+)\*?\s+(\d+)\s+(\d+):(\d+)\s*\|$/;

/** `mig -lgi`. Empty where the output is a message instead of a table; see `messagesOf` for what it says. */
export function parseGpuInstances(output: Uint8Array | string): Parsed<readonly ListedGpuInstance[]> {
  const facts: ListedGpuInstance[] = [];
  const unread = eachRow(output, "GPU instances", (row) => {
    const match = gpuInstanceRow.exec(row);
    if (match === null) return false;
    const [, gpu, profile, profileId, id, start, size] = match;
    facts.push({
      gpuIndex: Number(gpu),
      profile: profile ?? "",
      profileId: Number(profileId),
      gpuInstanceId: Number(id),
      placement: { start: Number(start), size: Number(size) },
    });
    return true;
  });
  return { facts, unread };
}

/** `mig -lci`. Empty where the output is a message instead of a table. */
export function parseComputeInstances(output: Uint8Array | string): Parsed<readonly ListedComputeInstance[]> {
  const facts: ListedComputeInstance[] = [];
  const unread = eachRow(output, "compute instances", (row) => {
    const match = computeInstanceRow.exec(row);
    if (match === null) return false;
    const [, gpu, instance, profile, profileId, id, start, size] = match;
    facts.push({
      gpuIndex: Number(gpu),
      gpuInstanceId: Number(instance),
      profile: profile ?? "",
      profileId: Number(profileId),
      computeInstanceId: Number(id),
      placement: { start: Number(start), size: Number(size) },
    });
    return true;
  });
  return { facts, unread };
}

function eachRow(output: Uint8Array | string, what: string, read: (row: string) => boolean): PartialRead[] {
  const unread: PartialRead[] = [];
  for (const line of linesOf(output)) {
    const row = line.trimStart();
    // Only rows of facts begin with a number; titles, headers and rules do not.
    if (!/^\|\s*\d/.test(row)) continue;
    if (!read(row)) unread.push(partialRead(what, "the row is not as the driver prints it, or is cut", row));
  }
  return unread;
}

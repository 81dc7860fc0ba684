/**
 * `nvidia-smi mig -lgip`, `-lgipp`, `-lcip` and `-lcipp`: what the driver offers on each GPU, and where.
 * The ids are the keys: names drift between drivers (1g.23gb became 1g.24gb on one card).
 */
import { linesOf, type Parsed, type PartialRead, partialRead } from "./text.ts";

export interface ListedGpuInstanceProfile {
  readonly gpuIndex: number;
  /** Without "MIG ". */
  readonly name: string;
  readonly profileId: number;
  /** How many more fit now. */
  readonly free: number;
  /** How many fit into an empty GPU. */
  readonly total: number;
  readonly memoryGiB: number;
  readonly peerToPeer: boolean;
  readonly multiprocessors: number;
  readonly decoders: number;
  readonly encoders: number;
  /** The second line of the row; null where it was cut off. */
  readonly copyEngines: number | null;
  readonly jpegEngines: number | null;
  readonly opticalFlowEngines: number | null;
}

export interface ListedComputeInstanceProfile {
  readonly gpuIndex: number;
  readonly gpuInstanceId: number;
  readonly name: string;
  readonly profileId: number;
  /** The one that `-cci` makes when none is named (printed with a star). */
  readonly isDefault: boolean;
  readonly free: number;
  readonly total: number;
  readonly multiprocessors: number;
}

/** `GPU  0 Profile ID 19 Placements: {0,1,2,3,4,5,6}:1` */
export interface ListedPlacements {
  readonly gpuIndex: number;
  readonly profileId: number;
  /** Memory slices at which an instance may start, as listed. */
  readonly starts: readonly number[];
  /** Memory slices it covers. */
  readonly size: number;
}

export interface ListedComputePlacements extends ListedPlacements {
  readonly gpuInstanceId: number;
}

const profileRow =
  /^\|\s*(\d+)\s+MIG\s+(\S+)\s+(\d+)\s+(\d+)\/(\d+)\s+([\d.]+)\s+(Yes|No)\s+(\d+)\s+(\d+)\s+(\d+)\s*\|$/i;
const engineRow = /^\|\s+(\d+)\s+(\d+)\s+(\d+)\s*\|$/;
const computeProfileRow = /^\|\s*(\d+)\s+(\d+)\s+MIG\s+(\S+)\s+(\d+)(\*?)\s+(\d+)\/(\d+)\s+(\d+)\s.*\|$/;
const placementLine =
  /^GPU\s+(\d+)\s+(?:GI\s+(\d+)\s+)?Profile ID\s+(\d+)\s+Placements?\s*:\s*\{([\d,\s]*)\}\s*:\s*(\d+)$/;

/** `mig -lgip`. */
export function parseGpuInstanceProfiles(output: Uint8Array | string): Parsed<readonly ListedGpuInstanceProfile[]> {
  const facts: ListedGpuInstanceProfile[] = [];
  const unread: PartialRead[] = [];
  let open = false;
  for (const line of linesOf(output)) {
    const row = line.trimStart();
    const last = facts.at(-1);
    const engines = open ? engineRow.exec(row) : null;
    open = false;
    if (engines !== null && last !== undefined) {
      facts[facts.length - 1] = {
        ...last,
        copyEngines: Number(engines[1]),
        jpegEngines: Number(engines[2]),
        opticalFlowEngines: Number(engines[3]),
      };
      continue;
    }
    const match = profileRow.exec(row);
    if (match === null) {
      if (/^\|\s*\d+\s+MIG\b/.test(row)) unread.push(cutRow("GPU instance profiles", row));
      continue;
    }
    const [, gpu, name, id, free, total, memory, peerToPeer, multiprocessors, decoders, encoders] = match;
    facts.push({
      gpuIndex: Number(gpu),
      name: name ?? "",
      profileId: Number(id),
      free: Number(free),
      total: Number(total),
      memoryGiB: Number(memory),
      peerToPeer: peerToPeer?.toLowerCase() === "yes",
      multiprocessors: Number(multiprocessors),
      decoders: Number(decoders),
      encoders: Number(encoders),
      copyEngines: null,
      jpegEngines: null,
      opticalFlowEngines: null,
    });
    open = true;
  }
  return { facts, unread };
}

/** `mig -lcip`. */
export function parseComputeInstanceProfiles(
  output: Uint8Array | string,
): Parsed<readonly ListedComputeInstanceProfile[]> {
  const facts: ListedComputeInstanceProfile[] = [];
  const unread: PartialRead[] = [];
  for (const line of linesOf(output)) {
    const row = line.trimStart();
    const match = computeProfileRow.exec(row);
    if (match === null) {
      if (/^\|\s*\d+\s+\d+\s+MIG\b/.test(row)) unread.push(cutRow("compute instance profiles", row));
      continue;
    }
    const [, gpu, instance, name, id, star, free, total, multiprocessors] = match;
    facts.push({
      gpuIndex: Number(gpu),
      gpuInstanceId: Number(instance),
      name: name ?? "",
      profileId: Number(id),
      isDefault: star === "*",
      free: Number(free),
      total: Number(total),
      multiprocessors: Number(multiprocessors),
    });
  }
  return { facts, unread };
}

/** `mig -lgipp`. */
export function parseGpuInstancePlacements(output: Uint8Array | string): Parsed<readonly ListedPlacements[]> {
  const { facts, unread } = parsePlacements(output);
  return {
    facts: facts.filter((row) => row.gpuInstanceId === null).map(({ gpuInstanceId: _none, ...row }) => row),
    unread,
  };
}

/** `mig -lcipp`: starts and size are compute slices of the GPU instance. */
export function parseComputeInstancePlacements(
  output: Uint8Array | string,
): Parsed<readonly ListedComputePlacements[]> {
  const { facts, unread } = parsePlacements(output);
  return {
    facts: facts.flatMap(({ gpuInstanceId, ...row }) => (gpuInstanceId === null ? [] : [{ ...row, gpuInstanceId }])),
    unread,
  };
}

type AnyPlacements = ListedPlacements & { readonly gpuInstanceId: number | null };

function parsePlacements(output: Uint8Array | string): Parsed<readonly AnyPlacements[]> {
  const facts: AnyPlacements[] = [];
  const unread: PartialRead[] = [];
  const lines = linesOf(output);
  for (const line of lines) {
    const match = placementLine.exec(line.trim());
    if (match === null) {
      if (/^\s*GPU\s+\d+\s+(?:GI\s+\d+\s+)?Profile\b/.test(line)) unread.push(cutRow("placements", line));
      continue;
    }
    const [, gpu, instance, id, starts, size] = match;
    facts.push({
      gpuIndex: Number(gpu),
      gpuInstanceId: instance === undefined ? null : Number(instance),
      profileId: Number(id),
      starts: (starts ?? "")
        .split(",")
        .filter((start) => start.trim() !== "")
        .map(Number),
      size: Number(size),
    });
  }
  return { facts, unread };
}

function cutRow(field: string, row: string): PartialRead {
  return partialRead(field, "the row is not as the driver prints it, or is cut", row);
}

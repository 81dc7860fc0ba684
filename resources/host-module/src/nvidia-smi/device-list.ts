/** `nvidia-smi -L`: GPUs and MIG devices with their UUIDs, and the GPUs that could not be opened. */
import { classifyWords, type FailureReason } from "./messages.ts";
import { linesOf, type Parsed, type PartialRead, partialRead } from "./text.ts";
import { normalBusId } from "./values.ts";

export interface ListedMigDevice {
  /** "Device N": the `index` of the XML's `mig_device`. */
  readonly deviceIndex: number;
  /** Of the compute instance, without "MIG ". */
  readonly profile: string;
  /** `MIG-...` */
  readonly uuid: string;
}

export interface ListedGpu {
  readonly index: number;
  readonly name: string;
  readonly uuid: string;
  readonly migDevices: readonly ListedMigDevice[];
}

export interface DeviceList {
  readonly gpus: readonly ListedGpu[];
  readonly failed: readonly FailedGpu[];
}

/** A GPU that answered with an error instead of its name. */
export interface FailedGpu {
  /** Its place in the order of the list; null where nothing else was listed. */
  readonly index: number | null;
  /** Null where the driver printed an unset string in its place, as 550.163.01 does. */
  readonly pciBusId: string | null;
  readonly reason: FailureReason;
  readonly words: string;
}

const gpuLine = /^GPU\s+(\d+):\s+(.*?)\s+\(UUID:\s*([^\s)]+)\s*\)$/;
const migLine = /^\s+MIG\s+(\S+)\s+Device\s+(\d+):\s+\(UUID:\s*([^\s)]+)\s*\)$/;
const failureLine = /^Unable to determine the device handle for gpu(.*):\s*([A-Z][^:]*)$/i;

/** `-L`. Failed GPUs keep their place: the line after GPU 2 that reports a lost one speaks of GPU 3. */
export function parseDeviceList(output: Uint8Array | string): Parsed<DeviceList> {
  const gpus: { index: number; name: string; uuid: string; migDevices: ListedMigDevice[] }[] = [];
  const failed: FailedGpu[] = [];
  const unread: PartialRead[] = [];
  let next = 0;
  for (const line of linesOf(output)) {
    const gpu = gpuLine.exec(line.trimStart());
    const mig = migLine.exec(line);
    const failure = failureLine.exec(line);
    if (gpu !== null) {
      const index = Number(gpu[1]);
      gpus.push({ index, name: gpu[2] ?? "", uuid: gpu[3] ?? "", migDevices: [] });
      next = index + 1;
    } else if (mig !== null) {
      gpus.at(-1)?.migDevices.push({ deviceIndex: Number(mig[2]), profile: mig[1] ?? "", uuid: mig[3] ?? "" });
    } else if (failure !== null) {
      const words = failure[2] ?? "";
      const busId = /[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]/i.exec(failure[1] ?? "")?.[0];
      failed.push({ index: next, pciBusId: normalBusId(busId), reason: classifyWords(words), words });
      next += 1;
    } else if (/^\s*(GPU\s+\d+:|MIG\s+\S+\s+Device)/.test(line)) {
      unread.push(partialRead("devices", "the line is not as the driver prints it, or is cut", line));
    }
  }
  if (gpus.length > 0) return { facts: { gpus, failed }, unread };
  return { facts: { gpus, failed: failed.map((gpu) => ({ ...gpu, index: null })) }, unread };
}

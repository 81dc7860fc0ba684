/**
 * What nvidia-smi says in sentences: what it made or destroyed, that there is nothing, that it failed and why.
 * It prints all of them to standard output (seen with 550.163.01), and the exit status alone proves nothing:
 * 0 also ends "No MIG-enabled devices found." and a MIG mode that is only pending.
 */
import { linesOf } from "./text.ts";

export type FailureReason =
  | "no-driver"
  | "no-library"
  | "version-mismatch"
  | "blocked" // by the operating system (or a container's device rules)
  | "permission"
  | "lost"
  | "reset-required"
  | "in-use"
  | "insufficient-resources"
  | "invalid-argument"
  | "not-supported"
  | "not-found"
  | "usage" // an option this driver does not know
  | "unknown";

export type EmptyKind = "devices" | "mig-devices" | "gpu-instances" | "compute-instances";

export type DriverMessage =
  | {
      readonly kind: "created-gpu-instance" | "destroyed-gpu-instance";
      readonly gpuIndex: number;
      readonly gpuInstanceId: number;
      /** Null where the sentence does not name it (when destroyed). */
      readonly profile: string | null;
      readonly profileId: number | null;
    }
  | {
      readonly kind: "created-compute-instance" | "destroyed-compute-instance";
      readonly gpuIndex: number;
      readonly gpuInstanceId: number;
      readonly computeInstanceId: number;
      readonly profile: string | null;
      readonly profileId: number | null;
    }
  | { readonly kind: "mig-mode-set"; readonly enabled: boolean; readonly pciBusId: string }
  /** The mode waits for a reset or for the clients to go; the exit status is 0 all the same. */
  | {
      readonly kind: "mig-mode-pending";
      readonly enabled: boolean;
      readonly pciBusId: string;
      readonly reason: FailureReason;
      readonly words: string;
    }
  | { readonly kind: "nothing"; readonly of: EmptyKind; readonly words: string }
  | { readonly kind: "failure"; readonly reason: FailureReason; readonly words: string }
  | { readonly kind: "warning"; readonly words: string }
  /** Known, and neither a change of MIG nor trouble. */
  | { readonly kind: "note"; readonly words: string };

const words: readonly (readonly [RegExp, FailureReason])[] = [
  [/couldn't communicate with the NVIDIA driver|Driver Not Loaded/i, "no-driver"],
  [/couldn't find libnvidia-ml|shared library .*not found|NVML Shared Library Not Found/i, "no-library"],
  [/version mismatch/i, "version-mismatch"],
  [/blocked by the operating system/i, "blocked"],
  [/Insufficient Permissions|\/dev\/nvidia\* files are readable|permission denied/i, "permission"],
  [/GPU is lost|fallen off the bus/i, "lost"],
  [/reset must occur|reset (is )?required|requires reset/i, "reset-required"],
  [/In use by another client|currently being used/i, "in-use"],
  [/Insufficient Resources|Insufficient Size/i, "insufficient-resources"],
  [
    /is missing its value|is not recognized|not a valid field|is not valid for this command|is invalid for|Invalid combination|switch is missing|must be used in conjunction|run 'nvidia-smi -h'|Invalid MIG Mode/i,
    "usage",
  ],
  [/Invalid Argument/i, "invalid-argument"],
  [/Not Supported|does not have or support/i, "not-supported"],
  [/Not Found/i, "not-found"],
];

/** The reason behind the driver's words, `unknown` where they are new to us. */
export function classifyWords(text: string): FailureReason {
  return words.find(([pattern]) => pattern.test(text))?.[1] ?? "unknown";
}

const created =
  /^Successfully created (GPU|compute) instance(?: ID)?\s+(\d+)\s+on GPU\s+(\d+)(?:\s+GPU instance ID\s+(\d+))?\s+using profile (?:MIG )?(\S+)\s+\(ID\s+(\d+)\)/i;
const destroyed =
  /^Successfully destroyed (GPU|compute) instance(?: ID)?\s+(\d+)\s+from GPU\s+(\d+)(?:\s+GPU instance ID\s+(\d+))?/i;
const modeSet = /^(Enabled|Disabled) MIG Mode for GPU\s+(\S+)/i;
const modePending =
  /^Warning: MIG mode is in pending (enable|disable) state for GPU\s+([0-9A-F:.]*[0-9A-F])\s*:\s*(.*)$/i;
const nothing: readonly (readonly [RegExp, EmptyKind])[] = [
  [/^No GPU instances found/i, "gpu-instances"],
  [/^No compute instances found/i, "compute-instances"],
  [/^No MIG-(enabled|capable) devices found/i, "mig-devices"],
  [/^No devices (were )?found/i, "devices"],
];
const failure =
  /^(ERROR:|Error\b|Unable to|Failed to|Problem with GPU|NVIDIA-SMI (has failed|couldn't)|NVML:|Invalid |Insufficient Permissions|Unknown Error|GPU is lost|Option |Field |Format modifier|"--?\w|The -\w+ command line argument|NUMA ID of|Terminating early|Not supported on the device|Couldn't|.*: Insufficient Permissions$)/i;
const note =
  /^(Successfully \w+ |All done\.|\w+ mode is already |The GPUs that have an affinity|Device \d+ is connected |No running processes found|NVML: Unable to retrieve Nvlink information as all links are inActive)/i;
const warning = /^(Warning:|Treating as warning|Nvlink queries are not supported|Device does not have or support)/i;

/** Every sentence of an output, in order; lines that are none are left out. */
export function messagesOf(output: Uint8Array | string): DriverMessage[] {
  return linesOf(output).flatMap((line) => {
    const message = messageOf(line.trim());
    return message === null ? [] : [message];
  });
}

function messageOf(line: string): DriverMessage | null {
  if (line === "" || line.startsWith("|") || line.startsWith("+")) return null;
  const made = created.exec(line) ?? destroyed.exec(line);
  if (made !== null) return changeMessage(made, /^Successfully created/i.test(line) ? "created" : "destroyed");
  const set = modeSet.exec(line);
  if (set !== null) {
    return { kind: "mig-mode-set", enabled: set[1]?.toLowerCase() === "enabled", pciBusId: set[2] ?? "" };
  }
  const pending = modePending.exec(line);
  if (pending !== null) {
    const reason = (pending[3] ?? "").trim();
    return {
      kind: "mig-mode-pending",
      enabled: pending[1]?.toLowerCase() === "enable",
      pciBusId: pending[2] ?? "",
      reason: classifyWords(reason),
      words: reason,
    };
  }
  const empty = nothing.find(([pattern]) => pattern.test(line));
  if (empty !== undefined) {
    // The same sentence, with this tail, means that the device files cannot be opened.
    if (/\/dev\/nvidia\* files are readable/.test(line)) return { kind: "failure", reason: "permission", words: line };
    return { kind: "nothing", of: empty[1], words: line };
  }
  if (warning.test(line)) return { kind: "warning", words: line };
  if (note.test(line)) return { kind: "note", words: line };
  if (failure.test(line)) return { kind: "failure", reason: classifyWords(line), words: line };
  return null;
}

function changeMessage(match: RegExpExecArray, verb: "created" | "destroyed"): DriverMessage {
  const [, what, id, gpu, instance, profile, profileId] = match;
  const profileFacts = {
    profile: profile ?? null,
    profileId: profileId === undefined ? null : Number(profileId),
  };
  if (what?.toLowerCase() === "compute") {
    return {
      kind: `${verb}-compute-instance`,
      gpuIndex: Number(gpu),
      gpuInstanceId: Number(instance),
      computeInstanceId: Number(id),
      ...profileFacts,
    };
  }
  return { kind: `${verb}-gpu-instance`, gpuIndex: Number(gpu), gpuInstanceId: Number(id), ...profileFacts };
}

/**
 * The failure that an output speaks of: the first one with a reason, else the first one, else null.
 * "Unable to create ... : Insufficient Resources" comes before the summing-up "Failed to create GPU instances".
 */
export function failureIn(
  output: Uint8Array | string,
): { readonly reason: FailureReason; readonly words: string } | null {
  const failures = messagesOf(output).filter((message) => message.kind === "failure");
  const found = failures.find((message) => message.reason !== "unknown") ?? failures[0];
  return found === undefined ? null : { reason: found.reason, words: found.words };
}

/** The driver's answers, with the words and the exit status that `nvidia-smi` 550 gives them. */

export type NvmlError =
  | "invalid-argument"
  | "not-supported"
  | "no-permission"
  | "not-found"
  | "driver-not-loaded"
  | "gpu-lost"
  | "reset-required"
  | "operating-system"
  | "version-mismatch"
  | "in-use"
  | "insufficient-resources"
  | "unknown";

const answers: Readonly<Record<NvmlError, { readonly words: string; readonly exitStatus: number }>> = {
  "invalid-argument": { words: "Invalid Argument", exitStatus: 2 },
  "not-supported": { words: "Not Supported", exitStatus: 3 },
  "no-permission": { words: "Insufficient Permissions", exitStatus: 4 },
  "not-found": { words: "Not Found", exitStatus: 6 },
  "driver-not-loaded": { words: "Driver Not Loaded", exitStatus: 9 },
  "gpu-lost": { words: "GPU is lost", exitStatus: 15 },
  "reset-required": { words: "GPU requires reset", exitStatus: 16 },
  "operating-system": { words: "GPU access blocked by the operating system", exitStatus: 17 },
  "version-mismatch": { words: "Driver/library version mismatch", exitStatus: 18 },
  "in-use": { words: "In use by another client", exitStatus: 19 },
  "insufficient-resources": { words: "Insufficient Resources", exitStatus: 23 },
  unknown: { words: "Unknown Error", exitStatus: 255 },
};

export function wordsOf(error: NvmlError): string {
  return answers[error].words;
}

export function exitStatusOf(error: NvmlError): number {
  return answers[error].exitStatus;
}

/** `nvidia-smi --version`. */
import { linesOf } from "./text.ts";

export interface ToolVersion {
  readonly driverVersion: string | null;
  readonly cudaVersion: string | null;
}

/** 610 and newer keep the old names only to say that they are deprecated. */
export function parseVersion(output: Uint8Array | string): ToolVersion {
  const values = new Map(
    linesOf(output).flatMap((line) => {
      const match = /^([\w -]+?)\s*:\s*(\d+(?:\.\d+)+)\b/.exec(line.trim());
      return match === null ? [] : [[(match[1] ?? "").toLowerCase(), match[2] ?? ""] as const];
    }),
  );
  return {
    driverVersion: values.get("kmd version") ?? values.get("driver version") ?? null,
    cudaVersion: values.get("cuda umd version") ?? values.get("cuda version") ?? null,
  };
}

/**
 * Real output of Slurm, where it is at hand: a folder `shared/samples/slurm` beside the repository. It is not ours to copy;
 * without it the tests over it are skipped, and those with our own texts remain.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../../../../../../shared/samples/slurm/", import.meta.url));

/** Whether the folder is there; says so on the console where it is not. */
export const hasSamples = existsSync(folder);
if (!hasSamples) console.info(`Skipped: there is no real output of Slurm in ${folder}`);

/** One cluster, set up the same way on seven releases; its oldest has no JSON of sacctmgr and scontrol. */
export const labReleases = ["deb22.05", "23.11", "24.05", "24.11", "25.05", "25.11", "26.05"] as const;
export const jsonReleases = labReleases.slice(1);

export function sample(name: string): Uint8Array {
  return new Uint8Array(readFileSync(folder + name));
}

export function sampleText(name: string): string {
  return readFileSync(folder + name, "utf8");
}

/** All files whose path matches. */
export function samplesLike(pattern: RegExp): readonly string[] {
  if (!hasSamples) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => pattern.test(name))
    .toSorted();
}

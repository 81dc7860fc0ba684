/** How a host's slurmd was started: by what name Slurm knows the host, and where its configuration stands. */
import { readText } from "../inventory/host-files.ts";
import type { System } from "../system.ts";

export interface Slurmd {
  readonly nodeName: string;
  /** Where gres.conf may stand, the likeliest first. */
  readonly configurationDirectories: readonly string[];
}

const usualDirectories = ["/etc/slurm", "/etc/slurm-llnl", "/usr/local/etc/slurm"];
/** Where slurmd puts what slurmctld sent it (`--conf-server`). */
const sentDirectory = "/run/slurm/conf";

export async function readSlurmd(system: System, pid: number): Promise<Slurmd> {
  const words = await wordsOf(system, `/proc/${pid}/cmdline`);
  const environment = await wordsOf(system, `/proc/${pid}/environ`);
  const named = environment.find((word) => word.startsWith("SLURM_CONF="))?.slice("SLURM_CONF=".length);
  return slurmdOf(words, named ?? null, system.hostName);
}

/** Pure: from the words of its command line, and `SLURM_CONF` of its environment. */
export function slurmdOf(words: readonly string[], slurmConf: string | null, hostName: string): Slurmd {
  const isSent = words.some((word) => word.startsWith("--conf-server"));
  const file = optionOf(words, "-f") ?? slurmConf;
  const directory = file?.startsWith("/") === true ? [file.replace(/\/[^/]*$/, "")] : [];
  return {
    nodeName: optionOf(words, "-N") ?? hostName.split(".")[0] ?? hostName,
    configurationDirectories: isSent ? [sentDirectory] : [...directory, ...usualDirectories, sentDirectory],
  };
}

/** `-N g1` and `-Ng1`. */
function optionOf(words: readonly string[], option: string): string | null {
  const at = words.findIndex((word, place) => place > 0 && word.startsWith(option));
  const word = words[at];
  if (word === undefined) return null;
  return word.length > option.length ? word.slice(option.length) : (words[at + 1] ?? null);
}

async function wordsOf({ files }: System, path: string): Promise<readonly string[]> {
  return (await readText(files, path))?.split("\0").filter((word) => word !== "") ?? [];
}

/** What the Slurm lab needs of this machine. */
import { existsSync } from "node:fs";
import { machinesMissing } from "./machine.ts";
import { sshdMissing } from "./sshd.ts";

/** A file of each package, and the package; `electron/dev/test.mjs` installs the same ones. */
const packages = [
  ["/usr/sbin/slurmctld", "slurmctld"],
  ["/usr/sbin/slurmd", "slurmd"],
  ["/usr/sbin/slurmdbd", "slurmdbd"],
  ["/usr/bin/sacctmgr", "slurm-client"],
  ["/usr/sbin/munged", "munge"],
  ["/usr/sbin/mariadbd", "mariadb-server-core"],
  ["/usr/bin/my_print_defaults", "mariadb-client-core"],
] as const;

/** Why no lab can be started here; null when it can. */
export function slurmLabMissing(): string | null {
  const absent = packages.filter(([file]) => !existsSync(file)).map(([, name]) => name);
  const missing = machinesMissing() ?? sshdMissing();
  if (missing !== null || absent.length === 0) return missing;
  return `not installed: ${absent.join(", ")} (Debian: apt-get install --no-install-recommends ${absent.join(" ")})`;
}

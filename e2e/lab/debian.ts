/**
 * The programs of another Debian release in a directory, for lab hosts that run its Slurm. Packages are fetched by apt
 * with a state of its own, signatures checked, and unpacked; no script of theirs runs and nothing is installed here.
 */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** What lab hosts run, down to the C library. */
const packages = [
  ...["slurmctld", "slurmd", "slurmdbd", "slurm-client", "munge", "mariadb-server-core", "mariadb-client-core"],
  ...["openssh-server", "openssh-client", "sudo", "iproute2", "passwd", "procps", "libc-bin", "libpam-modules"],
  ...["base-files", "bash", "dash", "coreutils", "util-linux", "mount", "grep", "sed", "mawk", "findutils", "hostname"],
];

/** Links that the packages' scripts would make. */
const links: Readonly<Record<string, string>> = {
  "usr/bin/awk": "mawk",
  "usr/sbin/slurmctld": "slurmctld-wlm",
  "usr/sbin/slurmd": "slurmd-wlm",
  "usr/sbin/slurmstepd": "slurmstepd-wlm",
};

/** Where the trees are kept: about 220 MB each, from about 55 MB of packages; may be deleted at any time. */
const cache = join(homedir(), ".cache", "tessera-lab");

/**
 * The directory with the programs of a release (`trixie`), made when it is not there: under a minute. Throws with apt's
 * words where the release cannot be had. Debian 12 has Slurm 22.05, 13 has 24.11.
 */
export function debianTree(release: string): string {
  if (!/^[a-z]+$/.test(release)) throw new RangeError(`${release} is no name of a Debian release`);
  const tree = join(cache, `debian-${release}`);
  if (existsSync(tree)) return tree;
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, "making-"));
  try {
    const made = join(work, "tree");
    mkdirSync(made);
    for (const file of fetchPackages(release, join(work, "apt"))) execFileSync("dpkg-deb", ["--extract", file, made]);
    for (const [link, target] of Object.entries(links)) {
      if (!existsSync(join(made, link)) && existsSync(join(made, link, "..", target)))
        symlinkSync(target, join(made, link));
    }
    mkdirSync(join(made, "usr/local"), { recursive: true });
    execFileSync("ldconfig", ["-r", made]);
    renameSync(made, tree);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return tree;
}

function fetchPackages(release: string, state: string): readonly string[] {
  const archives = join(state, "var/cache/apt/archives");
  for (const directory of ["etc/apt", "var/lib/apt/lists/partial", "var/lib/dpkg"]) {
    mkdirSync(join(state, directory), { recursive: true });
  }
  mkdirSync(join(archives, "partial"), { recursive: true });
  const status = join(state, "var/lib/dpkg/status");
  writeFileSync(status, "");
  const keys = "signed-by=/usr/share/keyrings/debian-archive-keyring.gpg";
  writeFileSync(join(state, "etc/apt/sources.list"), `deb [${keys}] http://deb.debian.org/debian ${release} main\n`);
  const settings = [
    `Dir=${state}`,
    `Dir::State::status=${status}`,
    "APT::Sandbox::User=root",
    "Acquire::Languages=none",
  ];
  const apt = (...argv: readonly string[]) =>
    execFileSync("apt-get", [...settings.flatMap((setting) => ["-o", setting]), "-qq", ...argv], {
      stdio: ["ignore", "ignore", "pipe"],
    });
  apt("update");
  apt("install", "--yes", "--download-only", "--no-install-recommends", ...packages);
  return readdirSync(archives)
    .filter((name) => name.endsWith(".deb"))
    .map((name) => join(archives, name));
}

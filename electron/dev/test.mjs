/** `npm test`: installs what is missing, then runs lint, types, unit, property, integration and browser tests. */
import { spawnSync } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { environment, fail, findNode, installPackages, root, run, say } from "./prepare.mjs";

installPackages();
installSystemPackages();
const node = findNode();
const env = environment(node);

const steps = [
  ["build", node, [join("electron", "dev", "build.ts")]],
  ["lint", bin("biome"), ["check", "."]],
  ["types of shared", bin("tsc"), ["-p", "shared"]],
  ["types of services, host module and tests", bin("tsc"), ["-p", "."]],
  ["types of the renderer", bin("tsc"), ["-p", "renderer"]],
  ["unit, property and integration tests", bin("vitest"), ["run"]],
  ["browser tests", bin("playwright"), ["test", "-c", "e2e"]],
];
if (!existsSync(join(root, "..", "shared", "samples"))) {
  say("Samples of real tools' output (../shared) are not here: tests over them are skipped, all others run.");
}
const outcomes = [];
for (const [name, program, argv] of steps) {
  say(`\n== ${name}`);
  const began = Date.now();
  const status = await run(program, argv, { env });
  outcomes.push({ name, status, seconds: Math.round((Date.now() - began) / 1000) });
}
say("");
for (const { name, status, seconds } of outcomes) say(`${status === 0 ? "passed" : "FAILED"}  ${name} (${seconds} s)`);
process.exitCode = outcomes.every(({ status }) => status === 0) ? 0 : 1;

/** On Debian as root, what the integration and browser tests need: Chromium, OpenSSH, and Slurm for the lab (12 MB). */
function installSystemPackages() {
  if (process.platform !== "linux") return;
  const wanted = [
    ["/usr/bin/chromium", "chromium"],
    ["/usr/sbin/sshd", "openssh-server"],
    ["/usr/bin/ssh", "openssh-client"],
    ["/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc", "fonts-noto-cjk"],
    // The lab's, as e2e/lab/slurm-missing.ts lists them. MariaDB's core has the server without its service.
    ["/usr/sbin/slurmctld", "slurmctld"],
    ["/usr/sbin/slurmd", "slurmd"],
    ["/usr/sbin/slurmdbd", "slurmdbd"],
    ["/usr/bin/sacctmgr", "slurm-client"],
    ["/usr/sbin/munged", "munge"],
    ["/usr/sbin/mariadbd", "mariadb-server-core"],
    ["/usr/bin/my_print_defaults", "mariadb-client-core"],
    ["/usr/sbin/ip", "iproute2"],
    ["/usr/bin/sudo", "sudo"],
  ];
  const missing = wanted.filter(([file]) => !existsSync(file)).map(([, name]) => name);
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
    say(`Not installed here: ${missing.join(", ")}. The tests that need them say so.`);
    return;
  }
  say(`Installing ${missing.join(", ")} from Debian`);
  const quiet = { stdio: ["ignore", "ignore", "inherit"], env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } };
  spawnSync("apt-get", ["update"], quiet);
  const apt = withoutStartingServices(() =>
    spawnSync("apt-get", ["install", "-y", "--no-install-recommends", ...missing], quiet),
  );
  if (apt.status !== 0) fail(`apt-get could not install ${missing.join(", ")}; see its words above.`);
}

/** Packages ask this file whether their daemons may be started; the tests start their own (invoke-rc.d(8)). */
function withoutStartingServices(install) {
  const policy = "/usr/sbin/policy-rc.d";
  if (existsSync(policy)) return install();
  writeFileSync(policy, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  try {
    return install();
  } finally {
    rmSync(policy, { force: true });
  }
}

function bin(name) {
  return join(root, "node_modules", ".bin", process.platform === "win32" ? `${name}.cmd` : name);
}

/** `npm run lab`: the Slurm lab with two tenants, until Ctrl-C. */
import { SlurmLab } from "./slurm.ts";
import { sshPort } from "./slurm-host.ts";
import { slurmLabMissing } from "./slurm-missing.ts";
import { type LabTenant, makeTenant } from "./tenants.ts";

const missing = slurmLabMissing();
if (missing !== null) {
  process.stderr.write(`The lab cannot start: ${missing}.\n`);
  process.exit(1);
}

const tenants: readonly LabTenant[] = [
  { id: "t1a7", limit: "gres/gpu=2,cpu=16", projects: { t1a7_p01: ["alice", "bob"], t1a7_p02: ["bob", "carol"] } },
  { id: "t2c4", limit: "gres/gpu=1,cpu=8", projects: { t2c4_p01: ["dave", "erin"] } },
];

const began = Date.now();
process.stderr.write("Starting MariaDB, slurmdbd, slurmctld, two slurmd and three sshd ...\n");
const people = [...new Set(tenants.flatMap((tenant) => Object.values(tenant.projects).flat()))];
const lab = await SlurmLab.start({ people });
const stopped = new Promise((resolve) => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, resolve);
});
for (const tenant of tenants) await makeTenant(lab, tenant);
const ssh = `ssh -F ${writeSshConfig(lab)}`;
const accounts = await lab.expect(["sacctmgr", "show", "assoc", "tree", "format=Account%12,User%8,GrpTRES%24"]);
const version = (await lab.expect(["slurmctld", "-V"])).trim();

process.stdout.write(`
${version}, up in ${((Date.now() - began) / 1000).toFixed(1)} s. Everything of it stands in ${lab.lab.directory}.

${[lab.control, ...lab.hosts].map(({ name, address }) => `${name.padEnd(8)} ${address}`).join("\n")}

${accounts}
${ssh} root@${lab.control.name}        # slurmctld, slurmdbd, MariaDB
${ssh} root@g1             # a GPU host: nvidia-smi, slurmd
${ssh} alice@${lab.control.name}       # as a person

A job of alice's, and why the third of them waits:

${ssh} alice@${lab.control.name} 'for n in 1 2 3; do sbatch --gres=gpu:h100:1 --wrap="sleep 600"; done; sleep 3; squeue'

Ctrl-C ends it and removes everything.
`);
await stopped;
process.stderr.write("\nStopping ...\n");
await lab[Symbol.asyncDispose]();

/** Names of hosts and each person's key, for ssh -F. */
function writeSshConfig({ lab, control, hosts, people, rootKey }: SlurmLab): string {
  const all = [control, ...hosts];
  const known = all.map(({ address, hostKey }) => `${address} ${hostKey.publicKey}\n`).join("");
  const keys = [{ name: "root", key: rootKey }, ...people].map(
    ({ name, key }) => `Match user ${name}\n  IdentityFile ${key.path}`,
  );
  return lab.write(
    "ssh_config",
    [
      ...all.map(({ name, address }) => `Host ${name}\n  HostName ${address}\n  Port ${sshPort}`),
      `Host *\n  UserKnownHostsFile ${lab.write("known_hosts", known)}\n  IdentitiesOnly yes`,
      ...keys,
      "",
    ].join("\n"),
  );
}

/**
 * Many hosts on one machine: one real sshd on as many loopback addresses, the same simulated driver report on each,
 * and tessera-host of this build already installed in the home directory that they share.
 */
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, linkSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { arch } from "node:os";
import { join } from "node:path";
import { HostArtifacts } from "../../electron/services/deploy/artifacts.ts";
import { HostConnections } from "../../electron/services/deploy/connect-host.ts";
import { buildDirectory } from "../../electron/services/deploy/scripts.ts";
import type { SshTarget } from "../../electron/services/ssh/interfaces.ts";
import { Ssh2Transport } from "../../electron/services/ssh/transport.ts";
import packageJson from "../../package.json" with { type: "json" };
import { simulatedMachine } from "../../resources/demo-cluster/driver/describe.ts";
import { nvidiaSmi } from "../../resources/demo-cluster/driver/nvidia-smi.ts";
import { type KeyPair, type Lab, type Sshd, startSshd } from "./sshd.ts";

const distribution = join(import.meta.dirname, "..", "..", "dist");
const reportBytes = 80 * 1024;
/** sshd listens on no more than 16 (MAX_LISTEN_SOCKS). */
const addressesOfOne = 16;

export interface Fleet {
  readonly addresses: readonly string[];
  readonly sshd: Sshd;
  readonly key: KeyPair;
  /** For ssh(1): every address by its own name, key and known host. */
  readonly sshConfig: string;
  readonly reportFile: string;
  target(address: string): SshTarget;
  connections(limits?: { readonly handshakesAtOnce?: number }): { hosts: HostConnections; transport: Ssh2Transport };
}

export async function startFleet(lab: Lab, count: number): Promise<Fleet> {
  const home = lab.path("home");
  const bin = lab.path("bin");
  mkdirSync(bin);
  const reportFile = writeDriver(lab, bin);
  const artifacts = new HostArtifacts(distribution, packageJson.version);
  await installBuild(artifacts, join(home, ".cache", "tessera"));
  const key = lab.key();
  const addresses = Array.from({ length: count }, (_, index) => `127.0.20.${index + 1}`);
  const hostKey = lab.key();
  const start = (some: readonly string[], port?: number) =>
    startSshd(lab, {
      addresses: some,
      ...(port === undefined ? {} : { port }),
      hostKeys: [hostKey],
      authorized: [key.publicKey],
      environment: { PATH: `${bin}:/usr/sbin:/usr/bin:/sbin:/bin` },
      // Both sides log in to all hosts at once, which a single sshd would take for an attack.
      lines: ["MaxStartups 1000", "LogLevel ERROR"],
    });
  const sshd = await start(addresses.slice(0, addressesOfOne));
  const sshds = [sshd];
  for (let first = addressesOfOne; first < count; first += addressesOfOne) {
    sshds.push(await start(addresses.slice(first, first + addressesOfOne), sshd.port));
  }
  const knownHosts = sshds.map((one) => one.knownHosts()).join("");
  const sshConfig = lab.write(
    "ssh_config",
    [
      "Host *",
      "User root",
      `Port ${sshd.port}`,
      `IdentityFile ${key.path}`,
      "IdentitiesOnly yes",
      `UserKnownHostsFile ${lab.write("known_hosts", knownHosts)}`,
      "LogLevel ERROR",
      "",
    ].join("\n  "),
  );
  return {
    addresses,
    sshd,
    key,
    sshConfig,
    reportFile,
    target: (address) => ({
      kind: "direct",
      settings: {
        name: address,
        address,
        port: sshd.port,
        user: "root",
        privateKey: key.privateKey,
        hostKey: hostKey.publicKey,
      },
    }),
    connections: (limits) => {
      const transport = new Ssh2Transport(limits === undefined ? {} : { limits });
      return { transport, hosts: new HostConnections(transport, artifacts) };
    },
  };
}

/** An `nvidia-smi` that costs as little as can be: it prints what the simulated driver said once. */
function writeDriver(lab: Lab, bin: string): string {
  const gpus = Array.from({ length: 8 }, () => ({ model: "NVIDIA H100 80GB HBM3" }));
  const machine = simulatedMachine({ hostName: "gpu", gpus, clockMs: Date.UTC(2026, 0, 1) });
  const answers = lab.path("answers");
  mkdirSync(answers);
  const said = (argv: readonly string[]) => nvidiaSmi(machine, argv, true).stdout;
  for (const argv of [["-L"], ["topo", "-m"], ["nvlink", "-s"], ["mig", "-lgip"], ["mig", "-lgipp"]]) {
    writeFileSync(join(answers, argv.join(" ")), said(argv));
  }
  const report = said(["-q", "-x"]);
  const padding = Math.max(0, reportBytes - Buffer.byteLength(report) - "<!---->\n".length);
  const reportFile = join(answers, "-q -x");
  writeFileSync(reportFile, `${report}<!--${" ".repeat(padding)}-->\n`);
  const program = join(bin, "nvidia-smi");
  writeFileSync(
    program,
    `#!/bin/sh\n[ -f "${answers}/$*" ] && exec cat "${answers}/$*"\necho "Invalid combination"; exit 2\n`,
  );
  chmodSync(program, 0o755);
  return reportFile;
}

/** What an upload would leave below `base`, without the upload: the runtime is this process's own. */
export async function installBuild(artifacts: HostArtifacts, base: string, root = false): Promise<void> {
  const bundle = await artifacts.bundle();
  const machine = arch() === "arm64" ? "aarch64" : "x86_64";
  const directory = join(base, buildDirectory(root, bundle.id, machine));
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "tessera-host.cjs"), bundle.content);
  const runtime = join(directory, "node");
  try {
    linkSync(process.execPath, runtime);
  } catch {
    copyFileSync(process.execPath, runtime);
  }
  const sum = createHash("sha256").update(readFileSync(runtime)).digest("hex");
  writeFileSync(join(directory, "SHA256SUMS"), `${sum}  node\n${bundle.sha256}  tessera-host.cjs\n`);
}

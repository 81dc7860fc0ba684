/** The real runtime, some 120 MB, over a real sshd: whole, cut in the middle, and with no room for it. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { arch } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addUser, Lab, type Sshd, sshdMissing, startSshd } from "../../../e2e/lab/sshd.ts";
import { SshConfigResolver } from "../ssh/config/resolve.ts";
import { Ssh2Transport } from "../ssh/transport.ts";
import { HostArtifacts } from "./artifacts.ts";
import { HostConnections } from "./connect-host.ts";

const packaged = join(import.meta.dirname, "..", "..", "..", "node_modules", `node-linux-${arch()}`);
const missing = sshdMissing() ?? (existsSync(packaged) ? null : `${packaged} is not installed`);
if (missing !== null) console.warn(`skipped: ${missing}`);

/** Answers hello and nothing else. */
const stub = `
process.stdin.once("data", () => {
  const json = JSON.stringify({ jsonrpc: "2.0", id: 0, result: { protocolVersion: 1, version: process.version,
    hostName: "stub", root: false, caller: { uid: process.getuid(), user: null } } });
  process.stdout.write("Content-Length: " + json.length + "\\r\\n\\r\\n" + json);
});
process.stdin.on("end", () => process.exit(0));
`;

describe.skipIf(missing !== null)("the real runtime", { timeout: 300_000 }, () => {
  const lab = new Lab();
  const user = `tesserart${process.pid}`;
  let home: string;
  let sshd: Sshd;
  let artifacts: HostArtifacts;
  let transport: Ssh2Transport;
  let hosts: HostConnections;
  const cache = () => join(home, ".cache", "tessera");
  const builds = () => (existsSync(cache()) ? readdirSync(cache()) : []);
  const target = { kind: "name", name: "alpha" } as const;

  beforeAll(async () => {
    // A checkout whose dist/ holds no runtime yet: it is compressed from node_modules when the first host needs it.
    mkdirSync(lab.path("dist/host-module"), { recursive: true });
    mkdirSync(lab.path("node_modules"));
    symlinkSync(packaged, lab.path(`node_modules/node-linux-${arch()}`));
    writeFileSync(lab.path("dist/host-module/tessera-host.cjs"), stub);
    artifacts = new HostArtifacts(lab.path("dist"), "9.9.9");
    const key = lab.key();
    home = addUser(lab, user, "unused").home;
    sshd = await startSshd(lab, { home, authorized: [key.publicKey] });
    const knownHosts = lab.write("known_hosts", sshd.knownHosts());
    const lines = [`HostName 127.0.0.1`, `Port ${sshd.port}`, `User ${user}`, `IdentityFile ${key.path}`];
    const config = lab.write(
      "config",
      `Host alpha\n  ${[...lines, `UserKnownHostsFile ${knownHosts}`].join("\n  ")}\n`,
    );
    transport = new Ssh2Transport({ resolver: new SshConfigResolver({ configFile: config }) });
    hosts = new HostConnections(transport, artifacts);
  });
  afterAll(async () => {
    transport.close();
    await lab[Symbol.asyncDispose]();
  });

  test("cut in the middle, nothing bears the name of a build; the next connection puts it there and starts it", async () => {
    let isCut = false;
    const cutting = hosts.connectHost(target, {
      onUpload: ({ sentBytes }) => {
        if (sentBytes < 8 * 1024 * 1024 || isCut) return;
        isCut = true;
        // The sshd processes alone: as when the line is cut, what runs on the host sees its input end.
        for (const pid of sshd.sessions()) {
          if (readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("sshd")) process.kill(pid, "SIGKILL");
        }
      },
    });
    await expect(cutting).rejects.toMatchObject({ code: "ssh-closed" });
    expect(builds().filter((name) => !name.startsWith(".upload-"))).toEqual([]);

    const session = await hosts.connectHost(target);
    expect(session.hello.version).toBe(
      execFileSync(join(packaged, "bin/node"), ["--version"], { encoding: "utf8" }).trim(),
    );
    session.close();
    expect(builds().filter((name) => !name.startsWith(".upload-"))).toHaveLength(1);
    // The stream that broke off ends gzip, and the script clears what it had written.
    for (let attempt = 0; attempt < 100 && builds().length > 1; attempt += 1) await sleep(100);
    expect(builds()).toHaveLength(1);
  });

  test("no room: says so, and leaves nothing", async () => {
    execFileSync("rm", ["-rf", cache()]);
    mkdirSync(cache(), { recursive: true });
    const mounted = spawnMount(cache());
    if (mounted !== null) {
      console.warn(`skipped: ${mounted}`);
      return;
    }
    try {
      await expect(hosts.connectHost(target)).rejects.toMatchObject({
        code: "disk-full",
        evidence: { host: "alpha" },
      });
      expect(builds()).toEqual([]);
    } finally {
      execFileSync("umount", ["--lazy", cache()]);
    }
  });
});

test("a console that lacks a runtime says how to get it", async () => {
  await using lab = new Lab();
  const empty = new HostArtifacts(mkdtempSync(join(lab.directory, "dist-")), "9.9.9");
  await expect(empty.runtime("arm64")).rejects.toMatchObject({
    code: "deploy-failed",
    remedy: expect.stringContaining("npm run runtimes"),
  });
});

/** A file system of 20 MB; null when it is mounted, else why it cannot be. */
function spawnMount(directory: string): string | null {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=20m,mode=0777", "tmpfs", directory], { stdio: "pipe" });
    return null;
  } catch (error) {
    return `no tmpfs can be mounted here: ${error instanceof Error ? error.message : error}`;
  }
}

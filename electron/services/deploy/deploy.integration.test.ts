import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addUser, type KeyPair, Lab, type Sshd, sshdMissing, startSshd } from "../../../e2e/lab/sshd.ts";
import { SshConfigResolver } from "../ssh/config/resolve.ts";
import { Ssh2Transport } from "../ssh/transport.ts";
import { HostArtifacts } from "./artifacts.ts";
import { HostConnections } from "./connect-host.ts";
import type { UploadProgress } from "./upload.ts";

const missing = sshdMissing();
if (missing !== null) console.warn(`skipped: ${missing}`);

/** Speaks the framing of `tessera-host serve`, and its hello and nothing else. */
const stub = `
let text = "";
process.stdin.on("data", (chunk) => {
  text += chunk;
  for (;;) {
    const head = /^Content-Length: (\\d+)\\r\\n\\r\\n/.exec(text);
    if (head === null || text.length < head[0].length + Number(head[1])) return;
    const message = JSON.parse(text.slice(head[0].length, head[0].length + Number(head[1])));
    text = text.slice(head[0].length + Number(head[1]));
    const answer = (body) => {
      const json = JSON.stringify({ jsonrpc: "2.0", ...body });
      process.stdout.write("Content-Length: " + Buffer.byteLength(json) + "\\r\\n\\r\\n" + json);
    };
    if (message.method === "hello") answer({ id: message.id, result: { protocolVersion: 1, version: "9.9.9",
      hostName: "stub", root: process.getuid() === 0, caller: { uid: process.getuid(), user: null } } });
    if (message.method === "watch") {
      for (const revision of [0, 1]) answer({ method: "$/progress", params: { token: message.params.progressToken,
        value: { revision, takenAt: "", changes: [] } } });
    }
    if (message.method === "$/cancelRequest") answer({ id: message.params.id, result: null });
    if (message.method === "mig.status") answer({ id: message.id, error: { code: -32000, message: "no",
      data: { code: "driver-missing", message: "There is no driver.", remedy: "Install it." } } });
  }
});
process.stdin.on("end", () => process.exit(0));
`;

describe.skipIf(missing !== null)("deploying to a real sshd", () => {
  const lab = new Lab();
  let sshd: Sshd;
  let key: KeyPair;
  let home: string;
  let artifacts: HostArtifacts;
  let transport: Ssh2Transport;
  let hosts: HostConnections;
  const user = `tessera${process.pid}`;

  beforeAll(async () => {
    key = lab.key();
    home = addUser(lab, user, "unused").home;
    const authorized = lab.write("authorized", `${key.publicKey}\n`, 0o644);
    sshd = await startSshd(lab, { home, lines: [`AuthorizedKeysFile ${authorized}`] });
    const config = lab.write(
      "config",
      `Host alpha\n  HostName 127.0.0.1\n  Port ${sshd.port}\n  User ${user}\n  IdentityFile ${key.path}\n  UserKnownHostsFile ${lab.write("known_hosts", sshd.knownHosts())}\n`,
    );
    // A small "runtime" in place of 120 MB of Node: a script that runs the real one.
    mkdirSync(lab.path("dist/host-module"), { recursive: true });
    mkdirSync(lab.path("dist/runtimes"));
    writeFileSync(lab.path("dist/host-module/tessera-host.cjs"), stub);
    const runtime = `#!/bin/sh\nexec "${process.execPath}" "$@"\n`;
    execFileSync("sh", ["-c", `gzip -c > "${lab.path("dist/runtimes/node-linux-x64.gz")}"`], { input: runtime });
    symlinkSync("node-linux-x64.gz", lab.path("dist/runtimes/node-linux-arm64.gz"));
    artifacts = new HostArtifacts(lab.path("dist"), "9.9.9");
    transport = new Ssh2Transport({ resolver: new SshConfigResolver({ configFile: config }) });
    hosts = new HostConnections(transport, artifacts);
  });
  afterAll(async () => {
    transport.close();
    await lab[Symbol.asyncDispose]();
  });

  const builds = () => readdirSync(join(home, ".cache/tessera"));

  test("uploads where it is missing, once, and speaks with what it started", async () => {
    const uploads: UploadProgress[] = [];
    const phases: string[] = [];
    const connect = () =>
      hosts.connectHost(
        { kind: "name", name: "alpha" },
        { onUpload: (progress) => uploads.push(progress), onPhase: (phase) => phases.push(phase) },
      );
    const first = await connect();
    expect(first.hello).toMatchObject({ version: "9.9.9", root: false });
    expect(uploads.at(-1)?.sentBytes).toBe(uploads.at(-1)?.totalBytes);
    expect(phases).toEqual(["resolving", "handshake", "authenticating", "starting", "installing", "starting"]);
    const { id } = await artifacts.bundle();
    expect(builds()).toEqual([`${id}-${execFileSync("uname", ["-m"], { encoding: "utf8" }).trim()}`]);
    first.close();

    uploads.length = 0;
    const second = await connect();
    expect(uploads).toEqual([]);
    const events: number[] = [];
    const cancel = new AbortController();
    const watched = second.task(
      "watch",
      { intervalMs: 1_000 },
      (event) => {
        events.push(event.revision);
        if (event.revision === 1) cancel.abort();
      },
      cancel.signal,
    );
    expect(await watched).toBe(null);
    expect(events).toEqual([0, 1]);
    await expect(second.request("mig.status", {})).rejects.toMatchObject({
      code: "driver-missing",
      message: "There is no driver.",
      evidence: { host: "alpha" },
    });
    second.close();
    expect((await second.closed).code).toBe("ssh-closed");
    await expect(second.request("mig.status", {})).rejects.toMatchObject({ code: "ssh-closed" });
  });

  test("two consoles at once leave one whole build", async () => {
    execFileSync("rm", ["-rf", join(home, ".cache/tessera")]);
    const others = new HostConnections(transport, artifacts);
    const sessions = await Promise.all([hosts, others].map((h) => h.connectHost({ kind: "name", name: "alpha" })));
    expect(builds().length).toBe(1);
    for (const session of sessions) session.close();
  });

  test("everything pending rejects when the host dies", async () => {
    const session = await hosts.connectHost({ kind: "name", name: "alpha" });
    const watching = session.task("watch", { intervalMs: 1_000 }, () => {});
    watching.catch(() => {});
    for (const pid of sshd.sessions()) process.kill(pid, "SIGKILL");
    await expect(watching).rejects.toMatchObject({ code: "ssh-closed" });
    expect((await session.closed).code).toBe("ssh-closed");
  });

  test("an upload that breaks off leaves nothing", async () => {
    execFileSync("rm", ["-rf", join(home, ".cache/tessera")]);
    writeFileSync(lab.path("dist/broken"), "");
    const broken = new HostArtifacts(lab.path("dist"), "9.9.9");
    const runtime = await broken.runtime("x64");
    const cut = { ...runtime, sha256: "0".repeat(64) };
    broken.runtime = async () => cut;
    await expect(
      new HostConnections(transport, broken).connectHost({ kind: "name", name: "alpha" }),
    ).rejects.toMatchObject({ code: "deploy-failed", message: expect.stringContaining("not what was sent") });
    expect(builds()).toEqual([]);
    expect(existsSync(home)).toBe(true);
  });
});

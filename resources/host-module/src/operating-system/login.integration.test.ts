/** Real sshd, a real login with a key, and sudo: what is found out about the caller. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const user = "tessera-login";
const rule = "/etc/sudoers.d/tessera-login-test";
const has = (program: string) => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
const able = process.getuid?.() === 0 && ["sshd", "ssh", "ssh-keygen", "sudo", "useradd"].every(has);
if (!able) console.log("logins through sshd not tested: that needs root, OpenSSH, sudo and useradd");

describe.skipIf(!able)("a login through sshd", () => {
  let directory = "";
  let port = 0;
  let uid = 0;
  let stop = async () => {};

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "tessera-sshd-"));
    chmodSync(directory, 0o755);
    spawnSync("userdel", [user]);
    const home = join(directory, "home");
    execFileSync("useradd", ["--no-create-home", "--home-dir", home, "--shell", "/bin/sh", "--password", "*", user]);
    uid = Number(execFileSync("id", ["-u", user]).toString());
    for (const name of ["host", "key"]) {
      execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(directory, name)]);
    }
    mkdirSync(join(home, ".ssh"), { recursive: true });
    writeFileSync(join(home, ".ssh", "authorized_keys"), readFileSync(join(directory, "key.pub")));
    for (const path of [home, join(home, ".ssh"), join(home, ".ssh", "authorized_keys")]) chownSync(path, uid, uid);
    writeFileSync(rule, `${user} ALL=(root) NOPASSWD: ${process.execPath}\n`, { mode: 0o440 });
    port = await freePort();
    const configuration = join(directory, "sshd_config");
    const lines = ["ListenAddress 127.0.0.1", `Port ${port}`, `HostKey ${join(directory, "host")}`, "UsePAM no"];
    writeFileSync(configuration, [...lines, "ExposeAuthInfo yes", "PidFile none", "StrictModes no", ""].join("\n"));
    mkdirSync("/run/sshd", { recursive: true });
    const sshd = execFileSync("sh", ["-c", "command -v sshd"]).toString().trim();
    const server = spawn(sshd, ["-D", "-e", "-f", configuration], { stdio: ["ignore", "ignore", "pipe"] });
    const gone = new Promise<void>((resolve) => server.on("exit", () => resolve()));
    await new Promise<void>((resolve, reject) => {
      server.stderr.on("data", (chunk: Buffer) => chunk.includes("listening") && resolve());
      server.on("exit", () => reject(new Error("sshd ended")));
    });
    stop = async () => {
      server.kill();
      await gone;
    };
  });

  afterAll(async () => {
    await stop();
    rmSync(rule, { force: true });
    spawnSync("userdel", [user]);
    rmSync(directory, { recursive: true, force: true });
  });

  const script = () => {
    const path = join(directory, "show.mjs");
    writeFileSync(
      path,
      `import { readLogin } from ${JSON.stringify(join(import.meta.dirname, "login.ts"))};
       process.stdout.write(JSON.stringify(readLogin(process.geteuid() === 0)));`,
    );
    return path;
  };
  const login = (command: string) => {
    const options = [
      "-i",
      join(directory, "key"),
      "-o",
      "StrictHostKeyChecking=no",
      "-o",
      "UserKnownHostsFile=/dev/null",
    ];
    const target = ["-o", "LogLevel=ERROR", "-o", "BatchMode=yes", "-p", String(port), `${user}@127.0.0.1`];
    const answer = spawnSync("ssh", ["-F", "none", ...options, ...target, command], {
      encoding: "utf8",
      timeout: 60_000,
    });
    expect(answer.status, answer.stderr).toBe(0);
    const found: unknown = JSON.parse(answer.stdout);
    return found;
  };
  const fingerprint = () =>
    execFileSync("ssh-keygen", ["-l", "-f", join(directory, "key.pub")])
      .toString()
      .split(" ")[1];
  const sudo = () => `sudo -n ${process.execPath} ${script()}`;

  test("and sudo: the address from the kernel, the key from sshd's file", () => {
    expect(login(sudo())).toMatchObject({ address: "127.0.0.1", keyFingerprint: fingerprint() });
  });

  test("the address stays what it is, whatever the session says of itself", () => {
    const forged = `SSH_CONNECTION='203.0.113.9 1 127.0.0.1 22' SSH_CLIENT='203.0.113.9 1 22' ${sudo()}`;
    expect(login(forged)).toMatchObject({ address: "127.0.0.1", keyFingerprint: fingerprint() });
  });

  test("the key is what the session shows: its owner can write another one into the file", () => {
    const line = "publickey ssh-ed25519 AAAA";
    expect(login(`echo '${line}' > "$SSH_USER_AUTH"; ${sudo()}`)).toMatchObject({
      address: "127.0.0.1",
      keyFingerprint: `SHA256:${process.getBuiltinModule("node:crypto").createHash("sha256").update(Buffer.alloc(3)).digest("base64").replace("=", "")}`,
    });
  });

  test("a process that left the login's tree has neither", () => {
    const found = join(directory, "home", "found");
    // It waits until its parent is gone and another one has taken it on, then asks, and this login looks for its answer.
    const orphan = `while [ "$(cut -d" " -f4 /proc/$$/stat)" = "$1" ]; do sleep 0.02; done; ${sudo()} > ${found}.part; mv ${found}.part ${found}`;
    const leave = `sh -c 'sh ${join(directory, "orphan.sh")} $$ > /dev/null 2>&1 < /dev/null &'`;
    writeFileSync(join(directory, "orphan.sh"), orphan);
    const wait = `until [ -e ${found} ]; do sleep 0.02; done; cat ${found}`;
    expect(login(`${leave}; ${wait}`)).toMatchObject({ address: null, keyFingerprint: null });
  });

  test("without root nothing is known but the login uid", () => {
    expect(login(`${process.execPath} ${script()}`)).toMatchObject({ address: null, keyFingerprint: null });
  });
});

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

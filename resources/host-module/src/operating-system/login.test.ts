/** A process tree as /proc shows it, laid out in files; the real one is in the integration test. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readLogin } from "./login.ts";

interface FakeProcess {
  readonly parent: number;
  readonly uid: number;
  readonly program: string;
  readonly name?: string;
  readonly environment?: readonly string[];
  /** Descriptor to what it is. */
  readonly descriptors?: Readonly<Record<number, string>>;
  readonly tcp?: readonly string[];
  readonly tcp6?: readonly string[];
}

let proc: string;
beforeEach(() => {
  proc = mkdtempSync(join(tmpdir(), "tessera-proc-"));
});
afterEach(() => rmSync(proc, { recursive: true, force: true }));

const heading = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
const line = (remote: string, state: string, inode: number) =>
  `   0: 0100007F:0016 ${remote}:D431 ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 0 20\n`;

function add(pid: number, fake: FakeProcess): void {
  const below = join(proc, String(pid));
  mkdirSync(join(below, "net"), { recursive: true });
  mkdirSync(join(below, "fd"));
  writeFileSync(join(below, "stat"), `${pid} (${fake.name ?? "a) b ("}) S ${fake.parent} ${pid} ${pid} 0`);
  writeFileSync(
    join(below, "status"),
    `Name:\tx\nUid:\t${[0, 1, 2, 3].map(() => fake.uid).join("\t")}\nGid:\t0\t0\t0\t0\n`,
  );
  writeFileSync(join(below, "environ"), (fake.environment ?? []).map((entry) => `${entry}\0`).join(""));
  writeFileSync(join(below, "loginuid"), "1000");
  symlinkSync(fake.program, join(below, "exe"));
  for (const [number, target] of Object.entries(fake.descriptors ?? {})) symlinkSync(target, join(below, "fd", number));
  writeFileSync(join(below, "net", "tcp"), heading + (fake.tcp ?? []).join(""));
  writeFileSync(join(below, "net", "tcp6"), heading + (fake.tcp6 ?? []).join(""));
}

/** sshd (root) > sshd (the user) > sh > sudo (root) > node (root): our process is 14. */
function tree(sshd: Partial<FakeProcess> = {}, shell: Partial<FakeProcess> = {}): void {
  add(2, {
    parent: 1,
    uid: 0,
    program: "/usr/sbin/sshd",
    descriptors: { 3: "socket:[1]" },
    tcp: [line("00000000", "0A", 1)],
  });
  add(10, {
    ...{ parent: 2, uid: 0, program: "/usr/sbin/sshd", descriptors: { 0: "/dev/null", 4: "socket:[7]" } },
    ...{ tcp: [line("07020000", "01", 6), line("070200C0", "01", 7)] },
    ...sshd,
  });
  add(11, { parent: 10, uid: 1000, program: "/usr/sbin/sshd" });
  add(12, { parent: 11, uid: 1000, program: "/bin/sh", ...shell });
  add(13, { parent: 12, uid: 0, program: "/usr/bin/sudo" });
  add(14, { parent: 13, uid: 0, program: "/opt/tessera/node" });
}

const address = () => readLogin(true, proc, 14).address;

describe("the address", () => {
  test("is the other end of the socket that the root-owned sshd holds", () => {
    tree();
    expect(readLogin(true, proc, 14)).toEqual({ address: "192.0.2.7", keyFingerprint: null, loginUid: 1000 });
  });

  test.each([
    ["B80D0120000000000000000001000000", "2001:db8::1"],
    ["0000000000000000FFFF0000070200C0", "192.0.2.7"],
  ])("over IPv6: %s is %s", (hex, words) => {
    tree({ tcp: [], tcp6: [line(hex, "01", 7)] });
    expect(address()).toBe(words);
  });

  test("is that of the first connection, not of one forwarded over it", () => {
    const tcp = [line("01000A0A", "01", 8), line("070200C0", "01", 7)];
    tree({ tcp, descriptors: { 10: "socket:[8]", 4: "socket:[7]" } });
    expect(address()).toBe("192.0.2.7");
  });

  test("is found under the names of newer and of replaced sshds", () => {
    tree({ program: "/usr/lib/openssh/sshd-session (deleted)" });
    expect(address()).toBe("192.0.2.7");
  });

  test("is not known where the connection is not established, or no sshd of root is above", () => {
    const found: unknown[] = [];
    for (const sshd of [
      { tcp: [line("070200C0", "06", 7)] },
      { program: "/home/eve/sshd-fake" },
      { uid: 1000 },
      { parent: 1, program: "/usr/bin/tmux" },
    ]) {
      rmSync(proc, { recursive: true });
      mkdirSync(proc);
      tree(sshd);
      found.push(address());
    }
    // Where it is not the second one, it is the listening sshd, which has no connection.
    expect(found).toEqual([null, null, null, null]);
  });

  test("is not asked for without root, nor believed of our own environment", () => {
    tree();
    process.env.SSH_CONNECTION = "203.0.113.9 1 192.0.2.1 22";
    try {
      expect(readLogin(false, proc, 14)).toEqual({ address: null, keyFingerprint: null, loginUid: 1000 });
      rmSync(join(proc, "10"), { recursive: true });
      expect(address()).toBe(null);
    } finally {
      delete process.env.SSH_CONNECTION;
    }
  });
});

test("a login uid that was never set is none; a tree that cannot be read gives nothing", () => {
  tree();
  writeFileSync(join(proc, "14", "loginuid"), "4294967295");
  const unset = readLogin(true, proc, 14);
  rmSync(proc, { recursive: true });
  expect([unset.loginUid, readLogin(true, proc, 14)]).toEqual([
    null,
    { address: null, keyFingerprint: null, loginUid: null },
  ]);
});

describe("the key", () => {
  const key = "AAAAC3NzaC1lZDI1NTE5AAAAIE7s5dIGrOcO1KEMVwzZ1ctNbJrBPa3mUBqdgzV0SwEa";
  const fingerprint = `SHA256:${process.getBuiltinModule("node:crypto").createHash("sha256").update(Buffer.from(key, "base64")).digest("base64").replace("=", "")}`;
  const name = "/tmp/sshauth.tesseraProbe000";
  const own = process.getuid?.() ?? 0;
  afterEach(() => rmSync(name, { force: true, recursive: true }));

  const shown = (content: string, path = name, uid = own) => {
    writeFileSync(name, content, { mode: 0o600 });
    tree({}, { uid, environment: ["A=1", `SSH_USER_AUTH=${path}`] });
    return readLogin(true, proc, 14).keyFingerprint;
  };

  test("is the one in the file that sshd wrote for the session", () => {
    expect(shown(`publickey ssh-ed25519 ${key}\n`)).toBe(fingerprint);
  });

  test("is none after a password, and none for a certificate", () => {
    expect([shown("password\n")]).toEqual([null]);
    rmSync(proc, { recursive: true });
    mkdirSync(proc);
    expect(shown(`publickey ssh-ed25519-cert-v01@openssh.com ${key}\n`)).toBe(null);
  });

  test.each([
    ["another path", `${name}/../sshauth.tesseraProbe000`],
    ["a file that is no such file", "/etc/passwd"],
  ])("is not read from %s", (_, path) => {
    expect(shown(`publickey ssh-ed25519 ${key}\n`, path)).toBe(null);
  });

  test("is not read from another's file, a link, or a pipe that would hold us up", (context) => {
    expect(shown(`publickey ssh-ed25519 ${key}\n`, name, own + 1)).toBe(null);
    rmSync(name);
    writeFileSync(join(proc, "aside"), `publickey ssh-ed25519 ${key}\n`);
    symlinkSync(join(proc, "aside"), name);
    rmSync(join(proc, "12"), { recursive: true });
    add(12, { parent: 11, uid: own, program: "/bin/sh", environment: [`SSH_USER_AUTH=${name}`] });
    expect(readLogin(true, proc, 14).keyFingerprint).toBe(null);
    rmSync(name);
    const made = process.getBuiltinModule("node:child_process").spawnSync("mkfifo", [name]);
    if (made.status !== 0) return context.skip("there is no mkfifo");
    expect(readLogin(true, proc, 14).keyFingerprint).toBe(null);
  });
});

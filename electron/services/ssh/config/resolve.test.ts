import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseDestination } from "./destination.ts";
import { SshConfigResolver } from "./resolve.ts";

const hasSsh = (() => {
  try {
    execFileSync("ssh", ["-V"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

let home: string;
let configFile: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "tessera-config-"));
  mkdirSync(join(home, ".ssh", "more"), { recursive: true });
  configFile = join(home, ".ssh", "config");
  writeFileSync(
    configFile,
    `Include ${join(home, ".ssh", "more")}/*.conf
Host alpha beta
  HostName %h.example.org
  User operator
  Port 2222
  IdentityFile ~/.ssh/alpha
  IdentityFile ~/.ssh/second
Host gpu* !gpu9
  ProxyJump bastion,inner:2200
  ServerAliveInterval 7
Host gpu9
  ProxyCommand nc %h %p
Match originalhost beta user operator
  StrictHostKeyChecking accept-new
Match host alpha.example.org
  UserKnownHostsFile ~/one ~/two
Match all
  ConnectTimeout 9
Host *
  User nobody
  IdentityAgent none
  PreferredAuthentications publickey,password
`,
  );
  writeFileSync(join(home, ".ssh", "more", "a.conf"), "Host included\n  HostName 10.0.0.7\n  HostKeyAlias shelf\n");
  writeFileSync(join(home, ".ssh", "more", "b.conf"), 'Host "quoted"\n  StrictHostKeyChecking no\n');
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

const hosts = ["alpha", "beta", "gpu1", "gpu9", "included", "quoted", "other", "root@alpha:44", "[::1]:2022"];

describe("resolving a host", () => {
  test.skipIf(!hasSsh)("reads the files as ssh -G does", async () => {
    const asked = new SshConfigResolver({ configFile, home });
    const read = new SshConfigResolver({ configFile, home, sshProgram: null });
    for (const host of hosts) {
      const [a, b] = await Promise.all([asked.resolve(host), read.resolve(host)]);
      // ssh -G names algorithms and key files of its own version, and the home of the account that runs it.
      const comparable = (settings: typeof a) => ({
        ...settings,
        hostKeyAlgorithms: null,
        hashKnownHosts: null,
        identityFiles: settings.identityFiles.filter((file) => !/id_(xmss|dsa)$/.test(file)),
        userKnownHostsFiles: settings.userKnownHostsFiles.map((file) => file.replace(/^.*\//, "")),
      });
      expect(comparable(a)).toEqual(comparable(b));
    }
  });

  test("knows wildcards, negation, Match, Include and first-value-wins", async () => {
    const resolver = new SshConfigResolver({ configFile, home, sshProgram: null });
    expect(await resolver.resolve("beta")).toMatchObject({
      hostName: "beta.example.org",
      user: "operator",
      port: 2222,
      identityFiles: [join(home, ".ssh/alpha"), join(home, ".ssh/second")],
      identityAgent: null,
      strictHostKeyChecking: "accept-new",
      connectTimeoutMs: 9_000,
    });
    expect(await resolver.resolve("gpu1")).toMatchObject({
      proxyJump: ["bastion", "inner:2200"],
      keepaliveIntervalMs: 7_000,
      user: "nobody",
    });
    expect(await resolver.resolve("gpu9")).toMatchObject({ proxyJump: [], proxyCommand: "nc %h %p" });
    expect(await resolver.resolve("included")).toMatchObject({ hostName: "10.0.0.7", hostKeyAlias: "shelf" });
    expect(await resolver.resolve("me@alpha:99")).toMatchObject({ name: "me@alpha:99", user: "me", port: 99 });
  });

  test("says that Match exec was not run", async () => {
    const file = join(home, "exec.conf");
    writeFileSync(file, 'Match host here exec "touch /never"\n  User trap\nHost *\n  User plain\n');
    const resolver = new SshConfigResolver({ configFile: file, home, sshProgram: null });
    const settings = await resolver.resolve("here");
    expect(settings.user).toBe("plain");
    expect(settings.notes).toEqual([expect.stringContaining("Match exec")]);
    expect((await resolver.resolve("elsewhere")).notes).toEqual([]);
  });

  test("lists the names, patterns left out, Includes followed", async () => {
    const resolver = new SshConfigResolver({ configFile, home });
    expect((await resolver.aliases()).map(({ alias, hostName }) => [alias, hostName])).toEqual([
      ["included", "10.0.0.7"],
      ["quoted", null],
      ["alpha", "alpha.example.org"],
      ["beta", "beta.example.org"],
      ["gpu9", null],
    ]);
  });
});

describe("what an operator writes", () => {
  test.each([
    ["alpha", { user: null, host: "alpha", port: null }],
    ["me@alpha:22", { user: "me", host: "alpha", port: 22 }],
    ["me@corp@alpha", { user: "me@corp", host: "alpha", port: null }],
    ["::1", { user: null, host: "::1", port: null }],
    ["[fe80::1%eth0]:2022", { user: null, host: "fe80::1%eth0", port: 2022 }],
    ["ssh://me@alpha:9/", { user: "me", host: "alpha", port: 9 }],
  ])("%s", (written, expected) => {
    expect(parseDestination(written)).toEqual(expected);
  });

  test.each(["", "-oProxyCommand=x", "me@-F", "a b", "alpha:0", "alpha:70000", "alpha;id", "$(id)", "a:b:c:zz"])(
    "not %j",
    (written) => {
      expect(() => parseDestination(written)).toThrow("not a host");
    },
  );
});

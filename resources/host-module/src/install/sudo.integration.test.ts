/**
 * The sudo rule, the unit and an interrupted installation against the real tools: sudo and visudo, systemd-analyze, a user
 * made for the test. Needs root; leaves the host as it was.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { protocolVersion } from "../../../../shared/protocol/version.ts";
import { realSystem } from "../operating-system/index.ts";
import { sudoRule } from "./content.ts";
import { install } from "./install.ts";
import { uninstall } from "./uninstall.ts";

const has = (tool: string) => spawnSync("sh", ["-c", `command -v ${tool}`]).status === 0;
const root = process.getuid?.() === 0;
const bundle = join(import.meta.dirname, "../../../../dist/host-module/tessera-host.cjs");

/** Why the rule cannot be tried here; null where it can. */
function obstacle(): string | null {
  if (!root) return "needs root";
  for (const tool of ["sudo", "visudo", "useradd", "groupadd"]) if (!has(tool)) return `there is no ${tool}`;
  if (!existsSync(bundle)) return "dist/ is not built";
  if (existsSync("/opt/tessera")) return "Tessera is installed on this machine";
  return null;
}
const why = obstacle();
if (why !== null) console.log(`sudo rule not tried: ${why}`);

const user = "tessera-probe";

describe.skipIf(why !== null)("the sudo rule, installed on this host", () => {
  let uid = "";
  let stranger = "";
  beforeAll(async () => {
    execFileSync("groupadd", ["--force", user]);
    execFileSync("useradd", ["--no-create-home", "--gid", user, "--shell", "/bin/sh", user]);
    execFileSync("useradd", ["--no-create-home", "--shell", "/bin/sh", `${user}-2`]);
    uid = execFileSync("id", ["-u", user]).toString().trim();
    stranger = `${user}-2`;
    await install(realSystem(), { version: "0.0.0-probe", bundle, runtime: process.execPath, sudoGroup: user });
  });
  afterAll(async () => {
    await uninstall(realSystem(), {});
    for (const name of [user, `${user}-2`]) spawnSync("userdel", [name]);
    spawnSync("groupdel", [user]);
    expect([existsSync("/opt/tessera"), existsSync("/etc/sudoers.d/tessera")]).toEqual([false, false]);
  });

  const program = "/opt/tessera/current/tessera-host";
  const as = (name: string, args: readonly string[], input = "") =>
    spawnSync("setpriv", [`--reuid=${name}`, `--regid=${name}`, "--init-groups", "--reset-env", ...args], {
      input,
      encoding: "utf8",
      timeout: 100_000,
    });

  test("passes visudo, alone and with the host's own rules", () => {
    expect(spawnSync("visudo", ["-c", "-f", "/etc/sudoers.d/tessera"]).status).toBe(0);
    expect(spawnSync("visudo", ["-c"]).status).toBe(0);
    expect(lstatSync("/etc/sudoers.d/tessera").mode & 0o777).toBe(0o440);
  });

  test("serve runs as root and knows who called", () => {
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "hello",
      params: { input: { protocolVersion, client: "test" } },
    });
    const answer = as(user, ["sudo", "-n", program, "serve"], `Content-Length: ${body.length}\r\n\r\n${body}`);
    expect(answer.status, answer.stderr).toBe(0);
    const reply: unknown = JSON.parse(answer.stdout.slice(answer.stdout.indexOf("{")));
    expect(reply).toMatchObject({ result: { root: true, caller: { uid: Number(uid), user } } });
  });

  test("mig and doctor are allowed; everything else, and everybody else, is refused", () => {
    expect(as(user, ["sudo", "-n", program, "mig", "status", "--json"]).stdout).toContain('"operations"');
    expect(as(user, ["sudo", "-n", program, "doctor", "--json"]).stdout).toContain('"check"');
    const refused = [
      [program, "bundle", "/tmp/x"],
      [program, "inventory", "--from", "/etc/shadow"],
      [program, "install"],
      [program, "serve", "--root", "/"],
      ["/opt/tessera/current/node", "-e", "0"],
      ["/bin/sh"],
    ];
    for (const args of refused) {
      const answer = as(user, ["sudo", "-n", ...args]);
      expect([answer.status, answer.stdout], args.join(" ")).toEqual([1, ""]);
    }
    expect(as(stranger, ["sudo", "-n", program, "serve"]).status).toBe(1);
  });

  test("the caller cannot make root run other code, write elsewhere or show another's file", () => {
    const evil = mkdtempSync(join(tmpdir(), "tessera-evil-"));
    try {
      writeFileSync(join(evil, "evil.cjs"), `require("fs").writeFileSync(${JSON.stringify(join(evil, "ran"))}, "")`);
      const settings = [`NODE_OPTIONS=--require=${join(evil, "evil.cjs")}`, `TESSERA_STATE_DIRECTORY=${evil}/state`];
      as(user, ["env", ...settings, "sudo", "-n", program, "mig", "status"]);
      as(user, ["sudo", "-n", ...settings, program, "mig", "status"]);
      expect([existsSync(join(evil, "ran")), existsSync(join(evil, "state"))]).toEqual([false, false]);
      const { status, stdout, stderr } = as(user, ["sudo", "-n", program, "mig", "plan", "--file", "/etc/shadow"]);
      expect(status).toBe(1);
      expect(stdout + stderr).not.toContain("root:");
    } finally {
      rmSync(evil, { recursive: true, force: true });
    }
  });
});

test.skipIf(!has("visudo"))("the rule is valid for every plain group name", () => {
  const directory = mkdtempSync(join(tmpdir(), "tessera-rule-"));
  for (const group of ["ops", "gpu-ops", "_x", "A1"]) {
    writeFileSync(join(directory, "rule"), sudoRule(group), { mode: 0o440 });
    expect(spawnSync("visudo", ["-c", "-f", join(directory, "rule")]).status, group).toBe(0);
  }
  rmSync(directory, { recursive: true });
});

const analyse = has("systemd-analyze");
if (!analyse) console.log("unit not verified: there is no systemd-analyze");
test.skipIf(!analyse)("the unit passes systemd-analyze", async () => {
  const below = mkdtempSync(join(tmpdir(), "tessera-unit-"));
  try {
    writeFileSync(join(below, "bundle.cjs"), "");
    writeFileSync(join(below, "node"), "#!/bin/sh\n", { mode: 0o755 });
    const request = { version: "1.0.0", bundle: join(below, "bundle.cjs"), runtime: join(below, "node"), root: below };
    await install(realSystem(), { ...request, restoreOnBoot: true });
    const unit = join(below, "etc/systemd/system/tessera-restore.service");
    // The program is not where it will be: its path is put below the directory for the check.
    writeFileSync(unit, readFileSync(unit, "utf8").replace("ExecStart=/opt", `ExecStart=${below}/opt`));
    const verified = spawnSync("systemd-analyze", ["verify", "--man=no", unit], { encoding: "utf8" });
    const about = verified.stderr.split("\n").filter((line) => line.includes("tessera"));
    expect(about).toEqual([]);
  } finally {
    rmSync(below, { recursive: true });
  }
});

test("an installation killed while it copies leaves the version before in use, and the next one cleans up", async () => {
  const below = mkdtempSync(join(tmpdir(), "tessera-killed-"));
  try {
    const bundleFile = join(below, "bundle.cjs");
    writeFileSync(bundleFile, "// the bundle\n");
    const request = (version: string, runtime: string) => ({ version, bundle: bundleFile, runtime, root: below });
    writeFileSync(join(below, "node"), "#!/bin/sh\n");
    await install(realSystem(), request("1.0.0", join(below, "node")));

    const versions = join(below, "opt/tessera/versions");
    const remains = () => readdirSync(versions).filter((name) => name.startsWith("."));
    const script = `
      import { install } from ${JSON.stringify(join(import.meta.dirname, "install.ts"))};
      import { realSystem } from ${JSON.stringify(join(import.meta.dirname, "../operating-system/index.ts"))};
      await install(realSystem(), ${JSON.stringify(request("2.0.0", process.execPath))});`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "ignore" });
    const gone = new Promise((resolve) => child.on("exit", resolve));
    // A runtime of 100 MB is copied, settled on disk and renamed: there is time to kill it on the way.
    while (remains().length === 0 && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 1));
    child.kill("SIGKILL");
    await gone;
    expect(remains()).toHaveLength(1);

    expect(readlinkSync(join(below, "opt/tessera/current"))).toBe("versions/1.0.0");
    expect(readFileSync(join(below, "opt/tessera/current/tessera-host.cjs"), "utf8")).toBe("// the bundle\n");
    for (const name of remains()) utimesSync(join(versions, name), new Date(0), new Date(0));
    await install(realSystem(), request("2.0.0", join(below, "node")));
    expect(readdirSync(versions)).toEqual(["1.0.0", "2.0.0"]);
  } finally {
    rmSync(below, { recursive: true, force: true });
  }
});

/** Installing and removing below a directory of the test's own. */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { realSystem } from "../operating-system/index.ts";
import { install } from "./install.ts";
import { uninstall } from "./uninstall.ts";

let root: string;
let source: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tessera-root-"));
  source = mkdtempSync(join(tmpdir(), "tessera-source-"));
  writeFileSync(join(source, "bundle.cjs"), "// the bundle\n");
  writeFileSync(join(source, "node"), "#!/bin/sh\n");
  chmodSync(join(source, "node"), 0o700);
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
  rmSync(source, { recursive: true, force: true });
});

const place = (version: string, more: { sudoGroup?: string; restoreOnBoot?: boolean } = {}) =>
  install(realSystem(), {
    version,
    bundle: join(source, "bundle.cjs"),
    runtime: join(source, "node"),
    root,
    ...more,
  });
const mode = (path: string) => (lstatSync(join(root, path)).mode & 0o777).toString(8);

describe("install", () => {
  test("puts versions side by side, for everybody to run and for nobody to change, and makes the newest the current one", async () => {
    await place("1.0.0");
    await place("1.1.0");
    expect(readdirSync(join(root, "opt/tessera/versions"))).toEqual(["1.0.0", "1.1.0"]);
    expect(readlinkSync(join(root, "opt/tessera/current"))).toBe("versions/1.1.0");
    expect(readlinkSync(join(root, "usr/local/bin/tessera-host"))).toBe("/opt/tessera/current/tessera-host");
    const directory = "opt/tessera/versions/1.1.0";
    expect([
      mode(directory),
      mode(`${directory}/node`),
      mode(`${directory}/tessera-host`),
      mode(`${directory}/tessera-host.cjs`),
    ]).toEqual(["755", "755", "755", "644"]);
    expect(readFileSync(join(root, directory, "tessera-host"), "utf8")).toContain(
      "exec /opt/tessera/versions/1.1.0/node /opt/tessera/versions/1.1.0/tessera-host.cjs",
    );
  });

  test("replaces a version of the same number whose content differs, and leaves one alone that is the same", async () => {
    await place("1.0.0");
    expect((await place("1.0.0"))[0]).toContain("is there already");
    writeFileSync(join(source, "bundle.cjs"), "// another\n");
    expect((await place("1.0.0"))[0]).toContain("written");
    expect(readFileSync(join(root, "opt/tessera/versions/1.0.0/tessera-host.cjs"), "utf8")).toBe("// another\n");
    expect(readdirSync(join(root, "opt/tessera/versions"))).toEqual(["1.0.0"]);
  });

  test("writes a sudo rule for what the console needs and for nothing that takes a file", async () => {
    await place("1.0.0", { sudoGroup: "gpuops" });
    const rule = readFileSync(join(root, "etc/sudoers.d/tessera"), "utf8");
    expect(rule).toContain("%gpuops ALL=(root) NOPASSWD: /opt/tessera/current/tessera-host serve,");
    expect(rule).not.toMatch(
      /tessera-host (bundle|install|uninstall|inventory)[ ,\n]?.*NOPASSWD|NOPASSWD.*(bundle|install|inventory)/,
    );
    expect(mode("etc/sudoers.d/tessera")).toBe("440");
    await expect(place("1.0.0", { sudoGroup: "a b ALL" })).rejects.toMatchObject({ code: "bad-request" });
  });

  test("leaves files of others alone", async () => {
    mkdirSync(join(root, "usr/local/bin"), { recursive: true });
    writeFileSync(join(root, "usr/local/bin/tessera-host"), "somebody's own");
    await expect(place("1.0.0")).rejects.toMatchObject({ code: "in-use" });
    expect(readFileSync(join(root, "usr/local/bin/tessera-host"), "utf8")).toBe("somebody's own");
  });
});

describe("uninstall", () => {
  test("removes one version that is not in use, or everything, and nothing else", async () => {
    await place("1.0.0", { sudoGroup: "gpuops", restoreOnBoot: true });
    await place("1.1.0");
    writeFileSync(join(root, "etc/sudoers.d/other"), "x");
    await expect(uninstall(realSystem(), { root, version: "1.1.0" })).rejects.toMatchObject({ code: "in-use" });
    await expect(uninstall(realSystem(), { root, version: "9.9.9" })).rejects.toMatchObject({ code: "not-found" });
    await uninstall(realSystem(), { root, version: "1.0.0" });
    expect(readdirSync(join(root, "opt/tessera/versions"))).toEqual(["1.1.0"]);

    await uninstall(realSystem(), { root });
    expect(readdirSync(join(root, "opt"))).toEqual([]);
    expect(readdirSync(join(root, "etc/sudoers.d"))).toEqual(["other"]);
    expect(readdirSync(join(root, "usr/local/bin"))).toEqual([]);
    expect(readdirSync(join(root, "etc/systemd/system"))).toEqual(["multi-user.target.wants", "timers.target.wants"]);
    expect(await uninstall(realSystem(), { root })).toEqual([]);
  });
});

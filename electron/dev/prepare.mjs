/**
 * What a fresh clone lacks: npm packages, and a Node new enough for our code.
 * Plain JavaScript for the Node that happens to be there (20 or newer): nothing is installed yet when this runs.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Installs the npm packages of package-lock.json unless they are there already. */
export function installPackages() {
  const stampFile = join(root, "node_modules", ".tessera-installed");
  const lock = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === lock) return;
  const fresh = !existsSync(join(root, "node_modules"));
  say(fresh ? "Installing npm packages (once, about a minute)" : "Updating npm packages");
  // `ci` would empty a folder that somebody works in; `install` brings an existing one up to date.
  const argv = fresh ? ["ci", "--loglevel=error"] : ["install", "--no-save", "--loglevel=error"];
  const npm = spawnSync(process.platform === "win32" ? "npm.cmd" : "npm", argv, {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
  });
  if (npm.status !== 0) fail("The npm packages could not be installed. See npm's words above, then run this again.");
  writeFileSync(stampFile, lock);
}

/** The Node that runs our code: 24 from the node-linux-* package, elsewhere this one if it is 22.12 or newer. */
export function findNode() {
  const packaged = join(root, "node_modules", `node-linux-${process.arch}`, "bin", "node");
  if (process.platform === "linux" && existsSync(packaged)) return packaged;
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 12)) return process.execPath;
  return fail(`Node ${process.versions.node} is too old here. Install Node 22.12 or newer, then run this again.`);
}

/** The environment of our own processes: the right Node and the packages' commands first on the PATH. */
export function environment(node) {
  const separator = process.platform === "win32" ? ";" : ":";
  const path = [join(node, ".."), join(root, "node_modules", ".bin"), process.env.PATH].join(separator);
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  // Before 22.18 Node strips types, and before 22.13 it has SQLite, only when told to.
  const flags =
    node === process.execPath && major === 22 && minor < 18 ? "--experimental-strip-types --experimental-sqlite" : "";
  return { ...process.env, PATH: path, NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ""} ${flags}`.trim() };
}

/** Runs a program of ours to its end and gives its exit status; a signal counts as 1. */
export function run(program, argv, options = {}) {
  return new Promise((resolve) => {
    // Windows starts .cmd files only through its shell; the words here are ours and need no quoting.
    const shell = program.endsWith(".cmd");
    const child = spawn(program, argv, { cwd: root, stdio: "inherit", shell, ...options });
    const forward = (signal) => child.kill(signal);
    process.on("SIGINT", forward);
    process.on("SIGTERM", forward);
    child.on("error", (error) => {
      say(`${program}: ${error.message}`);
      resolve(127);
    });
    child.on("exit", (status) => {
      process.off("SIGINT", forward);
      process.off("SIGTERM", forward);
      resolve(status ?? 1);
    });
  });
}

export function say(line) {
  process.stderr.write(`${line}\n`);
}

export function fail(line, status = 1) {
  say(line);
  process.exit(status);
}

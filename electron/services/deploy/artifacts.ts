/** What the console carries to hosts: the bundled host module and a Node runtime for each architecture. */
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createGunzip, createGzip } from "node:zlib";
import { AppError } from "../../../shared/errors.ts";

export type Architecture = "x64" | "arm64";

export interface Runtime {
  /** Bytes of the compressed file, for progress. */
  readonly compressedBytes: number;
  /** Of the binary, not of the compressed file. */
  readonly sha256: string;
  /** The gzip stream, from its beginning. */
  open(): Readable;
}

export interface Bundle {
  readonly content: Buffer;
  readonly sha256: string;
  /** `0.1.0-3f2a9c01b7de`: the name of its directory on a host. */
  readonly id: string;
}

export class HostArtifacts {
  readonly version: string;
  readonly #bundlePath: string;
  readonly #runtimeDirectory: string;
  /** node_modules of a checkout. */
  readonly #packages: string;
  #bundle: Promise<Bundle> | null = null;
  readonly #runtimes = new Map<Architecture, Promise<Runtime>>();

  /** `directory` is dist/ of a checkout or the resources folder of a package: `host-module/` and `runtimes/` stand in it. */
  constructor(directory: string, version: string) {
    this.version = version;
    this.#bundlePath = join(directory, "host-module", "tessera-host.cjs");
    this.#runtimeDirectory = join(directory, "runtimes");
    this.#packages = join(directory, "..", "node_modules");
  }

  /** Read once. */
  bundle(): Promise<Bundle> {
    this.#bundle ??= readBundle(this.#bundlePath, this.version).catch((error: unknown) => {
      this.#bundle = null;
      throw missing(this.#bundlePath, error);
    });
    return this.#bundle;
  }

  /** Its checksum is computed when the first host needs it, and once. */
  runtime(architecture: Architecture): Promise<Runtime> {
    const known = this.#runtimes.get(architecture);
    if (known !== undefined) return known;
    const path = join(this.#runtimeDirectory, `node-linux-${architecture}.gz`);
    const reading = fromCheckout(path, this.#packages, architecture)
      .then(() => readRuntime(path))
      .catch((error: unknown) => {
        this.#runtimes.delete(architecture);
        throw missing(path, error);
      });
    this.#runtimes.set(architecture, reading);
    return reading;
  }
}

async function readBundle(path: string, version: string): Promise<Bundle> {
  const content = await readFile(path);
  const sha256 = createHash("sha256").update(content).digest("hex");
  return { content, sha256, id: `${version}-${sha256.slice(0, 12)}` };
}

async function readRuntime(path: string): Promise<Runtime> {
  const { size } = await stat(path);
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), createGunzip(), hash);
  return { compressedBytes: size, sha256: hash.digest("hex"), open: () => createReadStream(path) };
}

/**
 * In a checkout npm has installed the runtime of this machine's own architecture: it is compressed when a host first needs it.
 * The other one, and both for a package, come by `npm run runtimes`.
 */
async function fromCheckout(path: string, packages: string, architecture: Architecture): Promise<void> {
  const binary = join(packages, `node-linux-${architecture}`, "bin", "node");
  if (existsSync(path) || !existsSync(binary)) return;
  await mkdir(dirname(path), { recursive: true });
  const part = `${path}.${process.pid}.part`;
  try {
    await pipeline(createReadStream(binary), createGzip({ level: constants.Z_BEST_SPEED }), createWriteStream(part));
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

function missing(path: string, error: unknown): AppError {
  return new AppError({
    code: "deploy-failed",
    message: "This console lacks a part of what it puts on hosts.",
    remedy: "In a checkout run npm run build, and npm run runtimes; otherwise install the console again.",
    evidence: { details: `${path}\n${error instanceof Error ? error.message : String(error)}` },
  });
}

/** One known_hosts file as its entries, each with its line: read, never rewritten. */
import { randomBytes } from "node:crypto";
import { chmod, mkdir, open, readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { AppError } from "../../../../shared/errors.ts";
import { hashHost, matchesHashed, matchesPatternList } from "./match.ts";

export interface KnownHostsEntry {
  readonly file: string;
  /** Counts from 1. */
  readonly line: number;
  readonly marker: "cert-authority" | "revoked" | null;
  /** As written: comma-separated patterns, or one hashed name. */
  readonly hosts: string;
  readonly keyType: string;
  /** The key as it travels in the protocol. */
  readonly key: Buffer;
}

/** Lines that are comments, empty or broken are left out, as OpenSSH does. */
export function parseKnownHosts(text: string, file: string): KnownHostsEntry[] {
  const entries: KnownHostsEntry[] = [];
  for (const [index, rawLine] of text.split("\n").entries()) {
    const words = rawLine.trim().split(/[ \t]+/);
    if (words[0] === undefined || words[0] === "" || words[0].startsWith("#")) continue;
    let marker: KnownHostsEntry["marker"] = null;
    if (words[0].startsWith("@")) {
      if (words[0] === "@cert-authority") marker = "cert-authority";
      else if (words[0] === "@revoked") marker = "revoked";
      else continue;
      words.shift();
    }
    const [hosts, keyType, keyText] = words;
    if (hosts === undefined || keyType === undefined || keyText === undefined) continue;
    const key = Buffer.from(keyText, "base64");
    if (keyTypeOf(key) !== keyType) continue;
    entries.push({ file, line: index + 1, marker, hosts, keyType, key });
  }
  return entries;
}

/** The type that a public key names itself: the string it begins with. Null where it is not a key. */
export function keyTypeOf(key: Buffer): string | null {
  if (key.length < 4) return null;
  const length = key.readUInt32BE(0);
  if (length === 0 || length > 64 || key.length < 4 + length) return null;
  return key.toString("latin1", 4, 4 + length);
}

export function entryMatches(entry: Pick<KnownHostsEntry, "hosts">, host: string): boolean {
  if (entry.hosts.startsWith("|")) return matchesHashed(host, entry.hosts);
  return matchesPatternList(host, entry.hosts.split(","));
}

interface CachedFile {
  readonly stamp: string;
  readonly entries: readonly KnownHostsEntry[];
}

/** Files are read again only when they changed: a thousand hosts ask for the same two. */
export class KnownHostsFiles {
  readonly #cache = new Map<string, CachedFile>();

  async read(file: string): Promise<readonly KnownHostsEntry[]> {
    try {
      const { mtimeMs, size, ino } = await stat(file);
      const stamp = `${mtimeMs} ${size} ${ino}`;
      const cached = this.#cache.get(file);
      if (cached?.stamp === stamp) return cached.entries;
      const entries = parseKnownHosts(await readFile(file, "latin1"), file);
      this.#cache.set(file, { stamp, entries });
      return entries;
    } catch (error) {
      if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")) return [];
      throw new AppError({
        code: "ssh-config",
        message: `The file of known hosts ${file} cannot be read.`,
        remedy: "Make it readable: without it no host can be trusted.",
        evidence: { details: error instanceof Error ? error.message : String(error) },
      });
    }
  }
}

/**
 * Adds one line in one write at the end, so that two writers do not mix their lines; every other line and the
 * file's mode stay as they are. A file that does not exist yet is made with mode 600.
 */
export async function appendKnownHost(file: string, host: string, key: Buffer, hashed: boolean): Promise<void> {
  const keyType = keyTypeOf(key);
  if (keyType === null) throw new RangeError("not a public key");
  const name = hashed ? hashHost(host, randomBytes(20)) : host;
  const line = `${name} ${keyType} ${key.toString("base64")}\n`;
  const directory = dirname(file);
  if ((await mkdir(directory, { recursive: true, mode: 0o700 })) !== undefined) await chmod(directory, 0o700);
  await using handle = await open(file, "a+", 0o600);
  const { size } = await handle.stat();
  const last = Buffer.alloc(1, "\n");
  if (size > 0) await handle.read(last, 0, 1, size - 1);
  await handle.write(last.toString() === "\n" ? line : `\n${line}`);
  await handle.sync();
}

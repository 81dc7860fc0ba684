/** The keys that a host may be offered: from memory, from the agent, from files; and those that cannot be used here. */
import { readFile, stat } from "node:fs/promises";
import { connect } from "node:net";
import ssh2, { type ParsedKey } from "ssh2";
import { keyTypeOf } from "./known-hosts/file.ts";
import { fingerprint } from "./known-hosts/verify.ts";
import type { SshSettings } from "./settings.ts";

/** One thing to offer to the server. */
export type Identity =
  | { readonly kind: "key"; readonly label: string; readonly key: ParsedKey }
  /** Unlocked only after the server said that it would take it. */
  | { readonly kind: "locked"; readonly label: string; readonly file: string; readonly publicKey: ParsedKey | null }
  | { readonly kind: "agent"; readonly label: string; readonly publicKey: ParsedKey; readonly agent: string };

export interface Identities {
  /** In the order to try them. */
  readonly usable: readonly Identity[];
  /** What OpenSSH could offer and this console cannot, for people: `certificate ~/.ssh/id_ed25519-cert.pub`. */
  readonly unusable: readonly string[];
}

interface KeyFile {
  readonly identity: Identity | null;
  readonly publicBlob: Buffer | null;
  readonly unusable: string | null;
}

/** Reads and parses each file once for all hosts; keeps unlocked keys until `clear`. */
export class IdentityStore {
  readonly #files = new Map<string, { readonly stamp: string; readonly file: Promise<KeyFile | null> }>();
  readonly #unlocked = new Map<string, ParsedKey>();

  async for(settings: SshSettings): Promise<Identities> {
    const unusable: string[] = [];
    const given = settings.privateKeys.map((text, index): Identity => {
      const key = ssh2.utils.parseKey(text);
      if (key instanceof Error) throw new RangeError("the given private key cannot be read");
      return { kind: "key", label: `given key ${index + 1}`, key };
    });
    const files: KeyFile[] = [];
    for (const path of settings.identityFiles) {
      const file = await this.#file(path);
      if (file === null) continue;
      files.push(file);
      if (file.unusable !== null) unusable.push(file.unusable);
    }
    for (const path of [...settings.certificateFiles, ...settings.identityFiles.map((file) => `${file}-cert.pub`)]) {
      if ((await stampOf(path)) !== null) unusable.push(`certificate ${path}`);
    }
    const agentKeys = settings.identityAgent === null ? [] : await listAgentKeys(settings.identityAgent);
    const wanted = (blob: Buffer) => files.some((file) => file.publicBlob?.equals(blob) === true);
    const fromAgent: Identity[] = [];
    const rest: Identity[] = [];
    for (const { blob, comment } of agentKeys) {
      const type = keyTypeOf(blob) ?? "unknown";
      const inConfiguration = wanted(blob);
      if (settings.identitiesOnly && !inConfiguration) continue;
      const publicKey = ssh2.utils.parseKey(blob);
      if (publicKey instanceof Error) {
        unusable.push(`${/-cert-v01/.test(type) ? "certificate" : `${type} key`} ${comment} in the agent`);
        continue;
      }
      const label = `${type} ${fingerprint(blob)} (agent)`;
      const identity: Identity = { kind: "agent", label, publicKey, agent: settings.identityAgent ?? "" };
      (inConfiguration ? fromAgent : rest).push(identity);
    }
    const inAgent = (blob: Buffer | null) => blob !== null && agentKeys.some((key) => key.blob.equals(blob));
    const fromFiles = files.flatMap((file) =>
      file.identity === null || inAgent(file.publicBlob) ? [] : [this.#unlockedTwin(file.identity)],
    );
    return { usable: [...given, ...fromAgent, ...rest, ...fromFiles], unusable };
  }

  /** The key of an encrypted file; null where the passphrase is wrong. */
  async unlock(file: string, passphrase: string): Promise<ParsedKey | null> {
    const content = await readFile(file);
    // Many hosts wait for the same key, and its key derivation is slow on purpose.
    const unlocked = this.#unlocked.get(file);
    if (unlocked !== undefined) return unlocked;
    const key = ssh2.utils.parseKey(content, passphrase);
    if (key instanceof Error || !key.isPrivateKey()) return null;
    this.#unlocked.set(file, key);
    return key;
  }

  clear(): void {
    this.#files.clear();
    this.#unlocked.clear();
  }

  #unlockedTwin(identity: Identity): Identity {
    if (identity.kind !== "locked") return identity;
    const key = this.#unlocked.get(identity.file);
    return key === undefined ? identity : { kind: "key", label: identity.label, key };
  }

  async #file(path: string): Promise<KeyFile | null> {
    const stamp = await stampOf(path);
    if (stamp === null) return null;
    const cached = this.#files.get(path);
    if (cached?.stamp === stamp) return cached.file;
    const file = readKeyFile(path);
    this.#files.set(path, { stamp, file });
    return file;
  }
}

async function stampOf(path: string): Promise<string | null> {
  try {
    const { mtimeMs, size, ino } = await stat(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return null;
  }
}

async function readKeyFile(path: string): Promise<KeyFile | null> {
  let text: string;
  try {
    text = await readFile(path, "latin1");
  } catch {
    return null;
  }
  const opened = ssh2.utils.parseKey(text);
  if (!(opened instanceof Error)) {
    const publicBlob = opened.getPublicSSH();
    const label = `${keyTypeOf(publicBlob) ?? opened.type} ${fingerprint(publicBlob)} (${path})`;
    // A public key as IdentityFile names a key that only the agent holds.
    return { identity: opened.isPrivateKey() ? { kind: "key", label, key: opened } : null, publicBlob, unusable: null };
  }
  const blob = publicPart(text) ?? (await publicTwin(path));
  const type = blob === null ? null : keyTypeOf(blob);
  if (type?.startsWith("sk-") === true) {
    return { identity: null, publicBlob: blob, unusable: `FIDO key ${path}` };
  }
  if (!/encrypted|passphrase/i.test(opened.message)) return { identity: null, publicBlob: blob, unusable: null };
  const parsed = blob === null ? null : ssh2.utils.parseKey(blob);
  const publicKey = parsed instanceof Error ? null : parsed;
  const label = blob === null ? path : `${type ?? "key"} ${fingerprint(blob)} (${path})`;
  return { identity: { kind: "locked", label, file: path, publicKey }, publicBlob: blob, unusable: null };
}

/** The public key that an `openssh-key-v1` file shows even while it is encrypted (PROTOCOL.key of OpenSSH). */
function publicPart(text: string): Buffer | null {
  const body = /-----BEGIN OPENSSH PRIVATE KEY-----([\s\S]+?)-----END/.exec(text)?.[1];
  if (body === undefined) return null;
  const bytes = Buffer.from(body, "base64");
  let at = "openssh-key-v1\0".length;
  const next = (): Buffer | null => {
    if (bytes.length < at + 4) return null;
    const length = bytes.readUInt32BE(at);
    if (bytes.length < at + 4 + length) return null;
    const value = bytes.subarray(at + 4, at + 4 + length);
    at += 4 + length;
    return value;
  };
  if (next() === null || next() === null || next() === null) return null; // cipher, key derivation, its options
  at += 4; // number of keys, always 1
  return next();
}

async function publicTwin(path: string): Promise<Buffer | null> {
  try {
    const words = (await readFile(`${path}.pub`, "latin1")).trim().split(/\s+/);
    return words[1] === undefined ? null : Buffer.from(words[1], "base64");
  } catch {
    return null;
  }
}

export interface AgentKey {
  readonly blob: Buffer;
  readonly comment: string;
}

/**
 * The keys that an agent holds, certificates and FIDO keys included: ssh2's own list leaves those out in silence, and
 * then nobody can say why a login failed. Empty where there is no agent, as OpenSSH takes it.
 */
export function listAgentKeys(socketPath: string): Promise<readonly AgentKey[]> {
  const { promise, resolve } = Promise.withResolvers<readonly AgentKey[]>();
  const socket = connect(socketPath);
  let received = Buffer.alloc(0);
  const finish = (keys: readonly AgentKey[]) => {
    socket.destroy();
    resolve(keys);
  };
  socket.setTimeout(5_000, () => finish([]));
  socket.on("error", () => finish([]));
  socket.on("close", () => resolve([]));
  socket.on("connect", () => socket.write(Buffer.from([0, 0, 0, 1, 11]))); // SSH_AGENTC_REQUEST_IDENTITIES
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    if (received.length < 4 || received.length < 4 + received.readUInt32BE(0)) return;
    finish(parseAgentAnswer(received.subarray(4)));
  });
  return promise;
}

function parseAgentAnswer(message: Buffer): AgentKey[] {
  if (message[0] !== 12 || message.length < 5) return []; // SSH_AGENT_IDENTITIES_ANSWER
  const keys: AgentKey[] = [];
  let at = 5;
  const next = (): Buffer | null => {
    if (message.length < at + 4) return null;
    const end = at + 4 + message.readUInt32BE(at);
    if (message.length < end) return null;
    const value = message.subarray(at + 4, end);
    at = end;
    return value;
  };
  for (let count = message.readUInt32BE(1); count > 0; count--) {
    const blob = next();
    const comment = next();
    if (blob === null || comment === null) break;
    keys.push({ blob, comment: comment.toString("utf8") });
  }
  return keys;
}

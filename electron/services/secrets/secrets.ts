/**
 * Passwords and passphrases the operator asked to keep. With the system's keyring they are kept sealed in a file
 * of their own; without one they stay in memory until the console ends. They are never in the local store.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { makeDirectory } from "../store/directory.ts";

export interface SecretStore {
  readonly kind: "system" | "memory";
  get(key: string): Promise<string | null>;
  set(key: string, value: string): Promise<void>;
  delete(key: string): Promise<void>;
}

/**
 * What the desktop process offers of Electron's safeStorage. `backend` is its
 * `getSelectedStorageBackend()` on Linux; `basic_text` seals with a key that everybody knows.
 */
export interface SecretSeal {
  readonly backend: string;
  readonly available: boolean;
  seal(plain: string): Promise<string>;
  unseal(sealed: string): Promise<string>;
}

export function openSecrets(seal: SecretSeal | null, file: string): SecretStore {
  if (seal === null || !seal.available || seal.backend === "basic_text" || seal.backend === "unknown") {
    return memorySecrets();
  }
  return sealedSecrets(seal, file);
}

export function memorySecrets(): SecretStore {
  const secrets = new Map<string, string>();
  return {
    kind: "memory",
    get: async (key) => secrets.get(key) ?? null,
    set: async (key, value) => {
      secrets.set(key, value);
    },
    delete: async (key) => {
      secrets.delete(key);
    },
  };
}

function sealedSecrets(seal: SecretSeal, file: string): SecretStore {
  const sealed = readSealed(file);
  const save = (): void => {
    makeDirectory(dirname(file));
    writeFileSync(`${file}.part`, JSON.stringify(Object.fromEntries(sealed)), { mode: 0o600, flush: true });
    renameSync(`${file}.part`, file);
  };
  return {
    kind: "system",
    get: async (key) => {
      const value = sealed.get(key);
      if (value === undefined) return null;
      try {
        return await seal.unseal(value);
      } catch {
        // The keyring was reset or is another one: what it cannot open any more is asked for again.
        return null;
      }
    },
    set: async (key, value) => {
      sealed.set(key, await seal.seal(value));
      save();
    },
    delete: async (key) => {
      if (sealed.delete(key)) save();
    },
  };
}

function readSealed(file: string): Map<string, string> {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (typeof value !== "object" || value === null) return new Map();
    return new Map(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"));
  } catch {
    return new Map();
  }
}

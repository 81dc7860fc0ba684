import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openSecrets, type SecretSeal } from "./secrets.ts";

let directory: string;
let file: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tessera-secrets-"));
  file = join(directory, "data", "secrets.json");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const keyring = (backend: string, available = true): SecretSeal => ({
  backend,
  available,
  seal: async (plain) => Buffer.from(plain).reverse().toString("hex"),
  unseal: async (sealed) => Buffer.from(sealed, "hex").reverse().toString(),
});

describe.each([
  ["no desktop", null],
  ["the plain-text backend", keyring("basic_text")],
  ["an unknown backend", keyring("unknown")],
  ["a keyring that is not there", keyring("gnome_libsecret", false)],
])("with %s", (_name, seal) => {
  test("secrets stay in memory, and nothing is written", async () => {
    const secrets = openSecrets(seal, file);
    await secrets.set("k", "hunter2");
    expect([secrets.kind, await secrets.get("k"), existsSync(file)]).toEqual(["memory", "hunter2", false]);
    expect(await openSecrets(seal, file).get("k")).toBe(null);
  });
});

describe("with a keyring", () => {
  test("they are kept sealed, for the owner only, until deleted", async () => {
    const secrets = openSecrets(keyring("gnome_libsecret"), file);
    await secrets.set("k", "hunter2");
    expect(readFileSync(file, "utf8")).not.toContain("hunter2");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const next = openSecrets(keyring("kwallet6"), file);
    expect([next.kind, await next.get("k"), await next.get("other")]).toEqual(["system", "hunter2", null]);
    await next.delete("k");
    expect(await openSecrets(keyring("kwallet6"), file).get("k")).toBe(null);
  });

  test("what the keyring cannot open any more is asked for again", async () => {
    await openSecrets(keyring("gnome_libsecret"), file).set("k", "v");
    const reset: SecretSeal = { ...keyring("gnome_libsecret"), unseal: () => Promise.reject(new Error("reset")) };
    expect(await openSecrets(reset, file).get("k")).toBe(null);
  });

  test("a damaged file is as an empty one", async () => {
    await openSecrets(keyring("gnome_libsecret"), file).set("k", "v");
    writeFileSync(file, "{");
    expect(await openSecrets(keyring("gnome_libsecret"), file).get("k")).toBe(null);
  });
});

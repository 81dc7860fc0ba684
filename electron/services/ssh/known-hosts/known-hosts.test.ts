import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { appendKnownHost, entryMatches, KnownHostsFiles, parseKnownHosts } from "./file.ts";
import { knownHostsName, matchesPattern } from "./match.ts";
import { fingerprint, knownKeyTypes, verifyHostKey } from "./verify.ts";

const keygen = (() => {
  try {
    execFileSync("ssh-keygen", ["-?"], { stdio: "ignore" });
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENOENT" ? null : "ssh-keygen";
  }
  return "ssh-keygen";
})();
if (keygen === null) console.warn("skipped: ssh-keygen is not installed");

let directory: string;
const keys: { readonly text: string; readonly blob: Buffer }[] = [];
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "tessera-known-"));
  if (keygen === null) return;
  for (const [index, type] of ["ed25519", "ed25519", "ecdsa", "rsa"].entries()) {
    const path = join(directory, `key${index}`);
    execFileSync(keygen, ["-q", "-t", type, "-N", "", "-C", "", "-f", path]);
    const [name = "", base64 = ""] = readFileSync(`${path}.pub`, "utf8").trim().split(" ");
    keys.push({ text: `${name} ${base64}`, blob: Buffer.from(base64, "base64") });
  }
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const label = fc.stringMatching(/^[a-z][a-z0-9]{0,3}$/);
const host = fc.oneof(
  label,
  fc.tuple(label, label).map(([a, b]) => `${a}.${b}`),
  fc.tuple(label, label, label).map((parts) => parts.join(".")),
  fc.ipV4(),
  fc.constantFrom("::1", "fe80::1", "2001:db8::7"),
);
const name = fc.tuple(host, fc.constantFrom(22, 22, 2222, 443)).map(([h, port]) => knownHostsName(h, port));

/** A pattern made from the host itself, so that most of them match. */
const patternOf = (text: string) =>
  fc
    .array(fc.constantFrom("keep", "keep", "keep", "star", "question"), {
      minLength: text.length,
      maxLength: text.length,
    })
    .map((marks) =>
      [...text].map((letter, at) => (marks[at] === "star" ? "*" : marks[at] === "question" ? "?" : letter)).join(""),
    );
const patterns = (text: string) =>
  fc
    .array(
      fc
        .tuple(fc.oneof(patternOf(text), name), fc.integer({ min: 0, max: 4 }))
        .map(([p, n]) => (n === 0 ? `!${p}` : p)),
      { minLength: 1, maxLength: 3 },
    )
    .map((list) => list.join(","));

describe.skipIf(keygen === null)("known_hosts, held against ssh-keygen", () => {
  const found = (wanted: string, file: string): number[] => {
    try {
      const output = execFileSync("ssh-keygen", ["-F", wanted, "-f", file], { encoding: "utf8", stdio: "pipe" });
      return [...output.matchAll(/found: line (\d+)/g)].map((match) => Number(match[1]));
    } catch {
      return [];
    }
  };

  test("finds the same lines as ssh-keygen -F: plain, wildcards, negation, ports", () => {
    fc.assert(
      fc.property(
        name.chain((wanted) =>
          fc.tuple(fc.constant(wanted), fc.array(patterns(wanted), { minLength: 1, maxLength: 6 })),
        ),
        ([wanted, lists]) => {
          const file = join(directory, "plain");
          const text = lists.map((list, at) => `${list} ${keys[at % keys.length]?.text}\n`).join("");
          writeFileSync(file, text);
          const ours = parseKnownHosts(text, file).filter((entry) => entryMatches(entry, wanted));
          expect(ours.map((entry) => entry.line)).toEqual(found(wanted, file));
        },
      ),
      { numRuns: 150 },
    );
  });

  test("finds the same lines in files hashed by ssh-keygen -H", () => {
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 5 }), name, (names, other) => {
        const file = join(directory, "hashed");
        writeFileSync(file, names.map((written, at) => `${written} ${keys[at % keys.length]?.text}\n`).join(""));
        execFileSync("ssh-keygen", ["-H", "-f", file], { stdio: "ignore" });
        const text = readFileSync(file, "utf8");
        expect(text).toContain("|1|");
        for (const wanted of [...names, other]) {
          const ours = parseKnownHosts(text, file).filter((entry) => entryMatches(entry, wanted));
          expect(ours.map((entry) => entry.line)).toEqual(found(wanted, file));
        }
      }),
      { numRuns: 40 },
    );
  });

  test("prints fingerprints as ssh-keygen -l does", () => {
    for (const [index, key] of keys.entries()) {
      const printed = execFileSync("ssh-keygen", ["-l", "-f", join(directory, `key${index}.pub`)], {
        encoding: "utf8",
      });
      expect(printed).toContain(fingerprint(key.blob));
    }
  });

  test("adds lines that ssh-keygen finds, and leaves the others and the mode alone", async () => {
    for (const hashed of [false, true]) {
      const file = join(directory, `append-${hashed}`);
      const before = `# a comment\nother ${keys[1]?.text}`;
      writeFileSync(file, before);
      chmodSync(file, 0o640);
      const key = keys[0]?.blob ?? Buffer.alloc(0);
      await appendKnownHost(file, knownHostsName("gpu1.example.org", 2222), key, hashed);
      const after = readFileSync(file, "utf8");
      expect(after.startsWith(`${before}\n`)).toBe(true);
      expect(after.includes("gpu1")).toBe(!hashed);
      expect(statSync(file).mode & 0o777).toBe(0o640);
      expect(found("[gpu1.example.org]:2222", file)).toEqual([3]);
    }
    const fresh = join(directory, "new", "known_hosts");
    await appendKnownHost(fresh, "a", keys[0]?.blob ?? Buffer.alloc(0), false);
    expect([statSync(fresh).mode & 0o777, statSync(join(directory, "new")).mode & 0o777]).toEqual([0o600, 0o700]);
  });
});

describe.skipIf(keygen === null)("the verdict", () => {
  const verdict = (text: string, key: number, ...names: [string, ...string[]]) =>
    verifyHostKey(parseKnownHosts(text, "f"), names, keys[key]?.blob ?? Buffer.alloc(0)).kind;
  const line = (hosts: string, key: number) => `${hosts} ${keys[key]?.text}\n`;

  test("is known, changed, of another type, or unknown", () => {
    expect(verdict(line("a", 0), 0, "a")).toBe("known");
    expect(verdict(line("a", 0), 1, "a")).toBe("changed");
    expect(verdict(line("a", 0) + line("a", 1), 1, "a")).toBe("known");
    expect(verdict(line("a", 2), 0, "a")).toBe("other-type");
    expect(verdict(line("b", 0), 0, "a")).toBe("unknown");
    expect(verdict(line("a,!a", 0), 0, "a")).toBe("unknown");
  });

  test("revoked overrules everything, wherever it stands", () => {
    expect(verdict(line("a", 0) + line("@revoked *", 0), 0, "a")).toBe("revoked");
    expect(verdict(line("@revoked b", 0), 0, "a")).toBe("unknown");
  });

  test("a certificate authority does not vouch for a plain key", () => {
    expect(verdict(line("@cert-authority *.example.org", 0), 0, "a.example.org")).toBe("certificate-only");
    expect(verdict(line("@cert-authority *", 1) + line("a", 0), 0, "a")).toBe("known");
  });

  test("another port falls back to the bare name, for the same key only", () => {
    expect(verdict(line("a", 0), 0, "[a]:2222", "a")).toBe("known");
    expect(verdict(line("a", 0), 1, "[a]:2222", "a")).toBe("unknown");
    expect(verdict(line("[a]:2222", 1) + line("a", 0), 0, "[a]:2222", "a")).toBe("changed");
  });

  test("types on file come first", () => {
    const entries = parseKnownHosts(line("a", 3) + line("@revoked a", 2) + line("b", 0), "f");
    expect(knownKeyTypes(entries, ["a"])).toEqual(["ssh-rsa"]);
  });

  test("broken lines are passed over, the others count", () => {
    const broken = `a ssh-ed25519 AAAA\n@unknown a x y\na\n\n#c\na ssh-rsa ${keys[0]?.text.split(" ")[1]}\n`;
    expect(parseKnownHosts(broken + line("a", 0), "f").map((entry) => entry.line)).toEqual([7]);
  });

  test("files are read again when they change", async () => {
    const file = join(directory, "cached");
    const files = new KnownHostsFiles();
    expect(await files.read(file)).toEqual([]);
    writeFileSync(file, line("a", 0));
    expect((await files.read(file)).length).toBe(1);
    writeFileSync(file, line("a", 0) + line("b", 1));
    expect((await files.read(file)).length).toBe(2);
  });
});

describe("a pattern", () => {
  test("means what the equivalent regular expression means", () => {
    const text = fc.stringMatching(/^[ab.]{0,8}$/);
    fc.assert(
      fc.property(text, fc.stringMatching(/^[ab.*?]{0,8}$/), (subject, pattern) => {
        const expression = new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("*", ".*").replaceAll("?", ".")}$`);
        expect(matchesPattern(subject, pattern)).toBe(expression.test(subject));
      }),
      { numRuns: 2_000 },
    );
  });
});

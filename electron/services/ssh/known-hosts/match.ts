/** Host patterns of known_hosts and ssh_config, as sshd(8) "SSH_KNOWN_HOSTS FILE FORMAT" and ssh_config(5) "PATTERNS" say. */
import { createHmac } from "node:crypto";

/** `*` any run of characters, `?` exactly one; nothing else is special; letters compare without case. */
export function matchesPattern(text: string, pattern: string): boolean {
  const subject = text.toLowerCase();
  const wanted = pattern.toLowerCase();
  // Two pointers with one way back to the last star: linear in practice, and no pattern can blow it up.
  let at = 0;
  let patternAt = 0;
  let starAt = -1;
  let resumeAt = 0;
  while (at < subject.length) {
    const symbol = wanted[patternAt];
    if (symbol === "*") {
      starAt = patternAt++;
      resumeAt = at;
    } else if (symbol === "?" || (symbol !== undefined && symbol === subject[at])) {
      patternAt++;
      at++;
    } else if (starAt >= 0) {
      patternAt = starAt + 1;
      at = ++resumeAt;
    } else {
      return false;
    }
  }
  while (wanted[patternAt] === "*") patternAt++;
  return patternAt === wanted.length;
}

/** One positive match is needed, and a negated match overrules every positive one. */
export function matchesPatternList(text: string, patterns: readonly string[]): boolean {
  let matched = false;
  for (const pattern of patterns) {
    if (pattern.startsWith("!")) {
      if (matchesPattern(text, pattern.slice(1))) return false;
    } else if (matchesPattern(text, pattern)) {
      matched = true;
    }
  }
  return matched;
}

/** `|1|salt|hash`: HMAC-SHA1 of the host name under the salt, both base64. */
export function matchesHashed(host: string, hashed: string): boolean {
  const [, version, salt, hash] = hashed.split("|");
  if (version !== "1" || salt === undefined || hash === undefined) return false;
  return hashHost(host, Buffer.from(salt, "base64")) === `|1|${salt}|${hash}`;
}

export function hashHost(host: string, salt: Buffer): string {
  const hash = createHmac("sha1", salt).update(host.toLowerCase()).digest("base64");
  return `|1|${salt.toString("base64")}|${hash}`;
}

/** The name that stands in known_hosts: `[host]:port` unless the port is 22. */
export function knownHostsName(host: string, port: number): string {
  return port === 22 ? host.toLowerCase() : `[${host.toLowerCase()}]:${port}`;
}

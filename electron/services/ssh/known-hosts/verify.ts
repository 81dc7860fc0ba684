/** What known_hosts says about a key that a host has shown. Decides nothing. */
import { createHash } from "node:crypto";
import { entryMatches, type KnownHostsEntry, keyTypeOf } from "./file.ts";

export type HostKeyVerdict =
  | { readonly kind: "known"; readonly entry: KnownHostsEntry }
  /** On file as revoked for this name. */
  | { readonly kind: "revoked"; readonly entry: KnownHostsEntry }
  /** Another key of this type is on file: somebody may be listening. */
  | { readonly kind: "changed"; readonly known: readonly KnownHostsEntry[] }
  /** Only keys of other types are on file: a first sight that deserves the same suspicion. */
  | { readonly kind: "other-type"; readonly known: readonly KnownHostsEntry[] }
  /** Nothing but a certificate authority is on file, and host certificates cannot be checked here. */
  | { readonly kind: "certificate-only"; readonly entry: KnownHostsEntry }
  | { readonly kind: "unknown" };

/** `names`: the host's name as known_hosts writes it, then (for a port other than 22) the bare name that OpenSSH falls back to. */
export function verifyHostKey(
  entries: readonly KnownHostsEntry[],
  names: readonly [string, ...string[]],
  key: Buffer,
): HostKeyVerdict {
  const [name, ...fallbacks] = names;
  const matching = entries.filter((entry) => entryMatches(entry, name));
  const fallback = entries.filter((entry) => fallbacks.some((other) => entryMatches(entry, other)));
  const revoked = [...matching, ...fallback].find((entry) => entry.marker === "revoked" && entry.key.equals(key));
  if (revoked !== undefined) return { kind: "revoked", entry: revoked };

  const plain = matching.filter((entry) => entry.marker === null);
  const same = plain.find((entry) => entry.key.equals(key));
  if (same !== undefined) return { kind: "known", entry: same };
  const type = keyTypeOf(key);
  const sameType = plain.filter((entry) => entry.keyType === type);
  if (sameType.length > 0) return { kind: "changed", known: sameType };
  const underBareName = fallback.find((entry) => entry.marker === null && entry.key.equals(key));
  if (underBareName !== undefined) return { kind: "known", entry: underBareName };
  if (plain.length > 0) return { kind: "other-type", known: plain };
  const authority = [...matching, ...fallback].find((entry) => entry.marker === "cert-authority");
  if (authority !== undefined) return { kind: "certificate-only", entry: authority };
  return { kind: "unknown" };
}

/** Key types on file for a host: those are asked for first, as OpenSSH does, so that another type is no surprise. */
export function knownKeyTypes(entries: readonly KnownHostsEntry[], names: readonly string[]): string[] {
  for (const name of names) {
    const types = entries
      .filter((entry) => entry.marker === null && entryMatches(entry, name))
      .map((entry) => entry.keyType);
    if (types.length > 0) return [...new Set(types)];
  }
  return [];
}

/** `SHA256:...` without padding, as OpenSSH prints it. */
export function fingerprint(key: Buffer): string {
  return `SHA256:${createHash("sha256").update(key).digest("base64").replace(/=+$/, "")}`;
}

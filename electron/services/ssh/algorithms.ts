/**
 * The algorithms offered, fixed so that every build offers the same. No chacha20-poly1305: Electron's BoringSSL lacks
 * it, and naming it there throws. No SHA-1 signatures and no CBC. AES-GCM first: it is what OpenSSL is fastest at.
 */
import type { Algorithms, ServerHostKeyAlgorithm } from "ssh2";

const hostKeys: readonly ServerHostKeyAlgorithm[] = [
  "ssh-ed25519",
  "ecdsa-sha2-nistp256",
  "ecdsa-sha2-nistp384",
  "ecdsa-sha2-nistp521",
  "rsa-sha2-512",
  "rsa-sha2-256",
];

/** Host key algorithms by preference: those whose key is on file first. Empty where the configuration leaves none. */
export function hostKeyOrder(
  knownTypes: readonly string[],
  allowed: readonly string[] | null,
): readonly ServerHostKeyAlgorithm[] {
  const usable =
    allowed === null
      ? hostKeys
      : allowed.flatMap((name) => {
          const found = hostKeys.find((known) => known === name);
          return found === undefined ? [] : [found];
        });
  const known = usable.filter((name) => knownTypes.includes(keyTypeFor(name)));
  return [...known, ...usable.filter((name) => !known.includes(name))];
}

/** RSA keys are one type however they sign. */
function keyTypeFor(algorithm: ServerHostKeyAlgorithm): string {
  return algorithm.startsWith("rsa-sha2-") ? "ssh-rsa" : algorithm;
}

export function algorithmsFor(serverHostKey: readonly ServerHostKeyAlgorithm[]): Algorithms {
  return {
    kex: [
      "curve25519-sha256",
      "curve25519-sha256@libssh.org",
      "ecdh-sha2-nistp256",
      "ecdh-sha2-nistp384",
      "ecdh-sha2-nistp521",
      "diffie-hellman-group16-sha512",
      "diffie-hellman-group14-sha256",
    ],
    serverHostKey: [...serverHostKey],
    cipher: ["aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "aes128-ctr", "aes192-ctr", "aes256-ctr"],
    hmac: ["hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com", "hmac-sha2-256", "hmac-sha2-512"],
    compress: ["none"],
  };
}

import ssh2 from "ssh2";

export interface KeyPair {
  /** OpenSSH's format. */
  readonly privateKey: string;
  /** `ssh-ed25519 AAAA...` */
  readonly publicKey: string;
}

/**
 * An Ed25519 key pair. About one in 250 that ssh2 1.17 makes cannot be read again, by itself or by anybody (a key whose
 * first byte is zero loses it), so each is tried before it is used.
 */
export function newKeyPair(make: () => { private: string; public: string } = generate): KeyPair {
  for (;;) {
    const made = make();
    if (ssh2.utils.parseKey(made.private) instanceof Error || ssh2.utils.parseKey(made.public) instanceof Error)
      continue;
    return { privateKey: made.private, publicKey: made.public.trim() };
  }
}

function generate(): { private: string; public: string } {
  return ssh2.utils.generateKeyPairSync("ed25519");
}

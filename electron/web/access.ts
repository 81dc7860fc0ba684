/**
 * Who may use the console on loopback: a link with a one-time token, exchanged for a cookie that scripts cannot
 * read and other sites cannot send. Other users of the machine can reach the port but know neither.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";

export class Access {
  readonly #cookieName = `tessera_${randomBytes(4).toString("hex")}`;
  readonly #sessions = new Set<string>();
  #token: string | null = newSecret();

  /** The token of the link that is good now, or null when it was used. */
  get token(): string | null {
    return this.#token;
  }

  renewToken(): string {
    this.#token = newSecret();
    return this.#token;
  }

  /** Exchanges the token for the value of `Set-Cookie`; null when it is not, or no longer, good. */
  exchange(token: string): string | null {
    if (this.#token === null || !sameSecret(token, this.#token)) return null;
    this.#token = null;
    const session = newSecret();
    this.#sessions.add(session);
    // No `Secure`: loopback is plain HTTP. A session cookie: it ends with the browser, and with this process.
    return `${this.#cookieName}=${session}; Path=/; HttpOnly; SameSite=Strict`;
  }

  admits(cookieHeader: string | undefined): boolean {
    for (const part of (cookieHeader ?? "").split(";")) {
      const [name, value] = part.trim().split("=", 2);
      if (name !== this.#cookieName || value === undefined) continue;
      for (const session of this.#sessions) if (sameSecret(value, session)) return true;
    }
    return false;
  }
}

function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

function sameSecret(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

/**
 * Whether a request was meant for this machine by name. A page on the internet can make its own name resolve to
 * 127.0.0.1 (DNS rebinding), but cannot make the browser say another name than that. The port may be another
 * one: `ssh -L` forwards from any.
 */
export function isLoopbackHost(hostHeader: string | undefined): boolean {
  return /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/.test(hostHeader ?? "");
}

/** WebSockets are not bound by the same-origin rule: only the page that this server gave may open one. */
export function isOwnOrigin(originHeader: string | undefined, hostHeader: string | undefined): boolean {
  return hostHeader !== undefined && originHeader === `http://${hostHeader}`;
}

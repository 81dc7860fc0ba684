/** AppErrors out of what sockets and ssh2 say. Nothing here ever sees a secret. */
import { AppError, type ErrorCode } from "../../../shared/errors.ts";

export interface Peer {
  readonly name: string;
  readonly hostName: string;
  readonly port: number;
}

export function sshError(code: ErrorCode, peer: Peer, message: string, remedy: string, details?: string): AppError {
  return new AppError({
    code,
    message,
    remedy,
    evidence: { host: peer.name, details: [`${peer.hostName} port ${peer.port}`, details ?? ""].join("\n").trim() },
  });
}

const unreachable: Readonly<Record<string, readonly [string, string]>> = {
  ECONNREFUSED: ["refused the connection", "Check that sshd runs there and listens on this port."],
  EHOSTUNREACH: ["cannot be reached: no route to host", "Check the network, VPN and address."],
  ENETUNREACH: ["cannot be reached: network is unreachable", "Check the network, VPN and address."],
  ETIMEDOUT: ["did not answer in time", "Check the network, VPN, firewall and address."],
  ENOTFOUND: ["cannot be found: no such name", "Check the spelling, HostName in ssh config, and name resolution."],
  EAI_AGAIN: ["cannot be found: name resolution failed for now", "Check the name server."],
  ECONNRESET: ["closed the connection", "sshd may be limiting connections (MaxStartups) or refusing this address."],
  EPIPE: ["closed the connection", "sshd may be limiting connections (MaxStartups) or refusing this address."],
  EADDRNOTAVAIL: ["cannot be reached from the given local address", "Check BindAddress and the address."],
};

function fieldOf(error: unknown, field: "code" | "level"): string {
  if (typeof error !== "object" || error === null || !(field in error)) return "";
  const value: unknown = Reflect.get(error, field);
  return typeof value === "string" ? value : "";
}

/** Errors of one agent or one key: the next method is tried, so the connection lives on. */
export function isPassing(error: unknown): boolean {
  return fieldOf(error, "level") === "agent";
}

/** A failure before the connection stood. */
export function connectError(error: unknown, peer: Peer, proxyWords = ""): AppError {
  if (error instanceof AppError) return error;
  const single = error instanceof AggregateError ? error.errors[0] : error;
  const words = single instanceof Error ? single.message : String(single);
  const details = [words, proxyWords].filter((text) => text !== "").join("\n");
  const known = unreachable[fieldOf(single, "code")];
  if (known !== undefined) return sshError("ssh-unreachable", peer, `${peer.name} ${known[0]}.`, known[1], details);
  if (/no matching .*(key|cipher|mac|hmac|compress)/i.test(words)) {
    const hostKey = /host key/i.test(words);
    return sshError(
      "ssh-unsupported",
      peer,
      hostKey
        ? `${peer.name} offers no host key of a type that can be checked here.`
        : `${peer.name} and this console have no encryption algorithm in common.`,
      hostKey
        ? "Host certificates and FIDO host keys are not supported: give the server an ssh-ed25519, ecdsa or rsa host key."
        : "Allow one of curve25519-sha256, aes128-gcm@openssh.com, aes128-ctr, hmac-sha2-256 on the server.",
      details,
    );
  }
  if (/before handshake|socket ended|ended by the other party/i.test(words)) {
    return sshError(
      "ssh-unreachable",
      peer,
      `${peer.name} closed the connection before it said it speaks SSH.`,
      "sshd may be limiting connections (MaxStartups) or refusing this address; it is tried again.",
      details,
    );
  }
  if (/too many authentication failures/i.test(words)) {
    return sshError(
      "ssh-auth",
      peer,
      `${peer.name} cut the login short after too many keys (MaxAuthTries).`,
      "Name the right key with IdentityFile and set IdentitiesOnly yes for this host.",
      details,
    );
  }
  return sshError(
    "ssh-unreachable",
    peer,
    `The connection to ${peer.name} failed: ${words}.`,
    "Try it with ssh in a terminal.",
    details,
  );
}

/** The connection went away after it stood. */
export function closedError(peer: Peer, cause: unknown): AppError {
  const words = cause instanceof Error ? cause.message : "";
  const silent = /keepalive/i.test(words);
  return sshError(
    "ssh-closed",
    peer,
    silent ? `${peer.name} stopped answering.` : `The connection to ${peer.name} was closed.`,
    "It is opened again by itself; what was running on the host may have gone on.",
    words,
  );
}

/** What an operator may write for a host. */
import { AppError } from "../../../../shared/errors.ts";

export interface Destination {
  readonly user: string | null;
  /** An alias, a name or an address, without brackets. */
  readonly host: string;
  readonly port: number | null;
}

/** Reads `[user@]host[:port]`, `[user@][IPv6]:port` and `ssh://...`. Throws AppError `ssh-config`. */
export function parseDestination(written: string): Destination {
  const text = written
    .trim()
    .replace(/^ssh:\/\//, "")
    .replace(/\/$/, "");
  const at = text.lastIndexOf("@");
  const user = at < 0 ? null : text.slice(0, at);
  const rest = text.slice(at + 1);
  const bracketed = /^\[([^\]]+)\](?::(\d+))?$/.exec(rest);
  // One colon separates a port; more of them are an IPv6 address.
  const single = /^([^:]+)(?::(\d+))?$/.exec(rest);
  const host = bracketed?.[1] ?? single?.[1] ?? (/^[0-9A-Fa-f:.]+(%\w+)?$/.test(rest) ? rest : "");
  const portText = bracketed?.[2] ?? single?.[2];
  const port = portText === undefined ? null : Number(portText);
  const bad = host === "" || /[\s'"`$\\;&<>|(){}\0]/.test(host) || host.startsWith("-");
  const badUser = user !== null && (user === "" || user.startsWith("-") || /[\s'"`;&<>|(){}\0]/.test(user));
  if (bad || badUser || (port !== null && (port < 1 || port > 65_535))) {
    throw new AppError({
      code: "ssh-config",
      message: `“${written}” is not a host.`,
      remedy: "Write an alias of your ssh config or [user@]host[:port].",
    });
  }
  return { user, host, port };
}

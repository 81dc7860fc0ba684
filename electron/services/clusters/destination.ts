/** Hosts as operators write them. */

/** The name people know a host by: `[user@]host[:port]` without user and port, `[fe80::1]:22` without brackets. */
export function hostNameOf(destination: string): string {
  const withoutUser = destination.slice(destination.lastIndexOf("@") + 1);
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(withoutUser);
  if (bracketed?.[1] !== undefined) return bracketed[1];
  // More than one colon without brackets is an IPv6 address without a port.
  const port = /^([^:]+):\d+$/.exec(withoutUser);
  return port?.[1] ?? withoutUser;
}

/** Why a destination cannot be one, in words, or null. It becomes an argument and a name, never part of a shell line. */
export function destinationFault(destination: string): string | null {
  if (destination.trim() !== destination || destination === "") return "has spaces around it";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (/[\s\u0000-\u001f\u007f]/.test(destination)) return "holds spaces or control characters";
  // ssh would read it as an option.
  if (destination.startsWith("-") || hostNameOf(destination).startsWith("-")) return "begins with a dash";
  // It would be kept in the local store, which holds no secret; ssh takes no password this way either.
  if (/^[^@]*:[^@]*@/.test(destination)) return "holds a password";
  if (hostNameOf(destination) === "") return "has no host name";
  const port = /(?:^[^:]*|\]):(\d+)$/.exec(destination)?.[1];
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return "has a port that is none (1 to 65535)";
  if (/[[\]]/.test(destination.replace(/\[[\da-fA-F:.%\w]*:[^\]]*\]/, "")))
    return "holds a list of hosts that cannot be read";
  return null;
}

/** `node[01-16]`, `gpu[1,3,5-7]`: Slurm's host lists, one bracket. Anything else stands for itself. */
export function expandHostList(word: string): readonly string[] {
  const match = /^([^[\]]*)\[([\d,-]+)\]([^[\]:]*(?::\d+)?)$/.exec(word);
  const [, before, list, after] = match ?? [];
  if (before === undefined || before === "" || list === undefined || after === undefined) return [word];
  const names: string[] = [];
  for (const part of list.split(",")) {
    const range = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (range?.[1] === undefined) return [word];
    const first = Number(range[1]);
    const last = Number(range[2] ?? range[1]);
    if (last < first || last - first >= 10_000) return [word];
    for (let number = first; number <= last; number += 1) {
      names.push(`${before}${String(number).padStart(range[1].length, "0")}${after}`);
    }
  }
  return names;
}

/** The hosts that ssh config names, for choosing from. */
import { join } from "node:path";
import type { SshAlias } from "../../../../shared/api/contract.ts";
import { type ConfigFile, type ConfigLine, readConfig } from "./lines.ts";

/** Every name of a Host line that is not a pattern, once, in the order of the files. Includes are followed. */
export async function listAliases(home: string, configFile?: string): Promise<readonly SshAlias[]> {
  const paths = configFile === undefined ? [join(home, ".ssh", "config"), "/etc/ssh/ssh_config"] : [configFile];
  const aliases = new Map<string, SshAlias>();
  for (const path of paths) collect(await readConfig(path, home), aliases);
  return [...aliases.values()];
}

function collect(file: ConfigFile, aliases: Map<string, SshAlias>): void {
  const visit = (lines: readonly ConfigLine[]) => {
    for (const line of lines) {
      if (line.kind === "include") for (const inner of line.files) collect(inner, aliases);
      if (line.kind !== "host" && line.kind !== "match") continue;
      if (line.kind === "host") {
        const hostName = line.lines.find((inner) => inner.kind === "option" && inner.keyword === "hostname");
        const names = line.patterns.flatMap((text) => text.split(/\s+/)).filter((name) => name !== "");
        for (const alias of names) {
          if (/[*?!]/.test(alias) || aliases.has(alias)) continue;
          const written = hostName?.kind === "option" ? (hostName.words[0] ?? null) : null;
          aliases.set(alias, { alias, hostName: written?.replaceAll("%h", alias) ?? null, file: file.path });
        }
      }
      visit(line.lines);
    }
  };
  visit(file.lines);
}

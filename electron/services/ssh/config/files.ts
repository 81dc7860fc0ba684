/** What `ssh -G` would say, for machines without ssh: first value wins, Host and Match as ssh_config(5) has them. */
import { join } from "node:path";
import { matchesPatternList } from "../known-hosts/match.ts";
import { expandTokens, type SettingsContext } from "../settings.ts";
import type { Destination } from "./destination.ts";
import { type ConfigLine, type Criterion, readConfig } from "./lines.ts";

/** These are collected; of every other keyword the first value counts. */
const repeatable = new Set(["identityfile", "certificatefile"]);
const defaultIdentities = ["id_rsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk"];

export interface FileKeywords {
  readonly keywords: ReadonlyMap<string, readonly string[]>;
  /** What could not be taken into account, for people. */
  readonly notes: readonly string[];
}

export async function keywordsFromFiles(
  destination: Destination,
  context: SettingsContext,
  configFile?: string,
): Promise<FileKeywords> {
  const paths = configFile === undefined ? [join(context.home, ".ssh", "config"), "/etc/ssh/ssh_config"] : [configFile];
  const keywords = new Map<string, string[]>();
  if (destination.user !== null) keywords.set("user", [destination.user]);
  if (destination.port !== null) keywords.set("port", [String(destination.port)]);
  const state: State = { host: destination.host, context, keywords, notes: new Set() };
  for (const path of paths) apply((await readConfig(path, context.home)).lines, true, state);

  keywords.set("hostname", [hostNameOf(state)]);
  if (!keywords.has("identityfile"))
    keywords.set(
      "identityfile",
      defaultIdentities.map((name) => `~/.ssh/${name}`),
    );
  return { keywords, notes: [...state.notes] };
}

interface State {
  readonly host: string;
  readonly context: SettingsContext;
  readonly keywords: Map<string, string[]>;
  readonly notes: Set<string>;
}

/** HostName may be written with `%h`, and Match host compares with what that gives. */
function hostNameOf({ host, context, keywords }: State): string {
  return expandTokens(keywords.get("hostname")?.[0] ?? host, context, {
    hostName: host,
    user: keywords.get("user")?.[0] ?? context.localUser,
    port: Number(keywords.get("port")?.[0] ?? 22),
    hostKeyAlias: host,
  });
}

function apply(lines: readonly ConfigLine[], active: boolean, state: State): void {
  for (const line of lines) {
    switch (line.kind) {
      case "option":
        if (active) setOption(line.keyword, line.words, state);
        break;
      case "host":
        apply(line.lines, active && matchesPatternList(state.host, line.patterns.flatMap(splitWords)), state);
        break;
      case "match":
        apply(line.lines, active && matchesAll(line.criteria, state), state);
        break;
      case "include":
        for (const file of line.files) apply(file.lines, active, state);
        break;
    }
  }
}

function setOption(keyword: string, words: readonly string[], state: State): void {
  const value = words.join(" ");
  const known = state.keywords.get(keyword);
  if (known === undefined) state.keywords.set(keyword, [value]);
  else if (repeatable.has(keyword)) known.push(value);
}

function matchesAll(criteria: readonly Criterion[], state: State): boolean {
  // `exec` last: it only matters where everything else matches.
  const sorted = criteria.toSorted((a, b) => Number(bare(a.name) === "exec") - Number(bare(b.name) === "exec"));
  return sorted.every((criterion) => {
    const matched = matches(bare(criterion.name), criterion.words, state);
    return criterion.name.startsWith("!") ? !matched : matched;
  });
}

function bare(name: string): string {
  return name.replace(/^!/, "");
}

function matches(name: string, words: readonly string[], state: State): boolean {
  const patterns = words.flatMap(splitWords);
  const { keywords, context, host } = state;
  switch (name) {
    case "all":
      return true;
    case "host":
      return matchesPatternList(hostNameOf(state), patterns);
    case "originalhost":
      return matchesPatternList(host, patterns);
    case "user":
      return matchesPatternList(keywords.get("user")?.[0] ?? context.localUser, patterns);
    case "localuser":
      return matchesPatternList(context.localUser, patterns);
    default:
      state.notes.add(`Match ${name} ${words.join(" ")} was not evaluated: that needs ssh on the PATH.`);
      return false;
  }
}

function splitWords(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== "");
}

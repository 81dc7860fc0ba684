/** The lines of ssh config files with their Includes in place, for where there is no `ssh` to ask, and for lists of aliases. */
import { glob, readFile } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import SSHConfig, { LineType } from "ssh-config";
import { AppError } from "../../../../shared/errors.ts";

export type ConfigLine =
  | { readonly kind: "option"; readonly keyword: string; readonly words: readonly string[] }
  | { readonly kind: "host"; readonly patterns: readonly string[]; readonly lines: readonly ConfigLine[] }
  | { readonly kind: "match"; readonly criteria: readonly Criterion[]; readonly lines: readonly ConfigLine[] }
  /** Applies only where its surrounding block does. */
  | { readonly kind: "include"; readonly files: readonly ConfigFile[] };

export interface Criterion {
  readonly name: string;
  readonly words: readonly string[];
}

export interface ConfigFile {
  readonly path: string;
  readonly lines: readonly ConfigLine[];
}

/** OpenSSH gives up at the same depth. */
const maxDepth = 16;

/** A file that is not there is empty; one that cannot be read or understood throws AppError `ssh-config`. */
export async function readConfig(path: string, home: string, depth = 0): Promise<ConfigFile> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")) {
      return { path, lines: [] };
    }
    throw unreadable(path, error);
  }
  if (depth > maxDepth) throw unreadable(path, new Error("too many Includes inside each other"));
  let parsed: SSHConfig;
  try {
    parsed = SSHConfig.parse(text);
  } catch (error) {
    throw unreadable(path, error);
  }
  return { path, lines: await convert(parsed, path, home, depth) };
}

async function convert(config: SSHConfig, path: string, home: string, depth: number): Promise<ConfigLine[]> {
  const lines: ConfigLine[] = [];
  for (const line of config) {
    if (line.type !== LineType.DIRECTIVE) continue;
    const keyword = line.param.toLowerCase();
    if (keyword === "include") {
      lines.push({ kind: "include", files: await included(wordsOf(line.value), path, home, depth) });
    } else if (!("config" in line)) {
      lines.push({ kind: "option", keyword, words: wordsOf(line.value) });
    } else if ("criteria" in line) {
      const criteria = Object.entries(line.criteria).map(([name, value]) => ({
        name: name.toLowerCase(),
        words: wordsOf(value),
      }));
      lines.push({ kind: "match", criteria, lines: await convert(line.config, path, home, depth) });
    } else {
      const patterns = wordsOf(line.value);
      lines.push({ kind: "host", patterns, lines: await convert(line.config, path, home, depth) });
    }
  }
  return lines;
}

function wordsOf(value: string | readonly { readonly val: string }[]): string[] {
  return typeof value === "string" ? [value] : value.map((word) => word.val);
}

/** Relative names belong to ~/.ssh in a user's file and to /etc/ssh in the system's. Files come in the glob's order. */
async function included(words: readonly string[], from: string, home: string, depth: number): Promise<ConfigFile[]> {
  const files: ConfigFile[] = [];
  const base = from.startsWith("/etc/ssh/") ? "/etc/ssh" : join(home, ".ssh");
  for (const word of words.flatMap((text) => text.split(/\s+/)).filter((text) => text !== "")) {
    const expanded = word.startsWith("~/") ? join(home, word.slice(2)) : word;
    const pattern = isAbsolute(expanded) ? expanded : resolve(base, expanded);
    const paths: string[] = [];
    if (/[*?[]/.test(pattern)) for await (const path of glob(pattern, { cwd: dirname(from) })) paths.push(path);
    else paths.push(pattern);
    paths.sort();
    for (const path of paths) files.push(await readConfig(path, home, depth + 1));
  }
  return files;
}

function unreadable(path: string, error: unknown): AppError {
  return new AppError({
    code: "ssh-config",
    message: `The ssh config file ${path} cannot be read.`,
    remedy: "Correct the file, or its permissions.",
    evidence: { details: error instanceof Error ? error.message : String(error) },
  });
}

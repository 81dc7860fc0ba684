/** An alias or address as OpenSSH would resolve it: by `ssh -G` where there is one, else by reading the files. */
import { execFile } from "node:child_process";
import { homedir, hostname, userInfo } from "node:os";
import { promisify } from "node:util";
import type { SshAlias } from "../../../../shared/api/contract.ts";
import { AppError } from "../../../../shared/errors.ts";
import { Semaphore } from "../semaphore.ts";
import { type SettingsContext, type SshSettings, settingsFromKeywords } from "../settings.ts";
import { listAliases } from "./aliases.ts";
import { type Destination, parseDestination } from "./destination.ts";
import { keywordsFromFiles } from "./files.ts";

const run = promisify(execFile);
/** A resolved host is asked about again after this: the operator may have edited the file. */
const cacheMs = 60_000;
const processes = 4;

export interface ResolverOptions {
  /** Instead of `~/.ssh/config` and `/etc/ssh/ssh_config`. */
  readonly configFile?: string;
  /** The program to ask; null reads the files instead. Default `ssh` of the PATH. */
  readonly sshProgram?: string | null;
  readonly home?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

export class SshConfigResolver {
  readonly #options: ResolverOptions;
  readonly #pool = new Semaphore(processes);
  readonly #cache = new Map<string, { readonly at: number; readonly settings: Promise<SshSettings> }>();
  #withoutProgram = false;

  constructor(options: ResolverOptions = {}) {
    this.#options = options;
    this.#withoutProgram = options.sshProgram === null;
  }

  resolve(written: string): Promise<SshSettings> {
    const cached = this.#cache.get(written);
    if (cached !== undefined && performance.now() - cached.at < cacheMs) return cached.settings;
    const settings = this.#resolve(written);
    this.#cache.set(written, { at: performance.now(), settings });
    settings.catch(() => this.#cache.delete(written));
    return settings;
  }

  clear(): void {
    this.#cache.clear();
  }

  context(name: string): SettingsContext {
    const environment = this.#options.environment ?? process.env;
    return {
      name,
      home: this.#options.home ?? homedir(),
      localUser: userInfo().username,
      localHostName: hostname(),
      agentSocket: environment.SSH_AUTH_SOCK ?? null,
      environment,
    };
  }

  async #resolve(written: string): Promise<SshSettings> {
    const destination = parseDestination(written);
    const context = this.context(destination.host);
    const answered = await this.#askSsh(destination);
    if (answered !== null) return { ...settingsFromKeywords(answered, context), name: written };
    const { keywords, notes } = await keywordsFromFiles(destination, context, this.#options.configFile);
    return { ...settingsFromKeywords(keywords, context), name: written, notes };
  }

  /** The hosts that the configuration names. */
  aliases(): Promise<readonly SshAlias[]> {
    return listAliases(this.#options.home ?? homedir(), this.#options.configFile);
  }

  /** Null where there is no `ssh`. */
  async #askSsh(destination: Destination): Promise<Map<string, string[]> | null> {
    if (this.#withoutProgram) return null;
    const release = await this.#pool.take();
    try {
      const argv = [
        ...(this.#options.configFile === undefined ? [] : ["-F", this.#options.configFile]),
        ...(destination.user === null ? [] : ["-l", destination.user]),
        ...(destination.port === null ? [] : ["-p", String(destination.port)]),
        "-G",
        "--",
        destination.host,
      ];
      const { stdout } = await run(this.#options.sshProgram ?? "ssh", argv, {
        timeout: 15_000,
        maxBuffer: 1024 * 1024,
        env: { ...(this.#options.environment ?? process.env), LC_ALL: "C" },
      });
      return parseKeywords(stdout);
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") {
        this.#withoutProgram = true;
        return null;
      }
      const stderr = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
      throw new AppError({
        code: "ssh-config",
        message: `ssh cannot make sense of its configuration for ${destination.host}.`,
        remedy: `Run ssh -G ${destination.host} in a terminal and correct what it says.`,
        evidence: { host: destination.host, stderr, details: error instanceof Error ? error.message : String(error) },
      });
    } finally {
      release();
    }
  }
}

/** The `keyword value` lines of `ssh -G`; a keyword may stand several times. */
export function parseKeywords(output: string): Map<string, string[]> {
  const keywords = new Map<string, string[]>();
  for (const line of output.split("\n")) {
    const match = /^(\S+)\s+(.*)$/.exec(line.trimEnd());
    if (match === null) continue;
    const [, keyword = "", value = ""] = match;
    const values = keywords.get(keyword.toLowerCase()) ?? [];
    values.push(value);
    keywords.set(keyword.toLowerCase(), values);
  }
  return keywords;
}

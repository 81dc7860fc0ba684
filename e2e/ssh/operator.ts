/** An operator with a home directory and an ssh configuration of their own, at a console in Chromium. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright/test";
import type { Lab } from "../lab/sshd.ts";
import { ConsolePage } from "../pages/console.ts";
import { type RunningConsole, startConsole } from "../support/console.ts";

let count = 0;

export class Operator implements AsyncDisposable {
  readonly home: string;
  readonly dataDirectory: string;
  readonly #environment: Readonly<Record<string, string>>;
  #console: RunningConsole | null = null;

  constructor(lab: Lab, configuration: readonly string[], options: { readonly agent?: string } = {}) {
    this.home = lab.path(`operator-${++count}`);
    this.dataDirectory = join(this.home, "data");
    const bin = join(this.home, "bin");
    for (const directory of [join(this.home, ".ssh"), bin]) mkdirSync(directory, { recursive: true, mode: 0o700 });
    // ssh(1) takes the home directory from /etc/passwd, whatever HOME says.
    const general = `Host *\n  UserKnownHostsFile ${this.knownHostsFile}`;
    writeFileSync(join(this.home, ".ssh", "config"), `${[...configuration, general].join("\n\n")}\n`, { mode: 0o600 });
    writeFileSync(join(bin, "ssh"), `#!/bin/sh\nexec /usr/bin/ssh -F "${this.home}/.ssh/config" "$@"\n`);
    chmodSync(join(bin, "ssh"), 0o755);
    this.#environment = {
      HOME: this.home,
      PATH: `${bin}:${process.env.PATH}`,
      ...(options.agent === undefined ? {} : { SSH_AUTH_SOCK: options.agent }),
    };
  }

  /** Starts a console with what the one before left, and opens it. */
  async open(page: Page): Promise<ConsolePage> {
    this.#console = await startConsole({
      demo: false,
      dataDirectory: this.dataDirectory,
      environment: this.#environment,
    });
    const console = new ConsolePage(page);
    await console.open(this.#console.link());
    return console;
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    await this.#console?.kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#console?.[Symbol.asyncDispose]();
  }

  output(): string {
    return this.#console?.output() ?? "";
  }

  get knownHostsFile(): string {
    return join(this.home, ".ssh", "known_hosts");
  }

  knownHosts(): string {
    return readFileSync(this.knownHostsFile, "utf8");
  }

  know(...lines: readonly string[]): void {
    writeFileSync(this.knownHostsFile, lines.join(""), { mode: 0o600 });
  }
}

/** An operator with a home directory and an ssh configuration of their own, at a console in Chromium. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect as impatient, type Locator, type Page } from "playwright/test";
import type { Lab } from "../lab/sshd.ts";
import { type RunningConsole, startConsole } from "../support/console.ts";

/** Logging in, starting tessera-host and asking a driver take their time on a small machine. */
export const expect = impatient.configure({ timeout: 40_000 });

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
  async open(page: Page): Promise<void> {
    this.#console = await startConsole({
      demo: false,
      dataDirectory: this.dataDirectory,
      environment: this.#environment,
    });
    await page.goto(this.#console.link());
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

const view = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Views" }).getByRole("button", { name });

export async function addCluster(
  page: Page,
  cluster: { readonly name: string; readonly typed?: string; readonly aliases?: readonly string[] },
): Promise<void> {
  await view(page, "Clusters").click();
  await page.getByRole("button", { name: "Add a cluster" }).click();
  const form = page.getByRole("form", { name: "Add a cluster" });
  await form.getByLabel("Name", { exact: true }).fill(cluster.name);
  if (cluster.typed !== undefined) await form.getByLabel("Hosts", { exact: true }).fill(cluster.typed);
  for (const alias of cluster.aliases ?? []) await form.getByRole("button", { name: `+ ${alias}` }).click();
  await form.getByRole("button", { name: "Add cluster" }).click();
  await expect(form).toBeHidden();
}

/** Asks for the connection; does not wait for it. */
export async function connect(page: Page, name: string): Promise<void> {
  await view(page, "Clusters").click();
  const row = page.getByRole("list", { name: "Clusters" }).getByRole("listitem").filter({ hasText: name });
  await row.getByRole("button", { name: "Connect", exact: true }).click();
}

export async function disconnect(page: Page, name: string): Promise<void> {
  await view(page, "Clusters").click();
  const row = page.getByRole("list", { name: "Clusters" }).getByRole("listitem").filter({ hasText: name });
  await row.getByRole("button", { name: "Disconnect" }).click();
  await expect(row.getByRole("button", { name: "Connect", exact: true })).toBeVisible();
}

/** Everything in the top bar's own words: all hosts of the cluster answer. */
export async function live(page: Page): Promise<void> {
  await expect(page.locator(".live-state")).toHaveText(/^live, /);
}

export const inspector = (page: Page): Locator => page.getByRole("complementary", { name: "Inspector" });
export const plan = (page: Page): Locator => page.getByRole("region", { name: "Plan", exact: true });
export const question = (page: Page, title: string | RegExp): Locator => page.getByRole("dialog", { name: title });

export async function selectHost(page: Page, host: string): Promise<Locator> {
  await view(page, "Board").click();
  const find = page.getByRole("combobox", { name: "Find host, tenant, job" });
  await find.fill(host);
  await page.getByRole("listbox", { name: "Found" }).getByRole("option", { name: host }).first().click();
  await expect(inspector(page).getByRole("heading", { name: host, level: 2 })).toBeVisible();
  return inspector(page);
}

export async function selectGpu(page: Page, host: string, gpu = 0): Promise<Locator> {
  const panel = await selectHost(page, host);
  await panel.getByRole("button", { name: `GPU ${gpu}` }).click();
  await expect(panel.getByRole("heading", { name: "Divide as" })).toBeVisible();
  return panel;
}

export async function usePreset(page: Page, preset: string): Promise<void> {
  const panel = inspector(page);
  await panel.getByRole("textbox", { name: "Preset" }).fill(preset);
  await panel.getByRole("button", { name: "Use", exact: true }).click();
}

/** Applies the draft once the host has confirmed its plan; does not wait for the end. */
export async function apply(page: Page): Promise<void> {
  await expect(plan(page).getByText("checked by the host")).toBeVisible();
  await plan(page).getByRole("button", { name: "Apply plan" }).click();
}

export async function applied(page: Page): Promise<void> {
  await expect(plan(page).getByRole("heading", { name: /^Applied at / })).toBeVisible();
}

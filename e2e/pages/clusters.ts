/** Clusters, and what their hosts ask while the console logs in. */
import { expect, type Locator, type Page } from "playwright/test";

export class ClustersPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  get list(): Locator {
    return this.page.getByRole("main").getByRole("list", { name: "Clusters" });
  }

  row(name: string): Locator {
    return this.list.getByRole("listitem").filter({ hasText: name });
  }

  get form(): Locator {
    return this.page.getByRole("form", { name: "Add a cluster" });
  }

  async show(): Promise<void> {
    await this.page
      .getByRole("navigation", { name: "Views" })
      .getByRole("button", { name: "Clusters", exact: true })
      .click();
    await expect(this.page.getByRole("main", { name: "Clusters", exact: true })).toBeVisible();
  }

  /** Hosts as they are typed, or aliases that ssh config offers. Nothing is contacted yet. */
  async add(name: string, hosts: { readonly typed: string } | { readonly aliases: readonly string[] }): Promise<void> {
    await this.show();
    await this.page.getByRole("main").getByRole("button", { name: "Add a cluster" }).click();
    await this.form.getByLabel("Name", { exact: true }).fill(name);
    if ("typed" in hosts) await this.form.getByLabel("Hosts", { exact: true }).fill(hosts.typed);
    else for (const alias of hosts.aliases) await this.form.getByRole("button", { name: `+ ${alias}` }).click();
    await this.form.getByRole("button", { name: "Add cluster" }).click();
    await expect(this.form).toBeHidden();
  }

  /** Opens the form of a cluster that there is. */
  async edit(name: string): Promise<Locator> {
    await this.row(name)
      .getByRole("button", { name: `Edit ${name}` })
      .click();
    return this.page.getByRole("form", { name: `Edit ${name}` });
  }

  /** Asks for the connection; does not wait for it. */
  async connect(name: string): Promise<void> {
    await this.show();
    await this.row(name).getByRole("button", { name: "Connect", exact: true }).click();
  }

  async disconnect(name: string): Promise<void> {
    await this.show();
    await this.row(name).getByRole("button", { name: "Disconnect" }).click();
    await expect(this.row(name).getByRole("button", { name: "Connect", exact: true })).toBeVisible();
  }

  /** A question about a host: its key, a password, a passphrase. */
  prompt(title: string | RegExp): Locator {
    return this.page.getByRole("dialog", { name: title });
  }

  /** The changed key, whose only answer is to stop. */
  get changedKey(): Locator {
    return this.page.getByRole("alertdialog");
  }
}

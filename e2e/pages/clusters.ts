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

  /** From the view of clusters. Nothing is contacted yet. */
  async add(name: string, hosts: readonly string[]): Promise<void> {
    await this.page.getByRole("main").getByRole("button", { name: "Add a cluster" }).click();
    await this.form.getByLabel("Name", { exact: true }).fill(name);
    await this.form.getByLabel("Hosts", { exact: true }).fill(hosts.join("\n"));
    await this.form.getByRole("button", { name: "Add cluster" }).click();
    await expect(this.form).toBeHidden();
  }

  async connect(name: string): Promise<void> {
    await this.row(name).getByRole("button", { name: "Connect", exact: true }).click();
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

/** Tenants, their projects and people. */
import { expect, type Locator, type Page } from "playwright/test";

export class TenantsPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  get main(): Locator {
    return this.page.getByRole("main", { name: "Tenants", exact: true });
  }

  get list(): Locator {
    return this.main.getByRole("list", { name: "Tenants", exact: true });
  }

  /** Waits until the ledger has been read. */
  async show(): Promise<void> {
    await this.page
      .getByRole("navigation", { name: "Views" })
      .getByRole("button", { name: "Tenants", exact: true })
      .click();
    await expect(this.list).toBeVisible({ timeout: 20_000 });
  }

  async choose(tenant: string): Promise<void> {
    await this.list.getByRole("button", { name: tenant }).click();
    await expect(this.main.getByRole("heading", { name: tenant, exact: true })).toBeVisible();
  }

  row(name: string): Locator {
    // A row is read out with what stands behind its name.
    return this.main.getByRole("treeitem", { name: new RegExp(`^${name.replaceAll(".", "\\.")}\\s`) });
  }

  async createTenant(name: string): Promise<void> {
    await this.main.getByRole("button", { name: "New tenant" }).click();
    await this.fillName("New tenant", name, "Create");
    await expect(this.main.getByRole("heading", { name, exact: true })).toBeVisible();
  }

  async addProject(name: string): Promise<void> {
    await this.main.getByRole("button", { name: "New project" }).click();
    await this.fillName("New project", name, "Create");
    await expect(this.row(name)).toBeVisible();
  }

  nameForm(label: string): Locator {
    return this.main.getByRole("form", { name: label });
  }

  async fillName(label: string, name: string, action: "Create" | "Save"): Promise<void> {
    const form = this.nameForm(label);
    await form.getByLabel("Name", { exact: true }).fill(name);
    await form.getByRole("button", { name: action }).click();
  }

  /** Picks accounts by what is typed for each, then adds them together. */
  async addPeople(project: string, users: readonly string[]): Promise<void> {
    await this.row(project).focus();
    await this.row(project)
      .getByRole("button", { name: `Add people to ${project}` })
      .click();
    await this.#pick(`Add people to ${project}`, users);
  }

  /** Of the tenant that is open. */
  async addLead(user: string): Promise<void> {
    await this.main.getByRole("button", { name: "Add a lead" }).click();
    await this.#pick("Add a lead", [user]);
  }

  async #pick(label: string, users: readonly string[]): Promise<void> {
    const picker = this.nameForm(label);
    for (const user of users) {
      await picker.getByRole("searchbox").fill(user);
      await picker.getByRole("checkbox", { name: user }).check();
    }
    await picker.getByRole("button", { name: /^Add \d+ p/ }).click();
    await expect(picker).toBeHidden();
  }

  /** Asks for the removal and answers the dialog, which has to be answered. */
  async askRemoval(name: string): Promise<Locator> {
    await this.row(name).focus();
    await this.page.keyboard.press("Delete");
    const dialog = this.page.getByRole("alertdialog", { name: `Remove ${name}` });
    await expect(dialog).toBeVisible();
    return dialog;
  }
}

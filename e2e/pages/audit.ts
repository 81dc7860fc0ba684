/** The view of the audit. */
import type { Locator, Page } from "playwright/test";

export class AuditPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  /** Rows of a command, by the contract's name, which its words have as their title; newest first. */
  rows(command: string): Locator {
    return this.page
      .getByRole("main", { name: "Audit" })
      .getByRole("row")
      .filter({ has: this.page.getByTitle(command, { exact: true }) });
  }

  get grid(): Locator {
    return this.page.getByRole("main", { name: "Audit" }).getByRole("grid");
  }

  /** Of the ledger's rows that are drawn. */
  get chosen(): Locator {
    return this.grid.getByRole("row", { selected: true });
  }

  get panel(): Locator {
    return this.page.getByRole("main", { name: "Audit" }).getByRole("complementary");
  }

  async find(text: string): Promise<void> {
    await this.page.getByRole("searchbox", { name: "Text" }).fill(text);
  }

  /** Days as a date field takes them, `2026-05-06`; an empty one leaves that end open. */
  async between(firstDay: string, lastDay: string): Promise<void> {
    await this.page.getByLabel("First day").fill(firstDay);
    await this.page.getByLabel("Last day").fill(lastDay);
  }

  async verify(): Promise<void> {
    await this.page.getByRole("button", { name: "Verify chain" }).click();
  }
}

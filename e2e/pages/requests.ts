/** Requests for more: the inbox, the selected one, and asking. */
import type { Locator, Page } from "playwright/test";

export class RequestsPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  rows(section: "Open" | "Granted now" | "Decided"): Locator {
    return this.page.getByRole("list", { name: section, exact: true }).getByRole("button");
  }

  get panel(): Locator {
    return this.page.getByRole("complementary", { name: "Selected request" });
  }

  get askForm(): Locator {
    return this.page.getByRole("form", { name: "Ask for more" });
  }

  async ask(subject: string, resource: string, amount: string, why: string): Promise<void> {
    await this.page.getByRole("main").getByRole("button", { name: "Ask for more" }).click();
    await this.askForm.getByRole("combobox", { name: "For" }).selectOption({ label: subject });
    await this.askForm.getByRole("textbox", { name: resource, exact: true }).fill(amount);
    await this.askForm.getByRole("textbox", { name: "Why" }).fill(why);
    await this.askForm.getByRole("button", { name: "Ask", exact: true }).click();
  }

  async approve(): Promise<void> {
    await this.panel.getByRole("button", { name: /^Approve/ }).click();
  }

  async refuse(answer: string): Promise<void> {
    await this.panel.getByLabel("Your answer").fill(answer);
    await this.panel.getByRole("button", { name: "Refuse" }).click();
  }

  async endNow(): Promise<void> {
    await this.panel.getByRole("button", { name: "End now" }).click();
    await this.panel.getByRole("alert").getByRole("button", { name: "End now" }).click();
  }
}

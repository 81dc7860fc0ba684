/** Requests for more: the inbox, the selected one, and asking. */
import type { Locator, Page } from "playwright/test";
import { minuteText } from "../../renderer/requests/form.ts";

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
    await this.fillAmount(resource, amount);
    await this.send(why);
  }

  async fillAmount(resource: string, amount: string): Promise<void> {
    await this.askForm.getByRole("textbox", { name: resource, exact: true }).fill(amount);
  }

  /** An instant of one's own, in milliseconds since 1970, on a whole minute. */
  async fillEnd(instantMs: number): Promise<void> {
    await this.askForm.getByText("Date and time", { exact: true }).click();
    await this.askForm.getByLabel("Ends at").fill(minuteText(instantMs));
  }

  async send(why: string): Promise<void> {
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

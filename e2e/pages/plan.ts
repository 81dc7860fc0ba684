/** The panel under the board: the plan of the draft, the run, and what stands in the way. */
import { expect, type Locator, type Page } from "playwright/test";

export class PlanPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  get root(): Locator {
    return this.page.getByRole("region", { name: "Plan", exact: true });
  }

  get title(): Locator {
    return this.root.getByRole("heading", { level: 2 });
  }

  get steps(): Locator {
    return this.root.getByRole("region", { name: "Steps" });
  }

  get progress(): Locator {
    return this.root.getByRole("progressbar");
  }

  get alert(): Locator {
    return this.root.getByRole("alert");
  }

  button(name: string | RegExp): Locator {
    return this.root.getByRole("button", { name, exact: typeof name === "string" });
  }

  async apply(): Promise<void> {
    await expect(this.root.getByText(/checked by/)).toBeVisible();
    await this.button("Apply plan").click();
  }

  async expectApplied(): Promise<void> {
    await expect(this.title).toHaveText(/^Applied at/, { timeout: 90_000 });
  }

  /** Of the run that has ended; undoing the draft is a button without text. */
  async undoRun(): Promise<void> {
    await this.button("Undo").click();
    await expect(this.title).toHaveText(/^Undone at/, { timeout: 90_000 });
  }

  async close(): Promise<void> {
    await this.button("Done").click();
  }

  async discard(): Promise<void> {
    await this.button("Discard").click();
  }
}

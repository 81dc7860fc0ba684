/** Leases in the inspector: of what is selected, and the list of one's own. */
import type { Locator, Page } from "playwright/test";

export class LeasesPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  /** Of the selected slice or GPU. */
  get section(): Locator {
    return this.page.getByRole("complementary", { name: "Inspector" }).getByRole("region", { name: "Lease" });
  }

  get take(): Locator {
    return this.section.getByRole("button", { name: "Take", exact: true });
  }

  get release(): Locator {
    return this.section.getByRole("button", { name: "Release", exact: true });
  }

  get refusal(): Locator {
    return this.section.getByRole("alert");
  }

  list(name: "My leases" | "Leases of others"): Locator {
    return this.page.getByRole("list", { name, exact: true });
  }
}

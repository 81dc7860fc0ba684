/** The view of quotas: the table that is written into, the selected row and the draft beside it. */
import type { Locator, Page } from "playwright/test";

export type QuotaColumnName = "GPU cards" | "GPU memory, GiB" | "CPU cores" | "RAM, GiB" | "Card-hours";

const columns: readonly QuotaColumnName[] = ["GPU cards", "GPU memory, GiB", "CPU cores", "RAM, GiB", "Card-hours"];

export class QuotaPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  get table(): Locator {
    return this.page.getByRole("treegrid", { name: "Quotas" });
  }

  /** By the name that stands in it. */
  row(name: string): Locator {
    return this.table.getByRole("row").filter({ has: this.page.getByRole("rowheader", { name }) });
  }

  cell(name: string, column: QuotaColumnName): Locator {
    return this.row(name).getByRole("gridcell").nth(columns.indexOf(column));
  }

  get search(): Locator {
    return this.page.getByRole("searchbox", { name: "Find tenant, project, person" });
  }

  async show(filter: "All" | "Over-committed" | "Near limit" | "Drafts"): Promise<void> {
    await this.page.getByRole("group", { name: "Show" }).getByText(filter, { exact: true }).click();
  }

  /** Opens every tenant and project. */
  async openAll(): Promise<void> {
    await this.page.getByRole("button", { name: "Open all" }).click();
  }

  /** Writes a limit as an operator does; an empty text takes it away. */
  async write(name: string, column: QuotaColumnName, limit: string): Promise<void> {
    await this.cell(name, column).click();
    await this.page.keyboard.press("F2");
    await this.table.getByRole("textbox", { name: column }).fill(limit);
    await this.page.keyboard.press("Enter");
  }

  /** What is known of the selected row. */
  get panel(): Locator {
    return this.page.getByRole("main", { name: "Quotas" }).getByRole("complementary");
  }

  get draft(): Locator {
    return this.page.getByRole("region", { name: /^Draft: / });
  }

  get apply(): Locator {
    return this.draft.getByRole("button", { name: "Apply", exact: true });
  }

  get outcome(): Locator {
    return this.draft.getByRole("status", { name: "Outcome" });
  }

  /** The field of a GPU type in the panel of the selected row. */
  gpuType(type: string): Locator {
    return this.panel.getByRole("textbox", { name: `Limit of ${type}` });
  }

  get otherGpuType(): Locator {
    return this.panel.getByRole("combobox", { name: "Limit another type" });
  }
}

/** The frame of the console: the rail, the top bar, find, settings. What a person sees, by role and name, in English. */
import { expect, type Locator, type Page } from "playwright/test";
import { BoardPage } from "./board.ts";
import { ClustersPage } from "./clusters.ts";
import { InspectorPage } from "./inspector.ts";
import { PlanPage } from "./plan.ts";
import { QuotaPage } from "./quota.ts";
import { TenantsPage } from "./tenants.ts";

export type View =
  | "Board"
  | "Table"
  | "Tenants"
  | "Quotas"
  | "Requests"
  | "Clusters"
  | "Audit"
  | "Troubleshooting"
  | "Settings";
export type Theme = "Light" | "Dark" | "High contrast" | "As the system";

export class ConsolePage {
  readonly page: Page;
  readonly board: BoardPage;
  readonly inspector: InspectorPage;
  readonly plan: PlanPage;
  readonly clusters: ClustersPage;
  readonly quotas: QuotaPage;
  readonly tenants: TenantsPage;

  constructor(page: Page) {
    this.page = page;
    this.board = new BoardPage(page);
    this.inspector = new InspectorPage(page);
    this.plan = new PlanPage(page);
    this.clusters = new ClustersPage(page);
    this.quotas = new QuotaPage(page);
    this.tenants = new TenantsPage(page);
  }

  async open(link: string): Promise<void> {
    await this.page.goto(link);
    await this.rail.waitFor();
  }

  get rail(): Locator {
    return this.page.getByRole("navigation", { name: "Views" });
  }

  get main(): Locator {
    return this.page.getByRole("main");
  }

  async go(view: View): Promise<void> {
    await this.rail.getByRole("button", { name: view, exact: true }).click();
    await expect(this.page.getByRole("main", { name: view, exact: true })).toBeVisible();
  }

  async openHost(hostId: string): Promise<void> {
    // The address carries the view; as code in words, since these files know no DOM.
    await this.page.evaluate(`location.hash = ${JSON.stringify(`#/host/${encodeURIComponent(hostId)}`)}`);
    await expect(this.page.getByRole("heading", { name: hostId, exact: true })).toBeVisible();
  }

  /** `live, 2 s ago`, `23 of 24 live`, `connecting, 3 of 24`. */
  get liveState(): Locator {
    return this.page.getByRole("banner").getByRole("status");
  }

  async waitUntilLive(): Promise<void> {
    await expect(this.liveState).toHaveText(/^live, |\d+ of \d+ live/, { timeout: 30_000 });
  }

  /** Every host of the cluster answers. */
  async waitUntilAllLive(): Promise<void> {
    await expect(this.liveState).toHaveText(/^live, /);
  }

  /** `24 hosts`, `192 GPUs`, `31 whole free`... */
  get numbers(): Locator {
    return this.page.getByRole("list", { name: "Cluster in numbers" }).getByRole("listitem");
  }

  get find(): Locator {
    return this.page.getByRole("combobox", { name: "Find host, tenant, job" });
  }

  /** Goes to the first that has this name, by keyboard alone. */
  async findByKey(words: string): Promise<void> {
    // Not every view has it, and one that is on its way out would swallow the key.
    await this.find.waitFor();
    await this.page.keyboard.press("/");
    await expect(this.find).toBeFocused();
    await this.page.keyboard.type(words);
    await expect(this.page.getByRole("listbox", { name: "Found" }).getByRole("option").first()).toBeVisible();
    await this.page.keyboard.press("Enter");
  }

  async selectHost(name: string): Promise<void> {
    await this.findByKey(name);
    await expect(this.inspector.root).toContainText(name);
  }

  async selectGpu(hostName: string, gpu: number): Promise<void> {
    await this.selectHost(hostName);
    await this.board.clickGpu(hostName, gpu);
    await expect(this.inspector.path).toContainText(`GPU ${gpu}`);
  }

  async theme(theme: Theme): Promise<void> {
    await this.go("Settings");
    await this.page.getByRole("group", { name: "Theme" }).getByText(theme, { exact: true }).click();
    await expect(this.page.getByRole("radio", { name: theme, exact: true })).toBeChecked();
  }

  async colourBy(mode: "Tenant" | "Profile" | "Use" | "Memory" | "Temp." | "Health"): Promise<void> {
    await this.page.getByRole("group", { name: "Colour by" }).getByText(mode, { exact: true }).click();
    await expect(this.page.getByRole("radio", { name: mode, exact: true })).toBeChecked();
  }
}

/**
 * The view of quotas in a real Chromium with 20,000 people: from the click on its entry to the table with its bars, and from
 * the Enter that takes a limit to the impact beside it. The page gets what the control host's handlers answer of a ledger
 * of that size.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright";
import { chromiumArguments, chromium as chromiumPath } from "../support/chromium.ts";
import { probeScript } from "../support/probe.ts";
import { serveSnapshot } from "../support/snapshot-server.ts";
import { syntheticCluster } from "../support/synthetic-cluster.ts";
import { syntheticLedger } from "../support/synthetic-ledger.ts";
import type { Metric } from "./metric.ts";

const root = join(import.meta.dirname, "..", "..");
const directory = join(root, "dist", "renderer");
const view = { width: 1440, height: 900 };
const size = { tenants: 200, projectsPerTenant: 10, peoplePerProject: 10, allocations: 5_000 };
const openings = 7;
const answerRounds = 7;
/** Commands are asked for in a pause after each edit; the next begins after that. */
const betweenEditsMs = 700;

export async function browserMetrics(): Promise<readonly Metric[]> {
  if (chromiumPath === undefined) throw new Error("Quotas are measured in Chromium, and none was found.");
  if (!existsSync(join(directory, "index.html"))) throw new Error("There is no built page: run `npm run build`.");
  using ledger = syntheticLedger(size);
  const handlerMs: number[] = [];
  for (let round = -1; round < answerRounds; round += 1) {
    const began = performance.now();
    await ledger.quotas();
    if (round >= 0) handlerMs.push(performance.now() - began);
  }
  const quotas = JSON.stringify(await ledger.quotas());
  const answers = { "quota.get": quotas, "organisation.get": JSON.stringify(await ledger.organisation()) };
  const snapshot = syntheticCluster({ hosts: 8, fill: "mixed" });
  const server = await serveSnapshot(directory, snapshot, answers);
  const browser = await chromium.launch({ executablePath: chromiumPath, args: [...chromiumArguments] });
  try {
    const opened: { readonly ms: number; readonly parseMs: number }[] = [];
    for (let round = 0; round < openings; round += 1) {
      const page = await newPage(browser, server.url);
      opened.push({ ms: await numberOf(page, "open()"), parseMs: await numberOf(page, "parseMs") });
      await page.close();
    }
    const edits = await editMetrics(browser, server.url);
    const openMs = opened.map(({ ms }) => ms);
    return [
      {
        metric: "quota.get of 20,000 people, its answer",
        value: quotas.length / 1e6,
        unit: "MB",
        target: "",
        ok: true,
      },
      beside("quota.get, the handler over SQLite without the engine's tools, median", median(handlerMs)),
      beside(
        "from the click to the answer parsed, of it parsing, median",
        median(opened.map(({ parseMs }) => parseMs)),
      ),
      within(`from the click to the table with its bars, median of ${openings} pages`, median(openMs), 500),
      beside("from the click to the table with its bars, slowest", Math.max(...openMs)),
      ...edits,
    ];
  } finally {
    await browser.close();
    await server.close();
  }
}

async function newPage(browser: Browser, url: string): Promise<Page> {
  const probe = probeScript("renderer/quota/testing/probe.ts");
  const page = await browser.newPage({ viewport: view });
  await page.addInitScript(probe);
  await page.goto(url);
  while ((await page.evaluate("quotaProbe.ready")) !== true) await page.waitForTimeout(100);
  // The organisation and the board are drawn by then.
  await page.waitForTimeout(1_500);
  return page;
}

async function numberOf(page: Page, what: string): Promise<number> {
  return Number(await page.evaluate(`quotaProbe.${what}`));
}

/** Tenants while the tree is closed; projects and people with all 22,201 rows open. */
async function editMetrics(browser: Browser, url: string): Promise<readonly Metric[]> {
  const page = await newPage(browser, url);
  await numberOf(page, "open()");
  await page.waitForTimeout(1_000);
  const numbers = Array.from({ length: 9 }, (_, index) => index);
  const tenants: number[] = [];
  for (const number of numbers) tenants.push(await edit(page, `t000${number}`, "3"));
  // The table keeps the cursor in sight.
  await page.locator('[id="quota-cell-cluster-cards"]').click();
  await page.getByRole("button", { name: "Open all" }).click();
  await page.waitForTimeout(1_000);
  const projects: number[] = [];
  for (const number of numbers) projects.push(await edit(page, `t0000_p0${1 + (number % 3)}`, `${1 + (number % 2)}`));
  const people: number[] = [];
  for (const number of numbers) people.push(await edit(page, `t0000_p01/${20_000 + number}`, "1"));
  await page.close();
  const all = [...tenants, ...projects, ...people];
  return [
    beside("from Enter to the impact, tenants, median", median(tenants)),
    beside("from Enter to the impact, projects, median", median(projects)),
    beside("from Enter to the impact, people, median", median(people)),
    within(`from Enter to the impact, median of ${all.length}`, median(all), 50),
    within(`from Enter to the impact, p95 of ${all.length}`, quantile(all, 0.95), 50),
  ];
}

async function edit(page: Page, subject: string, cards: string): Promise<number> {
  // The edit before may have scrolled the row away, and only rows in sight are there.
  await page.getByRole("treegrid").evaluate((table) => table.scrollTo(0, 0));
  await page.locator(`[id="quota-cell-${subject}-cards"]`).click();
  await page.keyboard.press("F2");
  await page.getByRole("treegrid").getByRole("textbox").fill(cards);
  const measured = numberOf(page, "impact()");
  // The probe listens before the key comes.
  await page.evaluate("0");
  await page.keyboard.press("Enter");
  const ms = await measured;
  await page.waitForTimeout(betweenEditsMs);
  return ms;
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

function within(metric: string, value: number, most: number): Metric {
  return { metric, value, unit: "ms", target: `at most ${most} ms`, ok: value <= most };
}

function beside(metric: string, value: number): Metric {
  return { metric, value, unit: "ms", target: "", ok: true };
}

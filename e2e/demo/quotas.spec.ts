/** Quotas, requests and the audit on the demo cluster's ledger: as its operator, as a lead and as a member. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright/test";
import { startWeb } from "../../electron/web/console.ts";
import { AuditPage } from "../pages/audit.ts";
import { ConsolePage } from "../pages/console.ts";
import { RequestsPage } from "../pages/requests.ts";
import { expect, test } from "../support/demo.ts";

test("a limit is written into the table, shown as a draft with its impact, applied, and stands in the audit", async ({
  console,
}) => {
  const { quotas, page } = console;
  await console.go("Quotas");
  await quotas.write("speech", "GPU cards", "1");
  await expect(quotas.draft.getByText(/above the new limit/).first()).toBeVisible();
  await quotas.apply.click();
  await expect(quotas.outcome).toContainText("1");
  await expect(quotas.cell("speech", "GPU cards")).toContainText("/1");

  await console.go("Audit");
  const audit = new AuditPage(page);
  await audit.find("quota.set");
  await audit.rows("quota.set").first().click();
  await expect(audit.panel.getByRole("row", { name: /cards/ })).toContainText("1");
  // No row of a day long ago, and today's again.
  await audit.between("2020-01-01", "2020-01-31");
  await expect(audit.rows("quota.set")).toHaveCount(0);
  await audit.between("2020-01-01", "");
  await expect(audit.rows("quota.set").first()).toBeVisible();
  await audit.verify();
  await expect(page.getByText(/^Intact: \d+ rows/)).toBeVisible();
});

test("a draft outlasts a reload of the page, and discarding it too", async ({ console }) => {
  const { quotas, page } = console;
  await console.go("Quotas");
  await quotas.write("vision", "GPU cards", "39");
  await expect(quotas.draft.getByText("Kept when the page is closed or reloaded.")).toBeVisible();
  await page.reload();
  await expect(quotas.draft.getByText("40 to 39")).toBeVisible();
  await quotas.draft.getByRole("button", { name: "Discard" }).click();
  await page.reload();
  await expect(quotas.row("vision")).toBeVisible();
  await expect(quotas.draft).toHaveCount(0);
});

test("what somebody else changed meanwhile is said by resource", async ({ console, open, browser }) => {
  const { quotas } = console;
  await console.go("Quotas");
  await quotas.write("robotics", "GPU cards", "22");
  await expect(quotas.draft.getByText("20 to 22")).toBeVisible();
  const context = await browser.newContext();
  const other = await open(await context.newPage());
  await other.go("Quotas");
  await other.quotas.write("robotics", "GPU cards", "25");
  await other.quotas.apply.click();
  await expect(other.quotas.outcome).toContainText("1 change applied");
  await context.close();

  await expect(quotas.draft.getByText("1 row was changed meanwhile")).toBeVisible();
  await expect(quotas.draft.getByText("20 → 25")).toBeVisible();
  await expect(quotas.draft).not.toContainText(/numerator|since you opened/);
  await quotas.draft.getByRole("button", { name: "Take theirs" }).click();
  await expect(quotas.cell("robotics", "GPU cards")).toContainText("/25");
});

test("card-hours are written as a number, a period and a time zone, by keyboard alone", async ({ console }) => {
  const { quotas, page } = console;
  await console.go("Quotas");
  await quotas.cell("bio", "Card-hours").click();
  await page.keyboard.press("F2");
  const hours = quotas.table.getByRole("textbox", { name: "Card-hours" });
  const zone = quotas.table.getByRole("combobox", { name: "Time zone" });
  await expect(hours).toHaveValue("10000");
  await expect(zone).toHaveValue("Europe/Berlin");
  await page.keyboard.type("2500");
  await page.keyboard.press("Tab");
  await page.keyboard.type("each w");
  await page.keyboard.press("Tab");
  await expect(zone).toBeFocused();
  await page.keyboard.type("Asia/Tokyo");
  await page.keyboard.press("Enter");
  await expect(quotas.cell("bio", "Card-hours")).toContainText("each week, Asia/Tokyo");
  // A new limit is offered with the period in use.
  await quotas.openAll();
  await quotas.cell("dock", "Card-hours").click();
  await page.keyboard.type("100");
  await expect(zone).toHaveValue("Asia/Tokyo");
  await page.keyboard.press("Escape");
  await quotas.draft.getByRole("button", { name: "Discard" }).click();
});

test("why a limit is refused stands above the rows, also at the end of the table", async ({ console }) => {
  const { quotas, page } = console;
  await page.setViewportSize({ width: 1024, height: 420 });
  await console.go("Quotas");
  await quotas.openAll();
  for (const place of ["first", "last"] as const) {
    await quotas.cell("bio", "GPU cards").click();
    if (place === "last") await page.keyboard.press("Control+End");
    await page.keyboard.type("1");
    await quotas.table.getByRole("textbox").fill("12abc");
    await page.keyboard.press("Enter");
    const fault = quotas.table.getByRole("alert");
    await expect(fault).toContainText("not a number");
    const isOnTop = () =>
      fault.evaluate((element) => {
        const { left, top, width, height } = element.getBoundingClientRect();
        return [0.2, 0.8].every(
          (part) => element.ownerDocument.elementFromPoint(left + width / 2, top + height * part) === element,
        );
      });
    await expect.poll(isOnTop).toBe(true);
    await page.keyboard.press("Escape");
  }
});

test("a file says once that its first line names no columns, with the buttons in sight", async ({ console }) => {
  const { page } = console;
  await console.go("Quotas");
  const read = async (name: string, content: string) => {
    const file = { name, mimeType: "text/csv", buffer: Buffer.from(content) };
    await page.locator("input[type=file]").setInputFiles(file);
    return page.getByRole("region", { name: `File ${name}` });
  };
  const headless = await read("headless.csv", "cluster,cluster,,,,,,,,\n");
  await expect(headless.getByRole("listitem")).toHaveText(/does not name the columns. Expected: ID, Level/);
  await headless.getByRole("button", { name: "Cancel" }).click();
  const head = "ID;Level;Name;GPU cards;GPU memory (GiB);CPU cores;RAM (GiB);Card-hours;Period;Time zone";
  const faulty = await read("faulty.csv", [head, ...Array(60).fill("nobody;;;1;;;;;;")].join("\n"));
  await expect(faulty.getByRole("listitem").first()).toContainText("no tenant, project or person has this ID");
  await expect(faulty.getByRole("button", { name: "Cancel" })).toBeInViewport({ ratio: 1 });
  await faulty.getByRole("button", { name: "Cancel" }).click();
});

test("the sheet of keys shows those of the table of quotas", async ({ console }) => {
  const { page } = console;
  await console.go("Quotas");
  await page.keyboard.press("?");
  const sheet = page.getByRole("dialog");
  for (const words of [
    "Write into the cell",
    "Mark rows up to here",
    "Undo in the draft",
    "Apply the draft of limits",
  ]) {
    await expect(sheet.getByText(words)).toBeVisible();
  }
  await expect(sheet.getByText("Drop it here")).toHaveCount(0);
});

test("the row of the cursor stays in sight on the way down and up", async ({ console }) => {
  const { quotas, page } = console;
  await page.setViewportSize({ width: 1440, height: 480 });
  await console.go("Quotas");
  await quotas.openAll();
  await quotas.row("Cluster").getByRole("gridcell").first().click();
  const hidden = async () => {
    const id = await quotas.table.getAttribute("aria-activedescendant");
    const place = await page.locator(`[id="${id}"]`).boundingBox();
    const [head, table] = [await quotas.table.getByRole("row").first().boundingBox(), await quotas.table.boundingBox()];
    if (place === null || head === null || table === null) return "nothing";
    if (place.y < head.y + head.height - 1) return "above";
    return place.y + place.height > table.y + table.height + 1 ? "below" : "no";
  };
  for (const key of ["ArrowDown", "ArrowUp"]) {
    for (let step = 0; step < 20; step += 1) {
      await page.keyboard.press(key);
      await expect.poll(hidden).toBe("no");
    }
  }
});

test("the audit says commands in words, and its chosen row stays in sight by the keys", async ({ console }) => {
  const { page } = console;
  await page.setViewportSize({ width: 1024, height: 600 });
  await console.go("Audit");
  const audit = new AuditPage(page);
  await expect(audit.rows("request.ask").first()).toContainText("Ask for more");
  await audit.rows("request.ask").first().click();
  await expect(audit.panel).toContainText("request.ask");
  const isInSight = async () => {
    const [row, grid] = [await audit.chosen.boundingBox(), await audit.grid.boundingBox()];
    const head = await audit.grid.getByRole("row").first().boundingBox();
    if (row === null || grid === null || head === null) return false;
    return row.y >= head.y + head.height - 1 && row.y + row.height <= grid.y + grid.height + 1;
  };
  const place = () => audit.chosen.getAttribute("aria-rowindex");
  for (const key of ["ArrowDown", "PageDown", "End", "ArrowUp", "PageUp", "Home"]) {
    const before = await place();
    await page.keyboard.press(key);
    await expect.poll(place).not.toBe(before);
    await expect.poll(isInSight).toBe(true);
  }
  expect(await audit.grid.getByRole("row").count()).toBeLessThan(80);
});

test("a request is approved and its raise counts", async ({ console }) => {
  const requests = new RequestsPage(console.page);
  await console.go("Requests");
  await requests.rows("Open").filter({ hasText: "nlp / pretrain" }).click();
  await requests.approve();
  await expect(requests.rows("Granted now").filter({ hasText: "nlp / pretrain" })).toBeVisible();
});

/** A console of its own, logged in as one of the demo's people. */
async function as(caller: string, page: Page, work: (console: ConsolePage) => Promise<void>): Promise<void> {
  const web = await startWeb({
    dataDirectory: mkdtempSync(join(tmpdir(), "tessera-demo-")),
    services: { demoOptions: { hostCount: 8, live: false, durationScale: 0, caller } },
  });
  try {
    const console = new ConsolePage(page);
    await console.open(web.url);
    await console.waitUntilLive();
    await work(console);
  } finally {
    await web.close();
  }
}

test("a lead sees the own tenant and nothing of another, on every page", async ({ page }) => {
  await as("li.wei", page, async (console) => {
    for (const view of ["Tenants", "Quotas", "Requests", "Audit"] as const) {
      await console.go(view);
      await expect(page.getByRole("main", { name: view }).getByText("nlp").first()).toBeAttached();
      await expect(page.getByRole("main", { name: view }).getByText(/vision|robotics|l\.schmidt/)).toHaveCount(0);
    }
    await console.go("Table");
    await expect(page.getByText(/vision|robotics|recsys/)).toHaveCount(0);
    // The use of the own tenant is not that of the cluster.
    await console.go("Quotas");
    await expect(console.quotas.cell("Cluster", "GPU cards")).toHaveText(/^–Only administrators see/);
    await console.quotas.cell("nlp", "GPU cards").click();
    await expect(console.quotas.panel.getByRole("listitem").filter({ hasText: "Cluster" })).not.toContainText("∞");
  });
});

test("a member asks for more and sees the request, and cannot change a limit", async ({ page }) => {
  await as("chen.yu", page, async (console) => {
    const requests = new RequestsPage(page);
    await console.go("Requests");
    // What people write stays text.
    const why = '<img src="x" onerror="document.title = 1"> $t(app.requests) {{count}}';
    await requests.ask("nlp / pretrain", "Cards", "2", why);
    await expect(requests.panel.getByText(why, { exact: true })).toBeVisible();
    await expect(requests.rows("Open").filter({ hasText: "2 more cards" })).toBeVisible();
    await console.go("Quotas");
    await console.quotas.openAll();
    await console.quotas.cell("pretrain", "GPU cards").click();
    await page.keyboard.press("F2");
    await expect(console.quotas.table.getByRole("textbox")).toHaveCount(0);
    await expect(page.getByRole("button", { name: "Export CSV" })).toBeVisible();
    await expect(page.getByRole("button", { name: "Import CSV" })).toHaveCount(0);
    await expect(page.getByRole("group", { name: "Show" }).getByText("Drafts")).toHaveCount(0);
    await expect(console.quotas.otherGpuType).toHaveCount(0);
    await console.go("Audit");
    await expect(page.getByText("Administrators read the audit")).toBeVisible();
  });
});

test("leads and members see what stands and who holds it, and are offered nothing of an administrator's", async ({
  page,
}) => {
  for (const caller of ["li.wei", "chen.yu"]) {
    await as(caller, page, async (console) => {
      const { inspector } = console;
      await expect(page.locator(".board-legend")).toContainText("occupied");
      await expect(page.locator(".board-legend")).not.toContainText("?");
      await console.openHost("gpu-02");
      await page.getByRole("button", { name: "GPU 1", exact: true }).click();
      await expect(inspector.root.getByRole("heading", { name: "Holders" })).toBeVisible();
      await expect(inspector.draft).toHaveCount(0);
      await expect(inspector.palette).toHaveCount(0);
      await expect(inspector.presets).toHaveCount(0);
      await expect(page.getByRole("region", { name: "Plan" })).toHaveCount(0);
      await page.keyboard.press("m");
      await inspector.path.getByRole("button", { name: "gpu-02" }).click();
      await expect(inspector.root.getByText("Driver, CUDA")).toBeVisible();
      await expect(inspector.root.getByText(/does not allow|may not change/)).toHaveCount(0);
      await expect(inspector.operations).toHaveCount(0);
      await expect(inspector.root.getByRole("button", { name: /Check this host|Keep these layouts/ })).toHaveCount(0);
    });
  }
});

test("an end that is over or too far ahead, and more than the cluster has, are told before anything is sent", async ({
  page,
}) => {
  await as("chen.yu", page, async (console) => {
    const requests = new RequestsPage(page);
    const { askForm } = requests;
    await console.go("Requests");
    await page.getByRole("main").getByRole("button", { name: "Ask for more" }).click();
    await askForm.getByRole("combobox", { name: "For" }).selectOption({ label: "nlp / pretrain" });
    await requests.fillAmount("Cards", "900");
    await expect(askForm.getByText(/does not fit: the whole cluster has \d+ cards/)).toBeVisible();
    await askForm.getByRole("textbox", { name: "Why" }).fill("a deadline");
    const send = askForm.getByRole("button", { name: "Ask", exact: true });
    await expect(send).toBeEnabled();
    const day = 86_400_000;
    await requests.fillEnd(Date.now() - day);
    await expect(askForm.getByText(/This time has passed/)).toBeVisible();
    await expect(send).toBeDisabled();
    await requests.fillEnd(Date.now() + 36_500 * day);
    await expect(askForm.getByText(/^to .*\b21\d\d\b/)).toBeVisible();
    await expect(askForm.getByText(/^At the latest/)).toBeVisible();
    await expect(send).toBeDisabled();
  });
});

test("what was granted of a request, and that it was cut short, is said where it was decided", async ({ page }) => {
  // As in every demo cluster, Li Wei leads the tenant; the operator decides.
  await as("li.wei", page, async (console) => {
    const requests = new RequestsPage(page);
    await console.go("Requests");
    await requests.ask("nlp / pretrain", "Cards", "2", "a deadline");
    await requests.panel.getByRole("form", { name: "Decide" }).getByRole("textbox", { name: "Cards" }).fill("1");
    await requests.approve();
    const granted = requests.rows("Granted now").filter({ hasText: "1 more card" }).filter({ hasText: "a deadline" });
    await granted.click();
    await expect(requests.rows("Decided").filter({ hasText: "1 of 2 cards" })).toBeVisible();
    await requests.endNow();
    await expect(requests.rows("Decided").filter({ hasText: "1 of 2 cards" })).toContainText("Cut short");
  });
});

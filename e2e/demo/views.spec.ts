/** Every view in every theme: what it says, that axe finds nothing serious, and a picture of it in e2e/screenshots. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright/test";
import type { ConsolePage } from "../pages/console.ts";
import { expect, is80, isWhole, test } from "../support/demo.ts";

const pictures = join(import.meta.dirname, "..", "screenshots");
mkdirSync(pictures, { recursive: true });

async function picture(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(pictures, `${name}.png`) });
}

async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const grave = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  expect(grave.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`)).toEqual([]);
}

const views: readonly { readonly name: string; readonly show: (console: ConsolePage) => Promise<void> }[] = [
  { name: "board", show: (console) => console.go("Board") },
  { name: "table", show: (console) => console.go("Table") },
  { name: "tenants", show: (console) => console.tenants.show() },
  { name: "quotas", show: (console) => console.go("Quotas") },
  { name: "requests", show: (console) => console.go("Requests") },
  { name: "audit", show: (console) => console.go("Audit") },
  { name: "host", show: (console) => console.openHost("gpu-07") },
  { name: "clusters", show: (console) => console.go("Clusters") },
  { name: "troubleshooting", show: (console) => console.go("Troubleshooting") },
  { name: "settings", show: (console) => console.go("Settings") },
];

for (const theme of ["Light", "Dark", "High contrast"] as const) {
  test(`every view in ${theme.toLowerCase()}`, async ({ console, demo }) => {
    await console.theme(theme);
    for (const { name, show } of views) {
      await show(console);
      await expectAccessible(console.page);
      await picture(console.page, `${name}-${theme.toLowerCase().replace(" ", "-")}`);
    }
    // The main job: a draft under way and its plan.
    await console.go("Board");
    const place = demo.take((gpu) => is80(gpu) && isWhole(gpu));
    await console.selectGpu(place.host.name, place.gpu.index);
    await console.inspector.preset("3g+2g+1g").click();
    await expect(console.plan.root.getByText("checked by the host")).toBeVisible();
    await expectAccessible(console.page);
    await picture(console.page, `plan-${theme.toLowerCase().replace(" ", "-")}`);
    await console.plan.discard();
    await console.page.keyboard.press("?");
    await expect(console.page.getByRole("dialog")).toBeVisible();
    await expectAccessible(console.page);
    await picture(console.page, `keys-${theme.toLowerCase().replace(" ", "-")}`);
  });
}

test("in Simplified Chinese", async ({ console }) => {
  await console.go("Settings");
  await console.page.getByRole("group", { name: "Language" }).getByText("简体中文").click();
  await expect(console.page.getByRole("navigation", { name: "视图" })).toBeVisible();
  await picture(console.page, "settings-chinese");
  await console.page.evaluate('location.hash = "#/board"');
  await expectAccessible(console.page);
  await picture(console.page, "board-chinese");
});

test("the numbers of the top bar are those of the hosts", async ({ console, demo }) => {
  const gpus = demo.hosts().flatMap((host) => host.inventory?.gpus ?? []);
  await expect(console.numbers).toContainText([`${demo.hosts().length} hosts`, `${gpus.length} GPUs`]);
});

test("the table sorts, and exports what it shows as CSV", async ({ console }) => {
  await console.go("Table");
  const table = console.main;
  await table.getByRole("button", { name: /Export CSV/ }).waitFor();
  const [download] = await Promise.all([
    console.page.waitForEvent("download"),
    table.getByRole("button", { name: /Export CSV/ }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/\.csv$/);
  const [header, ...lines] = readFileSync(await download.path(), "utf8")
    .trim()
    .split(/\r?\n/);
  expect(header).toMatch(/^\ufeff?Host,Rack,State,GPU,/);
  await expect(table.getByText(`${lines.length} rows`)).toBeVisible();
  const host = table.getByRole("columnheader", { name: "Host" });
  const first = table.getByRole("row").nth(1);
  for (const [order, name] of [
    ["ascending", "gpu-01"],
    ["descending", "gpu-24"],
  ] as const) {
    await host.getByRole("button").click();
    await expect(host).toHaveAttribute("aria-sort", order);
    await expect(first).toContainText(name);
  }
});

test("every colouring of the board, with a legend that says what it shows", async ({ console }) => {
  const legend = console.page.locator(".board-legend");
  for (const [mode, words] of [
    ["Profile", /1g.*2g.*3g.*4g/],
    ["Use", /0 %.*80 %/],
    ["Memory", /0 %.*80 %/],
    ["Temp.", /45 °C.*75 °C/],
    ["Health", /healthy.*needs a look/],
    ["Tenant", /bio.*nlp.*vision/],
  ] as const) {
    await console.colourBy(mode);
    await expect(legend).toHaveText(words);
    await expect(legend).toContainText("nobody holds it");
    await picture(console.page, `board-by-${mode.toLowerCase().replace(".", "")}`);
  }
});

test("find goes to a host by name, and to what a tenant holds", async ({ console }) => {
  await console.findByKey("gpu-17");
  await expect(console.inspector.root).toContainText("gpu-17");
  await console.page.keyboard.press("/");
  await console.page.keyboard.type("tenant:nlp");
  await expect(console.page.getByRole("listbox", { name: "Found" }).getByRole("option").first()).toContainText("nlp");
});

test("a page load logs no error, with more than one cluster too", async ({ console, demo }) => {
  // The button that chooses among clusters brings a style element of its own.
  const other = demo.web.services.clusters.add({ name: "other", hosts: ["elsewhere"], racks: { kind: "none" } });
  const errors: string[] = [];
  console.page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  console.page.on("pageerror", (error) => errors.push(String(error)));
  await console.page.reload();
  await console.waitUntilLive();
  await console.page.getByRole("button", { name: /choose another/ }).click();
  await console.page.keyboard.press("Escape");
  await demo.web.services.clusters.remove(other.id);
  expect(errors).toEqual([]);
});

test("a cluster's control host is picked from its hosts, saved, and found again by itself", async ({
  console,
  demo,
}) => {
  const { clusters } = console;
  const controlHosts = () =>
    demo.web.services.clusters
      .list()
      .filter(({ name }) => name === "lab")
      .map(({ id }) => demo.web.services.clusters.get(id).draft.controlHost);
  await clusters.add("lab", { typed: "login1\nnode[1-2]" });
  expect(controlHosts()).toEqual([undefined]);
  const form = await clusters.edit("lab");
  const choice = form.getByLabel("Control host");
  await expect(choice.getByRole("option")).toHaveText([/^Find it/, "login1", "node1", "node2"]);
  await choice.selectOption("node1");
  await form.getByRole("button", { name: "Save" }).click();
  await expect(form).toBeHidden();
  expect(controlHosts()).toEqual(["node1"]);
  await clusters.edit("lab");
  await expect(choice).toHaveValue("node1");
  await choice.selectOption("");
  await form.getByRole("button", { name: "Save" }).click();
  await expect(form).toBeHidden();
  expect(controlHosts()).toEqual([undefined]);
  for (const { id } of demo.web.services.clusters.list().filter(({ name }) => name === "lab")) {
    await demo.web.services.clusters.remove(id);
  }
});

for (const [width, height] of [
  [800, 600],
  [1024, 768],
] as const) {
  test(`the plan at ${width} x ${height}: its commands whole, its buttons and the selected host in sight`, async ({
    console,
    demo,
  }) => {
    await console.page.setViewportSize({ width, height });
    const place = demo.take((gpu) => is80(gpu) && isWhole(gpu));
    await console.selectGpu(place.host.name, place.gpu.index);
    await console.inspector.preset("3g+2g+1g").click();
    await expect(console.plan.root.getByText("checked by the host")).toBeVisible();
    await expect(console.plan.root.getByRole("button", { name: "Apply plan" })).toBeInViewport({ ratio: 1 });
    const command = console.plan.root.getByText(`-i ${place.gpu.uuid}`).first();
    await command.scrollIntoViewIfNeeded();
    await expect(command).toBeInViewport({ ratio: 1 });
    const { y } = await console.board.slicePoint(place.host.name, place.gpu.index, 0);
    const legend = await console.page.locator(".board-legend").boundingBox();
    expect(y).toBeLessThan(legend?.y ?? 0);
    await expect(console.numbers.last()).toBeInViewport({ ratio: 1 });
    await picture(console.page, `plan-${width}`);
    await console.plan.discard();
  });
}

test("Escape comes back from the profiles to the board", async ({ console, demo }) => {
  const place = demo.take((gpu) => is80(gpu) && isWhole(gpu));
  await console.selectGpu(place.host.name, place.gpu.index);
  await console.page.keyboard.press("m");
  await expect(console.board.tree).not.toBeFocused();
  await console.page.keyboard.press("Escape");
  await expect(console.board.tree).toBeFocused();
  await console.page.keyboard.press("o");
  await expect(console.page.getByRole("heading", { name: place.host.name, exact: true })).toBeVisible();
});

/** The desktop window in the real Electron, by the same page objects as in the browser. */
import { type ElectronApplication, expect, test } from "playwright/test";
import { ConsolePage } from "../pages/console.ts";
import { moveASlice } from "../pages/main-job.ts";
import { desktopMissing, launch } from "../support/desktop.ts";

const missing = desktopMissing();
test.skip(missing !== null, missing ?? "");

let application: ElectronApplication;
let console: ConsolePage;
test.beforeEach(async () => {
  application = await launch();
  console = new ConsolePage(await application.firstWindow());
});
test.afterEach(async () => {
  await application?.close();
});

test("opens on the demo cluster, and moves a slice", async () => {
  await console.waitUntilLive();
  await moveASlice(console);
});

test("paints its frame with no host to ask", async () => {
  await application.close();
  application = await launch(["--no-demo"]);
  await expect(new ConsolePage(await application.firstWindow()).rail).toBeVisible();
});

test("the page has the bridge and nothing of Node or Electron", async () => {
  const found = await console.page.evaluate(`({
    require: typeof require, process: typeof process, module: typeof module,
    bridge: Object.keys(window.tesseraBridge).sort().join(" "),
  })`);
  expect(found).toEqual({
    require: "undefined",
    process: "undefined",
    module: "undefined",
    bridge: "onMessage onState send",
  });
});

test("the page opens no window, goes nowhere, and reaches no network", async () => {
  const { page } = console;
  const address = page.url();
  expect(await page.evaluate(`window.open("https://tessera.example/") === null`)).toBe(true);
  await page.evaluate(`void (location.href = "https://tessera.example/")`);
  expect(await page.evaluate(`fetch("https://tessera.example/").then(() => "reached", () => "refused")`)).toBe(
    "refused",
  );
  expect(page.url()).toBe(address);
  expect(application.windows()).toHaveLength(1);
});

test("the window is sandboxed, isolated, and without Node", async () => {
  const preferences = await application.evaluate(({ BrowserWindow }) => {
    const [window] = BrowserWindow.getAllWindows();
    // Not in Electron's types; it is how Electron's own tests read them.
    const contents = window?.webContents as unknown as { getLastWebPreferences(): Record<string, unknown> };
    const { sandbox, contextIsolation, nodeIntegration, webSecurity } = contents.getLastWebPreferences();
    return { sandbox, contextIsolation, nodeIntegration, webSecurity };
  });
  expect(preferences).toEqual({ sandbox: true, contextIsolation: true, nodeIntegration: false, webSecurity: true });
});

/** The console ends and is started anew under a page that stays open. */
import { expect, test } from "playwright/test";
import { ConsolePage } from "../pages/console.ts";
import { startConsole } from "../support/console.ts";

test("a page of the console before says that it needs the new link", async ({ page }) => {
  const first = await startConsole({ demo: false });
  const { port } = new URL(first.link());
  const console = new ConsolePage(page);
  await console.open(first.link());
  await first.kill();
  await expect(page.getByText("Console services do not answer").first()).toBeVisible();
  await using second = await startConsole({
    demo: false,
    dataDirectory: first.dataDirectory,
    argv: ["--port", port],
  });
  await expect(page.getByText("The console was started anew: open its new link").first()).toBeVisible();
  await console.open(second.link());
  await expect(page.getByText("The console was started anew: open its new link")).toBeHidden();
});

/** As a newcomer meets it: the console in a process of its own, opened by the link that it prints. */
import { expect, test } from "playwright/test";
import { ConsolePage } from "../pages/console.ts";
import { moveASlice } from "../pages/main-job.ts";
import { startConsole } from "../support/console.ts";

test("opens on the living demo cluster, and moves a slice", async ({ page }) => {
  await using running = await startConsole();
  await expect.poll(() => running.output()).toMatch(/24 of 24 hosts live.*total +192 /s);
  const console = new ConsolePage(page);
  await console.open(running.link());
  await console.waitUntilLive();
  await moveASlice(console);
});

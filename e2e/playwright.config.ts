import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { defineConfig } from "playwright/test";
import { chromium, chromiumArguments } from "./support/chromium.ts";

const electronFolder = join(createRequire(import.meta.url).resolve("electron/package.json"), "..", "dist");
// Workers read this file too.
if (!existsSync(electronFolder) && process.env.TEST_WORKER_INDEX === undefined)
  process.stderr.write("Electron's binary is not here: its specs are skipped.\n");

export default defineConfig({
  testDir: ".",
  outputDir: "../test-results",
  timeout: 300_000,
  // Logging in, starting tessera-host and asking a driver take their time on a small machine.
  expect: { timeout: 90_000 },
  workers: 1,
  forbidOnly: process.env.CI === "true",
  reporter: [["list"]],
  use: {
    viewport: { width: 1440, height: 900 },
    // A trace of every action costs half of the time; it is recorded where a failure is looked into.
    trace: process.env.TRACE === undefined ? "off" : "retain-on-failure",
    screenshot: "only-on-failure",
  },
  projects: [
    {
      name: "browser",
      testMatch: "**/*.spec.ts",
      testIgnore: "**/*.electron.spec.ts",
      use: {
        browserName: "chromium",
        launchOptions: {
          ...(chromium === undefined ? {} : { executablePath: chromium }),
          args: [...chromiumArguments],
        },
      },
    },
    { name: "electron", testMatch: "**/*.electron.spec.ts" },
  ],
});

/** The console in the real Electron, on the built application and with a data directory of its own. */
import { existsSync, mkdtempSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ElectronApplication, _electron as electron } from "playwright/test";

const root = join(import.meta.dirname, "..", "..");
const folder = join(createRequire(import.meta.url).resolve("electron/package.json"), "..", "dist");

/** Why the window cannot be opened here; null when it can. */
export function desktopMissing(): string | null {
  if (!existsSync(folder)) return "Electron's binary is not here (npx install-electron fetches it)";
  if (process.platform === "linux" && process.env.DISPLAY === undefined && process.env.WAYLAND_DISPLAY === undefined) {
    return "there is no display";
  }
  return null;
}

export function launch(argv: readonly string[] = []): Promise<ElectronApplication> {
  const dataDirectory = mkdtempSync(join(tmpdir(), "tessera-desktop-"));
  // Chromium's own sandbox refuses to run as root, as containers do.
  const sandbox = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return electron.launch({ cwd: root, args: [...sandbox, root, "--data-directory", dataDirectory, ...argv] });
}

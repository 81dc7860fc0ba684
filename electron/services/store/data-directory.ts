import { homedir } from "node:os";
import { join } from "node:path";

/** Where the console keeps what is the user's own: XDG on Linux, the platform's place elsewhere. */
export function defaultDataDirectory(
  environment: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  if (platform === "darwin") return join(homedir(), "Library", "Application Support", "Tessera");
  if (platform === "win32") return join(environment.APPDATA ?? join(homedir(), "AppData", "Roaming"), "Tessera");
  const xdg = environment.XDG_DATA_HOME;
  // The specification says that a relative path is to be ignored.
  return join(xdg?.startsWith("/") ? xdg : join(homedir(), ".local", "share"), "tessera");
}

/** Electron's fuses, every one of them: what a packaged console can never be talked into. */
import { join } from "node:path";
import { type FuseConfig, FuseV1Options, FuseVersion } from "@electron/fuses";

export const fuses: FuseConfig = {
  version: FuseVersion.V1,
  // A fuse that a newer Electron brings stops the build here until somebody has decided about it.
  strictlyRequireAllFuses: true,
  [FuseV1Options.RunAsNode]: false,
  [FuseV1Options.EnableCookieEncryption]: true,
  [FuseV1Options.EnableNodeOptionsEnvironmentVariable]: false,
  [FuseV1Options.EnableNodeCliInspectArguments]: false,
  [FuseV1Options.EnableEmbeddedAsarIntegrityValidation]: true,
  [FuseV1Options.OnlyLoadAppFromAsar]: true,
  [FuseV1Options.LoadBrowserProcessSpecificV8Snapshot]: false,
  [FuseV1Options.GrantFileProtocolExtraPrivileges]: false,
  [FuseV1Options.WasmTrapHandlers]: true,
};

/** Where the fuse wire stands in an unpacked application. */
export function fusedBinary(platform: string, folder: string, productFilename: string, executableName: string): string {
  if (platform === "darwin") return join(folder, `${productFilename}.app`);
  return join(folder, platform === "win32" ? `${productFilename}.exe` : executableName);
}

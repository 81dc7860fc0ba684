/** electron-builder's afterPack hook: sets the fuses in the binary that was just laid out. */
import { flipFuses } from "@electron/fuses";
import { fusedBinary, fuses } from "./fuses.ts";

export default async function afterPack(context) {
  const { productFilename } = context.packager.appInfo;
  const executableName = context.packager.executableName ?? productFilename;
  const binary = fusedBinary(context.electronPlatformName, context.appOutDir, productFilename, executableName);
  await flipFuses(binary, { ...fuses, resetAdHocDarwinSignature: context.electronPlatformName === "darwin" });
}

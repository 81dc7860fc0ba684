import { basename, dirname, join } from "node:path";

/** dist/, seen from the source tree and from the bundles in dist/electron alike. */
export function builtDirectory(here: string = import.meta.dirname): string {
  const parent = dirname(here);
  // A bundle's code all stands in dist/electron; this file stands in electron/services.
  return basename(here) === "electron" && basename(parent) === "dist" ? parent : join(parent, "..", "dist");
}

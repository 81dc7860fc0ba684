/** What measures from inside a page, as a script to put there before any of the page's own code. */
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");

/** Each file in a block of its own, so that its names do not meet the page's. */
export function probeScript(file: string): string {
  return ["renderer/testing/probe-page.ts", file]
    .map((path) => `{ ${stripTypeScriptTypes(readFileSync(join(root, path), "utf8"))} }`)
    .join("\n");
}

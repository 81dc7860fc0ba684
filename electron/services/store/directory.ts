import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * A folder of the operator's own, and those above it, for nobody else. Throws what the file system says.
 * Node's recursive mkdir turns for ever where a file system answers ENOENT although the parent is there, as /proc does.
 */
export function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (existsSync(path) && statSync(path).isDirectory()) return;
    const parent = dirname(path);
    if (existsSync(parent) || parent === path) throw error;
    makeDirectory(parent);
    mkdirSync(path, { mode: 0o700 });
  }
}

import { basename, join, resolve } from "node:path";
import { AppError } from "../../../../shared/errors.ts";
import type { HostInventory } from "../../../../shared/protocol/inventory.ts";
import { fileSystem } from "../operating-system/builtin.ts";
import { handlers } from "../serve/handlers.ts";
import { parseInput } from "../serve/validation.ts";
import type { System } from "../system.ts";
import { parseCommand, UsageError } from "./arguments.ts";
import type { Terminal } from "./terminal.ts";

/** `inventory`, `watch` and `bundle`: the commands that only look. */
export async function runInventory(
  command: "inventory" | "watch" | "bundle",
  args: readonly string[],
  system: System,
  terminal: Terminal,
): Promise<number> {
  switch (command) {
    case "inventory":
      return inventory(args, system, terminal);
    case "watch":
      return watch(args, system, terminal);
    case "bundle": {
      const { values, positionals } = parseCommand(args, { json: { type: "boolean" } }, { least: 1, most: 1 });
      const { writeBundle } = await import("../inventory/bundle.ts");
      const summary = await writeBundle(system, resolve(positionals[0] ?? ""));
      terminal.out(values.json ? JSON.stringify(summary) : `${summary.files.length} files in ${summary.directory}`);
      return 0;
    }
  }
}

async function inventory(args: readonly string[], system: System, terminal: Terminal): Promise<number> {
  const { values } = parseCommand(args, { json: { type: "boolean" }, from: { type: "string" } });
  const read =
    values.from === undefined
      ? await handlers.inventory(system, {}, { signal: terminal.signal, progress: () => undefined })
      : await fromCapture(values.from, system);
  const { inventoryText } = await import("./print-inventory.ts");
  terminal.out(values.json ? JSON.stringify(read) : inventoryText(read));
  return 0;
}

/** More than this is no captured output of a driver. */
const largestFileBytes = 64 * 1024 * 1024;
const mostFiles = 2_000;

async function fromCapture(path: string, system: System): Promise<HostInventory> {
  const { inventoryFromCapture } = await import("../inventory/capture.ts");
  const reading = await inventoryFromCapture(await capturedFiles(path), { now: system.now() });
  if (reading.known) return reading.inventory;
  throw new AppError({
    code: "unreadable",
    message: reading.message,
    remedy: "Give outputs of nvidia-smi, or a directory that tessera-host bundle wrote.",
    evidence: { details: reading.unread.map(({ source, reason }) => `${source}: ${reason}`).join("\n") },
  });
}

/** The files of a directory and of those in it, or the one file. Throws AppError `not-found`, `permission`. */
async function capturedFiles(path: string): Promise<{ readonly name: string; readonly bytes: Uint8Array }[]> {
  try {
    if ((await fileSystem().stat(path)).isFile())
      return [{ name: basename(path), bytes: await fileSystem().readFile(path) }];
    const entries = await fileSystem().readdir(path, { withFileTypes: true, recursive: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .toSorted()
      .slice(0, mostFiles);
    const captured: { name: string; bytes: Uint8Array }[] = [];
    for (const file of files) {
      if ((await fileSystem().stat(file)).size > largestFileBytes) continue;
      captured.push({
        name: file.slice(resolve(path).length + 1) || basename(file),
        bytes: await fileSystem().readFile(file),
      });
    }
    return captured;
  } catch (error) {
    const missing = error instanceof Error && "code" in error && error.code === "ENOENT";
    throw new AppError({
      code: missing ? "not-found" : "permission",
      message: missing ? `There is no ${path}.` : `${path} cannot be read.`,
      remedy: "Give a directory or a file with captured output.",
    });
  }
}

async function watch(args: readonly string[], system: System, terminal: Terminal): Promise<number> {
  // Its events are JSON in any case: they are for programs.
  const { values } = parseCommand(args, { json: { type: "boolean" }, interval: { type: "string" } });
  const interval = values.interval ?? "2000";
  if (!/^\d+$/.test(interval)) throw new UsageError("--interval takes milliseconds.");
  const input = parseInput("watch", { intervalMs: Number(interval) });
  await handlers.watch(system, input, {
    signal: terminal.signal,
    progress: (event) => terminal.out(JSON.stringify(event)),
  });
  return 0;
}

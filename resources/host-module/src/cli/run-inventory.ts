import { resolve } from "node:path";
import { AppError } from "../../../../shared/errors.ts";
import type { HostInventory } from "../../../../shared/protocol/inventory.ts";
import { call } from "../serve/call.ts";
import { parseInput } from "../serve/validation.ts";
import type { System } from "../system.ts";
import { parseCommand, UsageError } from "./arguments.ts";
import { printable } from "./drawing.ts";
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
      const { values, positionals } = parseCommand(
        args,
        { json: { type: "boolean" } },
        { least: 1, most: 1, what: "The directory" },
      );
      const { writeBundle } = await import("../inventory/bundle.ts");
      const summary = await writeBundle(system, resolve(positionals[0] ?? ""));
      terminal.out(values.json ? JSON.stringify(summary) : `${summary.files.length} files in ${summary.directory}`);
      return 0;
    }
  }
}

async function inventory(args: readonly string[], system: System, terminal: Terminal): Promise<number> {
  const { values } = parseCommand(args, {
    json: { type: "boolean" },
    layout: { type: "boolean" },
    from: { type: "string" },
  });
  if (values.from === "") throw new UsageError("--from takes a directory or a file.");
  const read =
    values.from === undefined
      ? await call(system, "inventory", {}, { signal: terminal.signal, progress: () => undefined })
      : await fromCapture(values.from, system);
  if (values.layout === true) {
    const { layoutFromInventories } = await import("../../../../shared/defrag/from-inventory.ts");
    terminal.out(JSON.stringify(layoutFromInventories([{ inventory: read, rack: null }])));
    return 0;
  }
  const { inventoryText } = await import("./print-inventory.ts");
  terminal.out(values.json ? JSON.stringify(read) : inventoryText(read));
  return 0;
}

async function fromCapture(path: string, system: System): Promise<HostInventory> {
  const [{ inventoryFromCapture }, { capturedFiles }] = await Promise.all([
    import("../inventory/capture.ts"),
    import("./captured-files.ts"),
  ]);
  const { files, unread } = await capturedFiles(path);
  const reading = await inventoryFromCapture(files, { now: system.now() });
  if (reading.known) return { ...reading.inventory, unread: [...reading.inventory.unread, ...unread] };
  throw new AppError({
    code: "unreadable",
    message: reading.message,
    remedy: "Give outputs of nvidia-smi, or a directory that tessera-host bundle wrote.",
    evidence: {
      // What was not read at all comes first: files that were left out may be the ones that matter.
      details: [...unread, ...reading.unread]
        .slice(0, 20)
        .map(({ source, reason }) => printable(`${source}: ${reason}`))
        .join("\n"),
    },
  });
}

async function watch(args: readonly string[], system: System, terminal: Terminal): Promise<number> {
  // Its events are JSON in any case: they are for programs.
  const { values } = parseCommand(args, { json: { type: "boolean" }, interval: { type: "string" } });
  const interval = values.interval ?? "2000";
  const intervalMs = /^\d{1,9}$/.test(interval) ? Number(interval) : 0;
  if (intervalMs < 500 || intervalMs > 600_000) throw new UsageError("--interval takes 500 to 600000 milliseconds.");
  const input = parseInput("watch", { intervalMs });
  await call(system, "watch", input, {
    signal: terminal.signal,
    progress: (event) => terminal.out(JSON.stringify(event)),
  });
  return 0;
}

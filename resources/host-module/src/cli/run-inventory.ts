import type { System } from "../system.ts";
import { UsageError } from "./arguments.ts";
import type { Terminal } from "./terminal.ts";

export async function runInventory(
  command: "inventory" | "watch" | "bundle",
  _args: readonly string[],
  _system: System,
  _terminal: Terminal,
): Promise<number> {
  throw new UsageError(`${command} is not built yet.`);
}

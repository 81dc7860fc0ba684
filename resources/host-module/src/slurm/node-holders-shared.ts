/**
 * What slurmctld last said of this node's GPUs, kept for all sessions on the host: many consoles watch a host, and one
 * question is enough for all. In memory (/run) and readable by root alone, since it names everybody's jobs.
 */
import { readText } from "../inventory/host-files.ts";
import type { System } from "../system.ts";
import type { HeldGpu } from "./held-gres.ts";
import type { SlurmNode } from "./nodes.ts";

export interface Answered {
  readonly atMs: number;
  /** When the node's GPUs in use, or who holds them, were last seen to change. */
  readonly changedAtMs: number;
  readonly node: SlurmNode;
  readonly held: readonly HeldGpu[];
}

const directory = "/run/tessera";
export const sharedPath = `${directory}/slurm-holders.json`;

/** Null where nobody asked within `maxAgeMs`, or the clock was set back since. */
export async function readShared(system: System, nodeName: string, maxAgeMs: number): Promise<Answered | null> {
  const text = await readText(system.files, sharedPath);
  const answered = text === null ? null : parsed(text);
  if (answered === null || answered.node.name !== nodeName) return null;
  const ageMs = system.now().getTime() - answered.atMs;
  return ageMs >= 0 && ageMs < maxAgeMs ? answered : null;
}

/** Where it cannot be kept every session asks for itself. */
export async function share(system: System, answered: Answered): Promise<void> {
  if (!system.root) return;
  try {
    await system.files.makeDirectory(directory, 0o700);
    await system.files.replace(sharedPath, new TextEncoder().encode(JSON.stringify(answered)), 0o600);
  } catch {
    // A full /run is no reason to show nobody.
  }
}

function parsed(text: string): Answered | null {
  try {
    const value = JSON.parse(text) as Partial<Answered> | null;
    const { atMs, changedAtMs, node, held } = value ?? {};
    if (typeof atMs !== "number" || typeof changedAtMs !== "number" || !Array.isArray(held)) return null;
    return node === undefined ? null : { atMs, changedAtMs, node, held };
  } catch {
    return null;
  }
}

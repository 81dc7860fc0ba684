import * as z from "zod/mini";
import { AppError } from "../../../../shared/errors.ts";
import { asWish } from "../../../../shared/mig/layout.ts";
import type { Layout } from "../../../../shared/mig/types.ts";
import { layoutSchema } from "../../../../shared/protocol/contract.ts";
import type { System } from "../system.ts";
import { withoutUndefined } from "./plain.ts";
import { layoutsDirectory } from "./state.ts";

/** A layout that is to come back after a reboot. MIG itself keeps none: instances, and from Hopper on the mode, are gone. */
export interface SavedLayout {
  readonly schema: "tessera.layout/1";
  readonly gpuUuid: string;
  readonly gpuName: string;
  /** Without IDs. */
  readonly layout: Layout;
  /** ISO 8601. */
  readonly savedAt: string;
  /** Boot during which it was saved. */
  readonly bootId: string | null;
}

const schema = z.object({
  schema: z.literal("tessera.layout/1"),
  gpuUuid: z.string(),
  gpuName: z.string(),
  layout: layoutSchema,
  savedAt: z.string(),
  bootId: z.nullable(z.string()),
});

export function savedLayoutPath(gpuUuid: string): string {
  // UUIDs come from the driver; in a file name they may hold nothing that leads elsewhere.
  return `${layoutsDirectory}/${gpuUuid.replaceAll(/[^A-Za-z0-9-]/g, "_")}.json`;
}

export async function bootIdOf(system: System): Promise<string | null> {
  const content = await system.files.read("/proc/sys/kernel/random/boot_id");
  return content === null ? null : new TextDecoder().decode(content).trim() || null;
}

/**
 * Keeps the layout for the next boot. A GPU that is not divided keeps none: the driver leaves it undivided by itself.
 * Throws AppError `disk-full`, `permission`.
 */
export async function saveLayout(
  system: System,
  gpu: { readonly uuid: string; readonly name: string },
  layout: Layout,
): Promise<void> {
  if (!layout.migEnabled) {
    await system.files.remove(savedLayoutPath(gpu.uuid));
    return;
  }
  const saved: SavedLayout = {
    schema: "tessera.layout/1",
    gpuUuid: gpu.uuid,
    gpuName: gpu.name,
    layout: asWish(layout),
    savedAt: system.now().toISOString(),
    bootId: await bootIdOf(system),
  };
  await system.files.replace(
    savedLayoutPath(gpu.uuid),
    new TextEncoder().encode(`${JSON.stringify(saved, null, 2)}\n`),
    0o600,
  );
}

/** Every saved layout, by GPU. Throws AppError `unreadable` with the file's name for one that is damaged. */
export async function savedLayouts(system: System): Promise<readonly SavedLayout[]> {
  const names = (await system.files.list(layoutsDirectory)) ?? [];
  const saved: SavedLayout[] = [];
  for (const name of names.filter((name) => name.endsWith(".json"))) {
    const content = await system.files.read(`${layoutsDirectory}/${name}`);
    if (content === null) continue;
    saved.push(parse(content, name));
  }
  return saved;
}

function parse(content: Uint8Array, name: string): SavedLayout {
  try {
    const parsed = schema.safeParse(JSON.parse(new TextDecoder().decode(content)));
    if (parsed.success) return withoutUndefined<SavedLayout>(parsed.data);
  } catch {
    // Not JSON: said below, with the name.
  }
  throw new AppError({
    code: "unreadable",
    message: `The saved layout ${layoutsDirectory}/${name} cannot be understood.`,
    remedy: "Remove the file and save the layouts again (tessera-host mig save).",
  });
}

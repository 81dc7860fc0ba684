/** `nvidia-smi --query-gpu=index,uuid,mig.mode.current,mig.mode.pending --format=csv`. */
import type { MigMode } from "../../../../shared/protocol/inventory.ts";
import { parseCsv } from "./csv.ts";
import type { Parsed } from "./text.ts";
import { isAbsent, normalBusId, ValueReader } from "./values.ts";

/** The fields to ask for, in the order in which `parseMigModes` expects them where the header is suppressed. */
export const migModeFields = ["index", "uuid", "mig.mode.current", "mig.mode.pending"] as const;

export interface ListedMigMode {
  /** Null where the column was not asked for. */
  readonly gpuIndex: number | null;
  readonly uuid: string | null;
  readonly pciBusId: string | null;
  readonly current: MigMode | null;
  /** Differs from `current` while the change waits for a reset or for clients to go. */
  readonly pending: MigMode | null;
}

/** Any CSV that has `mig.mode.*` columns; a GPU that cannot be opened is missing from it, at exit status 0. */
export function parseMigModes(output: Uint8Array | string): Parsed<readonly ListedMigMode[]> {
  const table = parseCsv(output, migModeFields);
  const reader = new ValueReader();
  const facts = (table.facts?.rows ?? []).map((row) => ({
    gpuIndex: reader.whole("index", row.get("index")),
    uuid: reader.text("uuid", row.get("uuid") ?? row.get("gpu_uuid")),
    pciBusId: normalBusId(row.get("pci.bus_id") ?? row.get("gpu_bus_id")),
    current: migModeOf(reader, "mig.mode.current", row.get("mig.mode.current")),
    pending: migModeOf(reader, "mig.mode.pending", row.get("mig.mode.pending")),
  }));
  return { facts, unread: [...table.unread, ...reader.unread] };
}

/** `Enabled`, `Disabled`, `[N/A]`: the driver prints the last for GPUs that have no MIG. Null where it is not told. */
export function migModeOf(reader: ValueReader, field: string, raw: string | undefined): MigMode | null {
  if (raw === undefined || raw.trim() === "") return null;
  if (isAbsent(raw)) return "not-supported";
  const enabled = reader.flag(field, raw);
  return enabled === null ? null : enabled ? "enabled" : "disabled";
}

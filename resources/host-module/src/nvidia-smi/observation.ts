/**
 * What one output says about one GPU. Every field is null where this output does not tell it; the reading of a
 * host lays several of them over one another.
 */
import type { GpuState, MigMode } from "../../../../shared/protocol/inventory.ts";

export interface GpuObservation {
  readonly index: number | null;
  /** `/dev/nvidiaN`; not the index, though often the same. */
  readonly minorNumber: number | null;
  readonly uuid: string | null;
  /** As `normalBusId` writes it. */
  readonly pciBusId: string | null;
  /** `233010DE`: tells models of one name apart. */
  readonly pciDeviceId: string | null;
  readonly name: string | null;
  /** The table cuts long names: `NVIDIA RTX 4000 Ada Gene...`. */
  readonly nameIsCut: boolean;
  /** Null where the output says nothing about it. */
  readonly failure: Extract<GpuState, { kind: "failed" }> | null;
  readonly migCurrent: MigMode | null;
  readonly migPending: MigMode | null;
  readonly memoryTotalMiB: number | null;
  readonly memoryUsedMiB: number | null;
  readonly utilisationPercent: number | null;
  readonly memoryUtilisationPercent: number | null;
  readonly powerDrawWatts: number | null;
  readonly powerLimitWatts: number | null;
  readonly temperatureCelsius: number | null;
  readonly fanPercent: number | null;
  readonly eccEnabled: boolean | null;
  readonly volatileUncorrected: number | null;
  readonly aggregateUncorrected: number | null;
  readonly memoryRepair: "none" | "pending" | "failed" | null;
  readonly persistenceMode: boolean | null;
  readonly computeMode: string | null;
  readonly nvlinkActive: number | null;
  readonly nvlinkTotal: number | null;
  /** Null where this output has no place for them; empty where there are none. */
  readonly migDevices: readonly ObservedMigDevice[] | null;
  readonly processes: readonly ObservedProcess[] | null;
}

export interface ObservedMigDevice {
  readonly deviceIndex: number | null;
  readonly gpuInstanceId: number | null;
  readonly computeInstanceId: number | null;
  readonly multiprocessors: number | null;
  /** The driver gives the memory of the GPU instance, shared by its compute instances. */
  readonly memoryTotalMiB: number | null;
  readonly memoryUsedMiB: number | null;
  readonly uuid: string | null;
  readonly profile: string | null;
}

export interface ObservedProcess {
  readonly pid: number;
  readonly name: string | null;
  readonly kind: "compute" | "graphics" | "both" | null;
  readonly usedMemoryMiB: number | null;
  readonly gpuInstanceId: number | null;
  readonly computeInstanceId: number | null;
}

export const nothingObserved: GpuObservation = {
  index: null,
  minorNumber: null,
  uuid: null,
  pciBusId: null,
  pciDeviceId: null,
  name: null,
  nameIsCut: false,
  failure: null,
  migCurrent: null,
  migPending: null,
  memoryTotalMiB: null,
  memoryUsedMiB: null,
  utilisationPercent: null,
  memoryUtilisationPercent: null,
  powerDrawWatts: null,
  powerLimitWatts: null,
  temperatureCelsius: null,
  fanPercent: null,
  eccEnabled: null,
  volatileUncorrected: null,
  aggregateUncorrected: null,
  memoryRepair: null,
  persistenceMode: null,
  computeMode: null,
  nvlinkActive: null,
  nvlinkTotal: null,
  migDevices: null,
  processes: null,
};

/** `C`, `G`, `C+G` (also `M+C` under MPS) of every listing of processes. */
export function processKindOf(raw: string | null | undefined): ObservedProcess["kind"] {
  const letters = (raw ?? "").toUpperCase();
  const compute = letters.includes("C");
  const graphics = letters.includes("G");
  return compute && graphics ? "both" : compute ? "compute" : graphics ? "graphics" : null;
}

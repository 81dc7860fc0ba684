/** From everything that was read about a host to its inventory. Pure: live readings and captures end here alike. */
import type {
  Gpu,
  GpuProcess,
  HostFacts,
  HostInventory,
  TopologyLink,
  Unread,
} from "../../../../shared/protocol/inventory.ts";
import { geometriesOf, type HostGeometries } from "./geometries.ts";
import { instancesOf } from "./gpu-instances.ts";
import { gpusOf, type KnownGpu, withDriverIdentity } from "./gpus.ts";
import { type HolderSource, withHolders } from "./holders.ts";
import type { DriverGpu, PciPlace } from "./host-files.ts";
import { keptXids, type XidEvent } from "./kernel-log.ts";
import type { ReadOutputs } from "./output.ts";
import type { ProcessFacts } from "./processes.ts";

// The value is written out: importing it would load the module for a string.
const schema: HostInventory["schema"] = "tessera.inventory/1";

export interface HostReading {
  readonly takenAt: string;
  readonly host: HostFacts;
  readonly outputs: ReadOutputs;
  /** By PCI bus id. */
  readonly places: ReadonlyMap<string, PciPlace>;
  readonly processes: ReadonlyMap<number, ProcessFacts>;
  readonly xids: readonly XidEvent[];
  /** What the driver has claimed, from its folder in `/proc`: names GPUs that are lost. */
  readonly driverGpus: readonly DriverGpu[];
  readonly holderSources: readonly HolderSource[];
  readonly unread: readonly Unread[];
}

export async function assembleInventory(reading: HostReading): Promise<HostInventory> {
  const { outputs } = reading;
  const known = withDriverIdentity(gpusOf(outputs), reading.driverGpus);
  const geometries = geometriesOf(known, outputs);
  const unread: Unread[] = [...outputs.unread, ...reading.unread];
  const gpus = known.map((gpu) => {
    const assembled = assembleGpu(gpu, reading, geometries);
    unread.push(...assembled.unread);
    return assembled.gpu;
  });
  return {
    schema,
    takenAt: reading.takenAt,
    host: reading.host,
    driver: { version: outputs.driverVersion, cudaVersion: outputs.cudaVersion },
    geometries: geometries.geometries,
    gpus: await withHolders(
      { gpus, processes: reading.processes, minorNumbers: minorNumbersOf(known), managers: reading.host.managers },
      reading.holderSources,
    ),
    links: linksOf(outputs, known),
    unread,
  };
}

function minorNumbersOf(known: readonly KnownGpu[]): ReadonlyMap<string, number> {
  return new Map(
    known.flatMap(({ uuid, minorNumber }) => (uuid === null || minorNumber === null ? [] : [[uuid, minorNumber]])),
  );
}

function assembleGpu(
  gpu: KnownGpu,
  reading: HostReading,
  { geometries, keys }: HostGeometries,
): { readonly gpu: Gpu; readonly unread: readonly Unread[] } {
  const { outputs } = reading;
  const place = gpu.pciBusId === null ? undefined : reading.places.get(gpu.pciBusId);
  const affinity = outputs.topology?.gpus.find((listed) => listed.index === gpu.index);
  const key = keys.get(gpu.index);
  const geometry = key === undefined ? null : (geometries[key] ?? null);
  const { instances, unread } = instancesOf(gpu, outputs, geometry);
  const placements = outputs.gpuInstancePlacements.filter((listed) => listed.gpuIndex === gpu.index);
  const isNameless = geometry === null && placements.length > 0;
  const isDivided = gpu.migCurrent === "enabled" || (gpu.migCurrent === null && instances.length > 0);
  return {
    unread: isNameless ? [...unread, namelessPlacements(gpu, placements)] : unread,
    gpu: {
      index: gpu.index,
      uuid: gpu.uuid ?? unknownUuid(gpu),
      name: gpu.name ?? "",
      pciBusId: gpu.pciBusId,
      numaNode: place?.numaNode ?? affinity?.numaNode ?? null,
      cpuAffinity: place?.cpus ?? affinity?.cpuAffinity ?? null,
      state: gpu.failure ?? { kind: "ok" },
      mig: { current: gpu.migCurrent ?? (instances.length > 0 ? "enabled" : null), pending: gpu.migPending },
      geometry: key ?? null,
      holder: null,
      instances,
      memory: { totalMiB: gpu.memoryTotalMiB, usedMiB: gpu.memoryUsedMiB },
      // Under MIG there is no utilisation of the whole; drivers were seen to print 0 all the same.
      utilisationPercent: isDivided ? null : gpu.utilisationPercent,
      memoryUtilisationPercent: isDivided ? null : gpu.memoryUtilisationPercent,
      power: { drawWatts: gpu.powerDrawWatts, limitWatts: gpu.powerLimitWatts },
      temperatureCelsius: gpu.temperatureCelsius,
      fanPercent: gpu.fanPercent,
      ecc: {
        enabled: gpu.eccEnabled,
        volatileUncorrected: gpu.volatileUncorrected,
        aggregateUncorrected: gpu.aggregateUncorrected,
      },
      memoryRepair: gpu.memoryRepair,
      xids: xidsOf(gpu, reading.xids),
      nvlinks: { active: gpu.nvlinkActive, total: gpu.nvlinkTotal },
      persistenceMode: gpu.persistenceMode,
      computeMode: gpu.computeMode,
      processes: (gpu.processes ?? []).map((process): GpuProcess => {
        const facts = reading.processes.get(process.pid);
        return {
          pid: process.pid,
          name: process.name ?? "",
          user: facts?.owner.user ?? null,
          gpuInstanceId: process.gpuInstanceId,
          computeInstanceId: process.computeInstanceId,
          usedMemoryMiB: process.usedMemoryMiB,
          kind: process.kind,
          startedAt: facts?.startedAt ?? null,
        };
      }),
    },
  };
}

function namelessPlacements(gpu: KnownGpu, placements: ReadOutputs["gpuInstancePlacements"]): Unread {
  return {
    source: "nvidia-smi mig -lgip",
    field: `gpus[${gpu.index}].geometry`,
    reason: "not read: nothing names the profiles whose placements are known",
    raw: placements
      .map((row) => `${row.profileId}: {${row.starts.join()}}:${row.size}`)
      .join(" ")
      .slice(0, 200),
  };
}

/** Nothing can be written to a GPU under such a name; it only tells two of them apart. */
function unknownUuid(gpu: KnownGpu): string {
  return `unknown:${gpu.pciBusId ?? gpu.index}`;
}

function xidsOf(gpu: KnownGpu, xids: readonly XidEvent[]): Gpu["xids"] {
  const device = gpu.pciBusId?.slice(0, -2);
  return xids
    .filter((event) => device !== undefined && event.pciBusId.slice(0, -2) === device)
    .slice(-keptXids)
    .map(({ code, at, text }) => ({ code, at, text }));
}

/** `topo -m` names devices that may since have been lost; links to GPUs that nobody knows are left out. */
function linksOf(outputs: ReadOutputs, gpus: readonly KnownGpu[]): readonly TopologyLink[] {
  const links = outputs.topology?.links ?? [];
  if (gpus.length === 0) return links;
  const names = new Set(gpus.map((gpu) => `GPU${gpu.index}`));
  const isKnown = (name: string) => !/^GPU\d+$/.test(name) || names.has(name);
  return links.filter((link) => isKnown(link.a) && isKnown(link.b));
}

/** From what a host says of itself to the layout that plans are made of. */
import { geometryFor, profileNamed } from "../mig/index.ts";
import type { Gpu, GpuInstance, Holder, HostInventory, TopologyLink } from "../protocol/inventory.ts";
import { type Allocation, type ClusterGpu, type ClusterHost, type ClusterLayout, layoutSchema } from "./types.ts";

/** A layout as it is written to a file. */
export interface LayoutFile extends ClusterLayout {
  readonly schema: typeof layoutSchema;
}

/** Held, and not said to be movable: the inventory knows who holds it, never whether that may be restarted. */
function heldBy(holder: Holder | null): Allocation {
  return {
    tenant: holder?.tenant ?? null,
    project: holder?.project ?? null,
    user: holder?.user ?? null,
    movable: false,
    cost: 1,
    endsAt: null,
    movableFrom: null,
    movableUntil: null,
    moveSeconds: null,
  };
}

/** A process whose GPU instance the driver does not name counts for all instances of its GPU. */
function isUsed(gpu: Gpu, instance: GpuInstance): boolean {
  if (instance.holder !== null) return true;
  return gpu.processes.some(({ gpuInstanceId }) => gpuInstanceId === null || gpuInstanceId === instance.id);
}

/** Whether every instance can be said with a profile and a start of our table. */
function isReadable(gpu: Gpu): boolean {
  const geometry = geometryFor({ name: gpu.name });
  if (geometry === null || gpu.state.kind !== "ok") return false;
  return gpu.instances.every(({ id, profile, placement }) => {
    const starts = profileNamed(geometry, profile)?.starts ?? [];
    return id >= 0 && starts.includes(placement.start);
  });
}

function clusterGpu(gpu: Gpu, nvlinkGroup: string | null): ClusterGpu {
  const { index, uuid, name: model } = gpu;
  const common = { index, uuid, model: model === "" ? "unknown" : model, nvlinkGroup };
  const isMig = gpu.mig.current === "enabled";
  // What cannot be read for certain is held as a whole: no plan then counts on it or touches it.
  if (gpu.state.kind !== "ok" || (isMig && !isReadable(gpu))) {
    return { ...common, mig: false, allocation: heldBy(null), instances: [] };
  }
  if (!isMig) {
    const isHeld = gpu.holder !== null || gpu.processes.length > 0;
    return { ...common, mig: false, allocation: isHeld ? heldBy(gpu.holder) : null, instances: [] };
  }
  const instances = gpu.instances.map((instance) => ({
    id: instance.id,
    profile: instance.profile,
    start: instance.placement.start,
    allocation: isUsed(gpu, instance) ? heldBy(instance.holder) : null,
  }));
  return { ...common, mig: true, allocation: null, instances };
}

/** By GPU of `topo -m` (`GPU0`): one word for all that reach each other over NVLink; a GPU without such links has none. */
function nvlinkGroups(links: readonly TopologyLink[]): ReadonlyMap<string, string> {
  const groups = new Map<string, string>();
  const isGpu = (name: string) => /^GPU\d+$/.test(name);
  for (const { a, b, kind } of links) {
    if (kind !== "NVLINK" || !isGpu(a) || !isGpu(b)) continue;
    const [one, other] = [groups.get(a) ?? a, groups.get(b) ?? b];
    groups.set(a, one).set(b, one);
    for (const [name, group] of groups) if (group === other) groups.set(name, one);
  }
  return groups;
}

function clusterHost({ host, gpus, links }: HostInventory, rack: string | null): ClusterHost {
  const groups = nvlinkGroups(links);
  return {
    name: host.name,
    rack,
    pool: null,
    gpus: gpus.map((gpu) => clusterGpu(gpu, groups.get(`GPU${gpu.index}`) ?? null)),
  };
}

/**
 * The layout of these hosts, as `tessera-host inventory --layout` and the console export it. Everything that is held stands as
 * not movable, at the cost 1: whether it may move is its owners' word. A GPU that failed, or whose instances could not be
 * read, stands as held as a whole. `takenAt` is the oldest reading.
 */
export function layoutFromInventories(
  hosts: readonly { readonly inventory: HostInventory; readonly rack: string | null }[],
): LayoutFile {
  const times = hosts.map(({ inventory }) => inventory.takenAt).toSorted((a, b) => Date.parse(a) - Date.parse(b));
  return {
    schema: layoutSchema,
    takenAt: times[0] ?? null,
    hosts: hosts.map(({ inventory, rack }) => clusterHost(inventory, rack)),
  };
}

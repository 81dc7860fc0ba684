/** What is known of one GPU, as edits and plans need it, out of the snapshot. */
import type { HostView } from "../../shared/api/snapshot.ts";
import { layoutOf, layoutVersion } from "../../shared/mig/layout.ts";
import type { GpuGeometry, Layout } from "../../shared/mig/types.ts";
import type { Gpu, GpuInstance, Holder } from "../../shared/protocol/inventory.ts";
import { useSnapshot } from "../stores/snapshot.ts";

export interface GpuFacts {
  readonly hostId: string;
  readonly hostName: string;
  readonly gpu: Gpu;
  readonly geometry: GpuGeometry;
  readonly current: Layout;
  /** `layoutVersion` of `current`. */
  readonly version: string;
  /** Somebody uses the GPU undivided: MIG cannot be turned on under them. */
  readonly heldWhole: boolean;
}

const factsByGpu = new WeakMap<Gpu, GpuFacts>();

/** Null where the GPU cannot be divided, or how is not known. */
export function factsOf(host: HostView, gpu: Gpu): GpuFacts | null {
  const ready = factsByGpu.get(gpu);
  if (ready !== undefined && ready.hostId === host.id && ready.hostName === host.name) return ready;
  const geometry = gpu.geometry === null ? undefined : host.inventory?.geometries[gpu.geometry];
  if (geometry === undefined || gpu.state.kind === "failed") return null;
  const current = layoutOf(gpu, geometry);
  const facts: GpuFacts = {
    hostId: host.id,
    hostName: host.name,
    gpu,
    geometry,
    current,
    version: layoutVersion(current),
    heldWhole: !current.migEnabled && (gpu.holder !== null || gpu.processes.length > 0),
  };
  factsByGpu.set(gpu, facts);
  return facts;
}

type Hosts = ReadonlyMap<string, HostView>;
interface Located {
  readonly host: HostView;
  readonly gpu: Gpu;
}

/** One pass over the cluster for each new snapshot, since the board asks for many GPUs in a frame. */
const indexes = new WeakMap<Hosts, ReadonlyMap<string, Located>>();

function indexOf(hosts: Hosts): ReadonlyMap<string, Located> {
  const ready = indexes.get(hosts);
  if (ready !== undefined) return ready;
  const index = new Map<string, Located>();
  for (const host of hosts.values()) {
    for (const gpu of host.inventory?.gpus ?? []) index.set(gpu.uuid, { host, gpu });
  }
  indexes.set(hosts, index);
  return index;
}

export function locate(gpuUuid: string, hosts: Hosts = useSnapshot.getState().hosts): Located | null {
  return indexOf(hosts).get(gpuUuid) ?? null;
}

export function factsFor(gpuUuid: string, hosts: Hosts = useSnapshot.getState().hosts): GpuFacts | null {
  const found = locate(gpuUuid, hosts);
  return found === null ? null : factsOf(found.host, found.gpu);
}

export function allFacts(hosts: Hosts = useSnapshot.getState().hosts): readonly GpuFacts[] {
  const all: GpuFacts[] = [];
  for (const { host, gpu } of indexOf(hosts).values()) {
    const facts = factsOf(host, gpu);
    if (facts !== null) all.push(facts);
  }
  return all;
}

export function instanceOf(gpu: Gpu, start: number): GpuInstance | null {
  return gpu.instances.find((instance) => instance.placement.start === start) ?? null;
}

/** `nlp / chat / li.wei`: what is known of the holder, the widest first; null where nothing is. */
export function holderName(holder: Holder | null, depth: 1 | 2 | 3 = 3): string | null {
  if (holder === null) return null;
  const parts = [holder.tenant, holder.project, holder.user].filter((part) => part !== null);
  // A user alone is better than nothing where no tenant is known.
  const named = parts.slice(0, Math.max(depth, holder.tenant === null ? 3 : 0));
  return named.length === 0 ? null : named.join(" / ");
}

/** Who uses an instance: its holder, else the users of the processes in it; null where nobody is known to. */
export function usersOf(gpu: Gpu, instance: GpuInstance): string | null {
  const named = holderName(instance.holder, 2);
  if (named !== null) return named;
  const users = new Set(
    gpu.processes.filter((process) => process.gpuInstanceId === instance.id).map((process) => process.user),
  );
  const known = [...users].filter((user) => user !== null);
  return known.length === 0 ? null : known.join(", ");
}

export function isInUse(gpu: Gpu, instance: GpuInstance): boolean {
  return instance.holder !== null || gpu.processes.some((process) => process.gpuInstanceId === instance.id);
}

/** Who holds an instance or a whole GPU. Processes say it everywhere; a scheduler or leases say it better where there are any. */
import type { Gpu, GpuProcess, Holder, HostFacts } from "../../../../shared/protocol/inventory.ts";
import type { ProcessFacts } from "./processes.ts";

export interface HolderClaim {
  readonly gpuUuid: string;
  /** Null: the whole GPU. */
  readonly gpuInstanceId: number | null;
  readonly holder: Holder;
}

export interface HolderContext {
  readonly gpus: readonly Gpu[];
  /** By process number; absent where `/proc` does not tell. */
  readonly processes: ReadonlyMap<number, ProcessFacts>;
  /** N of `/dev/nvidiaN` by UUID; absent where the driver does not tell. */
  readonly minorNumbers: ReadonlyMap<string, number>;
  /** Programs at work on the host; empty in the first reading of a watch. */
  readonly managers: HostFacts["managers"];
}

/** One way to know holders. Of several, a later one overrides an earlier one where both claim the same thing. */
export interface HolderSource {
  claims(context: HolderContext): Promise<readonly HolderClaim[]>;
}

/** Whoever runs something there holds it. */
export const processHolders: HolderSource = {
  async claims({ gpus, processes }) {
    return gpus.flatMap((gpu) => {
      // What a desktop draws is no use of the GPU by a tenant.
      const running = gpu.processes.filter((process) => process.kind !== "graphics");
      if (gpu.mig.current !== "enabled") return claim(gpu.uuid, null, running, processes);
      const instanceIds = new Set(running.map((process) => process.gpuInstanceId).filter((id) => id !== null));
      return [...instanceIds].flatMap((id) =>
        claim(
          gpu.uuid,
          id,
          running.filter((process) => process.gpuInstanceId === id),
          processes,
        ),
      );
    });
  },
};

function claim(
  gpuUuid: string,
  gpuInstanceId: number | null,
  running: readonly GpuProcess[],
  processes: ReadonlyMap<number, ProcessFacts>,
): readonly HolderClaim[] {
  if (running.length === 0) return [];
  const owners = running.map((process) => processes.get(process.pid)?.owner);
  const starts = running.map((process) => process.startedAt).filter((at) => at !== null);
  const tenants = owners.map((owner) => (owner === undefined || owner.uid === 0 ? null : owner.group));
  const projects = owners.map((owner) => (owner === undefined ? null : projectOf(owner.group, owner.groups)));
  return [
    {
      gpuUuid,
      gpuInstanceId,
      holder: {
        tenant: shared(tenants),
        project: shared(projects),
        user: shared(owners.map((owner) => owner?.user ?? null)),
        by: "process",
        allocation: null,
        since: starts.length < running.length ? null : (starts.sort()[0] ?? null),
      },
    },
  ];
}

/** The project is the one supplementary group that is called `<tenant>-<project>`; two of them say nothing. */
function projectOf(tenant: string | null, groups: readonly string[]): string | null {
  if (tenant === null) return null;
  const projects = groups.filter((group) => group.startsWith(`${tenant}-`) && group.length > tenant.length + 1);
  return projects.length === 1 ? (projects[0]?.slice(tenant.length + 1) ?? null) : null;
}

/** What all agree on; null where they do not. */
function shared(values: readonly (string | null)[]): string | null {
  const [first = null, ...rest] = values;
  return rest.every((value) => value === first) ? first : null;
}

/** The GPUs with their holders filled in. */
export async function withHolders(context: HolderContext, sources: readonly HolderSource[]): Promise<readonly Gpu[]> {
  const claims = new Map<string, Holder>();
  for (const source of sources) {
    for (const { gpuUuid, gpuInstanceId, holder } of await source.claims(context)) {
      claims.set(`${gpuUuid}/${gpuInstanceId ?? ""}`, holder);
    }
  }
  return context.gpus.map((gpu) => ({
    ...gpu,
    holder: claims.get(`${gpu.uuid}/`) ?? null,
    instances: gpu.instances.map((instance) => ({
      ...instance,
      holder: claims.get(`${gpu.uuid}/${instance.id}`) ?? null,
    })),
  }));
}

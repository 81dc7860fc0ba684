/** Which GPU types a limit can be set for: those that limits and work name already, and those of the inventory. Pure. */
import type { QuotaAnswer } from "../../shared/protocol/control.ts";
import { gpuTypeOf, isGpuTypeName } from "../../shared/quota/index.ts";

/** Of a host, what can be told from its GPUs' models. */
export interface HostModels {
  readonly inventory: {
    readonly gpus: readonly { readonly name: string; readonly geometry: string | null }[];
    readonly geometries: Readonly<Record<string, { readonly profiles: readonly { readonly name: string }[] }>>;
  } | null;
}

export function namedTypes(answer: QuotaAnswer): ReadonlySet<string> {
  const named = answer.nodes.flatMap(({ limits }) => Object.keys(limits.gpuTypes ?? {}));
  return new Set([...named, ...answer.allocations.flatMap(({ gpuTypes }) => Object.keys(gpuTypes))]);
}

/** Every model, whole and in each of its profiles, as work is counted (`h100`, `h100/3g.40gb`). */
export function inventoryTypes(hosts: Iterable<HostModels>): ReadonlySet<string> {
  const types = new Set<string>();
  for (const { inventory } of hosts) {
    for (const { name, geometry } of inventory?.gpus ?? []) {
      types.add(gpuTypeOf(name, null));
      const profiles = geometry === null ? [] : (inventory?.geometries[geometry]?.profiles ?? []);
      for (const profile of profiles) types.add(gpuTypeOf(name, profile.name));
    }
  }
  return types;
}

/** In the order of their names; what can be no name of a type is left out. */
export function choosableTypes(named: ReadonlySet<string>, inventory: ReadonlySet<string>): readonly string[] {
  return [...new Set([...named, ...inventory])]
    .filter(isGpuTypeName)
    .toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }));
}

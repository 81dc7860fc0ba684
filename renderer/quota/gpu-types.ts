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

const namedIn = new WeakMap<QuotaAnswer, ReadonlySet<string>>();

/** Found once for an answer: the panel asks anew for each row. */
export function namedTypes(answer: QuotaAnswer): ReadonlySet<string> {
  const known = namedIn.get(answer);
  if (known !== undefined) return known;
  const named = new Set<string>();
  for (const { limits } of answer.nodes) for (const type in limits.gpuTypes) named.add(type);
  for (const { gpuTypes } of answer.allocations) for (const type in gpuTypes) named.add(type);
  namedIn.set(answer, named);
  return named;
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

const byName = new Intl.Collator("en", { numeric: true });

/** In the order of their names; what can be no name of a type is left out. */
export function choosableTypes(named: ReadonlySet<string>, inventory: ReadonlySet<string>): readonly string[] {
  return [...new Set([...named, ...inventory])].filter(isGpuTypeName).toSorted(byName.compare);
}

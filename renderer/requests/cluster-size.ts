/** What the cluster has in all, to say of an amount that it could never fit. Pure. */
import type { HostView } from "../../shared/api/snapshot.ts";
import {
  add,
  amountsOf,
  compare,
  type Fraction,
  fraction,
  type Limits,
  type QuotaTree,
  type Resource,
} from "../../shared/quota/index.ts";

export type ClusterSize = ReadonlyMap<Resource, Fraction>;

/** Only what every host has told: of a part of the cluster nothing can be said about the whole. Memory in whole GiB. */
export function clusterSize(hosts: Iterable<HostView>): ClusterSize {
  const sums = new Map<Resource, number | null>();
  const count = (resource: Resource, value: number | null) => {
    const sum = sums.has(resource) ? (sums.get(resource) ?? null) : 0;
    sums.set(resource, sum === null || value === null ? null : sum + value);
  };
  for (const { inventory } of hosts) {
    count("cards", inventory === null ? null : inventory.gpus.length);
    count("cpuCores", inventory?.host.cpuCount ?? null);
    count("memoryGiB", gib(inventory?.host.memoryMiB ?? null));
    const memories = inventory?.gpus.map(({ memory }) => gib(memory.totalMiB)) ?? [null];
    for (const memory of memories) count("gpuMemoryGiB", memory);
  }
  return new Map([...sums].flatMap(([resource, sum]) => (sum === null ? [] : [[resource, fraction(sum)] as const])));
}

const gib = (mib: number | null): number | null => (mib === null ? null : Math.ceil(mib / 1024));

/** A limit that a raise would lead to, above all that the cluster has. */
export interface BeyondCluster {
  readonly resource: Resource;
  readonly limit: Fraction;
  readonly has: Fraction;
}

export function beyondCluster(
  size: ClusterSize,
  tree: QuotaTree,
  subject: string,
  raise: Limits,
): readonly BeyondCluster[] {
  const own = tree.limits[tree.positions.get(subject) ?? -1];
  return amountsOf(raise).flatMap(([resource, amount]) => {
    const [standing, has] = [own?.get(resource), size.get(resource)];
    if (standing === undefined || has === undefined) return [];
    const limit = add(standing, amount);
    return compare(limit, has) > 0 ? [{ resource, limit, has }] : [];
  });
}

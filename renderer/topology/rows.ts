/** The cluster as rows: one for each instance, and one for each GPU that is not divided. */
import type { HostView } from "../../shared/api/snapshot.ts";
import type { Holder } from "../../shared/protocol/inventory.ts";
import type { CsvValue } from "./csv.ts";
import type { Query } from "./query.ts";
import { matchesOf } from "./search.ts";

export interface TableRow {
  readonly key: string;
  readonly hostId: string;
  readonly gpuUuid: string | null;
  readonly gpuInstanceId: number | null;
  readonly state: HostView["state"]["kind"];
  readonly values: Readonly<Record<ColumnId, CsvValue>>;
}

export const columnIds = [
  "host",
  "rack",
  "state",
  "gpu",
  "model",
  "profile",
  "start",
  "tenant",
  "project",
  "user",
  "job",
  "use",
  "memoryUsed",
  "memoryTotal",
  "temperature",
  "power",
  "uuid",
] as const;
export type ColumnId = (typeof columnIds)[number];

function held(holder: Holder | null) {
  return {
    tenant: holder?.tenant ?? null,
    project: holder?.project ?? null,
    user: holder?.user ?? null,
    job: holder?.allocation ?? null,
  };
}

export function rowsOf(hosts: Iterable<HostView>, query: Query | null): readonly TableRow[] {
  const rows: TableRow[] = [];
  for (const host of hosts) {
    const matches = query === null ? null : matchesOf(host, query);
    if (matches !== null && !matches.any) continue;
    const common = { host: host.name, rack: host.rack, state: host.state.kind };
    const gpus = host.inventory?.gpus ?? [];
    if (gpus.length === 0) {
      const nothing = Object.fromEntries(columnIds.map((id) => [id, null])) as Record<ColumnId, null>;
      rows.push({
        key: host.id,
        hostId: host.id,
        gpuUuid: null,
        gpuInstanceId: null,
        state: host.state.kind,
        values: { ...nothing, ...common },
      });
    }
    for (const [at, gpu] of gpus.entries()) {
      const match = matches?.gpus[at];
      if (match !== undefined && !match.any) continue;
      const card = {
        ...common,
        gpu: gpu.index,
        model: gpu.name,
        // A card's power and temperature are not its slices': they stand on every row and are never divided.
        temperature: gpu.temperatureCelsius,
        power: gpu.power.drawWatts,
      };
      if (gpu.instances.length === 0) {
        rows.push({
          key: gpu.uuid,
          hostId: host.id,
          gpuUuid: gpu.uuid,
          gpuInstanceId: null,
          state: host.state.kind,
          values: {
            ...card,
            ...held(gpu.holder),
            profile: null,
            start: null,
            use: gpu.utilisationPercent,
            memoryUsed: gpu.memory.usedMiB,
            memoryTotal: gpu.memory.totalMiB,
            uuid: gpu.uuid,
          },
        });
      }
      for (const [order, instance] of gpu.instances.entries()) {
        if (match !== undefined && !match.self && match.instances[order] !== true) continue;
        rows.push({
          key: `${gpu.uuid} ${instance.id}`,
          hostId: host.id,
          gpuUuid: gpu.uuid,
          gpuInstanceId: instance.id,
          state: host.state.kind,
          values: {
            ...card,
            ...held(instance.holder),
            profile: instance.profile,
            start: instance.placement.start,
            use: instance.utilisationPercent,
            memoryUsed: instance.memory.usedMiB,
            memoryTotal: instance.memory.totalMiB,
            uuid: instance.computeInstances[0]?.uuid ?? gpu.uuid,
          },
        });
      }
    }
  }
  return rows;
}

export interface Sort {
  readonly column: ColumnId;
  readonly ascending: boolean;
}

const natural = new Intl.Collator("en", { numeric: true });

/** Unknown values come last, whichever way it is sorted; equal ones stay in the operator's order. */
export function sorted(rows: readonly TableRow[], sort: Sort | null): readonly TableRow[] {
  if (sort === null) return rows;
  const { column, ascending } = sort;
  const sign = ascending ? 1 : -1;
  return [...rows].sort((left, right) => {
    const a = left.values[column];
    const b = right.values[column];
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    if (typeof a === "number" && typeof b === "number") return sign * (a - b);
    return sign * natural.compare(String(a), String(b));
  });
}

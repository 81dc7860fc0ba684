/** Finds hosts, GPUs and instances by everything that they are called. */
import type { HostView } from "../../shared/api/snapshot.ts";
import type { Gpu, GpuInstance, Holder } from "../../shared/protocol/inventory.ts";
import type { Field, Query, Term } from "./query.ts";

type Names = Readonly<Partial<Record<Field, string>>>;

function lower(...parts: readonly (string | null | undefined)[]): string {
  return parts
    .filter((part) => part !== null && part !== undefined)
    .join("\n")
    .toLowerCase();
}

function hostNames(host: HostView): Names {
  return { host: lower(host.name, host.id), rack: lower(host.rack), state: host.state.kind };
}

function holderNames(holder: Holder | null): Names {
  if (holder === null) return {};
  return {
    tenant: lower(holder.tenant),
    project: lower(holder.project),
    user: lower(holder.user),
    job: lower(holder.allocation),
  };
}

function gpuNames(gpu: Gpu): Names {
  return {
    gpu: lower(gpu.uuid, gpu.pciBusId, `gpu ${gpu.index}`),
    model: lower(gpu.name),
    ...holderNames(gpu.holder),
    process: lower(...gpu.processes.filter(({ gpuInstanceId }) => gpuInstanceId === null).map(processName)),
  };
}

function processName(process: Gpu["processes"][number]): string {
  return `${process.name} ${process.user ?? ""} ${process.pid}`;
}

function instanceNames(gpu: Gpu, instance: GpuInstance): Names {
  return {
    profile: lower(instance.profile),
    gpu: lower(...instance.computeInstances.map(({ uuid }) => uuid)),
    ...holderNames(instance.holder),
    process: lower(...gpu.processes.filter(({ gpuInstanceId }) => gpuInstanceId === instance.id).map(processName)),
  };
}

function occurs(term: Term, names: Names): boolean {
  if (term.field !== null) return names[term.field]?.includes(term.word) === true;
  for (const value of Object.values(names)) if (value.includes(term.word)) return true;
  return false;
}

/** The names of one host and everything in it, lowered once per inventory. */
interface Index {
  readonly host: Names;
  readonly gpus: readonly { readonly names: Names; readonly instances: readonly Names[] }[];
}

const indexes = new WeakMap<HostView, Index>();

function indexOf(host: HostView): Index {
  const known = indexes.get(host);
  if (known !== undefined) return known;
  const made: Index = {
    host: hostNames(host),
    gpus: (host.inventory?.gpus ?? []).map((gpu) => ({
      names: gpuNames(gpu),
      instances: gpu.instances.map((instance) => instanceNames(gpu, instance)),
    })),
  };
  indexes.set(host, made);
  return made;
}

export interface HostMatches {
  /** The words are all met by the host itself. */
  readonly whole: boolean;
  /** Any part of it. */
  readonly any: boolean;
  readonly gpus: readonly { readonly self: boolean; readonly any: boolean; readonly instances: readonly boolean[] }[];
}

/** A thing matches when every word occurs in it or in what contains it: `gpu-07 nlp` is what nlp holds on gpu-07. */
export function matchesOf(host: HostView, query: Query): HostMatches {
  const index = indexOf(host);
  const left = query.filter((term) => !occurs(term, index.host));
  if (left.length === 0) {
    return {
      whole: true,
      any: true,
      gpus: index.gpus.map(({ instances }) => ({ self: true, any: true, instances: instances.map(() => true) })),
    };
  }
  let any = false;
  const gpus = index.gpus.map((gpu) => {
    const rest = left.filter((term) => !occurs(term, gpu.names));
    const self = rest.length === 0;
    const instances = gpu.instances.map((names) => rest.every((term) => occurs(term, names)));
    const some = self || instances.includes(true);
    any ||= some;
    return { self, any: some, instances };
  });
  return { whole: false, any, gpus };
}

export type FoundKind = "host" | "tenant" | "project" | "user" | "job" | "gpu";

/** One line under the find field. */
export interface Found {
  readonly kind: FoundKind;
  readonly text: string;
  /** Where it is first met. */
  readonly hostId: string;
  readonly gpuUuid: string | null;
  readonly gpuInstanceId: number | null;
  /** How many hosts, GPUs or instances it has; 1 for a host or GPU. */
  readonly count: number;
}

/** What the text could mean, the closest first; at most `limit` lines. */
export function find(hosts: Iterable<HostView>, text: string, limit: number): readonly Found[] {
  const word = text
    .trim()
    .toLowerCase()
    .replace(/^[a-z]+:/, "")
    .replaceAll('"', "");
  if (word === "") return [];
  const found = new Map<string, { entry: Omit<Found, "count">; count: number; rank: number }>();
  const offer = (
    kind: FoundKind,
    name: string | null,
    hostId: string,
    gpuUuid: string | null,
    instance: number | null,
  ) => {
    if (name === null) return;
    const at = name.toLowerCase().indexOf(word);
    if (at < 0) return;
    const key = `${kind}\n${name}`;
    const known = found.get(key);
    if (known !== undefined) {
      known.count += 1;
      return;
    }
    const rank = (at === 0 ? 0 : 2) + (name.length === word.length ? 0 : 1);
    found.set(key, { entry: { kind, text: name, hostId, gpuUuid, gpuInstanceId: instance }, count: 1, rank });
  };
  for (const host of hosts) {
    offer("host", host.name, host.id, null, null);
    for (const gpu of host.inventory?.gpus ?? []) {
      offer("gpu", gpu.uuid, host.id, gpu.uuid, null);
      for (const { holder, id } of [{ holder: gpu.holder, id: null }, ...gpu.instances]) {
        if (holder === null) continue;
        offer("tenant", holder.tenant, host.id, gpu.uuid, id);
        offer("project", holder.project, host.id, gpu.uuid, id);
        offer("user", holder.user, host.id, gpu.uuid, id);
        offer("job", holder.allocation, host.id, gpu.uuid, id);
      }
    }
  }
  const order: readonly FoundKind[] = ["host", "tenant", "project", "user", "job", "gpu"];
  const natural = new Intl.Collator("en", { numeric: true });
  return [...found.values()]
    .sort(
      (a, b) =>
        a.rank - b.rank ||
        order.indexOf(a.entry.kind) - order.indexOf(b.entry.kind) ||
        natural.compare(a.entry.text, b.entry.text),
    )
    .slice(0, limit)
    .map(({ entry, count }) => ({ ...entry, count }));
}

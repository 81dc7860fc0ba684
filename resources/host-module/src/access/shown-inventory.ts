/**
 * A host's inventory as a caller may see it: tenants by the names that they have in the ledger, and for leads and members
 * nothing of anybody else but that a slice is occupied.
 */
import type { Gpu, GpuInstance, Holder, HostInventory } from "../../../../shared/protocol/inventory.ts";
import type { System } from "../system.ts";
import type { Access } from "./access.ts";
import { accessHere, hasLedger, hasRoles } from "./here.ts";

/** The projects of a person, with their tenants' names. */
interface Place {
  readonly tenantId: string;
  readonly tenant: string;
  readonly projectId: string;
  readonly project: string;
}

interface Sight {
  readonly access: Access;
  /** By user name. */
  readonly places: ReadonlyMap<string, readonly Place[]>;
  /** The caller's own user name; null for somebody in no project. */
  readonly own: string | null;
  /** User names whose work the caller may see, wherever it belongs to. */
  readonly seen: ReadonlySet<string>;
}

const occupied: Holder = { tenant: null, project: null, user: null, by: "process", allocation: null, since: null };

/** The inventory for this caller, by the roles as they are now. Unchanged on a host without roles. Throws AppError. */
export async function shownInventory(system: System, inventory: HostInventory): Promise<HostInventory> {
  if (!(await hasRoles(system))) return inventory;
  const access = await accessHere(system);
  const sight = sightOf(access, await usersOf(system, access));
  const leased = hasLedger(system) ? await withLeases(system, inventory) : inventory;
  return cutInventory(leased, sight);
}

async function withLeases(system: System, inventory: HostInventory): Promise<HostInventory> {
  const [{ ledgerOf }, { holdersByLease }] = await Promise.all([
    import("../control/context.ts"),
    import("../control/lease-holders.ts"),
  ]);
  return holdersByLease(ledgerOf(system), inventory, system.now());
}

/** The names of everybody in the organisation, by uid; asked for once while nobody comes or goes. */
const known = new WeakMap<System, { readonly key: string; readonly users: ReadonlyMap<number, string> }>();

async function usersOf(system: System, { roles }: Access): Promise<ReadonlyMap<number, string>> {
  const uids = new Set((roles?.tenants ?? []).flatMap(({ projects }) => projects.flatMap(({ members }) => members)));
  const key = `${roles?.revision ?? 0}:${uids.size}`;
  const before = known.get(system);
  if (before?.key === key) return before.users;
  const result = await system.run(["getent", "passwd", ...[...uids].map(String)], { timeoutMs: 15_000 });
  const users = new Map<number, string>();
  for (const line of new TextDecoder().decode(result.stdout).split("\n")) {
    const [user = "", , uid = ""] = line.split(":");
    if (user !== "" && uids.has(Number(uid))) users.set(Number(uid), user);
  }
  known.set(system, { key, users });
  return users;
}

function sightOf(access: Access, users: ReadonlyMap<number, string>): Sight {
  const places = new Map<string, Place[]>();
  const others = new Set<string>();
  const own = users.get(access.uid);
  for (const tenant of access.roles?.tenants ?? []) {
    for (const project of tenant.projects) {
      const shown = access.administrator || access.leads.has(tenant.id) || access.projects.has(project.id);
      for (const uid of project.members) {
        const user = users.get(uid);
        if (user === undefined) continue;
        const place = {
          tenantId: tenant.id,
          tenant: tenant.displayName,
          projectId: project.id,
          project: project.displayName,
        };
        places.set(user, [...(places.get(user) ?? []), place]);
        if (!shown) others.add(user);
      }
    }
  }
  // A process tells its user only: of somebody who also works where the caller may not look, none is shown.
  const seen = [...places.keys()].filter((user) => user === own || !others.has(user));
  return { access, places, own: own ?? null, seen: new Set(seen) };
}

/** Pure: names of the ledger for holders, and everything of others cut where the caller does not administer. */
export function cutInventory(inventory: HostInventory, sight: Sight): HostInventory {
  const gpus = inventory.gpus.map((gpu) => shownGpu(gpu, sight));
  if (sight.access.administrator) return { ...inventory, gpus };
  // Raw texts may quote anybody's processes.
  return { ...inventory, gpus, unread: inventory.unread.map((entry) => ({ ...entry, raw: "" })) };
}

function shownGpu(gpu: Gpu, sight: Sight): Gpu {
  const holder = shownHolder(gpu.holder, sight);
  const instances = gpu.instances.map((instance) => shownInstance(instance, sight));
  if (sight.access.administrator) return { ...gpu, holder, instances };
  const others = { ...gpu, holder, instances, processes: shownProcesses(gpu, sight), xids: [] };
  if (holder !== occupied) return others;
  return {
    ...others,
    memory: { ...gpu.memory, usedMiB: null },
    utilisationPercent: null,
    memoryUtilisationPercent: null,
  };
}

function shownInstance(instance: GpuInstance, sight: Sight): GpuInstance {
  const holder = shownHolder(instance.holder, sight);
  if (holder !== occupied) return { ...instance, holder };
  return { ...instance, holder, memory: { ...instance.memory, usedMiB: null }, utilisationPercent: null };
}

function shownProcesses(gpu: Gpu, { seen }: Sight): Gpu["processes"] {
  return gpu.processes.filter(({ user }) => user !== null && seen.has(user));
}

function shownHolder(holder: Holder | null, sight: Sight): Holder | null {
  if (holder === null) return null;
  if (holder.by === "job") return shownJob(holder, sight);
  const named = holder.by === "process" ? namedHolder(holder, sight) : holder;
  if (sight.access.administrator) return named;
  const mine = named.by === "process" ? sight.seen.has(named.user ?? "") : isInSight(named, sight);
  return mine ? named : occupied;
}

/** A job says its account, which is the project's id where it is one of ours. */
function shownJob(holder: Holder, { access, own }: Sight): Holder {
  for (const tenant of access.roles?.tenants ?? []) {
    const project = tenant.projects.find(({ id }) => id === holder.project);
    if (project === undefined) continue;
    const isShown = access.administrator || access.leads.has(tenant.id) || access.projects.has(project.id);
    return isShown ? { ...holder, tenant: tenant.displayName, project: project.displayName } : occupied;
  }
  const isMine = own !== null && holder.user === own;
  return access.administrator || isMine ? holder : occupied;
}

/** A lease says for which project. */
function isInSight(holder: Holder, { places, access }: Sight): boolean {
  const fitting = (places.get(holder.user ?? "") ?? []).filter(
    (place) =>
      (holder.tenant === null || holder.tenant === place.tenant) &&
      (holder.project === null || holder.project === place.project),
  );
  return (
    fitting.length > 0 &&
    fitting.every(({ tenantId, projectId }) => access.leads.has(tenantId) || access.projects.has(projectId))
  );
}

/** A process tells its user; tenant and project where the user has only one. */
function namedHolder(holder: Holder, { places }: Sight): Holder {
  const all = holder.user === null ? [] : (places.get(holder.user) ?? []);
  const [first] = all;
  if (first === undefined) return holder;
  const sameTenant = all.every(({ tenantId }) => tenantId === first.tenantId);
  return {
    ...holder,
    tenant: sameTenant ? first.tenant : null,
    project: all.length === 1 ? first.project : null,
  };
}

/** Who holds what by a lease: it says more than processes do, and also where nothing runs. */
import type { Holder, HostInventory } from "../../../../shared/protocol/inventory.ts";
import { activeLeases } from "../engine/local/leases.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { people, projects, tenants } from "../ledger/organisation.ts";

/** The inventory with the holders that leases name; unchanged where there are none. */
export function holdersByLease(ledger: Ledger, inventory: HostInventory, at: Date): HostInventory {
  return ledger.read((reader) => {
    const active = activeLeases(reader, at);
    if (active.length === 0) return inventory;
    const holders = new Map(
      active.map((lease): [string, Holder] => [
        `${lease.gpuUuid}/${lease.gpuInstanceId ?? ""}`,
        {
          tenant: nameOf(reader.find(tenants, { id: lease.tenantId ?? "" }), lease.tenantId),
          project: nameOf(reader.find(projects, { id: lease.projectId ?? "" }), lease.projectId),
          user: lease.uid === null ? null : (reader.find(people, { uid: lease.uid })?.user ?? null),
          by: "lease",
          allocation: lease.id,
          since: lease.takenAt,
        },
      ]),
    );
    return {
      ...inventory,
      gpus: inventory.gpus.map((gpu) => ({
        ...gpu,
        holder: holders.get(`${gpu.uuid}/`) ?? gpu.holder,
        instances: gpu.instances.map((instance) => ({
          ...instance,
          holder: holders.get(`${gpu.uuid}/${instance.id}`) ?? instance.holder,
        })),
      })),
    };
  });
}

function nameOf(found: { readonly displayName: string } | null, id: string | null): string | null {
  return found?.displayName ?? id;
}

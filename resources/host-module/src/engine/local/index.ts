/** The embedded engine of a single machine: leases in the ledger, and nothing outside of it. */
import { AppError } from "../../../../../shared/errors.ts";
import type { AllocationView, Enforcement } from "../../../../../shared/protocol/control.ts";
import { zero } from "../../../../../shared/quota/index.ts";
import { actorOf } from "../../audit/row.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { System } from "../../system.ts";
import type { Engine } from "../engine.ts";
import { activeLeases, type Lease, leaseUsage, releaseLease } from "./leases.ts";

/** CPU cores and RAM are the operating system's to share out: a lease does not say what its processes use of them. */
const enforcement: readonly Enforcement[] = [
  ...["cards", "gpuMemoryGiB", "cardHours", "gpuTypes"].map((resource) => ({ resource, enforced: true, why: "" })),
  ...["cpuCores", "memoryGiB"].map((resource) => ({
    resource,
    enforced: false,
    why: "The embedded engine leases GPUs and instances; CPU and RAM are not limited by it.",
  })),
];

export async function localEngine(ledger: Ledger, system: System): Promise<Engine> {
  return {
    kind: "local",
    status: async () => ({ kind: "local", version: null, enforcement, findings: [] }),
    // What it knows is the ledger's: there is nothing beside it that could differ.
    state: async () => ({ subjects: new Map(), unread: [] }),
    usage: async () => ledger.read((reader) => leaseUsage(reader, system.now())),
    commands: () => [],
    apply: async (changes, { progress }) => {
      progress?.(changes.length);
      return changes.map(() => ({ outcome: "unchanged" }));
    },
    allocations: async (people) => {
      const users = new Map(people.map(({ uid, user }) => [uid, user]));
      return activeLeases(ledger, system.now()).map((lease) =>
        allocationOf(lease, users.get(lease.uid) ?? null, system.hostName),
      );
    },
    cancel: async (ids) => {
      ledger.change({ actor: actorOf(system), role: "host", command: "lease.release" }, (change) => {
        for (const id of ids) releaseLease(change, id, system.now());
      });
    },
    explain: async (allocationId) => {
      throw new AppError({
        code: "not-found",
        message: `${allocationId} does not wait: a lease is taken at once, or refused with the limit that forbids it.`,
        remedy: "",
      });
    },
    transactions: async () => [],
  };
}

function allocationOf(lease: Lease, user: string | null, host: string): AllocationView {
  const { cards, gpuMemoryGiB, cpuCores, memoryGiB, gpuTypes } = lease.amounts;
  return {
    ...{ id: lease.id, kind: "lease", subject: lease.subject, user, name: lease.name, state: "running" },
    cards: cards ?? zero,
    gpuMemoryGiB: gpuMemoryGiB ?? zero,
    cpuCores: cpuCores ?? zero,
    memoryGiB: memoryGiB ?? zero,
    gpuTypes: Object.fromEntries(Object.entries(gpuTypes ?? {}).map(([type, count]) => [type, count.numerator])),
    ...{ startedAt: lease.takenAt, endsAt: lease.until, hosts: host, reason: null },
  };
}

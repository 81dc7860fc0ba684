/** Leases of a single machine: what each caller sees of them, taking one and giving it back. */
import { AppError } from "../../../../shared/errors.ts";
import type { HostInput } from "../../../../shared/protocol/contract.ts";
import type { LeaseView } from "../../../../shared/protocol/control.ts";
import type { Gpu, HostInventory } from "../../../../shared/protocol/inventory.ts";
import {
  type CardShareRule,
  cardShareOf,
  fraction,
  gpuTypeOf,
  type Limits,
  one,
  type Usage,
  wholeCardShare,
} from "../../../../shared/quota/index.ts";
import { type Access, leadsSubject } from "../access/access.ts";
import {
  activeLeases,
  releaseLease as giveBack,
  isSamePlace,
  type Lease,
  takeLease as take,
} from "../engine/local/leases.ts";
import { periodsIn } from "../engine/quota-tree.ts";
import { InventoryReader } from "../inventory/read.ts";
import type { Act } from "../ledger/change.ts";
import { leases } from "../ledger/leases.ts";
import type { System } from "../system.ts";
import { actingOn, engineKindOf, engineOf, enginePeople, ledgerOf } from "./context.ts";
import { namesOf } from "./organisation.ts";
import { shareRuleOf, unknownSubject } from "./quota.ts";
import { refuseBesideOthers } from "./running-programs.ts";
import { mayReadSubject } from "./sight.ts";

const mebibytesPerGibibyte = 1_024;

export function listLeases(system: System, access: Access): readonly LeaseView[] {
  const ledger = ledgerOf(system);
  const names = namesOf(ledger);
  return activeLeases(ledger, system.now())
    .filter(({ subject }) => mayReadSubject(access, subject))
    .map((lease) => viewOf(lease, lease.uid === null ? null : names(lease.uid).user));
}

function viewOf(lease: Lease, user: string | null): LeaseView {
  const { id, subject, gpuUuid, gpuInstanceId, takenAt, until, version } = lease;
  return { id, subject, user, gpuUuid, gpuInstanceId, takenAt, until, version };
}

/**
 * Takes an instance or a whole GPU for the caller. Throws AppError with the limit that forbids it, and `in-use` where it is
 * leased or somebody else's program runs on it now.
 */
export async function takeLease(system: System, access: Access, input: HostInput<"lease.take">): Promise<LeaseView> {
  const ledger = ledgerOf(system);
  if (engineKindOf(ledger) !== "local") {
    throw new AppError({
      code: "bad-request",
      message: "Slurm hands out the GPUs of this cluster: there are no leases.",
      remedy: "Submit a job.",
    });
  }
  const { projectId, gpuUuid, gpuInstanceId } = input;
  const inventory = await new InventoryReader(system).read();
  const amounts = amountsOf(inventory, gpuUuid, gpuInstanceId, shareRuleOf(ledger));
  // Programs on a leased place are its holder's; that it is leased is said by `take`.
  if (!activeLeases(ledger, system.now()).some((lease) => isSamePlace(lease, input))) {
    const person = { user: system.caller.user, administrator: access.administrator };
    refuseBesideOthers(inventory, input, person, input.besidePrograms === true);
  }
  const act: Act = { ...actingOn(system, access, projectId), command: "lease.take" };
  const until = input.until === undefined ? null : new Date(input.until);
  const wish = { projectId, uid: access.uid, gpuUuid, gpuInstanceId, amounts, until };
  const sees = (subject: string): boolean => mayReadSubject(access, subject);
  const used = await usedOnSimulatedHosts(system);
  return viewOf(take(ledger, act, wish, system.now(), sees, used), system.caller.user);
}

/** Work of simulated hosts is in use without a lease, and counts all the same; null everywhere else. */
async function usedOnSimulatedHosts(system: System): Promise<ReadonlyMap<string, Usage> | null> {
  if (system.engine === undefined) return null;
  const ledger = ledgerOf(system);
  return (await engineOf(system)).usage(enginePeople(ledger), periodsIn(ledger));
}

/** What it counts for. Throws AppError `not-found` where there is no such GPU or instance now. */
function amountsOf(
  inventory: HostInventory,
  gpuUuid: string,
  gpuInstanceId: number | null,
  rule: CardShareRule,
): Omit<Limits, "cardHours"> {
  const gpu = inventory.gpus.find(({ uuid }) => uuid === gpuUuid);
  if (gpu === undefined) throw new AppError(notHere(gpuUuid));
  const geometry = gpu.geometry === null ? undefined : inventory.geometries[gpu.geometry];
  if (gpuInstanceId === null) return wholeGpu(gpu, rule);
  const instance = gpu.instances.find(({ id }) => id === gpuInstanceId);
  if (instance === undefined) throw new AppError(notHere(`${gpuUuid} instance ${gpuInstanceId}`));
  const profile = geometry?.profiles.find(({ id }) => id === instance.profileId);
  const share =
    geometry === undefined || profile === undefined ? wholeCardShare(rule) : cardShareOf(geometry, profile, rule);
  return {
    cards: share.share,
    ...memoryOf(instance.memory.totalMiB),
    gpuTypes: { [gpuTypeOf(gpu.name, instance.profile)]: one },
  };
}

function wholeGpu(gpu: Gpu, rule: CardShareRule): Omit<Limits, "cardHours"> {
  if (gpu.mig.current === "enabled") {
    throw new AppError({
      code: "in-use",
      message: "MIG mode is enabled on this GPU: it is used by instances.",
      remedy: "Take one of its instances.",
    });
  }
  return {
    cards: wholeCardShare(rule).share,
    ...memoryOf(gpu.memory.totalMiB),
    gpuTypes: { [gpuTypeOf(gpu.name, null)]: one },
  };
}

function memoryOf(totalMiB: number | null): Pick<Limits, "gpuMemoryGiB"> {
  return totalMiB === null ? {} : { gpuMemoryGiB: fraction(totalMiB, mebibytesPerGibibyte) };
}

function notHere(what: string) {
  return {
    code: "not-found",
    message: `There is no ${what} on this host.`,
    remedy: "Look again: the layout may have changed.",
  } as const;
}

/** The caller's own, or of a tenant that the caller leads. */
export function releaseLease(system: System, access: Access, input: HostInput<"lease.release">): null {
  const { subject, leaseId: id } = input;
  const act: Act = { ...actingOn(system, access, subject), command: "lease.release" };
  const ledger = ledgerOf(system);
  const lease = ledger.get(leases, { id });
  const mine = lease.uid === access.uid || access.administrator || leadsSubject(access, lease.subject);
  if (lease.subject !== subject || !mine) throw new AppError(unknownSubject(id));
  giveBack(ledger, act, id, system.now());
  return null;
}

/** Limits kept by this machine itself: the ledger is the truth, and a lease is taken within it or not at all. */
import { AppError, toErrorData } from "../../../../../shared/errors.ts";
import type { AllocationView, Enforcement } from "../../../../../shared/protocol/control.ts";
import { zero } from "../../../../../shared/quota/index.ts";
import type { Act } from "../../ledger/change.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { members, people, projects, tenants } from "../../ledger/organisation.ts";
import { limits } from "../../ledger/quotas.ts";
import type { Reader } from "../../ledger/reader.ts";
import type { System } from "../../system.ts";
import type { Engine, EngineChange, EngineOutcome, EngineSubject } from "../engine.ts";
import { activeLeases, type Lease, leaseUsage, releaseLease } from "./leases.ts";

const kept = ["cards", "gpuMemoryGiB", "cardHours", "gpuTypes"];
const notKept = ["cpuCores", "memoryGiB"];

/** What it asks of the machine. */
type Asked = Pick<System, "caller" | "hostName" | "login" | "now">;

/** `act` is who gives leases back where `cancel` is called, for the audit; the caller of this process by default. */
export function localEngine(ledger: Ledger, system: Asked, act: Act = actOf(system)): Engine {
  return {
    kind: "local",
    kept: (limits) => limits,
    status: async () => ({
      kind: "local",
      version: null,
      enforcement: [
        ...kept.map((resource): Enforcement => ({ resource, enforced: true, why: "" })),
        ...notKept.map((resource) => ({
          ...{ resource, enforced: false },
          why: "A lease is of a GPU: nothing keeps its holder to a part of the machine's cores and memory.",
        })),
      ],
      findings: [],
    }),
    state: async () => ({ subjects: ledger.read(subjectsIn), unread: [] }),
    usage: async (_, periodOf) => ledger.read((reader) => leaseUsage(reader, periodOf, system.now())),
    counted: async () => null,
    commands: () => [],
    apply: async (changes, { progress }) => {
      const outcomes = changes.map((change) => outcomeOf(ledger, change, system.now()));
      progress?.(changes.length);
      return outcomes;
    },
    allocations: async () =>
      ledger.read((reader) => {
        const users = new Map(reader.list(people).map(({ uid, user }) => [uid, user]));
        return activeLeases(reader, system.now()).map((lease) => viewOf(lease, users, system.hostName));
      }),
    cancel: async (ids) => {
      for (const id of ids) releaseLease(ledger, act, id, system.now());
    },
    explain: async (id) => {
      throw new AppError({
        code: "not-found",
        message: `No lease ${id} waits: a lease is taken at once or not at all.`,
        remedy: "",
      });
    },
    transactions: async () => [],
  };
}

function actOf({ caller, login }: Asked): Act {
  const { loginUid = null, keyFingerprint = null, address = null } = login ?? {};
  const actor = { uid: caller.uid, user: caller.user, loginUid, keyFingerprint, address };
  return { actor, role: "administrator", command: "lease.release" };
}

/** The ledger is what holds: it cannot differ from itself. */
function subjectsIn(reader: Reader): ReadonlyMap<string, EngineSubject> {
  const set = new Map(reader.list(limits).map((row) => [row.subject, row.limits]));
  const subjects = [
    "cluster",
    ...reader.list(tenants).map(({ id }) => id),
    ...reader.list(projects).map(({ id }) => id),
    ...reader.list(members).map(({ projectId, uid }) => `${projectId}/${uid}`),
  ];
  return new Map(
    subjects.map((subject) => [subject, { limits: set.get(subject) ?? {}, foreign: [], coordinators: [] }]),
  );
}

/** Nothing is changed here; but what somebody holds a lease in is not removed. */
function outcomeOf(ledger: Ledger, change: EngineChange, now: Date): EngineOutcome {
  try {
    const held = ledger.read((reader) => activeLeases(reader, now).filter((lease) => goesWith(lease, change)));
    if (held.length === 0) return { outcome: "unchanged" };
    const names = held.map(({ id, gpuUuid }) => `${id} of ${gpuUuid}`).join(", ");
    return {
      outcome: "failed",
      error: {
        code: "in-use",
        message: `Leases are held there still: ${names}.`,
        remedy: "Give them back first, or wait until they are over.",
      },
    };
  } catch (error) {
    return { outcome: "failed", error: toErrorData(error) };
  }
}

function goesWith(lease: Lease, change: EngineChange): boolean {
  switch (change.kind) {
    case "remove-tenant":
      return lease.tenantId === change.tenantId;
    case "remove-project":
      return lease.projectId === change.projectId;
    case "remove-member":
      return lease.projectId === change.projectId && lease.uid === change.person.uid;
    default:
      return false;
  }
}

function viewOf(lease: Lease, users: ReadonlyMap<number, string>, hosts: string): AllocationView {
  const { amounts } = lease;
  return {
    ...{ id: lease.id, kind: "lease", subject: lease.subject, state: "running", hosts, reason: null },
    user: lease.uid === null ? null : (users.get(lease.uid) ?? null),
    name: lease.gpuInstanceId === null ? lease.gpuUuid : `${lease.gpuUuid}/${lease.gpuInstanceId}`,
    cards: amounts.cards ?? zero,
    gpuMemoryGiB: amounts.gpuMemoryGiB ?? zero,
    cpuCores: amounts.cpuCores ?? zero,
    memoryGiB: amounts.memoryGiB ?? zero,
    gpuTypes: Object.fromEntries(
      Object.entries(amounts.gpuTypes ?? {}).map(([type, { numerator }]) => [type, numerator]),
    ),
    startedAt: lease.takenAt,
    endsAt: lease.until,
  };
}

/**
 * A ledger of any size in a temporary SQLite file, with an engine that only says what it is given, behind the handlers of
 * the control host: what they answer is what a console would get.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { accessOf } from "../../resources/host-module/src/access/access.ts";
import { openHere } from "../../resources/host-module/src/control/context.ts";
import type { Engine } from "../../resources/host-module/src/engine/engine.ts";
import type { Act, Change } from "../../resources/host-module/src/ledger/change.ts";
import { members, people, projects, tenants } from "../../resources/host-module/src/ledger/organisation.ts";
import { limits } from "../../resources/host-module/src/ledger/quotas.ts";
import { subjectColumns } from "../../resources/host-module/src/ledger/subject.ts";
import { controlHandlers } from "../../resources/host-module/src/serve/control-handlers.ts";
import type { System } from "../../resources/host-module/src/system.ts";
import { capturedSystem } from "../../resources/host-module/src/testing/captured-system.ts";
import type { AllocationView, Organisation, QuotaAnswer } from "../../shared/protocol/control.ts";
import { add, fraction, readLimits, type Usage, zero } from "../../shared/quota/index.ts";

export interface LedgerSize {
  readonly tenants: number;
  readonly projectsPerTenant: number;
  readonly peoplePerProject: number;
  /** Running, of people in turn. */
  readonly allocations: number;
}

export interface SyntheticLedger extends Disposable {
  /** As an administrator asks. */
  quotas(): Promise<QuotaAnswer>;
  organisation(): Promise<Organisation>;
}

const act: Act = {
  actor: { uid: 0, user: "root", loginUid: null, keyFingerprint: null, address: null },
  role: "administrator",
  command: "ledger.create",
};
const now = "2026-06-01T08:00:00.000Z";
const firstUid = 20_000;

export function syntheticLedger(size: LedgerSize): SyntheticLedger {
  const directory = mkdtempSync(join(tmpdir(), "tessera-ledger-"));
  const ledgerPath = join(directory, "ledger.sqlite");
  const persons: string[] = [];
  const system: System = {
    ...capturedSystem({ now: () => new Date(now) }),
    ledgerPath,
    engine: async () => silentEngine(allocationsOf(persons, size.allocations)),
  };
  const ledger = openHere(system, ledgerPath);
  ledger.change(act, (change) => fill(change, size, persons));
  const context = {
    access: async () => accessOf(0, null),
    signal: new AbortController().signal,
    progress: () => undefined,
  };
  return {
    quotas: () => controlHandlers["quota.get"](system, {}, context),
    organisation: () => controlHandlers["organisation.get"](system, {}, context),
    [Symbol.dispose]() {
      ledger.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function fill(change: Change, size: LedgerSize, persons: string[]): void {
  for (let tenant = 0; tenant < size.tenants; tenant += 1) {
    const tenantId = `t${String(tenant).padStart(4, "0")}`;
    change.insert(tenants, { id: tenantId, displayName: `Tenant ${tenant + 1}`, createdAt: now });
    change.insert(limits, {
      ...subjectColumns({ scope: "tenant", tenantId }),
      limits: readLimits({
        ...{ cards: 64, gpuMemoryGiB: 5_120, cpuCores: 1_024, memoryGiB: 8_192 },
        cardHours: { hours: 20_000, period: { kind: "month", timeZone: "Asia/Shanghai" } },
      }),
    });
    for (let project = 0; project < size.projectsPerTenant; project += 1) {
      const projectId = `${tenantId}_p${String(project + 1).padStart(2, "0")}`;
      change.insert(projects, { id: projectId, tenantId, displayName: `Project ${project + 1}`, createdAt: now });
      change.insert(limits, {
        ...subjectColumns({ scope: "project", projectId }),
        limits: readLimits({ cards: 8, gpuMemoryGiB: 640, cpuCores: 128 }),
      });
      for (let person = 0; person < size.peoplePerProject; person += 1) {
        const uid = firstUid + persons.length;
        change.insert(people, { uid, user: `person-${uid}`, seenAt: now });
        change.insert(members, { projectId, uid, role: "member" });
        persons.push(`${projectId}/${uid}`);
        if (person % 2 === 1) continue;
        const limit = { ...subjectColumns({ scope: "person", projectId, uid }), limits: readLimits({ cards: 2 }) };
        change.insert(limits, limit);
      }
    }
  }
}

/** Whole cards and sevenths of one, of every fourth person or so in turn. */
function allocationsOf(persons: readonly string[], count: number): readonly AllocationView[] {
  const step = Math.max(1, Math.floor(persons.length / count));
  return Array.from({ length: count }, (_, index): AllocationView => {
    const subject = persons[(index * step) % persons.length] ?? null;
    const whole = index % 3 === 0;
    return {
      ...{ id: String(10_000 + index), kind: "job", subject, user: `person-${subject?.split("/")[1] ?? ""}` },
      ...{ name: "train", state: "running", reason: null, hosts: `g${1 + (index % 500)}` },
      ...{ cards: whole ? fraction(1) : fraction(1 + (index % 4), 7), gpuMemoryGiB: fraction(whole ? 80 : 20) },
      ...{ cpuCores: fraction(16), memoryGiB: fraction(128), gpuTypes: { h100: 1 } },
      ...{ startedAt: now, endsAt: "2026-06-02T08:00:00.000Z" },
    };
  });
}

function usageOf(allocations: readonly AllocationView[]): ReadonlyMap<string, Usage> {
  const usage = new Map<string, Usage>();
  for (const { subject, cards, gpuMemoryGiB, cpuCores, memoryGiB } of allocations) {
    if (subject === null) continue;
    const before = usage.get(subject) ?? {};
    usage.set(subject, {
      cards: add(before.cards ?? zero, cards),
      gpuMemoryGiB: add(before.gpuMemoryGiB ?? zero, gpuMemoryGiB),
      cpuCores: add(before.cpuCores ?? zero, cpuCores),
      memoryGiB: add(before.memoryGiB ?? zero, memoryGiB),
    });
  }
  return usage;
}

/** Enforces everything, and is never changed. */
function silentEngine(allocations: readonly AllocationView[]): Engine {
  const usage = usageOf(allocations);
  const resources = ["cards", "gpuMemoryGiB", "cpuCores", "memoryGiB", "cardHours", "gpuTypes"];
  const enforcement = resources.map((resource) => ({ resource, enforced: true, why: "" }));
  const never = () => Promise.reject(new Error("this engine is only asked"));
  return {
    kind: "slurm",
    status: async () => ({ kind: "slurm", version: "25.11.7", enforcement, findings: [] }),
    kept: (limits) => limits,
    state: async () => ({ subjects: new Map(), unread: [] }),
    usage: async () => usage,
    counted: async () => null,
    commands: () => [],
    apply: never,
    allocations: async () => allocations,
    cancel: never,
    explain: never,
    transactions: async () => [],
  };
}

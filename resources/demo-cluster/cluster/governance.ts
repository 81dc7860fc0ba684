/** Who governs the demo cluster: a ledger on its first host with tenants, projects, people, limits and a few requests. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AllocationView, Roles } from "../../../shared/protocol/control.ts";
import {
  add,
  cardShareOf,
  type Fraction,
  fraction,
  gpuTypeOf,
  type Limits,
  multiply,
  type Period,
  periodAt,
  readLimits,
  type Usage,
  wholeCardShare,
  zero,
} from "../../../shared/quota/index.ts";
import { rolesOfLedger } from "../../host-module/src/access/roles.ts";
import { sumOf } from "../../host-module/src/engine/local/leases.ts";
import type { Act, Change } from "../../host-module/src/ledger/change.ts";
import { newProjectId, newRequestId, newTenantId } from "../../host-module/src/ledger/ids.ts";
import { openLedger } from "../../host-module/src/ledger/ledger.ts";
import {
  administrators,
  leads,
  members,
  people as peopleTable,
  projects,
  tenants,
} from "../../host-module/src/ledger/organisation.ts";
import { fromZero, limits, requests, resets } from "../../host-module/src/ledger/quotas.ts";
import { settings } from "../../host-module/src/ledger/settings.ts";
import { type Subject, subjectColumns } from "../../host-module/src/ledger/subject.ts";
import type { SimulatedMachine } from "../driver/machine.ts";
import { type Person, people, users } from "./people.ts";
import { Chance } from "./random.ts";

export interface Governance extends Disposable {
  readonly ledgerPath: string;
  readonly roles: Roles;
  /** The subject that a person's work is for. */
  subjectOf(uid: number): string | null;
}

const timeZone = "Europe/Berlin";
const month: Period = { kind: "month", timeZone };
const dayMs = 86_400_000;

/** What each tenant may use, as people would have agreed on it: some have room, one is at its limit, one has promised too much. */
const agreed: Readonly<
  Record<string, { readonly cards: number; readonly hours: number; readonly projects: readonly number[] }>
> = {
  nlp: { cards: 48, hours: 24_000, projects: [12, 12, 30] },
  vision: { cards: 40, hours: 18_000, projects: [16, 16, 8] },
  speech: { cards: 24, hours: 9_000, projects: [12, 12] },
  recsys: { cards: 28, hours: 12_000, projects: [16, 12] },
  robotics: { cards: 20, hours: 8_000, projects: [14, 10] },
  bio: { cards: 24, hours: 10_000, projects: [12, 12] },
  climate: { cards: 12, hours: 4_000, projects: [12] },
};

/** Makes the ledger in a directory of its own, which goes with it. The same seed gives the same ids. */
export function governDemo(
  seed: number,
  operator: { readonly uid: number; readonly user: string },
  now: Date,
): Governance {
  const directory = mkdtempSync(join(tmpdir(), "tessera-demo-"));
  const ledgerPath = join(directory, "ledger.sqlite");
  const ledger = openLedger(ledgerPath, { now: () => now });
  const chance = new Chance(seed);
  const random = (length: number) => Uint8Array.from({ length }, () => chance.between(0, 255));
  const actor = { ...operator, loginUid: null, keyFingerprint: null, address: null };
  const act: Act = { actor, role: "administrator", command: "ledger.create" };
  const subjects = new Map<number, string>();
  ledger.change(act, (change) => {
    change.insert(settings, { name: "engine", value: "local" });
    change.insert(settings, { name: "unix-groups", value: "none" });
    change.insert(peopleTable, { ...operator, seenAt: now.toISOString() });
    change.insert(administrators, { uid: operator.uid });
    for (const tenant of Object.keys(agreed)) addTenant(change, tenant, random, now, subjects);
  });
  ask(ledger.change.bind(ledger), subjects, now, random);
  const roles = ledger.read(rolesOfLedger);
  ledger.close();
  return {
    ledgerPath,
    roles,
    subjectOf: (uid) => subjects.get(uid) ?? null,
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

type Random = (length: number) => Uint8Array;

function addTenant(change: Change, name: string, random: Random, now: Date, subjects: Map<number, string>): void {
  const createdAt = now.toISOString();
  const of = agreed[name];
  const own = people.filter(({ tenant }) => tenant === name);
  const id = newTenantId(change, random);
  change.insert(tenants, { id, displayName: name, createdAt });
  if (of !== undefined) {
    setLimits(change, { scope: "tenant", tenantId: id }, of.cards, now, of.hours);
  }
  for (const [index, project] of [...new Set(own.map((person) => person.project))].entries()) {
    const projectId = newProjectId(change, id);
    change.insert(projects, { id: projectId, tenantId: id, displayName: project, createdAt });
    for (const person of own.filter((each) => each.project === project))
      addPerson(change, person, projectId, now, subjects);
    const cards = of?.projects[index];
    if (cards !== undefined) setLimits(change, { scope: "project", projectId }, cards, now);
  }
  const [lead] = own;
  if (lead !== undefined) change.insert(leads, { tenantId: id, uid: lead.uid });
}

function addPerson(
  change: Change,
  { uid, user }: Person,
  projectId: string,
  now: Date,
  subjects: Map<number, string>,
): void {
  change.insert(peopleTable, { uid, user, seenAt: now.toISOString() });
  change.insert(members, { projectId, uid, role: "member" });
  subjects.set(uid, `${projectId}/${uid}`);
}

function setLimits(change: Change, subject: Subject, cards: number, now: Date, hours?: number): void {
  const columns = subjectColumns(subject);
  const own = readLimits({
    cards,
    gpuMemoryGiB: cards * 80,
    ...(hours === undefined ? {} : { cardHours: { hours, period: month } }),
  });
  change.insert(limits, { ...columns, limits: own });
  if (hours === undefined) return;
  change.insert(resets, { ...columns, period: "month", timeZone, lastDoneAt: now.toISOString(), ...fromZero });
}

/** Two people have asked for more. */
function ask(
  changeAs: (act: Act, work: (change: Change) => void) => void,
  subjects: ReadonlyMap<number, string>,
  now: Date,
  random: Random,
): void {
  const wishes = [
    {
      user: "t.nakamura",
      cards: 6,
      days: 5,
      why: "Second pretraining run before the review; the first one is done by Friday.",
    },
    { user: "l.schmidt", cards: 10, days: 2, why: "Evaluation of all checkpoints over the weekend." },
  ];
  for (const { user, cards, days, why } of wishes) {
    const person = people.find((each) => each.user === user);
    const subject = person === undefined ? undefined : subjects.get(person.uid);
    if (person === undefined || subject === undefined) continue;
    const projectId = subject.split("/")[0] ?? "";
    const actor = { uid: person.uid, user, loginUid: null, keyFingerprint: null, address: null };
    changeAs({ actor, role: "member", command: "request.ask" }, (change) => {
      change.insert(requests, {
        id: newRequestId(change, random),
        ...subjectColumns({ scope: "project", projectId }),
        amount: readLimits({ cards }),
        ...{ why, until: new Date(now.getTime() + days * dayMs).toISOString() },
        ...{ askedBy: person.uid, askedAt: now.toISOString() },
        ...{ state: "asked", decidedBy: null, decidedAt: null, answer: null },
      });
    });
  }
}

/** What runs on the simulated hosts, as allocations: one for each instance or whole GPU that somebody's program is on. */
export function workOf(
  machines: readonly SimulatedMachine[],
  { subjectOf }: Pick<Governance, "subjectOf">,
): readonly AllocationView[] {
  const names = new Map(users.map(({ uid, name }) => [uid, name]));
  return machines.flatMap((machine) =>
    machine.state.processes.flatMap((process): readonly AllocationView[] => {
      const index = machine.state.gpus.findIndex(({ uuid }) => uuid === process.gpu?.uuid);
      const subject = subjectOf(process.uid);
      if (index < 0 || subject === null) return [];
      const instance = machine.gpu(index).instances.find(({ id }) => id === process.gpu?.gpuInstanceId);
      const geometry = machine.geometry(index);
      const profile = instance === undefined ? null : machine.profileOf(index, instance);
      const share = profile === null || geometry === null ? wholeCardShare() : cardShareOf(geometry, profile);
      const type = gpuTypeOf(machine.model(index).productName, profile?.name ?? null);
      const memoryMiB = profile?.memoryMiB ?? machine.model(index).memoryMiB;
      return [
        {
          ...{ id: jobOf(process.environment) ?? String(process.pid), kind: "job", subject },
          ...{
            user: names.get(process.uid) ?? null,
            name: variableOf(process.environment, "SLURM_JOB_NAME") ?? "batch",
            state: "running",
          },
          cards: share.share,
          gpuMemoryGiB: fraction(Math.round(memoryMiB / 1_024)),
          ...{ cpuCores: zero, memoryGiB: zero, gpuTypes: { [type]: 1 } },
          startedAt: new Date(process.startedAtMs).toISOString(),
          ...{ endsAt: null, hosts: machine.state.hostName, reason: null },
        },
      ];
    }),
  );
}

/** The job that a simulated program is of. */
export function jobOf(environment: readonly string[] | undefined): string | null {
  return variableOf(environment, "SLURM_JOB_ID");
}

function variableOf(environment: readonly string[] | undefined, name: string): string | null {
  return environment?.find((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1) ?? null;
}

/** Work that was seen to end. It is in use no more, and its card-hours stay. */
export interface PastWork {
  readonly allocation: AllocationView;
  readonly endedAtMs: number;
}

/** In use by subject, with the card-hours of each period that is still running. */
export function usageOf(
  work: readonly AllocationView[],
  past: readonly PastWork[],
  periodsOf: (subject: string) => readonly Period[],
  at: Date,
): ReadonlyMap<string, Usage> {
  const atMs = at.getTime();
  const running = Map.groupBy(work, ({ subject }) => subject);
  const ended = Map.groupBy(past, ({ allocation }) => allocation.subject);
  const usage = new Map<string, Usage>();
  for (const subject of new Set([...running.keys(), ...ended.keys()])) {
    if (subject === null) continue;
    const own = running.get(subject) ?? [];
    const gone = ended.get(subject) ?? [];
    const hours = periodsOf(subject).map((period) => {
      const sinceMs = periodAt(period, atMs)?.startMs ?? 0;
      const all = [
        ...own.map((allocation) => hoursOf(allocation, sinceMs, atMs)),
        ...gone.map(({ allocation, endedAtMs }) => hoursOf(allocation, sinceMs, endedAtMs)),
      ];
      return { period, hours: all.reduce((sum, each) => add(sum, each), zero) };
    });
    usage.set(
      subject,
      own.reduce((used, allocation) => sumOf(used, amountsOfWork(allocation), []), sumOf({}, {}, hours)),
    );
  }
  return usage;
}

function amountsOfWork({ cards, gpuMemoryGiB, gpuTypes }: AllocationView): Limits {
  const types = Object.entries(gpuTypes).map(([type, count]) => [type, fraction(count)] as const);
  return { cards, gpuMemoryGiB, gpuTypes: Object.fromEntries(types) };
}

function hoursOf({ cards, startedAt }: AllocationView, sinceMs: number, untilMs: number): Fraction {
  const fromMs = Math.max(sinceMs, startedAt === null ? untilMs : Date.parse(startedAt));
  return multiply(cards, fraction(Math.max(0, Math.round((untilMs - fromMs) / 60_000)), 60));
}

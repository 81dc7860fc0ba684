/** Leases as the inspector shows them, and what a member may do about one. Pure; instants are milliseconds since 1970 in UTC. */
import { parseSubject } from "../../shared/organisation/subject.ts";
import type { LeaseView, Me, Organisation } from "../../shared/protocol/control.ts";

/** An instance, or a whole GPU where `gpuInstanceId` is null. */
export interface Place {
  readonly gpuUuid: string;
  readonly gpuInstanceId: number | null;
}

export function placeKey({ gpuUuid, gpuInstanceId }: Place): string {
  return `${gpuUuid}/${gpuInstanceId ?? ""}`;
}

/** Those that still hold something: the end of a lease passes without anybody saying so. */
export function heldAt(leases: readonly LeaseView[], nowMs: number): readonly LeaseView[] {
  return leases.filter(({ until }) => until === null || Date.parse(until) > nowMs);
}

/** The lease that holds this place: its own, or that of the whole GPU. */
export function leaseOf(leases: readonly LeaseView[], place: Place): LeaseView | null {
  const onGpu = leases.filter(({ gpuUuid }) => gpuUuid === place.gpuUuid);
  return onGpu.find((lease) => lease.gpuInstanceId === null || lease.gpuInstanceId === place.gpuInstanceId) ?? null;
}

type Caller = Pick<Me, "uid" | "role" | "open" | "leads">;

export function isMine({ uid }: Pick<Me, "uid">, { subject }: LeaseView): boolean {
  const parsed = parseSubject(subject);
  return parsed?.level === "person" && parsed.uid === uid;
}

/** One's own; a lead those of the tenant, an administrator all. */
export function mayRelease(me: Caller, lease: LeaseView): boolean {
  if (me.role === "administrator" || me.open || isMine(me, lease)) return true;
  const subject = parseSubject(lease.subject);
  return subject !== null && subject.level !== "cluster" && me.leads.includes(subject.tenantId);
}

/** One's own first, the next to end first; those without an end last. */
export function inOrder(me: Pick<Me, "uid">, leases: readonly LeaseView[]): readonly LeaseView[] {
  const end = ({ until }: LeaseView): number => (until === null ? Number.POSITIVE_INFINITY : Date.parse(until));
  return leases.toSorted((a, b) => {
    if (isMine(me, a) !== isMine(me, b)) return isMine(me, a) ? -1 : 1;
    return end(a) === end(b) ? a.id.localeCompare(b.id) : end(a) - end(b);
  });
}

export interface ProjectChoice {
  readonly id: string;
  /** `NLP / Chat`. */
  readonly path: string;
}

/** The projects that the caller is in: a lease is taken for one of them. The id stands for a name not yet known. */
export function projectsOf(me: Pick<Me, "projects">, organisation: Organisation | null): readonly ProjectChoice[] {
  return me.projects.map((id) => ({ id, path: projectPath(organisation, id) }));
}

/** `NLP / Chat` of any subject below a project. */
export function projectPath(organisation: Organisation | null, subject: string): string {
  const parsed = parseSubject(subject);
  if (parsed === null || parsed.level === "cluster" || parsed.level === "tenant") return subject;
  const tenant = organisation?.tenants.find(({ id }) => id === parsed.tenantId);
  const project = tenant?.projects.find(({ id }) => id === parsed.projectId);
  if (tenant === undefined || project === undefined) return parsed.projectId;
  return `${tenant.displayName} / ${project.displayName}`;
}

/** For how long to take something; `open` has no end. */
export const terms = ["4-hours", "8-hours", "today", "3-days", "1-week", "open"] as const;
export type Term = (typeof terms)[number];

/** When a term ends that begins now; null for one without an end. Days end at midnight by the clock of this machine. */
export function endOf(term: Term, nowMs: number): number | null {
  const hourMs = 3_600_000;
  const midnightAfter = (days: number): number => {
    const now = new Date(nowMs);
    return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days + 1).getTime();
  };
  switch (term) {
    case "4-hours":
      return nowMs + 4 * hourMs;
    case "8-hours":
      return nowMs + 8 * hourMs;
    case "today":
      return midnightAfter(0);
    case "3-days":
      return midnightAfter(3);
    case "1-week":
      return midnightAfter(7);
    case "open":
      return null;
  }
}

/** Who calls, in which role, and what that role may: decided here and nowhere else. */
import { AppError } from "../../../../shared/errors.ts";
import { parseSubject } from "../../../../shared/organisation/subject.ts";
import type { Roles } from "../../../../shared/protocol/control.ts";
import type { Needs } from "../../../../shared/protocol/needs.ts";
import type { ActingRole } from "../audit/row.ts";

/** The caller's roles on this host. */
export interface Access {
  readonly uid: number;
  readonly administrator: boolean;
  /** Nobody has been named administrator yet: whoever is let in administers. */
  readonly open: boolean;
  /** Tenants that the caller leads. */
  readonly leads: ReadonlySet<string>;
  /** Projects that the caller is in. */
  readonly projects: ReadonlySet<string>;
  /** What roles were decided by; null where there is neither a ledger nor a copy. */
  readonly roles: Roles | null;
  /** When a copy of the roles was last confirmed; absent where the ledger is here, or no copy. */
  readonly confirmedAt?: Date;
  /** That was too long ago: whoever is no administrator has no role here. */
  readonly outdated?: boolean;
}

/** The caller's access by these roles. root administers always; where nobody is named, whoever is let in does. */
export function accessOf(uid: number, roles: Roles | null): Access {
  const open = roles === null || roles.administrators.length === 0;
  const tenants = roles?.tenants ?? [];
  return {
    uid,
    administrator: open || uid === 0 || roles.administrators.includes(uid),
    open,
    leads: new Set(tenants.filter(({ leads }) => leads.includes(uid)).map(({ id }) => id)),
    projects: new Set(
      tenants.flatMap(({ projects }) => projects.filter(({ members }) => members.includes(uid)).map(({ id }) => id)),
    ),
    roles,
  };
}

/** In which role somebody acts on a subject; null for a command that names none. For the audit. */
export function actingRole(access: Access, subject: string | null): ActingRole {
  if (access.administrator) return "administrator";
  if (subject === null) return access.leads.size > 0 ? "lead" : access.projects.size > 0 ? "member" : "none";
  if (leadsSubject(access, subject)) return "lead";
  return isOfSubject(access, subject) ? "member" : "none";
}

export function leadsSubject(access: Access, text: string): boolean {
  const subject = parseSubject(text);
  return subject !== null && subject.level !== "cluster" && access.leads.has(subject.tenantId);
}

/** In the project that the subject is or lies in; a person only by that person. */
export function isOfSubject(access: Access, text: string): boolean {
  const subject = parseSubject(text);
  if (subject === null || subject.level === "cluster" || subject.level === "tenant") return false;
  if (!access.projects.has(subject.projectId)) return false;
  return subject.level === "project" || subject.uid === access.uid;
}

export function mayCall<Input>(access: Access, needs: Needs<Input>, input: Input): boolean {
  if (access.administrator || needs.role === "anyone") return true;
  switch (needs.role) {
    case "participant":
      return access.leads.size > 0 || access.projects.size > 0;
    case "administrator":
      return false;
    case "lead":
      return every(needs.of(input), (subject) => leadsSubject(access, subject));
    case "member":
      return every(needs.of(input), (subject) => leadsSubject(access, subject) || isOfSubject(access, subject));
  }
}

/** A command about nothing is nobody's but an administrator's. */
function every(subjects: readonly string[], may: (subject: string) => boolean): boolean {
  return subjects.length > 0 && subjects.every(may);
}

/** The same words whether or not what was asked for exists: a refusal tells nothing about other tenants. */
export function forbidden(
  method: string,
  { outdated, confirmedAt }: Pick<Access, "outdated" | "confirmedAt">,
  needs: Needs<never>["role"] = "lead",
): AppError {
  if (outdated === true) {
    const day = confirmedAt?.toISOString().slice(0, 10) ?? "";
    return new AppError({
      code: "forbidden",
      message: `This host last heard on ${day} who has which role, and lets in administrators alone until it hears anew.`,
      remedy: "Ask a platform administrator to connect to the cluster: their console sends the roles.",
    });
  }
  const administratorsOnly = needs === "administrator";
  return new AppError({
    code: "forbidden",
    message: administratorsOnly
      ? `${method} is for platform administrators.`
      : `Your role here does not allow ${method} on that.`,
    remedy: administratorsOnly
      ? "Ask a platform administrator."
      : "Ask a lead of the tenant or a platform administrator.",
  });
}

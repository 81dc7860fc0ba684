/** What the Tenants view counts and finds in the organisation. */
import type { Organisation, PersonName, TenantView } from "../../shared/protocol/control.ts";

/** People of a tenant, each once: members of its projects and leads. */
export function peopleOf(tenant: TenantView): number {
  const members = tenant.projects.flatMap(({ members }) => members);
  return new Set([...tenant.leads, ...members].map(({ uid }) => uid)).size;
}

export interface Found {
  readonly tenantId: string;
  readonly tenant: string;
  /** Null for a lead. */
  readonly project: string | null;
  /** Null where the project itself was found. */
  readonly person: PersonName | null;
}

function isCalled(person: PersonName, text: string): boolean {
  return (person.user ?? "").toLowerCase().includes(text) || String(person.uid) === text;
}

/** Projects and people that the text names, across tenants, in their order; empty for an empty text. */
export function findAcross(organisation: Organisation, typed: string): readonly Found[] {
  const text = typed.trim().toLowerCase();
  if (text === "") return [];
  return organisation.tenants.flatMap(({ id: tenantId, displayName: tenant, leads, projects }) => [
    ...leads.filter((lead) => isCalled(lead, text)).map((person) => ({ tenantId, tenant, project: null, person })),
    ...projects.flatMap(({ displayName: project, members }) => [
      ...(project.toLowerCase().includes(text) ? [{ tenantId, tenant, project, person: null }] : []),
      ...members.filter((one) => isCalled(one, text)).map((person) => ({ tenantId, tenant, project, person })),
    ]),
  ]);
}

/** In characters, as the host counts them. */
export const longestName = 100;

export function isTooLong(name: string): boolean {
  return [...name.normalize("NFC").trim()].length > longestName;
}

/** The version of a tenant, project or member as it is held now; null where it is gone. */
export function versionOf(organisation: Organisation | null, subject: string): number | null {
  const [account = "", uid] = subject.split("/");
  for (const tenant of organisation?.tenants ?? []) {
    if (tenant.id === account) return tenant.version;
    const project = tenant.projects.find(({ id }) => id === account);
    if (project === undefined) continue;
    if (uid === undefined) return project.version;
    return project.members.find((member) => String(member.uid) === uid)?.version ?? null;
  }
  return null;
}

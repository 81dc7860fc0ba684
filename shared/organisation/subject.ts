/**
 * What a limit, a request or a role is about, as one text: `cluster`, a tenant (`t3f2k`), a project (`t3f2k_p01`), or a
 * person in a project (`t3f2k_p01/12001`, the number is the Unix uid). The ids are also Slurm's account names.
 */
import type { QuotaLevel } from "../quota/tree.ts";

export type Subject =
  | { readonly level: "cluster" }
  | { readonly level: "tenant"; readonly tenantId: string }
  | { readonly level: "project"; readonly tenantId: string; readonly projectId: string }
  | { readonly level: "person"; readonly tenantId: string; readonly projectId: string; readonly uid: number };

/** No i, l, o and u: digits of which no two look alike, in lower case, because Slurm folds account names. */
export const tenantIdPattern = /^t[0-9a-hjkmnp-tv-z]{4}$/;
export const projectIdPattern = /^t[0-9a-hjkmnp-tv-z]{4}_p\d{2,6}$/;
export const subjectPattern = /^(cluster|t[0-9a-hjkmnp-tv-z]{4}(_p\d{2,6}(\/(0|[1-9]\d{0,9}))?)?)$/;
export const clusterSubject = "cluster";

/** The tenant of a project's id. */
export function tenantOfProject(projectId: string): string {
  return projectId.slice(0, projectId.indexOf("_"));
}

/** The text taken apart; null where it is none. */
export function parseSubject(text: string): Subject | null {
  if (!subjectPattern.test(text)) return null;
  if (text === clusterSubject) return { level: "cluster" };
  const [account = "", uid] = text.split("/");
  if (!account.includes("_")) return { level: "tenant", tenantId: account };
  const tenantId = tenantOfProject(account);
  if (uid === undefined) return { level: "project", tenantId, projectId: account };
  return { level: "person", tenantId, projectId: account, uid: Number(uid) };
}

export function personSubject(projectId: string, uid: number): string {
  return `${projectId}/${uid}`;
}

/** The subject that this one lies in; null for the cluster. What is no subject lies in the cluster. */
export function parentSubject(text: string): string | null {
  const subject = parseSubject(text);
  switch (subject?.level) {
    case "cluster":
      return null;
    case "project":
      return subject.tenantId;
    case "person":
      return subject.projectId;
    default:
      return clusterSubject;
  }
}

/** The level of a subject; null where the text is none. */
export function levelOf(text: string): QuotaLevel | null {
  return parseSubject(text)?.level ?? null;
}

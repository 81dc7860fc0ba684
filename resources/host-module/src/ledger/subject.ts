import * as z from "zod/mini";
import { tenantOfProject } from "../../../../shared/organisation/subject.ts";
import { projectId, tenantId, uid } from "./organisation.ts";

/** What a limit, a request, a grant or a reset is about. */
export type Subject =
  | { readonly scope: "cluster" }
  | { readonly scope: "tenant"; readonly tenantId: string }
  | { readonly scope: "project"; readonly projectId: string }
  | { readonly scope: "person"; readonly projectId: string; readonly uid: number };

/** The columns that say so: a name of its own, and what it is made of. */
export const subjectShape = {
  /** `cluster`, `t3f2k`, `t3f2k_p01`, `t3f2k_p01/1000`. */
  subject: z.string(),
  scope: z.enum(["cluster", "tenant", "project", "person"]),
  tenantId: z.nullable(tenantId),
  projectId: z.nullable(projectId),
  uid: z.nullable(uid),
};

export interface SubjectColumns {
  readonly subject: string;
  readonly scope: Subject["scope"];
  readonly tenantId: string | null;
  readonly projectId: string | null;
  readonly uid: number | null;
}

export function subjectColumns(subject: Subject): SubjectColumns {
  switch (subject.scope) {
    case "cluster":
      return { subject: "cluster", scope: "cluster", tenantId: null, projectId: null, uid: null };
    case "tenant":
      return { subject: subject.tenantId, scope: "tenant", tenantId: subject.tenantId, projectId: null, uid: null };
    case "project": {
      const { projectId } = subject;
      return { subject: projectId, scope: "project", tenantId: tenantOfProject(projectId), projectId, uid: null };
    }
    case "person": {
      const { projectId, uid } = subject;
      const tenantId = tenantOfProject(projectId);
      return { subject: `${projectId}/${uid}`, scope: "person", tenantId, projectId, uid };
    }
  }
}

/** Changes of the organisation and of limits as changes of Slurm's accounting. */
import { parseSubject, tenantOfProject } from "../../../../../shared/organisation/subject.ts";
import type { LimitTarget, SlurmChange } from "../../slurm/commands.ts";
import { rootAccount } from "../../slurm/names.ts";
import type { EngineChange, EnginePerson } from "../engine.ts";
import { type CardCounting, limitChange, toSlurm } from "./limit-mapping.ts";

/** What is set on in Slurm: the account of a tenant or project, a person's association, or the root account. */
export function targetOf(subject: string, person: EnginePerson | null): LimitTarget {
  const parsed = parseSubject(subject);
  switch (parsed?.level) {
    case "person":
      return { kind: "member", account: parsed.projectId, user: person?.user ?? String(parsed.uid) };
    case "project":
      return { kind: "account", account: parsed.projectId };
    case "tenant":
      return { kind: "account", account: parsed.tenantId };
    default:
      return { kind: "account", account: rootAccount };
  }
}

/** In the order in which Slurm needs them; none where nothing differs in Slurm. Throws AppError `bad-request`. */
export function slurmChanges(change: EngineChange, counting: CardCounting): readonly SlurmChange[] {
  switch (change.kind) {
    case "add-tenant":
      return [{ kind: "add-account", account: change.tenantId, parent: rootAccount, organization: change.tenantId }];
    case "remove-tenant":
      return [{ kind: "delete-account", account: change.tenantId }];
    case "add-project": {
      const tenantId = tenantOfProject(change.projectId);
      return [{ kind: "add-account", account: change.projectId, parent: tenantId, organization: tenantId }];
    }
    case "remove-project":
      return [{ kind: "delete-account", account: change.projectId }];
    case "add-member":
      return [{ kind: "add-member", account: change.projectId, user: change.person.user }];
    case "remove-member":
      return [{ kind: "remove-member", account: change.projectId, user: change.person.user }];
    case "set-limits": {
      const limits = limitChange(toSlurm(change.before, counting), toSlurm(change.limits, counting));
      if (Object.keys(limits).length === 0) return [];
      return [{ kind: "set-limits", target: targetOf(change.subject, change.person), limits }];
    }
    case "reset-usage":
      // The rows below too: each counts for itself.
      return [{ subject: change.subject, person: change.person }, ...change.below].map(({ subject, person }) => ({
        kind: "reset-usage",
        target: targetOf(subject, person),
      }));
  }
}

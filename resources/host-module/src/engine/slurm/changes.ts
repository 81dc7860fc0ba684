/** What an engine's change is in Slurm, and whether it stands there. */
import { AppError } from "../../../../../shared/errors.ts";
import { clusterSubject, parseSubject, tenantOfProject } from "../../../../../shared/organisation/subject.ts";
import type { Association } from "../../slurm/associations.ts";
import { commandsFor, type LimitTarget, type SlurmChange, type SlurmCommand } from "../../slurm/commands.ts";
import { rootAccount } from "../../slurm/names.ts";
import type { EngineChange, EnginePerson } from "../engine.ts";
import { changeBetween, isHeld, type SlurmLimits, type SlurmResources } from "./limit-mapping.ts";

/** The account that a subject's limits stand on, or the person's association in it. Throws AppError `bad-request`. */
function targetOf(text: string, person: EnginePerson | null): Exclude<LimitTarget, { kind: "qos" }> {
  const subject = parseSubject(text);
  switch (subject?.level) {
    case "cluster":
      return { kind: "account", account: rootAccount };
    case "tenant":
      return { kind: "account", account: subject.tenantId };
    case "project":
      return { kind: "account", account: subject.projectId };
    case "person":
      if (person !== null && person.uid === subject.uid)
        return { kind: "member", account: subject.projectId, user: person.user };
  }
  throw new AppError({
    code: "bad-request",
    message: `${text} names nobody that Slurm could know.`,
    remedy: "Name a tenant, a project, or a person in a project with the user's name.",
  });
}

/** The account of a subject; `cluster` is Slurm's root. */
export function accountOf(subject: string): string {
  return subject === clusterSubject ? rootAccount : (subject.split("/")[0] ?? subject);
}

/**
 * The changes of Slurm that make one of ours; none where it stands so already. Throws AppError `bad-request` for what
 * Slurm cannot hold.
 */
export function slurmChangesOf(change: EngineChange, resources: SlurmResources): readonly SlurmChange[] {
  switch (change.kind) {
    case "add-tenant": {
      const { tenantId } = change;
      return [{ kind: "add-account", account: tenantId, parent: rootAccount, organization: tenantId }];
    }
    case "add-project": {
      const parent = tenantOfProject(change.projectId);
      return [{ kind: "add-account", account: change.projectId, parent, organization: parent }];
    }
    case "remove-tenant":
      return [{ kind: "delete-account", account: change.tenantId }];
    case "remove-project":
      return [{ kind: "delete-account", account: change.projectId }];
    case "add-member":
      return [{ kind: "add-member", account: change.projectId, user: change.person.user }];
    case "remove-member":
      return [{ kind: "remove-member", account: change.projectId, user: change.person.user }];
    case "set-limits": {
      const target = targetOf(change.subject, change.person);
      const limits = changeBetween(change.before, change.limits, resources, change.notCounted);
      return limits === null ? [] : [{ kind: "set-limits", target, limits }];
    }
  }
}

/** As `slurmChangesOf`, with the names looked at too: what it answers, `commandsFor` takes. */
export function checkedChangesOf(
  change: EngineChange,
  resources: SlurmResources,
  cluster: string,
): readonly SlurmChange[] {
  const changes = slurmChangesOf(change, resources);
  commandsFor(changes, cluster);
  return changes;
}

/**
 * The commands of `commandsFor`, but each removal in one of its own: of several accounts, of which one has jobs, Slurm's
 * answer does not tell which.
 */
export function commandsOf(changes: readonly SlurmChange[], cluster: string): readonly SlurmCommand[] {
  const isRemoval = ({ kind }: SlurmChange) => kind === "delete-account" || kind === "remove-member";
  const runs: { readonly from: number; readonly changes: SlurmChange[] }[] = [];
  for (const [place, change] of changes.entries()) {
    const last = runs.at(-1);
    if (last === undefined || isRemoval(change) || last.changes.some(isRemoval)) {
      runs.push({ from: place, changes: [change] });
    } else last.changes.push(change);
  }
  return runs.flatMap((run) =>
    commandsFor(run.changes, cluster).map((command) => ({
      ...command,
      changes: command.changes.map((place) => run.from + place),
    })),
  );
}

/**
 * The commands of these changes, in their order, in runs within which it does not matter which comes first: limits of
 * different subjects. Whatever else there is makes a run of its own.
 */
export function independentRuns(
  changes: readonly SlurmChange[],
  commands: readonly SlurmCommand[],
): readonly (readonly SlurmCommand[])[] {
  const runs: SlurmCommand[][] = [];
  let touched = new Set<string>();
  for (const command of commands) {
    const targets = command.changes.flatMap((place) => {
      const change = changes[place];
      return change?.kind === "set-limits" ? [JSON.stringify(change.target)] : [];
    });
    const areLimits = targets.length === command.changes.length;
    const last = runs.at(-1);
    if (last !== undefined && areLimits && touched.size > 0 && !targets.some((target) => touched.has(target))) {
      last.push(command);
    } else {
      runs.push([command]);
      touched = new Set();
    }
    if (areLimits) for (const target of targets) touched.add(target);
  }
  return runs;
}

export function slurmLimitsOf({ limits }: Association): SlurmLimits {
  return { grpTres: limits.grpTres, grpTresMins: limits.grpTresMins ?? {} };
}

/** Whether a change stands in these associations; null where they do not tell. */
export function standsIn(change: SlurmChange, associations: readonly Association[]): boolean | null {
  const rowOf = (account: string, user: string | null) =>
    associations.find((row) => row.account === account && row.user === user && row.partition === null);
  switch (change.kind) {
    case "add-account":
      return rowOf(change.account, null)?.parentAccount === change.parent;
    case "delete-account":
      return !associations.some(({ account }) => account === change.account);
    case "add-member":
      return rowOf(change.account, change.user) !== undefined;
    case "remove-member":
      return !associations.some(({ account, user }) => account === change.account && user === change.user);
    case "set-limits": {
      if (change.target.kind === "qos") return null;
      const row = rowOf(change.target.account, change.target.kind === "member" ? change.target.user : null);
      return row !== undefined && isHeld(change.limits, slurmLimitsOf(row));
    }
    default:
      return null;
  }
}

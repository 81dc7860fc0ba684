/** Unix groups of tenants and projects, under the same ids: what later guards their files. Kept on the control host. */
import { AppError } from "../../../../shared/errors.ts";
import type { EngineChange } from "../engine/engine.ts";
import type { System } from "../system.ts";

const timeoutMs = 30_000;

/**
 * The commands for a change, and those that undo it. Groups of tenants hold nobody: who is in a tenant is in one of its
 * projects. Leaving a group and removing one succeed where it is gone already.
 */
export function groupCommands(
  change: EngineChange,
): { readonly do: readonly string[]; readonly undo: readonly string[] } | null {
  switch (change.kind) {
    case "add-tenant":
      return { do: ["groupadd", "--force", change.tenantId], undo: ["groupdel", change.tenantId] };
    case "add-project":
      return { do: ["groupadd", "--force", change.projectId], undo: ["groupdel", change.projectId] };
    case "remove-tenant":
      return { do: ["groupdel", change.tenantId], undo: ["groupadd", "--force", change.tenantId] };
    case "remove-project":
      return { do: ["groupdel", change.projectId], undo: ["groupadd", "--force", change.projectId] };
    case "add-member": {
      const { user } = change.person;
      return { do: ["gpasswd", "-a", user, change.projectId], undo: ["gpasswd", "-d", user, change.projectId] };
    }
    case "remove-member": {
      const { user } = change.person;
      return { do: ["gpasswd", "-d", user, change.projectId], undo: ["gpasswd", "-a", user, change.projectId] };
    }
    default:
      return null;
  }
}

/** groupdel: 6, there is no such group. gpasswd -d: 3, not a member or no such group. groupadd --force: 0. */
function isDone(argv: readonly string[], exitStatus: number | null): boolean {
  if (exitStatus === 0) return true;
  if (argv[0] === "groupdel") return exitStatus === 6;
  return argv[0] === "gpasswd" && argv[1] === "-d" && exitStatus === 3;
}

/** Throws AppError with the tool's words. */
export async function runGroupCommand(system: System, argv: readonly string[]): Promise<void> {
  const result = await system.run(argv, { timeoutMs });
  if (isDone(argv, result.exitStatus)) return;
  throw new AppError({
    code: "internal",
    message: `The Unix group could not be changed (${argv.join(" ")}).`,
    remedy: "Look at /etc/group and its lock; where a directory keeps the groups, set unix-groups to none.",
    evidence: {
      command: result.argv,
      exitStatus: result.exitStatus,
      stderr: new TextDecoder().decode(result.stderr).slice(0, 2_000),
    },
  });
}

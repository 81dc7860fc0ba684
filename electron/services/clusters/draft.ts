import type { ClusterDraft } from "../../../shared/api/contract.ts";
import { AppError } from "../../../shared/errors.ts";
import { destinationFault } from "./destination.ts";
import { rackOf } from "./racks.ts";

/** What the schema cannot say of a draft. Returns it with every host once; throws `bad-request`. */
export function checkDraft(draft: ClusterDraft): ClusterDraft {
  for (const host of draft.hosts) {
    const reason = destinationFault(host);
    if (reason !== null) {
      throw new AppError({
        code: "bad-request",
        message: `The host '${host.slice(0, 80)}' ${reason}.`,
        remedy: "Write an alias of ssh config, or [user@]host[:port].",
      });
    }
  }
  rackOf(draft.racks);
  return { ...draft, name: draft.name.trim() || "cluster", hosts: [...new Set(draft.hosts)] };
}

/** Larger clusters look less often, so that a refresh of all hosts costs about the same a second. */
export function refreshSecondsOf(draft: ClusterDraft): number {
  return draft.refreshSeconds ?? Math.min(30, Math.max(5, Math.ceil(draft.hosts.length / 50)));
}

/** Why something waits, cut to what the caller may see: a limit of others, or of the cluster, is named without its figures. */
import { AppError } from "../../../../shared/errors.ts";
import type { HostInput } from "../../../../shared/protocol/contract.ts";
import type { WaitReason } from "../../../../shared/protocol/control.ts";
import { describeAmount, describeResource, zero } from "../../../../shared/quota/index.ts";
import type { Access } from "../access/access.ts";
import { periodsIn, quotaNodes } from "../engine/quota-tree.ts";
import type { System } from "../system.ts";
import { engineOf, enginePeople, ledgerOf } from "./context.ts";
import { baselinesIn } from "./counting.ts";
import { mayReadSubject } from "./sight.ts";

type Blocker = WaitReason["blockers"][number];

/** Throws AppError `not-found` also for what is somebody else's: whether it is there is not said. */
export async function explain(
  system: System,
  access: Access,
  { subject, allocationId }: HostInput<"quota.explain">,
): Promise<WaitReason> {
  const ledger = ledgerOf(system);
  const engine = await engineOf(system);
  const known = enginePeople(ledger);
  const allocation = (await engine.allocations(known)).find(({ id }) => id === allocationId);
  const allowed = allocation?.subject === subject && mayReadSubject(access, subject);
  if (!allowed && !access.administrator) {
    throw new AppError({ code: "not-found", message: `There is no ${allocationId} of ${subject}.`, remedy: "" });
  }
  const reason = await engine.explain(allocationId, known, periodsIn(ledger), baselinesIn(ledger));
  const names = new Map(quotaNodes(ledger, new Map()).map(({ id, name }) => [id, name]));
  const isSeen = ({ subject: of }: Blocker) => access.administrator || (of !== null && mayReadSubject(access, of));
  const blockers = reason.blockers.map((blocker) => {
    const name = blocker.subject === null ? blocker.name : (names.get(blocker.subject) ?? blocker.name);
    return isSeen(blocker) ? { ...blocker, name } : { ...blocker, subject: null, name: "", limit: zero, used: zero };
  });
  const [first] = blockers;
  const [shown] = reason.blockers;
  if (first === undefined || shown === undefined) return { ...reason, blockers };
  const others = blockers.length > 1 ? ` ${blockers.length - 1} more would hold it up too.` : "";
  return { ...reason, blockers, sentence: `${sentenceOf(first, isSeen(shown))}${others}` };
}

/** What is shown is said with its figures, the rest by its level only. */
function sentenceOf({ level, name, resource, limit, used, missing }: Blocker, isSeen: boolean): string {
  const what = describeResource(resource);
  const lacks = describeAmount(missing, "up");
  if (!isSeen) return `A limit of the ${level} holds it up: ${lacks} ${what} missing.`;
  const who = name === "" ? `The ${level}` : name;
  return `${who} may use ${describeAmount(limit, "down")} ${what}, ${describeAmount(used, "up")} in use: ${lacks} missing.`;
}

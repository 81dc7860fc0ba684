/** Why a job waits, in the terms of the quota tree. */
import type { WaitReason } from "../../../../../shared/protocol/control.ts";
import { fraction, toWords } from "../../../../../shared/quota/index.ts";
import { explainWait, type LimitCheck, type WaitContext } from "../../slurm/wait-reason.ts";
import { amountOf, type CardCounting, resourceOf } from "./limit-mapping.ts";
import { subjectOf } from "./state.ts";

export function waitReason(
  context: WaitContext,
  uids: ReadonlyMap<string, number>,
  counting: CardCounting,
): WaitReason {
  const explanation = explainWait(context);
  const reason = explanation.reason ?? "None";
  if (explanation.kind === "no-limit") {
    return { reason, sentence: otherSentence(reason), blockers: [] };
  }
  const blockers = explanation.blocks.map((check) => blockerOf(check, uids, counting));
  const [first] = blockers;
  const sentence =
    first === undefined
      ? explanation.note
      : `The ${first.level}'s limit is ${toWords(first.limit)}, of which ${toWords(first.used)} are in use: ${toWords(first.missing)} too few.`;
  return { reason, sentence, blockers };
}

function blockerOf(
  check: LimitCheck,
  uids: ReadonlyMap<string, number>,
  counting: CardCounting,
): WaitReason["blockers"][number] {
  const { level, limitName, tres, limit, used, committed, asked, shortBy } = check;
  const amount = (count: number) =>
    tres === null ? fraction(Math.round(count)) : amountOf(tres, limitName, count, counting);
  const isQos = level.kind === "qos";
  return {
    subject: isQos || level.account === null ? null : subjectOf(level.account, level.user, uids),
    level: level.kind === "qos" ? "cluster" : level.kind,
    name: isQos ? `QOS ${level.qos ?? ""}` : (level.user ?? level.account ?? ""),
    resource: tres === null ? limitName : resourceOf(tres, limitName, counting),
    limit: amount(limit),
    used: amount(used + committed),
    asked: asked === null ? null : amount(asked),
    missing: amount(shortBy),
    changedBy: level.kind === "project" || level.kind === "person" ? "lead" : "administrator",
  };
}

function otherSentence(reason: string): string {
  switch (reason) {
    case "Resources":
      return "It is next, and waits until enough is free: no limit holds it back.";
    case "Priority":
      return "Others with a higher priority are before it: no limit holds it back.";
    case "None":
      return "Slurm has not looked at it yet.";
    default:
      return `Slurm says ${reason}: no limit of a tenant, project or person holds it back.`;
  }
}

/** Who is in Slurm's accounting: accounts, users, their associations, and the QOS. */
import type { AssociationLimits, QosLimits } from "./limits.ts";

/** One row of `sacctmgr show assoc`: an account in the tree, or a user in an account. */
export interface Association {
  /** Null where this output does not say it: the default columns have none, and 24.11's JSON prints 0 for all. */
  readonly id: number | null;
  readonly cluster: string;
  readonly account: string;
  /** Null for the account's own row. */
  readonly user: string | null;
  /** Where the association is for one partition only. */
  readonly partition: string | null;
  /** Of an account's row; null for the root and for a user's row, whose parent is its own account. */
  readonly parentAccount: string | null;
  /** Shares of the fair share; `parent` where it has none of its own. */
  readonly shares: number | "parent" | null;
  readonly priority: number | null;
  readonly qos: readonly string[];
  readonly defaultQos: string | null;
  /** What is set on this row; what is inherited from above is not in it, except the `max...` limits of a user's row. */
  readonly limits: AssociationLimits;
}

export interface SlurmAccount {
  readonly name: string;
  readonly description: string;
  readonly organization: string;
  /** With `withcoord` only, those inherited from a parent account included; null where this output does not say it. */
  readonly coordinators: readonly string[] | null;
}

export interface SlurmUser {
  readonly name: string;
  readonly defaultAccount: string | null;
  readonly adminLevel: "none" | "operator" | "administrator" | null;
}

export interface Qos {
  readonly id: number | null;
  readonly name: string;
  readonly priority: number | null;
  /** In sacctmgr's words, `DenyOnLimit`, `OverPartQOS`, sorted. */
  readonly flags: readonly string[];
  readonly preempts: readonly string[];
  /** `cluster`: as the cluster's PreemptMode. */
  readonly preemptMode: string;
  readonly graceTimeSeconds: number | null;
  readonly preemptExemptSeconds: number | null;
  readonly usageFactor: number | null;
  readonly limits: QosLimits;
}

/**
 * Which limits of a QOS replace the same limits of all associations of its jobs: a QOS with a limit of its own is a way
 * around the quota for whoever may use it. As sacctmgr names them: `GrpTRES gres/gpu`, `GrpTRESMins gres/cardshare`.
 */
export function overriddenTres(qos: Qos): readonly string[] {
  const { grpTres, grpTresMins } = qos.limits;
  return [
    ...Object.keys(grpTres)
      .sort()
      .map((tres) => `GrpTRES ${tres}`),
    ...Object.keys(grpTresMins ?? {})
      .sort()
      .map((tres) => `GrpTRESMins ${tres}`),
  ];
}

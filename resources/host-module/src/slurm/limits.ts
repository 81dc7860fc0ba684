/** What an association or a QOS limits, in one shape for text and JSON. An empty object or null is no limit. */
import type { TresCounts } from "./tres.ts";

/** Limits that associations and QOS have in common; `sacctmgr`'s own names. */
export interface SharedLimits {
  /** All running jobs together. */
  readonly grpTres: TresCounts;
  /** Resource minutes used (the period quota); null where this output does not say it. */
  readonly grpTresMins: TresCounts | null;
  /** Resource minutes that running jobs may still take. */
  readonly grpTresRunMins: TresCounts | null;
  readonly grpJobs: number | null;
  /** Null also where this output does not say it, which is then listed. */
  readonly grpSubmitJobs: number | null;
  readonly grpWallMinutes: number | null;
  /** One job. */
  readonly maxTres: TresCounts;
  readonly maxTresPerNode: TresCounts;
  readonly maxTresMins: TresCounts;
  readonly maxWallMinutes: number | null;
}

export interface AssociationLimits extends SharedLimits {
  readonly maxJobs: number | null;
  readonly maxSubmitJobs: number | null;
}

export interface QosLimits extends SharedLimits {
  readonly maxTresPerUser: TresCounts;
  readonly maxTresPerAccount: TresCounts;
  readonly maxTresRunMinsPerUser: TresCounts;
  readonly maxTresRunMinsPerAccount: TresCounts;
  readonly maxJobsPerUser: number | null;
  readonly maxJobsPerAccount: number | null;
  readonly maxSubmitJobsPerUser: number | null;
  readonly maxSubmitJobsPerAccount: number | null;
  readonly minTres: TresCounts;
}

/** How a console hears that it should ask again. */

/** Pushed when something of the ledger or the engine that the caller may see may have changed: ask again what is shown. */
export interface ControlEvent {
  readonly ledgerRevision: number;
  /** Changes when usage, jobs or leases do. */
  readonly usageRevision: number;
}

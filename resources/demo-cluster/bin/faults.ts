/** Faults that tests ask for in `faults.json`: what a driver, a kernel or an impatient administrator can do to a command. */

export type FaultAction =
  /** Answers with this instead of working, or after the work was done. */
  | {
      readonly kind: "fail";
      readonly exitStatus: number;
      readonly stdout?: string;
      readonly stderr?: string;
      readonly afterWork?: boolean;
    }
  /** Never ends by itself. */
  | { readonly kind: "hang"; readonly afterWork?: boolean }
  /** Does the work, prints the first bytes of the answer and dies of a segmentation fault. */
  | { readonly kind: "crash"; readonly outputBytes: number; readonly afterWork?: boolean }
  /** Does the work, but takes its time first. */
  | { readonly kind: "slow"; readonly milliseconds: number }
  /** Does the work and answers 0 to every question about how it went. */
  | { readonly kind: "lie" }
  /**
   * Kills the process that called, with SIGKILL. `before`: the work is not done. `during`: the caller is dead
   * when the work is done. `after`: the work is done, and the caller never hears of it.
   */
  | { readonly kind: "kill-parent"; readonly when: "before" | "during" | "after" };

export interface Fault {
  /** A regular expression over the arguments joined by spaces, `mig -cgi`. */
  readonly match: string;
  /** The n-th matching command, counted from 1; every one when absent. */
  readonly occurrence?: number;
  readonly action: FaultAction;
}

/** How often each fault's pattern has matched so far, by its place in the list. */
export type FaultCounts = number[];

/** The fault that strikes this command, if any; `counts` is brought up to date. */
export function strikingFault(faults: readonly Fault[], counts: FaultCounts, argv: readonly string[]): Fault | null {
  let striking: Fault | null = null;
  const words = argv.join(" ");
  for (const [at, fault] of faults.entries()) {
    if (!new RegExp(fault.match).test(words)) continue;
    const count = (counts[at] ?? 0) + 1;
    counts[at] = count;
    if (striking === null && (fault.occurrence === undefined || fault.occurrence === count)) striking = fault;
  }
  return striking;
}

/** Faults with their counts, shared by all that run commands on one machine in this process. */
export class FaultPlan {
  #faults: readonly Fault[] = [];
  #counts: FaultCounts = [];

  /** Replaces the faults and starts counting again. */
  set(faults: readonly Fault[]): void {
    this.#faults = faults;
    this.#counts = [];
  }

  strike(argv: readonly string[]): FaultAction | null {
    return strikingFault(this.#faults, this.#counts, argv)?.action ?? null;
  }
}

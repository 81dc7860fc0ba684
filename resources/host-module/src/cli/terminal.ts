/** What a command may do with the terminal; tests give their own. */
export interface Terminal {
  out(text: string): void;
  error(text: string): void;
  readInput(): Promise<string>;
  /** Raised on Ctrl-C (cancel) and on hang-up (stop). */
  readonly signal: AbortSignal;
}

/** One line of a benchmark's table and of bench-results/NAME.json. */
export interface Metric {
  readonly metric: string;
  readonly value: number;
  readonly unit: string;
  /** What is to be reached, in words: "at most 0.8 x"; empty where the number only stands beside another. */
  readonly target: string;
  readonly ok: boolean;
}

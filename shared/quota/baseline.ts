/**
 * Use that does not count: what stood on an engine's counter when a period began. The counter itself is never set back, so
 * each row and each period stand alone. Minutes are of whatever unit the counter has.
 */
export interface Baseline {
  readonly minutes: number;
  /** When the counter stood there, in milliseconds since 1970. */
  readonly takenAtMs: number;
}

const dayMs = 86_400_000;

/**
 * What is left of a baseline at an instant, in minutes, not rounded: the counter fades, and what was on it fades with it.
 * `halfLifeSeconds` null or 0: it does not.
 */
export function fadedMinutes({ minutes, takenAtMs }: Baseline, atMs: number, halfLifeSeconds: number | null): number {
  if (halfLifeSeconds === null || halfLifeSeconds <= 0 || atMs <= takenAtMs) return minutes;
  return minutes * 2 ** (-(atMs - takenAtMs) / 1000 / halfLifeSeconds);
}

/** What counts of the minutes on the counter; never below 0. */
export function countedMinutes(used: number, notCounted: number): number {
  return Math.max(0, used - notCounted);
}

/**
 * Whether the counter stands below what it stood at: somebody has set it back. A minute and a hundredth are allowed for: the
 * counter is printed in whole minutes, and it fades in steps.
 */
export function isSetBack(used: number, notCounted: number): boolean {
  return used < notCounted * 0.99 - 1;
}

/** Whether a limit that was written with `written` minutes on top is due to be written anew: by a minute, and once a day. */
export function isFadedApart(written: number, notCounted: number, writtenAtMs: number, nowMs: number): boolean {
  return Math.abs(Math.round(notCounted) - written) >= 1 && nowMs - writtenAtMs >= dayMs;
}

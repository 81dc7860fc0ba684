/** Readings of an engine's counter at the start of a period, by row and period: that use does not count in it. */
import type { Prepare } from "./prepare.ts";

export interface BaselineRow {
  /** `cluster`, `t3f2k`, `t3f2k_p01`, `t3f2k_p01/1000`. */
  readonly subject: string;
  /** As `periodKey` writes it: `month:Europe/Berlin`. */
  readonly period: string;
  /** What the engine counts in: `gres/cardshare`. */
  readonly counter: string;
  /** Whole minutes of one unit of the counter. */
  readonly minutes: number;
  readonly takenAt: string;
}

export function readBaselines(prepare: Prepare): readonly BaselineRow[] {
  return prepare("SELECT * FROM baselines ORDER BY subject, period")
    .all()
    .map((row) => ({
      subject: String(row.subject),
      period: String(row.period),
      counter: String(row.counter),
      minutes: Number(row.minutes),
      takenAt: String(row.takenAt),
    }));
}

export function writeBaselines(prepare: Prepare, rows: readonly BaselineRow[]): void {
  for (const { subject, period, counter, minutes, takenAt } of rows) {
    prepare("INSERT OR REPLACE INTO baselines (subject, period, counter, minutes, takenAt) VALUES (?, ?, ?, ?, ?)").run(
      subject,
      period,
      counter,
      minutes,
      takenAt,
    );
  }
}

export function removeBaselines(prepare: Prepare, subjects: readonly string[], period?: string): void {
  for (const subject of subjects) {
    if (period === undefined) prepare("DELETE FROM baselines WHERE subject = ?").run(subject);
    else prepare("DELETE FROM baselines WHERE subject = ? AND period = ?").run(subject, period);
  }
}

/** Days as a date field has them, `2026-05-06`, and the instants they begin at by the clock of this machine. */

/** When the day that lies `later` days after this one begins, in ISO 8601; null where the text is no day. */
export function beginningOf(day: string, later = 0): string | null {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day);
  if (match === null) return null;
  const [year, month, date] = match.slice(1).map(Number) as [number, number, number];
  // A day may have 23 or 25 hours: the calendar counts, not the hours.
  if (new Date(year, month - 1, date).getDate() !== date) return null;
  return new Date(year, month - 1, date + later).toISOString();
}

/** The rows of the ledger and what Slurm was told, as one list; the pages of the ledger; and the command as one can paste it. */
import type { AuditPageView, AuditRowView, SlurmTransactionView } from "../../shared/protocol/control.ts";

export type AuditEntry =
  | { readonly kind: "ledger"; readonly key: string; readonly row: AuditRowView }
  | { readonly kind: "slurm"; readonly key: string; readonly transaction: SlurmTransactionView };

function timeOf(entry: AuditEntry): number {
  return Date.parse(entry.kind === "ledger" ? entry.row.at : entry.transaction.at);
}

/**
 * Newest first. Ledger rows keep the order of their `seq`, whatever the clock said. What Slurm was told before the
 * oldest ledger row waits until the pages that belong around it are there, unless `complete` says that there are none.
 */
export function entriesOf(
  rows: readonly AuditRowView[],
  transactions: readonly SlurmTransactionView[],
  complete: boolean,
): readonly AuditEntry[] {
  const ledger = [...rows].sort((a, b) => b.seq - a.seq).map(ledgerEntry);
  const oldest = ledger.at(-1);
  const since = complete || oldest === undefined ? Number.NEGATIVE_INFINITY : timeOf(oldest);
  const slurm = slurmEntries(transactions)
    .filter((entry) => timeOf(entry) >= since)
    .sort((a, b) => timeOf(b) - timeOf(a));
  const merged: AuditEntry[] = [];
  let next = 0;
  for (const entry of ledger) {
    for (let other = slurm[next]; other !== undefined && timeOf(other) > timeOf(entry); other = slurm[next]) {
      merged.push(other);
      next += 1;
    }
    merged.push(entry);
  }
  return [...merged, ...slurm.slice(next)];
}

/**
 * The place of the ledger's row that is `by` rows further than the one at `at`, or at the end of the list; what Slurm was
 * told is passed over. From nowhere (-1) it is the first. Null where there is no row of the ledger.
 */
export function nextRow(entries: readonly AuditEntry[], at: number, by: number): number | null {
  const places = entries.flatMap((entry, place) => (entry.kind === "ledger" ? [place] : []));
  const from = places.indexOf(at);
  return places[from < 0 ? 0 : Math.max(0, Math.min(places.length - 1, from + by))] ?? null;
}

function ledgerEntry(row: AuditRowView): AuditEntry {
  return { kind: "ledger", key: `ledger ${row.seq}`, row };
}

/** Slurm numbers its transactions for itself: two that are alike are told apart by their place. */
function slurmEntries(transactions: readonly SlurmTransactionView[]): AuditEntry[] {
  const seen = new Map<string, number>();
  return transactions.map((transaction) => {
    const { at, actor, action, where, info } = transaction;
    const told = JSON.stringify([at, actor, action, where, info]);
    const nth = seen.get(told) ?? 0;
    seen.set(told, nth + 1);
    return { kind: "slurm", key: `slurm ${told} ${nth}`, transaction };
  });
}

/** Adds a page to what is held, each row once: rows of the ledger never change, their end is a row of its own. Newest first. */
export function withPage(held: readonly AuditRowView[], page: readonly AuditRowView[]): readonly AuditRowView[] {
  const bySeq = new Map(held.map((row) => [row.seq, row]));
  for (const row of page) bySeq.set(row.seq, row);
  return [...bySeq.values()].sort((a, b) => b.seq - a.seq);
}

/** Every row of every page, newest first. `fetchPage` gets the `next` of the page before; null for the first. */
export async function allRows(
  fetchPage: (before: number | null) => Promise<AuditPageView>,
): Promise<readonly AuditRowView[]> {
  const rows: AuditRowView[] = [];
  let before: number | null = null;
  do {
    const page: AuditPageView = await fetchPage(before);
    rows.push(...page.rows);
    before = page.next;
  } while (before !== null);
  return rows;
}

/** The command line of a row, a JSON list of words, quoted for a POSIX shell; text that is no such list as it is. */
export function shellText(commandLine: string): string {
  let words: unknown;
  try {
    words = JSON.parse(commandLine);
  } catch {
    return commandLine;
  }
  if (!Array.isArray(words) || !words.every((word) => typeof word === "string")) return commandLine;
  return words.map(shellWord).join(" ");
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

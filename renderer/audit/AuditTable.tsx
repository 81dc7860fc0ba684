/** The rows as a grid with one row chosen, of which only those in sight are drawn. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, type ReactNode, useEffect, useLayoutEffect, useRef } from "react";
import type { AuditRowView } from "../../shared/protocol/control.ts";
import { type MessageKey, useText } from "../i18n/index.ts";
import { type AuditEntry, nextRow } from "./entries.ts";
import { objectInWords } from "./names.ts";
import { commandInWords, roleInWords } from "./words.ts";

const rowHeight = 24;

const outcomeWords: Readonly<Record<string, MessageKey>> = {
  begun: "audit.begun",
  done: "audit.done",
  failed: "audit.failed",
  refused: "audit.refused",
};
const columns = [
  "audit.time",
  "audit.who",
  "audit.role",
  "audit.command",
  "audit.object",
  "audit.outcome",
  "audit.from",
] as const satisfies readonly MessageKey[];

interface AuditTableProps {
  readonly entries: readonly AuditEntry[];
  readonly chosen: number | null;
  readonly names: ReadonlyMap<string, string>;
  readonly onChoose: (row: AuditRowView) => void;
  /** The last row came in sight. */
  readonly onEnd: () => void;
}

export function AuditTable({ entries, chosen, names, onChoose, onEnd }: AuditTableProps) {
  const t = useText();
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollPaddingStart: rowHeight,
    scrollPaddingEnd: rowHeight,
  });
  useStillRows(scroller, entries);
  const items = virtual.getVirtualItems();
  const isAtEnd = entries.length > 0 && items.at(-1)?.index === entries.length - 1;
  // biome-ignore lint/correctness/useExhaustiveDependencies: more rows whose end is in sight want the next ones
  useEffect(() => {
    if (isAtEnd) onEnd();
  }, [isAtEnd, entries.length]);
  if (entries.length === 0) return <p className="muted audit-empty">{t("audit.empty")}</p>;

  const at = entries.findIndex((entry) => entry.kind === "ledger" && entry.row.seq === chosen);
  const step = (by: number) => {
    const next = nextRow(entries, at, by);
    const entry = next === null ? undefined : entries[next];
    if (next === null || entry?.kind !== "ledger") return;
    onChoose(entry.row);
    virtual.scrollToIndex(next);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows are virtual, which a table element cannot have
    <div
      className="audit-table"
      ref={scroller}
      role="grid"
      aria-label={t("audit.title")}
      aria-rowcount={entries.length + 1}
      aria-activedescendant={items.some(({ index }) => index === at) ? rowId(chosen) : undefined}
      tabIndex={0}
      onKeyDown={(event) => {
        const page = Math.max(1, Math.floor(event.currentTarget.clientHeight / rowHeight) - 2);
        const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -1e9, End: 1e9 }[event.key];
        if (by === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
        event.preventDefault();
        step(by);
      }}
    >
      <Row className="audit-row audit-head" rowIndex={1}>
        {columns.map((column) => (
          // biome-ignore lint/a11y/useSemanticElements: as above
          // biome-ignore lint/a11y/useFocusableInteractive: nothing to do with it
          <div key={column} role="columnheader" className="truncate">
            {t(column)}
          </div>
        ))}
      </Row>
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      <div className="audit-body" role="rowgroup" style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const entry = entries[index];
          if (entry === undefined) return null;
          return entry.kind === "slurm" ? (
            <SlurmRow key={entry.key} entry={entry} index={index} start={start} />
          ) : (
            <LedgerRow
              key={entry.key}
              row={entry.row}
              index={index}
              start={start}
              chosen={index === at}
              names={names}
              onChoose={onChoose}
            />
          );
        })}
      </div>
    </div>
  );
}

const rowId = (seq: number | null): string => `audit-row-${seq}`;

/** Rows that came in above do not push away what is being read. */
function useStillRows(scroller: { readonly current: HTMLDivElement | null }, entries: readonly AuditEntry[]): void {
  const first = useRef<string | undefined>(undefined);
  useLayoutEffect(() => {
    const element = scroller.current;
    const came = first.current === undefined ? 0 : entries.findIndex(({ key }) => key === first.current);
    first.current = entries[0]?.key;
    if (element !== null && came > 0 && element.scrollTop > 0) element.scrollTop += came * rowHeight;
  }, [entries, scroller]);
}

interface RowProps {
  readonly className: string;
  readonly rowIndex: number;
  readonly start?: number;
  readonly id?: string;
  readonly selected?: boolean;
  readonly onClick?: () => void;
  readonly children: ReactNode;
}

function Row({ className, rowIndex, start, id, selected, onClick, children }: RowProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows are virtual, which a table element cannot have
    // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid has the keys
    <div
      id={id}
      role="row"
      className={className}
      aria-rowindex={rowIndex}
      aria-selected={selected}
      style={start === undefined ? undefined : { transform: `translateY(${start}px)` }}
      onClick={onClick}
    >
      {children}
    </div>
  );
}

interface CellProps {
  /** What is said where the cell is too narrow, or what stands behind its words. */
  readonly title?: string | undefined;
  readonly className?: string;
  readonly outcome?: string;
  readonly colSpan?: number;
  readonly children: ReactNode;
}

function Cell({ title, className = "", outcome, colSpan, children }: CellProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows are virtual, which a table element cannot have
    // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus
    <div
      role="gridcell"
      className={`truncate ${className}`}
      title={title}
      data-outcome={outcome}
      aria-colspan={colSpan}
    >
      {children}
    </div>
  );
}

interface EntryProps {
  readonly index: number;
  readonly start: number;
}

const SlurmRow = memo(function SlurmRow({
  entry: { transaction },
  index,
  start,
}: EntryProps & { readonly entry: Extract<AuditEntry, { kind: "slurm" }> }) {
  return (
    <Row className="audit-row audit-slurm" rowIndex={index + 2} start={start}>
      <Cell>{timeText(transaction.at)}</Cell>
      <Cell title={transaction.actor}>{transaction.actor}</Cell>
      <Cell>Slurm</Cell>
      <Cell title={transaction.action}>{transaction.action}</Cell>
      <Cell title={transaction.where}>{transaction.where}</Cell>
      <Cell className="audit-info" title={transaction.info} colSpan={2}>
        {transaction.info}
      </Cell>
    </Row>
  );
});

interface LedgerRowProps extends EntryProps {
  readonly row: AuditRowView;
  readonly chosen: boolean;
  readonly names: ReadonlyMap<string, string>;
  readonly onChoose: (row: AuditRowView) => void;
}

const LedgerRow = memo(function LedgerRow({ row, index, start, chosen, names, onChoose }: LedgerRowProps) {
  const t = useText();
  const outcome = outcomeWords[row.outcome];
  const who = row.user ?? String(row.uid);
  const object = objectInWords(t, row.object, names);
  return (
    <Row
      className="audit-row"
      id={rowId(row.seq)}
      rowIndex={index + 2}
      start={start}
      selected={chosen}
      onClick={() => onChoose(row)}
    >
      <Cell>{timeText(row.at)}</Cell>
      <Cell title={who}>{who}</Cell>
      <Cell className="muted" title={row.role}>
        {roleInWords(t, row.role)}
      </Cell>
      <Cell title={row.command}>{commandInWords(t, row.command)}</Cell>
      <Cell title={row.object === null ? undefined : `${object} (${row.object})`}>{object}</Cell>
      <Cell outcome={row.outcome}>{outcome === undefined ? row.outcome : t(outcome)}</Cell>
      <Cell className="muted" title={row.address ?? undefined}>
        {row.address}
      </Cell>
    </Row>
  );
});

/** In the reader's own time zone, to the second. */
function timeText(at: string): string {
  const time = new Date(at);
  const two = (number: number) => String(number).padStart(2, "0");
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}

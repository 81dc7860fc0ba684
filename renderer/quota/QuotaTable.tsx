/** The tree of limits as a table with a cursor, written into like a spreadsheet. Only the rows in sight are drawn. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useEffect, useMemo, useRef } from "react";
import { useStore } from "zustand";
import { type Fraction, isEqual, type Limits } from "../../shared/quota/index.ts";
import { same } from "../../shared/snapshot/same.ts";
import { TenantSwatch } from "../board/Swatch.tsx";
import { ChevronIcon } from "../design/icons.tsx";
import { useFormat } from "../i18n/format.ts";
import { useText } from "../i18n/index.ts";
import { tenantMark } from "../stores/colouring.ts";
import { setExpanded } from "./desk.ts";
import { ownLimits } from "./draft.ts";
import { useLook } from "./look.ts";
import { cellOf, type QuotaCell, type QuotaColumn, type QuotaRow, quotaColumns } from "./model.ts";
import styles from "./quota.module.css";
import { select } from "./selection.ts";
import { moveCursor, pressKey, startWriting, takeWritten } from "./table-keys.ts";
import { amountWords, cellTitle, levelWords, nodeName, noteOf, periodWords, unenforced } from "./words.ts";

const rowHeight = 36;

const rowId = (id: string): string => `quota-row-${id}`;
const cellId = (id: string, column: QuotaColumn): string => `quota-cell-${id}-${column}`;

/** Whether the whole row stands between the head, which stays at the top, and the lower edge. */
function isInSight(index: number, scrollOffset: number, height: number): boolean {
  const start = index * rowHeight;
  return start >= scrollOffset && start + 2 * rowHeight <= scrollOffset + height;
}

export function QuotaTable({ rows }: { readonly rows: readonly QuotaRow[] }) {
  const t = useText();
  const look = useLook();
  const { desk } = look;
  const selection = useStore(desk, (state) => state.selection);
  const isWriting = useStore(desk, (state) => state.writing !== null);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 10,
    scrollPaddingStart: rowHeight,
    scrollPaddingEnd: rowHeight,
  });
  const { cursor } = selection;
  const at = useMemo(() => rows.findIndex(({ id }) => id === cursor?.subject), [rows, cursor?.subject]);
  useEffect(() => {
    if (at < 0) return;
    const { scrollOffset, scrollRect } = virtual;
    // Scrolling costs a layout of the page, also where the row is in sight already.
    if (!isInSight(at, scrollOffset ?? 0, scrollRect?.height ?? 0)) virtual.scrollToIndex(at);
  }, [at, virtual]);
  // Whoever ends writing goes on with the arrows.
  const wrote = useRef(false);
  useEffect(() => {
    if (wrote.current && !isWriting) scroller.current?.focus({ preventScroll: true });
    wrote.current = isWriting;
  }, [isWriting]);

  return (
    <div
      className={styles.table}
      ref={scroller}
      role="treegrid"
      aria-label={t("quota.title")}
      aria-rowcount={rows.length + 1}
      aria-multiselectable="true"
      aria-activedescendant={at >= 0 && cursor !== null ? cellId(cursor.subject, cursor.column) : undefined}
      tabIndex={0}
      data-quota-table=""
      onKeyDown={(event) => {
        // A field that holds what is no limit keeps the cursor.
        if (event.target !== event.currentTarget || event.nativeEvent.isComposing || isWriting) return;
        const { key, shiftKey, ctrlKey, metaKey, altKey } = event;
        const pressed = { key, shift: shiftKey, control: ctrlKey || metaKey, alt: altKey };
        if (pressKey(look, rows, pressed)) event.preventDefault();
      }}
    >
      <Head />
      <div className={styles.rows} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = rows[index];
          if (row === undefined) return null;
          return (
            <Row
              key={row.id}
              row={row}
              rows={rows}
              index={index}
              start={start}
              cursorColumn={cursor?.subject === row.id ? cursor.column : null}
              isMarked={selection.marked.has(row.id)}
            />
          );
        })}
      </div>
    </div>
  );
}

function Head() {
  const t = useText();
  const { answer } = useLook();
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows are virtual, which a table element cannot have
    // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus
    <div className={`${styles.row} ${styles.head}`} role="row" aria-rowindex={1}>
      {/* biome-ignore lint/a11y/useSemanticElements: rows are virtual, which a table element cannot have */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: nothing to do with it */}
      <div role="columnheader" className={styles.name}>
        {t("quota.name")}
      </div>
      {quotaColumns.map((column) => {
        const why = unenforced(answer, column);
        return (
          // biome-ignore lint/a11y/useSemanticElements: rows are virtual, which a table element cannot have
          // biome-ignore lint/a11y/useFocusableInteractive: nothing to do with it
          <div key={column} role="columnheader" className={styles.figureHead}>
            <span className="truncate" title={t(`quota.column-${column}`)}>
              {t(`quota.column-${column}`)}
            </span>
            {why === null ? null : (
              <span className={styles.notEnforced} title={why.why}>
                {t("quota.notEnforced")}
              </span>
            )}
          </div>
        );
      })}
    </div>
  );
}

interface RowProps {
  readonly row: QuotaRow;
  readonly rows: readonly QuotaRow[];
  readonly index: number;
  readonly start: number;
  readonly cursorColumn: QuotaColumn | null;
  readonly isMarked: boolean;
}

/** The cursor moves and fields open in one row or two; the others stay as they are drawn. */
const Row = memo(function Row({ row, rows, index, start, cursorColumn, isMarked }: RowProps) {
  const t = useText();
  const look = useLook();
  const { desk, model, draft } = look;
  const { id, level, depth, hasChildren, isExpanded, isMatch } = row;
  const name = nodeName(t, model, id);
  const limits = ownLimits(model, draft, id);
  return (
    // biome-ignore lint/a11y/useSemanticElements: as in the table
    // biome-ignore lint/a11y/useFocusableInteractive: as in the table
    <div
      id={rowId(id)}
      className={styles.row}
      role="row"
      aria-rowindex={index + 2}
      aria-level={depth + 1}
      aria-selected={isMarked}
      aria-expanded={hasChildren ? isExpanded : undefined}
      data-current={cursorColumn === null ? undefined : ""}
      data-match={isMatch ? undefined : "no"}
      style={{ transform: `translateY(${start}px)` }}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: as in the table */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the grid has the keys */}
      <div
        role="rowheader"
        tabIndex={-1}
        className={styles.name}
        data-level={level}
        style={{ paddingInlineStart: 12 + depth * 16 }}
        title={t("quota.rowTitle", { level: levelWords(t, level), name, id })}
        onClick={(event) => {
          if (takeWritten(look)) chooseCell(desk, rows, id, cursorColumn ?? "cards", event.shiftKey, isControl(event));
        }}
      >
        {hasChildren ? (
          <button
            type="button"
            tabIndex={-1}
            className={styles.toggle}
            data-open={isExpanded}
            aria-label={t(isExpanded ? "quota.collapseRow" : "quota.expandRow", { name })}
            onClick={(event) => {
              event.stopPropagation();
              setExpanded(desk, [id], !isExpanded);
            }}
          >
            <ChevronIcon />
          </button>
        ) : (
          <span className={styles.toggle} />
        )}
        {level === "tenant" ? <TenantSwatch mark={tenantMark(name)} /> : null}
        <span className="truncate">{name}</span>
        {draft.has(id) ? <span className={styles.draftDot} title={t("quota.drafted")} /> : null}
      </div>
      {quotaColumns.map((column) => (
        <Cell key={column} row={row} rows={rows} column={column} limits={limits} isCursor={cursorColumn === column} />
      ))}
    </div>
  );
});

const isControl = (event: { readonly ctrlKey: boolean; readonly metaKey: boolean }): boolean =>
  event.ctrlKey || event.metaKey;

function chooseCell(
  desk: ReturnType<typeof useLook>["desk"],
  rows: readonly QuotaRow[],
  id: string,
  column: QuotaColumn,
  isRange: boolean,
  isToggle: boolean,
): void {
  const way = isRange ? "range" : isToggle ? "toggle" : "one";
  const subjects = rows.map((row) => row.id);
  desk.setState(({ selection }) => ({ selection: select(selection, subjects, id, column, way) }));
}

/** How much of the limit that counts is in use, in percent; null where nobody limits it. */
function shareOf(cell: QuotaCell): number | null {
  const limit = cell.boundBy?.limit ?? cell.limit;
  if (limit === null) return null;
  const [used, most] = [cell.used, limit].map(({ numerator, denominator }) => numerator / denominator);
  if (used === undefined || most === undefined) return null;
  return most === 0 ? (used > 0 ? 101 : 0) : (used / most) * 100;
}

function isDrafted(before: Limits, now: Limits, column: QuotaColumn): boolean {
  const amount = (limits: Limits): Fraction | undefined =>
    column === "cardHours" ? limits.cardHours?.hours : limits[column];
  const [old, wanted] = [amount(before), amount(now)];
  if (old === undefined || wanted === undefined) return old !== wanted;
  const [from, to] = [before.cardHours?.period, now.cardHours?.period];
  return !isEqual(old, wanted) || (column === "cardHours" && JSON.stringify(from) !== JSON.stringify(to));
}

interface CellProps {
  readonly row: QuotaRow;
  readonly rows: readonly QuotaRow[];
  readonly column: QuotaColumn;
  /** The node's own, as drafted. */
  readonly limits: Limits;
  readonly isCursor: boolean;
}

/** The value before where the new one says the same, so that what follows from it is not worked out again. */
function useSame<Value>(value: Value): Value {
  const kept = useRef(value);
  if (!same(kept.current, value)) kept.current = value;
  return kept.current;
}

/** A draft changes a few cells of many, and words take longer than figures. */
function useCellWords(cell: QuotaCell, column: QuotaColumn) {
  const t = useText();
  const format = useFormat();
  const { model, answer } = useLook();
  return useMemo(
    () => ({
      note: noteOf(t, format, model, cell),
      used: amountWords(format, cell.used, "up"),
      limit: cell.limit === null ? t("quota.unlimited") : amountWords(format, cell.limit, "down"),
      period: column === "cardHours" ? periodWords(t, cell.resource) : "",
      title: cellTitle(t, model, answer, cell, column),
    }),
    [t, format, model, answer, cell, column],
  );
}

const Cell = memo(function Cell({ row, rows, column, limits, isCursor }: CellProps) {
  const look = useLook();
  const { desk, model, tree, draft, answer } = look;
  const writing = useStore(desk, (state) => (isCursor ? state.writing : null));
  const { id } = row;
  const cell = useSame(useMemo(() => cellOf(tree, limits, id, column), [tree, limits, id, column]));
  const { note, used, limit, period, title } = useCellWords(cell, column);
  const standing = model.nodes.get(id)?.limits ?? {};
  const drafted = draft.has(id) && isDrafted(standing, limits, column);
  const share = shareOf(cell);
  const isEmpty = cell.limit === null && cell.boundBy === null && cell.used.numerator === 0;
  return (
    // biome-ignore lint/a11y/useSemanticElements: as in the table
    // biome-ignore lint/a11y/useFocusableInteractive: as in the table
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid has the keys
    <div
      id={cellId(id, column)}
      role="gridcell"
      className={styles.cell}
      data-cursor={isCursor ? "" : undefined}
      data-drafted={drafted ? "" : undefined}
      data-over={share !== null && share > 100 ? "" : undefined}
      aria-readonly={!look.mayEdit(id)}
      title={writing === null ? title : undefined}
      onClick={(event) => {
        if (writing === null && takeWritten(look)) {
          chooseCell(desk, rows, id, column, event.shiftKey, isControl(event));
        }
      }}
      onDoubleClick={() => startWriting(look, null)}
    >
      {writing === null ? (
        <>
          {isEmpty ? (
            <span className={styles.blank}>{"\u00b7"}</span>
          ) : (
            <span className={styles.figure}>
              <span>{used}</span>
              <span className={styles.slash}>/</span>
              <span
                className={cell.limit === null ? styles.noLimit : styles.limit}
                data-held={unenforced(answer, column) === null ? undefined : "no"}
              >
                {limit}
              </span>
            </span>
          )}
          {note === null && period === "" ? null : (
            <span className={styles.note} data-tone={note?.tone ?? "muted"}>
              <span className="truncate">{note?.words ?? period}</span>
              {note === null ? null : <span>{note.figure}</span>}
            </span>
          )}
          {share === null ? null : (
            <span className={styles.bar} data-near={share >= 90 ? "" : undefined}>
              <i style={{ inlineSize: `${Math.min(100, share)}%` }} />
            </span>
          )}
        </>
      ) : (
        <Writer rows={rows} column={column} />
      )}
    </div>
  );
});

/** The field in the cell. Enter and Tab take what is written and go on, Escape leaves it as it was. */
function Writer({ rows, column }: { readonly rows: readonly QuotaRow[]; readonly column: QuotaColumn }) {
  const t = useText();
  const look = useLook();
  const writing = useStore(look.desk, (state) => state.writing);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const input = field.current;
    if (input === null) return;
    input.focus({ preventScroll: true });
    // What was typed to begin stays at the front; a limit that is opened is marked whole.
    if (input.value.length > 1) input.select();
  }, []);
  if (writing === null) return null;
  const takeAndGo = (down: number, right: number): void => {
    if (takeWritten(look)) moveCursor(look, rows, down, right);
  };
  const fault = writing.fault === null ? null : t(`quota.fault-${writing.fault}`);
  return (
    <>
      <input
        ref={field}
        className={styles.writer}
        aria-label={t(`quota.column-${column}`)}
        aria-invalid={fault !== null}
        aria-describedby={fault === null ? undefined : "quota-fault"}
        placeholder={column === "cardHours" ? t("quota.hoursExample") : t("quota.unlimitedLong")}
        value={writing.text}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => look.desk.setState({ writing: { text: event.target.value, fault: null } })}
        onBlur={() => takeWritten(look)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          const back = event.shiftKey ? -1 : 1;
          const steps: ReadonlyMap<string, readonly [number, number]> = new Map([
            ["Enter", [back, 0]],
            ["Tab", [0, back]],
            ["ArrowDown", [1, 0]],
            ["ArrowUp", [-1, 0]],
          ]);
          const step = steps.get(event.key);
          if ((step === undefined && event.key !== "Escape") || event.ctrlKey || event.metaKey) return;
          event.preventDefault();
          event.stopPropagation();
          if (step === undefined) look.desk.setState({ writing: null });
          else takeAndGo(...step);
        }}
      />
      {fault === null ? null : (
        <span id="quota-fault" className={styles.fault} role="alert">
          {fault}
        </span>
      )}
    </>
  );
}

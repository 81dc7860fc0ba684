/** The tree of limits as a table with a cursor, written into like a spreadsheet. Only the rows in sight are drawn. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useStore } from "zustand";
import { useText } from "../i18n/index.ts";
import { createRowFacts } from "./cells.ts";
import { useLook } from "./look.ts";
import type { QuotaRow } from "./model.ts";
import styles from "./quota.module.css";
import { cellId } from "./TableCell.tsx";
import { TableHead } from "./TableHead.tsx";
import { TableRow } from "./TableRow.tsx";
import { HandsContext, type TableHands } from "./table-hands.ts";
import { pressKey } from "./table-keys.ts";

const rowHeight = 36;

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
  const [factsOf] = useState(createRowFacts);
  const scroller = useRef<HTMLDivElement>(null);
  const latest = useRef({ look, rows });
  useLayoutEffect(() => {
    latest.current = { look, rows };
  }, [look, rows]);
  const [hands] = useState(
    (): TableHands => ({
      look: () => latest.current.look,
      rows: () => latest.current.rows,
      focus: () => scroller.current?.focus({ preventScroll: true }),
    }),
  );
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
    if (wrote.current && !isWriting && document.activeElement !== scroller.current) hands.focus();
    wrote.current = isWriting;
  }, [isWriting, hands]);

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
      <TableHead />
      <HandsContext value={hands}>
        <div className={styles.rows} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <TableRow
                key={row.id}
                row={row}
                facts={factsOf(look, row.id)}
                model={look.model}
                answer={look.answer}
                index={index}
                start={start}
                cursorColumn={cursor?.subject === row.id ? cursor.column : null}
                isWriting={isWriting && cursor?.subject === row.id}
                isMarked={selection.marked.has(row.id)}
              />
            );
          })}
        </div>
      </HandsContext>
    </div>
  );
}

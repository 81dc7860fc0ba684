/** One row of the table: the name in the tree, and its cells. */
import { memo } from "react";
import type { QuotaAnswer } from "../../shared/protocol/control.ts";
import { TenantSwatch } from "../board/Swatch.tsx";
import { ChevronIcon } from "../design/icons.tsx";
import { useText } from "../i18n/index.ts";
import { tenantMark } from "../stores/colouring.ts";
import type { TableRowFacts } from "./cells.ts";
import { setExpanded } from "./desk.ts";
import type { QuotaColumn, QuotaModel, QuotaRow } from "./model.ts";
import styles from "./quota.module.css";
import { TableCell } from "./TableCell.tsx";
import { chooseCell, useHands } from "./table-hands.ts";
import { takeWritten } from "./table-keys.ts";
import { levelWords, nodeName } from "./words.ts";

const rowId = (id: string): string => `quota-row-${id}`;

interface RowProps {
  readonly row: QuotaRow;
  readonly facts: TableRowFacts;
  readonly model: QuotaModel;
  readonly answer: QuotaAnswer;
  readonly index: number;
  readonly start: number;
  readonly cursorColumn: QuotaColumn | null;
  /** In the cell of the cursor. */
  readonly isWriting: boolean;
  readonly isMarked: boolean;
}

/** The cursor moves and fields open in one row or two; the others stay as they are drawn. */
export const TableRow = memo(function TableRow(props: RowProps) {
  const { row, facts, model, answer, index, start, cursorColumn, isWriting, isMarked } = props;
  const t = useText();
  const hands = useHands();
  const { id, level, depth, hasChildren, isExpanded, isMatch } = row;
  const name = nodeName(t, model, id);
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
      data-writing={isWriting ? "" : undefined}
      data-match={isMatch ? undefined : "no"}
      style={{ insetBlockStart: start }}
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
          if (takeWritten(hands.look())) chooseCell(hands, id, cursorColumn ?? "cards", event);
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
              setExpanded(hands.look().desk, [id], !isExpanded);
            }}
          >
            <ChevronIcon />
          </button>
        ) : (
          <span className={styles.toggle} />
        )}
        {level === "tenant" ? <TenantSwatch mark={tenantMark(name)} /> : null}
        <span className="truncate">{name}</span>
        {facts.isDrafted ? <span className={styles.draftDot} title={t("quota.drafted")} /> : null}
      </div>
      {facts.cells.map((cell) => (
        <TableCell
          key={cell.column}
          id={id}
          cell={cell}
          model={model}
          answer={answer}
          mayEdit={facts.mayEdit}
          isCursor={cursorColumn === cell.column}
          isWriting={isWriting && cursorColumn === cell.column}
        />
      ))}
    </div>
  );
});

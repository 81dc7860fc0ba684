/** One cell of the table: what is in use of which limit, and what matters most about it. */
import { memo, useMemo } from "react";
import type { QuotaAnswer } from "../../shared/protocol/control.ts";
import { useFormat } from "../i18n/format.ts";
import { useText } from "../i18n/index.ts";
import { CardHoursWriter } from "./CardHoursWriter.tsx";
import { CellWriter } from "./CellWriter.tsx";
import type { TableCellFacts } from "./cells.ts";
import type { QuotaColumn, QuotaModel } from "./model.ts";
import styles from "./quota.module.css";
import { chooseCell, useHands } from "./table-hands.ts";
import { startWriting, takeWritten } from "./table-keys.ts";
import { amountWords, cellTitle, noteOf, periodWords, unenforced } from "./words.ts";

export const cellId = (id: string, column: QuotaColumn): string => `quota-cell-${id}-${column}`;

interface CellProps {
  readonly id: string;
  readonly cell: TableCellFacts;
  readonly model: QuotaModel;
  readonly answer: QuotaAnswer;
  readonly mayEdit: boolean;
  readonly isCursor: boolean;
  readonly isWriting: boolean;
}

export const TableCell = memo(function TableCell(props: CellProps) {
  const { id, cell, model, answer, mayEdit, isCursor, isWriting } = props;
  const t = useText();
  const hands = useHands();
  const { column, share } = cell;
  // Words take longer than figures, and the cursor changes none of them.
  const title = useMemo(
    () => (cell.isUnseen ? t("quota.unseen") : cellTitle(t, model, answer, cell, column)),
    [t, model, answer, cell, column],
  );
  return (
    // biome-ignore lint/a11y/useSemanticElements: as in the table
    // biome-ignore lint/a11y/useFocusableInteractive: as in the table
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid has the keys
    <div
      id={cellId(id, column)}
      role="gridcell"
      className={styles.cell}
      data-cursor={isCursor ? "" : undefined}
      data-drafted={cell.isDrafted ? "" : undefined}
      data-over={share !== null && share > 100 ? "" : undefined}
      aria-readonly={!mayEdit}
      title={isWriting ? undefined : title}
      onClick={(event) => {
        if (!isWriting && takeWritten(hands.look())) chooseCell(hands, id, column, event);
      }}
      onDoubleClick={() => startWriting(hands.look(), null)}
    >
      {isWriting ? <Writer column={column} /> : <Figures cell={cell} model={model} answer={answer} />}
    </div>
  );
});

function Writer({ column }: { readonly column: QuotaColumn }) {
  return column === "cardHours" ? <CardHoursWriter /> : <CellWriter column={column} />;
}

const Figures = memo(function Figures({ cell, model, answer }: Pick<CellProps, "cell" | "model" | "answer">) {
  const t = useText();
  const format = useFormat();
  const { column, used, limit, boundBy, resource, share } = cell;
  if (cell.isUnseen) return <Unseen />;
  const note = noteOf(t, format, model, cell);
  const period = column === "cardHours" ? periodWords(t, resource) : "";
  const isEmpty = limit === null && boundBy === null && used.numerator === 0;
  return (
    <>
      {isEmpty ? (
        <span className={styles.blank}>{"\u00b7"}</span>
      ) : (
        <span className={styles.figure}>
          <span>{amountWords(format, used, "up")}</span>
          <span className={styles.slash}>/</span>
          <span
            className={limit === null ? styles.noLimit : styles.limit}
            data-held={unenforced(answer, column) === null ? undefined : "no"}
          >
            {limit === null ? t("quota.unlimited") : amountWords(format, limit, "down")}
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
  );
});

/** A dash for the eye, the words for who listens. */
export function Unseen() {
  const t = useText();
  return (
    <span className={styles.blank} title={t("quota.unseen")}>
      <span aria-hidden="true">–</span>
      <span className="visually-hidden">{t("quota.unseen")}</span>
    </span>
  );
}

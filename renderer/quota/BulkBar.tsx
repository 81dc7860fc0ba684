/** One change of one column in all marked rows. */
import { useState } from "react";
import { useStore } from "zustand";
import { type LimitFault, type Period, parseFraction } from "../../shared/quota/index.ts";
import { useText } from "../i18n/index.ts";
import { usualPeriod } from "./card-hours.ts";
import { type BulkChange, bulkEdit } from "./edits.ts";
import { useLook } from "./look.ts";
import { quotaColumns } from "./model.ts";
import styles from "./quota.module.css";
import { nothingSelected } from "./selection.ts";

const kinds = ["set", "add", "multiply", "clear"] as const;
type Kind = (typeof kinds)[number];

function changeOf(kind: Kind, text: string, period: Period): BulkChange | null {
  if (kind === "clear") return { kind };
  if (kind === "set") return text.trim() === "" ? null : { kind, text, period };
  const amount = parseFraction(text.trim());
  return amount === null ? null : { kind, amount };
}

export function BulkBar() {
  const t = useText();
  const { desk, model, draft, store, mayEdit } = useLook();
  const { cursor, marked } = useStore(desk, (state) => state.selection);
  const [kind, setKind] = useState<Kind>("set");
  const [amount, setAmount] = useState("");
  const [fault, setFault] = useState<{ readonly count: number; readonly fault: LimitFault } | null>(null);
  const subjects = [...marked].filter(mayEdit);
  if (subjects.length < 2 || cursor === null) return null;
  const change = changeOf(kind, amount, usualPeriod(model, draft, cursor.subject));
  return (
    <form
      className={styles.bulk}
      aria-label={t("quota.bulk")}
      onSubmit={(event) => {
        event.preventDefault();
        if (change === null) {
          setFault({ count: subjects.length, fault: "not-a-number" });
          return;
        }
        const { edits, refused } = bulkEdit(model, draft, subjects, cursor.column, change);
        store.edit(edits);
        const first = refused[0];
        setFault(first === undefined ? null : { count: refused.length, fault: first.fault });
      }}
    >
      <strong>{t("quota.marked", { count: subjects.length })}</strong>
      <select
        className="field"
        aria-label={t("quota.bulkColumn")}
        value={cursor.column}
        onChange={(event) => {
          const column = quotaColumns.find((each) => each === event.target.value);
          if (column !== undefined) {
            desk.setState(({ selection }) => ({ selection: { ...selection, cursor: { ...cursor, column } } }));
          }
        }}
      >
        {quotaColumns.map((column) => (
          <option key={column} value={column}>
            {t(`quota.column-${column}`)}
          </option>
        ))}
      </select>
      <select
        className="field"
        aria-label={t("quota.bulkKind")}
        value={kind}
        onChange={(event) => setKind(kinds.find((each) => each === event.target.value) ?? "set")}
      >
        {kinds.map((each) => (
          <option key={each} value={each}>
            {t(`quota.bulk-${each}`)}
          </option>
        ))}
      </select>
      {kind === "clear" ? null : (
        <input
          className={`field ${styles.amount}`}
          aria-label={t("quota.bulkAmount")}
          value={amount}
          onChange={(event) => {
            setAmount(event.target.value);
            setFault(null);
          }}
        />
      )}
      <button type="submit" className="button">
        {t("quota.toDraft")}
      </button>
      <button type="button" className="button quiet" onClick={() => desk.setState({ selection: nothingSelected })}>
        {t("quota.unmark")}
      </button>
      {fault === null ? null : (
        <span className={styles.problem} role="alert">
          {t("quota.bulkRefused", { count: fault.count, why: t(`quota.fault-${fault.fault}`) })}
        </span>
      )}
    </form>
  );
}

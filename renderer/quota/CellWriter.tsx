/** The field in a cell. Enter and Tab take what is written and go on, Escape leaves it as it was. */
import { type KeyboardEvent, type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useStore } from "zustand";
import { useText } from "../i18n/index.ts";
import type { QuotaColumn } from "./model.ts";
import styles from "./quota.module.css";
import { useHands } from "./table-hands.ts";
import { moveCursor, takeWritten } from "./table-keys.ts";

/** Rows down and columns to the right; Enter and Tab go back with Shift. */
const steps: ReadonlyMap<string, readonly [down: number, right: number]> = new Map([
  ["Enter", [1, 0]],
  ["Tab", [0, 1]],
  ["ArrowDown", [1, 0]],
  ["ArrowUp", [-1, 0]],
]);

/** Gives a field the keys when it is drawn. */
export function useFirstFocus(): RefObject<HTMLInputElement | null> {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const input = field.current;
    if (input === null) return;
    input.focus({ preventScroll: true });
    // What was typed to begin stays at the front; a limit that is opened is marked whole.
    if (input.value.length > 1) input.select();
  }, []);
  return field;
}

/** What keys do in a cell that is written into. */
export function useWritingKeys(): (event: KeyboardEvent<HTMLElement>) => void {
  const hands = useHands();
  const takeAndGo = (down: number, right: number): void => {
    const look = hands.look();
    if (!takeWritten(look)) return;
    moveCursor(look, hands.rows(), down, right);
    // Before the field goes: a focused field that is taken out costs two layouts more.
    hands.focus();
  };
  return (event) => {
    if (event.nativeEvent.isComposing) return;
    const way = event.shiftKey && (event.key === "Enter" || event.key === "Tab") ? -1 : 1;
    const step = steps.get(event.key);
    if ((step === undefined && event.key !== "Escape") || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    if (step === undefined) hands.look().desk.setState({ writing: null });
    else takeAndGo(way * step[0], way * step[1]);
  };
}

export function CellWriter({ column }: { readonly column: Exclude<QuotaColumn, "cardHours"> }) {
  const t = useText();
  const hands = useHands();
  const { desk } = hands.look();
  const writing = useStore(desk, (state) => state.writing);
  const field = useFirstFocus();
  const press = useWritingKeys();
  if (writing === null) return null;
  const fault = writing.fault === null ? null : t(`quota.fault-${writing.fault}`);
  return (
    <>
      <input
        ref={field}
        className={styles.writer}
        aria-label={t(`quota.column-${column}`)}
        aria-invalid={fault !== null}
        aria-describedby={fault === null ? undefined : "quota-fault"}
        placeholder={t("quota.unlimitedLong")}
        value={writing.text}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => desk.setState({ writing: { text: event.target.value, fault: null } })}
        onBlur={() => takeWritten(hands.look())}
        onKeyDown={press}
      />
      {fault === null ? null : <CellFault words={fault} />}
    </>
  );
}

/** Under the cell, or above it where the table ends there. */
export function CellFault({ words }: { readonly words: string }) {
  const bubble = useRef<HTMLSpanElement>(null);
  const [isAbove, setIsAbove] = useState(false);
  useLayoutEffect(() => {
    const table = bubble.current?.closest("[data-quota-table]");
    if (table === null || table === undefined || bubble.current === null) return;
    setIsAbove(bubble.current.getBoundingClientRect().bottom > table.getBoundingClientRect().top + table.clientHeight);
  }, []);
  return (
    <span ref={bubble} id="quota-fault" className={styles.fault} data-above={isAbove ? "" : undefined} role="alert">
      {words}
    </span>
  );
}

/** Card-hours in the cell: a number, a period and a time zone. The form is wider than the cell and lies over its neighbours. */
import { type KeyboardEvent, useState } from "react";
import { useStore } from "zustand";
import { useText } from "../i18n/index.ts";
import { CellFault, useFirstFocus, useWritingKeys } from "./CellWriter.tsx";
import { type HoursParts, partsOf, partsOfPeriod, periodKinds, textOf, timeZones, usualPeriod } from "./card-hours.ts";
import { ownLimits } from "./draft.ts";
import type { Look } from "./look.ts";
import styles from "./quota.module.css";
import { useHands } from "./table-hands.ts";
import { takeWritten } from "./table-keys.ts";

function partsAtFirst({ desk, model, draft }: Look): HoursParts {
  const { selection, writing } = desk.getState();
  const subject = selection.cursor?.subject ?? "cluster";
  const standing = ownLimits(model, draft, subject).cardHours?.period;
  return partsOf(writing?.text ?? "", partsOfPeriod(standing ?? usualPeriod(model, draft, subject)));
}

export function CardHoursWriter() {
  const t = useText();
  const hands = useHands();
  const { desk } = hands.look();
  const writing = useStore(desk, (state) => state.writing);
  const [parts, setParts] = useState(() => partsAtFirst(hands.look()));
  const [zones] = useState(() => timeZones(parts.timeZone));
  const field = useFirstFocus();
  const press = useWritingKeys();
  if (writing === null) return null;
  const change = (next: HoursParts): void => {
    setParts(next);
    desk.setState({ writing: { text: textOf(next), fault: null } });
  };
  const keys = (event: KeyboardEvent<HTMLElement>): void => {
    const { target, currentTarget, key, shiftKey } = event;
    const fields = [...currentTarget.querySelectorAll<HTMLElement>("input, select:not(:disabled)")];
    const edge = shiftKey ? fields[0] : fields.at(-1);
    // Between its fields Tab goes on as everywhere; a list has the arrows for itself.
    if (key === "Tab" && target !== edge) return;
    if (key.startsWith("Arrow") && target !== field.current) return;
    press(event);
  };
  const fault = writing.fault === null ? null : t(`quota.fault-${writing.fault}`);
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys come up from the fields in it */}
      <div
        className={styles.hours}
        onKeyDown={keys}
        onBlur={({ currentTarget, relatedTarget }) => {
          if (!currentTarget.contains(relatedTarget)) takeWritten(hands.look());
        }}
      >
        <input
          ref={field}
          className="field"
          aria-label={t("quota.column-cardHours")}
          aria-invalid={fault !== null}
          aria-describedby={fault === null ? undefined : "quota-fault"}
          placeholder={t("quota.unlimitedLong")}
          value={parts.hours}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => change(partsOf(event.target.value, parts))}
        />
        <select
          className="field"
          aria-label={t("quota.period")}
          value={parts.kind}
          onChange={({ target }) =>
            change({ ...parts, kind: periodKinds.find((kind) => kind === target.value) ?? parts.kind })
          }
        >
          {periodKinds.map((kind) => (
            <option key={kind} value={kind}>
              {t(`quota.period-${kind}`)}
            </option>
          ))}
        </select>
        <select
          className={`field ${styles.zone}`}
          aria-label={t("quota.timeZone")}
          disabled={parts.kind === "none"}
          value={parts.timeZone}
          onChange={({ target }) => change({ ...parts, timeZone: target.value })}
        >
          {zones.map((zone) => (
            <option key={zone} value={zone}>
              {zone}
            </option>
          ))}
        </select>
      </div>
      {fault === null ? null : <CellFault words={fault} />}
    </>
  );
}

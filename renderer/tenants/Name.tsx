/** A name that is changed where it stands. */
import { useId, useState } from "react";
import { useText } from "../i18n/index.ts";
import { ChangeTrouble, useChange } from "./change.tsx";
import { isTooLong, longestName } from "./model.ts";
import styles from "./tenants.module.css";

export function NameField({
  label,
  initial,
  subject,
  version,
  send,
  onClose,
}: {
  readonly label: string;
  readonly initial: string;
  /** Of what is renamed; empty for what does not exist yet. */
  readonly subject: string;
  readonly version: number;
  readonly send: (name: string, basedOn: number) => Promise<unknown>;
  readonly onClose: () => void;
}) {
  const t = useText();
  const change = useChange();
  const [name, setName] = useState(initial);
  // The version that was seen when the edit began: what others do meanwhile is a conflict, not overwritten.
  const [basedOn] = useState(version);
  const wanted = name.trim();
  const tooLong = isTooLong(wanted);
  const faultId = useId();
  return (
    <form
      aria-label={label}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Escape") onClose();
      }}
      onSubmit={(event) => {
        event.preventDefault();
        if (wanted === "" || tooLong || change.busy) return;
        if (wanted === initial) onClose();
        else void change.edit(subject, basedOn, (at) => send(wanted, at), onClose);
      }}
    >
      <div className={styles.actions}>
        <input
          className="field"
          // biome-ignore lint/a11y/noAutofocus: opened to type
          autoFocus
          maxLength={1_000}
          aria-invalid={tooLong}
          aria-describedby={tooLong ? faultId : undefined}
          aria-label={t("tenants.name")}
          value={name}
          onChange={(event) => setName(event.target.value)}
          onFocus={(event) => event.target.select()}
        />
        <button type="submit" className="button primary" disabled={wanted === "" || tooLong || change.busy}>
          {t(subject === "" ? "tenants.create" : "common.save")}
        </button>
        <button type="button" className="button" onClick={onClose}>
          {t("common.cancel")}
        </button>
      </div>
      {tooLong ? (
        <p id={faultId} className={styles.fault}>
          {t("tenants.nameTooLong", { most: longestName })}
        </p>
      ) : null}
      <ChangeTrouble change={change} onLeave={onClose} />
    </form>
  );
}

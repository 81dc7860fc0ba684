/** The changes of the draft, a row each; a press goes to it in the table. */
import { memo } from "react";
import { changesBetween, type Limits } from "../../shared/quota/index.ts";
import { useFormat } from "../i18n/format.ts";
import { useText } from "../i18n/index.ts";
import type { Desk } from "./desk.ts";
import { useLook } from "./look.ts";
import type { QuotaModel } from "./model.ts";
import styles from "./quota.module.css";
import { changeWords, exactChangeWords, pathWords, resourceWords } from "./words.ts";

/** More than these are counted, not listed. */
const listed = 100;

export function DraftChanges() {
  const t = useText();
  const { model, draft, desk } = useLook();
  return (
    <ul className={styles.changes}>
      {[...draft].slice(0, listed).map(([subject, { limits }]) => (
        <Change key={subject} desk={desk} model={model} subject={subject} limits={limits} />
      ))}
      {draft.size > listed ? <li className="muted">{t("quota.more", { count: draft.size - listed })}</li> : null}
    </ul>
  );
}

function showDrafted(desk: Desk, subject: string): void {
  desk.setState(({ selection }) => ({
    filter: "drafts",
    search: "",
    selection: {
      ...selection,
      cursor: { subject, column: selection.cursor?.column ?? "cards" },
      marked: new Set([subject]),
    },
  }));
}

interface ChangeProps {
  readonly desk: Desk;
  readonly model: QuotaModel;
  readonly subject: string;
  readonly limits: Limits;
}

/** An edit adds one of these to many, which stay as they are drawn. */
const Change = memo(function Change({ desk, model, subject, limits }: ChangeProps) {
  const t = useText();
  const format = useFormat();
  const changes = changesBetween(model.nodes.get(subject)?.limits ?? {}, limits);
  return (
    <li>
      <button type="button" className={styles.link} onClick={() => showDrafted(desk, subject)}>
        {pathWords(t, model, subject)}
      </button>
      {changes.map((change) => (
        <div key={change.resource} className={styles.change}>
          <span className="muted truncate" title={resourceWords(t, change.resource)}>
            {resourceWords(t, change.resource)}
          </span>
          <span data-kind={change.kind} title={exactChangeWords(t, change)}>
            {changeWords(t, format, change)}
          </span>
        </div>
      ))}
    </li>
  );
});

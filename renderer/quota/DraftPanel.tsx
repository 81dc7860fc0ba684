/** The draft of limits: what changes, what that does, the exact commands, and what came of it once applied. */
import { useEffect, useMemo } from "react";
import { useStore } from "zustand";
import { registerKey } from "../app/keys.ts";
import { Key } from "../design/controls.tsx";
import { RedoIcon, UndoIcon } from "../design/icons.tsx";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { useText } from "../i18n/index.ts";
import { useCommands } from "./commands.ts";
import { DraftChanges } from "./DraftChanges.tsx";
import { DraftCommands } from "./DraftCommands.tsx";
import { DraftConflicts } from "./DraftConflicts.tsx";
import { DraftImpact } from "./DraftImpact.tsx";
import { DraftOutcome } from "./DraftOutcome.tsx";
import { conflictsOf, emptyDraft, mayEditAny } from "./draft.ts";
import { useLook } from "./look.ts";
import styles from "./quota.module.css";
import { takeWritten } from "./table-keys.ts";

export function DraftPanel() {
  const t = useText();
  const look = useLook();
  const { store, draft } = look;
  const progress = useStore(store, (state) => state.progress);
  const applied = useStore(store, (state) => state.applied);
  const error = useStore(store, (state) => state.error);
  const canUndo = useStore(store, (state) => state.history.past.length > 0);
  const canRedo = useStore(store, (state) => state.history.future.length > 0);
  const isKept = useStore(store, (state) => state.isKept);
  const conflicts = useMemo(() => conflictsOf(look.model, draft), [look.model, draft]);
  const answered = useCommands(store, draft, progress !== null, conflicts.length);
  const isEditor = mayEditAny(look.me);
  useEffect(() => {
    if (!isEditor) return;
    return registerKey({
      keys: "ctrl+enter",
      title: "quota.key-apply",
      inFields: true,
      run: () => {
        if (!takeWritten(look) || store.getState().history.present.size === 0) return false;
        void store.apply();
        return true;
      },
    });
  }, [look, store, isEditor]);
  if (draft.size === 0 && applied === null && progress === null && !canUndo && !canRedo) return null;
  return (
    <section className={styles.draft} aria-labelledby="quota-draft">
      <div className={styles.panelHead}>
        <h2 id="quota-draft">{t("quota.draft", { count: draft.size })}</h2>
        <button
          type="button"
          className="button quiet icon"
          aria-label={t("plan.undo")}
          title={`${t("plan.undo")} (Ctrl Z)`}
          disabled={!canUndo || progress !== null}
          onClick={() => store.undo()}
        >
          <UndoIcon />
        </button>
        <button
          type="button"
          className="button quiet icon"
          aria-label={t("plan.redo")}
          title={`${t("plan.redo")} (Ctrl Y)`}
          disabled={!canRedo || progress !== null}
          onClick={() => store.redo()}
        >
          <RedoIcon />
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className={styles.draftBody} tabIndex={0} aria-label={t("quota.draftLabel")}>
        {applied === null ? null : <DraftOutcome result={applied.result} />}
        {error === null || draft.size === 0 ? null : <ErrorText error={error} />}
        <DraftConflicts conflicts={conflicts} answered={answered} />
        {draft.size === 0 ? (
          applied === null ? (
            <p className="muted">{t("quota.draftEmpty")}</p>
          ) : null
        ) : (
          <>
            <DraftChanges />
            <DraftImpact />
            <DraftCommands conflicts={conflicts} answered={answered} />
          </>
        )}
      </section>
      <div className={styles.actions}>
        {progress === null ? null : (
          <>
            <progress aria-label={t("quota.applying")} max={progress.total} value={progress.done} />
            <span className="muted">{t("quota.progress", { done: progress.done, total: progress.total })}</span>
          </>
        )}
        {progress === null && draft.size > 0 ? (
          <>
            <button
              type="button"
              className="button primary"
              data-quota-apply=""
              onClick={() => {
                if (takeWritten(look)) void store.apply();
              }}
            >
              {t("quota.apply")}
            </button>
            <button type="button" className="button" onClick={() => store.draft(emptyDraft)}>
              {t("quota.discard")}
            </button>
            <Key>Ctrl Enter</Key>
            <p className={isKept ? `muted ${styles.small}` : styles.problem}>
              {t(isKept ? "quota.kept" : "quota.notKept")}
            </p>
          </>
        ) : null}
        {progress === null && draft.size === 0 && applied !== null && applied.back.size > 0 ? (
          <button type="button" className="button" onClick={() => store.draft(applied.back)}>
            {t("quota.takeBack", { count: applied.back.size })}
          </button>
        ) : null}
      </div>
    </section>
  );
}

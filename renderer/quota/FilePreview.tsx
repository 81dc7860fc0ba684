/** What a file of limits would change, before anything of it is taken into the draft. */
import { useMemo } from "react";
import { useText } from "../i18n/index.ts";
import type { ReadFile } from "./desk.ts";
import { previewCsv } from "./edits.ts";
import { useLook } from "./look.ts";
import styles from "./quota.module.css";
import { csvErrorWords, pathWords } from "./words.ts";

const listed = 50;

export function FilePreview({ file }: { readonly file: ReadFile }) {
  const t = useText();
  const { desk, model, draft, store, mayEdit } = useLook();
  const preview = useMemo(() => previewCsv(model, draft, file.content, mayEdit), [model, draft, file, mayEdit]);
  const close = (): void => desk.setState({ file: null });
  const refused = preview.ok ? preview.notAllowed.map((id) => pathWords(t, model, id)) : [];
  return (
    <section className={styles.file} aria-label={t("quota.file", { name: file.name })}>
      <strong>{t("quota.file", { name: file.name })}</strong>
      {preview.ok ? (
        <p>{t("quota.fileChanges", { count: preview.edits.length })}</p>
      ) : (
        <>
          <p className={styles.problem}>{t("quota.fileRefused", { count: preview.errors.length })}</p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
          <ul className={styles.faults} tabIndex={0} aria-label={t("quota.faults")}>
            {preview.errors.slice(0, listed).map((error) => {
              const words = csvErrorWords(t, error);
              return <li key={words}>{words}</li>;
            })}
            {preview.errors.length > listed ? (
              <li className="muted">{t("quota.more", { count: preview.errors.length - listed })}</li>
            ) : null}
          </ul>
        </>
      )}
      {refused.length === 0 ? null : (
        <p className={styles.problem}>
          {t("quota.fileNotAllowed", {
            count: refused.length,
            names: refused.slice(0, 5).join(t("common.listSeparator")),
          })}
        </p>
      )}
      <div className={styles.actions}>
        {preview.ok && preview.edits.length > 0 ? (
          <button
            type="button"
            className="button primary"
            onClick={() => {
              store.edit(preview.edits);
              close();
            }}
          >
            {t("quota.toDraft")}
          </button>
        ) : null}
        <button type="button" className="button" onClick={close}>
          {t("common.cancel")}
        </button>
      </div>
    </section>
  );
}

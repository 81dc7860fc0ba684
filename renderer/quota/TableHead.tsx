/** The head of the table of quotas; a column that nobody enforces says so. */
import { useText } from "../i18n/index.ts";
import { useLook } from "./look.ts";
import { quotaColumns } from "./model.ts";
import styles from "./quota.module.css";
import { unenforced } from "./words.ts";

export function TableHead() {
  const t = useText();
  const { answer } = useLook();
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows are virtual, which a table element cannot have
    // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus
    <div className={`${styles.row} ${styles.head}`} role="row" aria-rowindex={1}>
      {/* biome-ignore lint/a11y/useSemanticElements: rows are virtual, which a table element cannot have */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: nothing to do with it */}
      <div role="columnheader" className={styles.name}>
        {t("quota.name")}
      </div>
      {quotaColumns.map((column) => {
        const why = unenforced(answer, column);
        return (
          // biome-ignore lint/a11y/useSemanticElements: rows are virtual, which a table element cannot have
          // biome-ignore lint/a11y/useFocusableInteractive: nothing to do with it
          <div key={column} role="columnheader" className={styles.figureHead}>
            <span className="truncate" title={t(`quota.column-${column}`)}>
              {t(`quota.column-${column}`)}
            </span>
            {why === null ? null : (
              <span className={styles.notEnforced} title={why.why}>
                {t("quota.notEnforced")}
              </span>
            )}
          </div>
        );
      })}
    </div>
  );
}

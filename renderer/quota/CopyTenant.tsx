/** The limits of another tenant, level by level, into the draft. */
import { useMemo, useState } from "react";
import { useText } from "../i18n/index.ts";
import { copySources, copyTenant } from "./edits.ts";
import { useLook } from "./look.ts";
import styles from "./quota.module.css";
import { pathWords } from "./words.ts";

/** Not keyed by the target: of some hundred tenants to choose from, one differs from row to row. */
export function CopyTenant({ target }: { readonly target: string }) {
  const t = useText();
  const { model, draft, store, mayEdit } = useLook();
  const [copied, setCopied] = useState<{ readonly target: string; readonly unmatched: readonly string[] } | null>(null);
  const unmatched = copied?.target === target ? copied.unmatched : [];
  const tenants = useMemo(() => copySources(model), [model]);
  const sources = tenants.filter(({ id }) => id !== target);
  if (!mayEdit(target) || sources.length === 0) return null;
  return (
    <section className={styles.part}>
      <label className={styles.labelled}>
        <span className="muted">{t("quota.copyFrom")}</span>
        <select
          className="field"
          value=""
          onChange={(event) => {
            if (event.target.value === "") return;
            const copy = copyTenant(model, draft, event.target.value, target);
            store.edit(copy.edits.filter(({ nodeId }) => mayEdit(nodeId)));
            setCopied({ target, unmatched: copy.unmatched });
          }}
        >
          <option value="">{t("quota.chooseTenant")}</option>
          {sources.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {unmatched.length === 0 ? null : (
        <p className="muted" role="status">
          {t("quota.unmatched", {
            names: unmatched
              .slice(0, 5)
              .map((id) => pathWords(t, model, id))
              .join(t("common.listSeparator")),
            count: unmatched.length,
          })}
        </p>
      )}
    </section>
  );
}

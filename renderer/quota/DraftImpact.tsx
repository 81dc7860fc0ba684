/** What the draft would do, in sentences, the gravest first. */
import { useMemo } from "react";
import { useFormat } from "../i18n/format.ts";
import { useText } from "../i18n/index.ts";
import { useImpact, useLook } from "./look.ts";
import styles from "./quota.module.css";
import { impactSentences } from "./words.ts";

/** More than these are counted, not listed. */
const listed = 20;

export function DraftImpact() {
  const t = useText();
  const format = useFormat();
  const look = useLook();
  const { model } = look;
  const impact = useImpact(look);
  const sentences = useMemo(
    () => (impact === null ? null : impactSentences(t, format, model, impact, listed)),
    [t, format, model, impact],
  );
  return (
    <section className={styles.part} aria-busy={sentences === null}>
      <h3>{t("quota.impact")}</h3>
      {sentences === null ? <p className="muted">{t("quota.workingOut")}</p> : null}
      {sentences?.count === 0 ? <p className="muted">{t("quota.noImpact")}</p> : null}
      <ul className={styles.sentences}>
        {sentences?.first.map(({ key, words, title, tone }) => (
          <li key={key} data-tone={tone} title={title}>
            {words}
          </li>
        ))}
        {sentences !== null && sentences.count > listed ? (
          <li className="muted">{t("quota.more", { count: sentences.count - listed })}</li>
        ) : null}
      </ul>
    </section>
  );
}

/** What a raise would come to: in use, the limit now, the limit then, and who else goes on binding. */
import type { QuotaNodeView } from "../../shared/protocol/control.ts";
import { type Fraction, type Limits, usageOf } from "../../shared/quota/index.ts";
import { useText } from "../i18n/index.ts";
import type { QuotaModel } from "../quota/model.ts";
import { previewRaise } from "./model.ts";
import styles from "./requests.module.css";
import { amountWords, type Notation, numberWords, resourceWords, subjectPath } from "./words.ts";

const share = (part: Fraction, whole: number): string =>
  `${Math.min(100, whole <= 0 ? 0 : (100 * part.numerator) / part.denominator / whole)}%`;

export function Becomes({
  model,
  subject,
  raise,
}: {
  readonly model: QuotaModel;
  readonly subject: string;
  readonly raise: Limits;
}) {
  const t = useText();
  if (!model.tree.positions.has(subject)) return null;
  const nodes: ReadonlyMap<string, QuotaNodeView> = model.nodes;
  const rows = previewRaise(model.tree, subject, raise);
  if (rows.length === 0) return null;
  return (
    <ul className={styles.becomes} aria-label={t("requests.becomes")}>
      {rows.map(({ resource, before, after }) => {
        const used = usageOf(model.tree, subject, resource);
        const most = Math.max(...[used, after.limit].map(({ numerator, denominator }) => numerator / denominator));
        const figures = (usage: Notation, limit: Notation) =>
          t("requests.becomesFigures", {
            used: numberWords(resource, used, usage),
            before: numberWords(resource, before.limit, limit),
            after: numberWords(resource, after.limit, limit),
          });
        return (
          <li key={resource}>
            <span>{resourceWords(t, resource)}</span>
            <span className={styles.figures} title={figures("up", "down")}>
              {figures("exact", "exact")}
            </span>
            <span className={styles.bar} aria-hidden="true">
              <i className={styles.then} style={{ inlineSize: share(after.limit, most) }} />
              <i className={styles.now} style={{ inlineSize: share(before.limit, most) }} />
              <i className={styles.used} style={{ inlineSize: share(used, most) }} />
            </span>
            {after.nodeId === subject ? null : (
              <p className={styles.warning}>
                {t("requests.stillBound", {
                  name: subjectPath(nodes, after.nodeId),
                  limit: amountWords(t, resource, after.limit),
                })}
              </p>
            )}
          </li>
        );
      })}
    </ul>
  );
}

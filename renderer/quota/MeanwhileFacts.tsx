/** What others changed meanwhile, a line each. */
import type { FieldChange } from "../../shared/errors.ts";
import { useFormat } from "../i18n/format.ts";
import { useText } from "../i18n/index.ts";
import { meanwhileLines } from "./meanwhile.ts";
import styles from "./quota.module.css";

export function MeanwhileFacts({ changes }: { readonly changes: readonly FieldChange[] }) {
  const t = useText();
  const format = useFormat();
  return meanwhileLines(t, format, changes).map(({ what, before, after, at }) => (
    <div key={`${what} ${at}`} className={styles.factRow} title={format.exact(at)}>
      <dt>{what}</dt>
      <dd>
        {before} → {after}
      </dd>
    </div>
  ));
}

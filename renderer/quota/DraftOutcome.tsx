/** What the last application came to. */
import type { QuotaOutcome, QuotaResult } from "../../shared/protocol/control.ts";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { useText } from "../i18n/index.ts";
import { useLook } from "./look.ts";
import styles from "./quota.module.css";
import { pathWords } from "./words.ts";

/** More than these are left out. */
const listed = 100;

function count(outcomes: readonly QuotaOutcome[], outcome: QuotaOutcome["outcome"]): number {
  return outcomes.filter((each) => each.outcome === outcome).length;
}

/** `unchanged` and `dry-run` are not listed one by one. */
function word({ outcome }: QuotaOutcome): "done" | "failed" | "unknown" {
  return outcome === "failed" || outcome === "unknown" ? outcome : "done";
}

/** Of what was not done each edit by itself. */
export function DraftOutcome({ result }: { readonly result: QuotaResult }) {
  const t = useText();
  const { model } = useLook();
  const bad = result.outcomes.filter((each) => each.outcome === "failed" || each.outcome === "unknown");
  const done = result.outcomes.filter((each) => each.outcome === "done");
  return (
    <section className={styles.part} aria-label={t("quota.outcome")} role="status">
      <p className={bad.length === 0 ? styles.good : styles.problem}>
        {[
          t("quota.outcomeDone", { count: done.length }),
          count(result.outcomes, "unchanged") > 0
            ? t("quota.outcomeUnchanged", { count: count(result.outcomes, "unchanged") })
            : null,
          count(result.outcomes, "failed") > 0
            ? t("quota.outcomeFailed", { count: count(result.outcomes, "failed") })
            : null,
          count(result.outcomes, "unknown") > 0
            ? t("quota.outcomeUnknown", { count: count(result.outcomes, "unknown") })
            : null,
        ]
          .filter((part) => part !== null)
          .join(t("common.separator"))}
      </p>
      <ul className={styles.outcomes}>
        {[...bad, ...done].slice(0, listed).map((each) => (
          <li key={each.subject}>
            <span className={`tag ${each.outcome === "done" ? "good" : "bad"}`}>
              {t(`quota.outcome-${word(each)}`)}
            </span>
            <span>{pathWords(t, model, each.subject)}</span>
            {"error" in each && each.error.code !== "conflict" ? <ErrorText error={each.error} /> : null}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** An error for a person: the sentence of its code, the services' own words, what to do, and the evidence to open. */
import type { AppErrorData, Evidence } from "../../shared/errors.ts";
import styles from "./error-text.module.css";
import { type Translate, useText } from "./index.ts";

/** The evidence as lines, as they would stand in a terminal. */
export function evidenceText(t: Translate, evidence: Evidence): string {
  const lines = [
    evidence.host,
    evidence.command === undefined ? undefined : `$ ${evidence.command.join(" ")}`,
    evidence.stdout,
    evidence.stderr,
    evidence.exitStatus === undefined
      ? undefined
      : evidence.exitStatus === null
        ? t("common.noExitStatus")
        : t("common.exitStatus", { status: evidence.exitStatus }),
    evidence.signal,
    evidence.details,
  ];
  return lines.filter((line) => line !== undefined && line !== "").join("\n");
}

export function ErrorText({ error }: { readonly error: AppErrorData }) {
  const t = useText();
  const evidence = error.evidence === undefined ? "" : evidenceText(t, error.evidence);
  return (
    <div className={styles.error}>
      <p>
        <strong>{t(`error.${error.code}`)}</strong> {error.message} {error.remedy}
      </p>
      {evidence === "" ? null : (
        <details>
          <summary>{t("common.evidence")}</summary>
          <pre>{evidence}</pre>
        </details>
      )}
    </div>
  );
}

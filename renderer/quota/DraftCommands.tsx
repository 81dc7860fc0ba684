/** The exact commands of a draft, and what the host would refuse. */
import { ErrorText } from "../i18n/ErrorText.tsx";
import { useText } from "../i18n/index.ts";
import { Copyable } from "./Copyable.tsx";
import type { AnsweredCommands } from "./commands.ts";
import type { DraftConflict } from "./draft.ts";
import { useLook } from "./look.ts";
import { MeanwhileFacts } from "./MeanwhileFacts.tsx";
import styles from "./quota.module.css";
import { pathWords } from "./words.ts";

/** More than these are left out. */
const listed = 100;

interface CommandsProps {
  readonly answered: AnsweredCommands | null;
  /** Named above already. */
  readonly conflicts: readonly DraftConflict[];
}

export function DraftCommands({ answered, conflicts }: CommandsProps) {
  const t = useText();
  const { model } = useLook();
  const named = new Set(conflicts.map(({ subject }) => subject));
  const refused = (answered?.result?.outcomes ?? []).flatMap((each) =>
    each.outcome === "failed" && !(each.error.code === "conflict" && named.has(each.subject)) ? [each] : [],
  );
  const lines = answered?.result?.commands.map((command) => command.join(" ")) ?? [];
  return (
    <section className={styles.part} aria-busy={answered === null}>
      <h3>{t("quota.commands")}</h3>
      {answered === null ? <p className="muted">{t("quota.asking")}</p> : null}
      {answered?.error === null || answered?.error === undefined ? null : <ErrorText error={answered.error} />}
      {refused.slice(0, listed).map((each) => (
        <div key={each.subject}>
          <p className={styles.problem}>{t("quota.wouldRefuse", { place: pathWords(t, model, each.subject) })}</p>
          {each.error.code === "conflict" ? (
            <>
              <p>{t("error.conflict")}</p>
              <dl className="facts">
                <MeanwhileFacts changes={each.error.evidence?.changedMeanwhile ?? []} />
              </dl>
            </>
          ) : (
            <ErrorText error={each.error} />
          )}
        </div>
      ))}
      {answered?.result === null || answered?.result === undefined ? null : lines.length === 0 ? (
        <p className="muted">{t("quota.noCommands")}</p>
      ) : (
        <Copyable text={lines.join("\n")} label={t("quota.copyCommands")} />
      )}
    </section>
  );
}

/** What somebody else changed in the meantime, and both ways out. */
import { useStore } from "zustand";
import type { QuotaOutcome } from "../../shared/protocol/control.ts";
import { changesBetween } from "../../shared/quota/index.ts";
import { useFormat } from "../i18n/format.ts";
import { useText } from "../i18n/index.ts";
import type { AnsweredCommands } from "./commands.ts";
import { type DraftConflict, resolveConflicts } from "./draft.ts";
import { useLook } from "./look.ts";
import { MeanwhileFacts } from "./MeanwhileFacts.tsx";
import styles from "./quota.module.css";
import { changeWords, exactChangeWords, pathWords, resourceWords } from "./words.ts";

/** More than these are left out. */
const listed = 100;

interface ConflictsProps {
  readonly conflicts: readonly DraftConflict[];
  readonly answered: AnsweredCommands | null;
}

export function DraftConflicts({ conflicts, answered }: ConflictsProps) {
  const t = useText();
  const { model, draft, store } = useLook();
  const applied = useStore(store, (state) => state.applied);
  if (conflicts.length === 0) return null;
  const resolve = (subjects: readonly string[], way: "mine" | "theirs"): void =>
    store.draft(resolveConflicts(model, draft, new Set(subjects), way));
  // The later answer knows more; while it is asked for, that of the application stands.
  const outcomes = answered?.result?.outcomes ?? applied?.result.outcomes ?? [];
  const all = conflicts.map(({ subject }) => subject);
  return (
    <section className={styles.conflicts} aria-labelledby="quota-conflicts">
      <h3 id="quota-conflicts">{t("quota.conflicts", { count: conflicts.length })}</h3>
      {conflicts.slice(0, listed).map((conflict) => (
        <Conflict
          key={conflict.subject}
          conflict={conflict}
          outcome={outcomes.find(({ subject }) => subject === conflict.subject) ?? null}
          onResolve={(way) => resolve([conflict.subject], way)}
        />
      ))}
      {conflicts.length > 1 ? (
        <div className={styles.actions}>
          <button type="button" className="button" onClick={() => resolve(all, "mine")}>
            {t("quota.mineAll")}
          </button>
          <button type="button" className="button" onClick={() => resolve(all, "theirs")}>
            {t("quota.theirsAll")}
          </button>
        </div>
      ) : null}
    </section>
  );
}

function Conflict({
  conflict,
  outcome,
  onResolve,
}: {
  readonly conflict: DraftConflict;
  /** Of an application or a look at its commands, which names who changed it. */
  readonly outcome: QuotaOutcome | null;
  readonly onResolve: (way: "mine" | "theirs") => void;
}) {
  const t = useText();
  const format = useFormat();
  const { model } = useLook();
  const { subject, mine, theirs } = conflict;
  const meanwhile = outcome !== null && "error" in outcome ? (outcome.error.evidence?.changedMeanwhile ?? []) : [];
  const last = meanwhile.at(-1);
  const differing = theirs === null ? [] : changesBetween(theirs.limits, mine);
  return (
    <div className={styles.conflict}>
      <strong>{pathWords(t, model, subject)}</strong>
      <p>
        {theirs === null
          ? t("quota.conflictGone")
          : last === undefined
            ? t("quota.conflictChanged")
            : t("quota.conflictBy", { by: last.by, at: format.clock(last.at, Date.now()) })}
      </p>
      <dl className="facts">
        <MeanwhileFacts changes={theirs === null ? [] : meanwhile} />
        {differing.map((change) => (
          <div key={change.resource} className={styles.factRow}>
            <dt>{resourceWords(t, change.resource)}</dt>
            <dd title={exactChangeWords(t, change)}>
              {t("quota.theirsMine", { words: changeWords(t, format, change) })}
            </dd>
          </div>
        ))}
      </dl>
      <div className={styles.actions}>
        {theirs === null ? null : (
          <button type="button" className="button" onClick={() => onResolve("mine")}>
            {t("quota.mine")}
          </button>
        )}
        <button type="button" className="button" onClick={() => onResolve("theirs")}>
          {t(theirs === null ? "quota.drop" : "quota.theirs")}
        </button>
      </div>
    </div>
  );
}

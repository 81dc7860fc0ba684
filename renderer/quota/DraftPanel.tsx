/** The draft of limits: what changes, what that does, the exact commands, and what came of it once applied. */
import { useEffect, useMemo, useState } from "react";
import { useStore } from "zustand";
import { type AppErrorData, toErrorData } from "../../shared/errors.ts";
import type { QuotaOutcome, QuotaResult } from "../../shared/protocol/control.ts";
import { changesBetween } from "../../shared/quota/index.ts";
import { registerKey } from "../app/keys.ts";
import { Key } from "../design/controls.tsx";
import { RedoIcon, UndoIcon } from "../design/icons.tsx";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { useFormat } from "../i18n/format.ts";
import { useText } from "../i18n/index.ts";
import { Copyable } from "./Copyable.tsx";
import { conflictsOf, type DraftConflict, emptyDraft, type QuotaDraft, resolveConflicts } from "./draft.ts";
import { useImpact, useLook } from "./look.ts";
import styles from "./quota.module.css";
import type { QuotaStore } from "./store.ts";
import { takeWritten } from "./table-keys.ts";
import { changeWords, impactSentences, pathWords, resourceWords } from "./words.ts";

/** More than these are counted, not listed. */
const listed = 100;

interface Answered {
  readonly draft: QuotaDraft;
  readonly result: QuotaResult | null;
  readonly error: AppErrorData | null;
}

const askAfterMs = 400;

/** What the host would run for this draft; asked for in a pause of editing. Null while it is. */
function useCommands(store: QuotaStore, draft: QuotaDraft, isApplying: boolean): Answered | null {
  const [answered, setAnswered] = useState<Answered | null>(null);
  useEffect(() => {
    if (draft.size === 0 || isApplying) return;
    let isWanted = true;
    const keep = (answer: Answered): void => {
      if (isWanted) setAnswered(answer);
    };
    const timer = setTimeout(() => {
      store.commands().then(
        (result) => keep({ draft, result, error: null }),
        (error: unknown) => keep({ draft, result: null, error: toErrorData(error) }),
      );
    }, askAfterMs);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [store, draft, isApplying]);
  return answered?.draft === draft ? answered : null;
}

export function DraftPanel() {
  const t = useText();
  const look = useLook();
  const { store, draft } = look;
  const progress = useStore(store, (state) => state.progress);
  const applied = useStore(store, (state) => state.applied);
  const error = useStore(store, (state) => state.error);
  const canUndo = useStore(store, (state) => state.history.past.length > 0);
  const canRedo = useStore(store, (state) => state.history.future.length > 0);
  const answered = useCommands(store, draft, progress !== null);
  useEffect(
    () =>
      registerKey({
        keys: "ctrl+enter",
        title: "quota.key-apply",
        inFields: true,
        run: () => {
          if (!takeWritten(look) || store.getState().history.present.size === 0) return false;
          void store.apply();
          return true;
        },
      }),
    [look, store],
  );
  if (draft.size === 0 && applied === null && progress === null && !canUndo && !canRedo) return null;
  return (
    <section className={styles.draft} aria-labelledby="quota-draft">
      <div className={styles.panelHead}>
        <h2 id="quota-draft">{t("quota.draft", { count: draft.size })}</h2>
        <button
          type="button"
          className="button quiet icon"
          aria-label={t("plan.undo")}
          title={`${t("plan.undo")} (Ctrl Z)`}
          disabled={!canUndo || progress !== null}
          onClick={() => store.undo()}
        >
          <UndoIcon />
        </button>
        <button
          type="button"
          className="button quiet icon"
          aria-label={t("plan.redo")}
          title={`${t("plan.redo")} (Ctrl Y)`}
          disabled={!canRedo || progress !== null}
          onClick={() => store.redo()}
        >
          <RedoIcon />
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className={styles.draftBody} tabIndex={0} aria-label={t("quota.draftLabel")}>
        {applied === null ? null : <Outcome result={applied.result} />}
        {error === null || draft.size === 0 ? null : <ErrorText error={error} />}
        <Conflicts />
        {draft.size === 0 ? (
          applied === null ? (
            <p className="muted">{t("quota.draftEmpty")}</p>
          ) : null
        ) : (
          <>
            <Changes />
            <ImpactLines />
            <Commands answered={answered} />
          </>
        )}
      </section>
      <div className={styles.actions}>
        {progress === null ? null : (
          <>
            <progress aria-label={t("quota.applying")} max={progress.total} value={progress.done} />
            <span className="muted">{t("quota.progress", { done: progress.done, total: progress.total })}</span>
          </>
        )}
        {progress === null && draft.size > 0 ? (
          <>
            <button
              type="button"
              className="button primary"
              data-quota-apply=""
              onClick={() => {
                if (takeWritten(look)) void store.apply();
              }}
            >
              {t("quota.apply")}
            </button>
            <button type="button" className="button" onClick={() => store.draft(emptyDraft)}>
              {t("quota.discard")}
            </button>
            <Key>Ctrl Enter</Key>
          </>
        ) : null}
        {progress === null && draft.size === 0 && applied !== null && applied.back.size > 0 ? (
          <button type="button" className="button" onClick={() => store.draft(applied.back)}>
            {t("quota.takeBack", { count: applied.back.size })}
          </button>
        ) : null}
      </div>
    </section>
  );
}

function Changes() {
  const t = useText();
  const format = useFormat();
  const { model, draft, desk } = useLook();
  const changed = useMemo(
    () =>
      [...draft].slice(0, listed).map(([subject, { limits }]) => ({
        subject,
        changes: changesBetween(model.nodes.get(subject)?.limits ?? {}, limits),
      })),
    [model, draft],
  );
  return (
    <ul className={styles.changes}>
      {changed.map(({ subject, changes }) => (
        <li key={subject}>
          <button
            type="button"
            className={styles.link}
            onClick={() =>
              desk.setState(({ selection }) => ({
                filter: "drafts",
                search: "",
                selection: {
                  ...selection,
                  cursor: { subject, column: selection.cursor?.column ?? "cards" },
                  marked: new Set([subject]),
                },
              }))
            }
          >
            {pathWords(t, model, subject)}
          </button>
          {changes.map((change) => (
            <div key={change.resource} className={styles.change}>
              <span className="muted truncate" title={resourceWords(t, change.resource)}>
                {resourceWords(t, change.resource)}
              </span>
              <span data-kind={change.kind}>{changeWords(t, format, change)}</span>
            </div>
          ))}
        </li>
      ))}
      {draft.size > listed ? <li className="muted">{t("quota.more", { count: draft.size - listed })}</li> : null}
    </ul>
  );
}

function ImpactLines() {
  const t = useText();
  const { model, draft } = useLook();
  const impact = useImpact(model, draft);
  const sentences = useMemo(
    () => (impact === null ? null : impactSentences(t, model, impact, listed)),
    [t, model, impact],
  );
  return (
    <section className={styles.part} aria-busy={sentences === null}>
      <h3>{t("quota.impact")}</h3>
      {sentences === null ? <p className="muted">{t("quota.workingOut")}</p> : null}
      {sentences?.count === 0 ? <p className="muted">{t("quota.noImpact")}</p> : null}
      <ul className={styles.sentences}>
        {sentences?.first.map(({ key, words, tone }) => (
          <li key={key} data-tone={tone}>
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

function Commands({ answered }: { readonly answered: Answered | null }) {
  const t = useText();
  const { model } = useLook();
  const refused = answered?.result?.outcomes.filter((each) => each.outcome === "failed") ?? [];
  const lines = answered?.result?.commands.map((command) => command.join(" ")) ?? [];
  return (
    <section className={styles.part} aria-busy={answered === null}>
      <h3>{t("quota.commands")}</h3>
      {answered === null ? <p className="muted">{t("quota.asking")}</p> : null}
      {answered?.error === null || answered?.error === undefined ? null : <ErrorText error={answered.error} />}
      {refused.slice(0, listed).map((each) => (
        <div key={each.subject}>
          <p className={styles.problem}>{t("quota.wouldRefuse", { place: pathWords(t, model, each.subject) })}</p>
          {each.outcome === "failed" ? <ErrorText error={each.error} /> : null}
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

function count(outcomes: readonly QuotaOutcome[], outcome: QuotaOutcome["outcome"]): number {
  return outcomes.filter((each) => each.outcome === outcome).length;
}

/** `unchanged` and `dry-run` are not listed one by one. */
function word({ outcome }: QuotaOutcome): "done" | "failed" | "unknown" {
  return outcome === "failed" || outcome === "unknown" ? outcome : "done";
}

/** What the last application came to; of what was not done each edit by itself. */
function Outcome({ result }: { readonly result: QuotaResult }) {
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

/** What somebody else changed in the meantime, and both ways out. */
function Conflicts() {
  const t = useText();
  const { model, draft, store } = useLook();
  const applied = useStore(store, (state) => state.applied);
  const conflicts = useMemo(() => conflictsOf(model, draft), [model, draft]);
  if (conflicts.length === 0) return null;
  const resolve = (subjects: readonly string[], way: "mine" | "theirs"): void =>
    store.draft(resolveConflicts(model, draft, new Set(subjects), way));
  const all = conflicts.map(({ subject }) => subject);
  return (
    <section className={styles.conflicts} aria-labelledby="quota-conflicts">
      <h3 id="quota-conflicts">{t("quota.conflicts", { count: conflicts.length })}</h3>
      {conflicts.slice(0, listed).map((conflict) => (
        <Conflict
          key={conflict.subject}
          conflict={conflict}
          outcome={applied?.result.outcomes.find(({ subject }) => subject === conflict.subject) ?? null}
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
  /** Of the last application, which names who changed it. */
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
        {meanwhile.map((change) => (
          <div key={`${change.field} ${change.at}`} className={styles.factRow}>
            <dt>{change.field}</dt>
            <dd className="mono">
              {change.before ?? t("quota.none")} → {change.after ?? t("quota.none")}
            </dd>
          </div>
        ))}
        {differing.map((change) => (
          <div key={change.resource} className={styles.factRow}>
            <dt>{resourceWords(t, change.resource)}</dt>
            <dd>{t("quota.theirsMine", { words: changeWords(t, format, change) })}</dd>
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

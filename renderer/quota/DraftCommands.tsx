/** The exact commands of a draft, asked of the host in a pause of editing, and what it would refuse. */
import { useEffect, useState } from "react";
import { useStore } from "zustand";
import { type AppErrorData, toErrorData } from "../../shared/errors.ts";
import type { QuotaResult } from "../../shared/protocol/control.ts";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { useText } from "../i18n/index.ts";
import { Copyable } from "./Copyable.tsx";
import type { QuotaDraft } from "./draft.ts";
import { useLook } from "./look.ts";
import styles from "./quota.module.css";
import type { QuotaStore } from "./store.ts";
import { pathWords } from "./words.ts";

/** More than these are left out. */
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

export function DraftCommands() {
  const t = useText();
  const { model, store, draft } = useLook();
  const isApplying = useStore(store, (state) => state.progress !== null);
  const answered = useCommands(store, draft, isApplying);
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

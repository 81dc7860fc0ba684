/** "Ask for more": for whom, how much, why, until when, and what it would come to. */
import { useEffect, useMemo, useRef, useState } from "react";
import { useStore } from "zustand";
import type { Me } from "../../shared/protocol/control.ts";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { useText } from "../i18n/index.ts";
import type { QuotaModel } from "../quota/model.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import { Becomes } from "./Becomes.tsx";
import { beyondCluster, clusterSize } from "./cluster-size.ts";
import { AmountFields, UntilField } from "./fields.tsx";
import { type AmountTexts, type Ask, askable, isEmpty, readAmounts, resourcesToAsk, untilFault } from "./form.ts";
import { untilOf } from "./model.ts";
import styles from "./requests.module.css";
import type { RequestsStore } from "./store.ts";
import { amountWords, subjectPath } from "./words.ts";

export function AskForm({
  store,
  model,
  me,
  now,
  ask,
  onDone,
}: {
  readonly store: RequestsStore;
  readonly model: QuotaModel;
  readonly me: Me;
  readonly now: number;
  readonly ask: Ask | null;
  /** With the id of the new request, or null where nothing was asked. */
  readonly onDone: (requestId: string | null) => void;
}) {
  const t = useText();
  const { isSending, refused } = useStore(store);
  const subjects = useMemo(() => askable(me, [...model.nodes.values()]), [me, model]);
  const [chosen, setChosen] = useState(ask?.subject ?? "");
  const [texts, setTexts] = useState<AmountTexts>(ask === null ? {} : { [ask.resource]: ask.amount });
  const [why, setWhy] = useState("");
  const [untilMs, setUntilMs] = useState(() => untilOf("3-days", now));
  const hosts = useSnapshot((state) => state.hosts);
  const size = useMemo(() => clusterSize(hosts.values()), [hosts]);
  const first = useRef<HTMLSelectElement>(null);
  useEffect(() => first.current?.focus(), []);
  const subject = subjects.find(({ id }) => id === chosen)?.id ?? subjects[0]?.id;
  if (subject === undefined) return <p className="muted">{t("requests.nobodyToAskFor")}</p>;
  const { own, above } = resourcesToAsk(model.tree, subject);
  const { raise, faults } = readAmounts(texts, own);
  const isComplete = !isEmpty(raise) && faults.size === 0 && why.trim() !== "" && untilFault(untilMs, now) === null;
  const send = async () => {
    if (!isComplete) return;
    const until = new Date(untilMs).toISOString();
    const made = await store.ask({ subject, raise, why: why.trim(), until });
    if (made !== null) onDone(made.id);
  };
  return (
    <form
      className={styles.form}
      aria-label={t("requests.ask")}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <h2>{t("requests.ask")}</h2>
      <label className={styles.field}>
        <span>{t("requests.for")}</span>
        <select className="field" ref={first} value={subject} onChange={(event) => setChosen(event.target.value)}>
          {subjects.map(({ id }) => (
            <option key={id} value={id}>
              {subjectPath(model.nodes, id)}
            </option>
          ))}
        </select>
      </label>
      <div className={styles.field}>
        <span>{t("requests.howMuch")}</span>
        <AmountFields resources={own} texts={texts} faults={faults} onChange={setTexts} />
        {above.map((limited) => (
          <p key={limited.resource} className="muted">
            {t("requests.limitedAbove", {
              name: subjectPath(model.nodes, limited.subject),
              limit: amountWords(t, limited.resource, limited.limit),
            })}
          </p>
        ))}
        {own.length + above.length === 0 ? <p className="muted">{t("requests.noLimits")}</p> : null}
      </div>
      <label className={styles.field}>
        <span>{t("requests.why")}</span>
        <textarea
          className="field"
          rows={3}
          maxLength={2_000}
          value={why}
          onChange={(event) => setWhy(event.target.value)}
        />
      </label>
      <div className={styles.field}>
        <span>{t("requests.until")}</span>
        <UntilField untilMs={untilMs} now={now} onChange={setUntilMs} />
      </div>
      <Becomes model={model} subject={subject} raise={raise} />
      {beyondCluster(size, model.tree, subject, raise).map(({ resource, limit, has }) => (
        <p key={resource} className={styles.warning}>
          {t("requests.beyondCluster", {
            limit: amountWords(t, resource, limit),
            has: amountWords(t, resource, has),
          })}
        </p>
      ))}
      {refused?.about === "new" ? <ErrorText error={refused.error} /> : null}
      <div className={styles.actions}>
        <button type="submit" className="button primary" disabled={!isComplete || isSending}>
          {t("requests.send")}
        </button>
        <button type="button" className="button" onClick={() => onDone(null)}>
          {t("common.cancel")}
        </button>
      </div>
    </form>
  );
}

/** The selected request or grant: what it says, what it would come to, and what can be done about it. */
import { useState } from "react";
import { useStore } from "zustand";
import { parseSubject } from "../../shared/organisation/subject.ts";
import type { GrantView, Me, RequestView } from "../../shared/protocol/control.ts";
import { amountsOf, limitsOf } from "../../shared/quota/index.ts";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { useFormat } from "../i18n/format.ts";
import { useText } from "../i18n/index.ts";
import type { QuotaModel } from "../quota/model.ts";
import { Becomes } from "./Becomes.tsx";
import { AmountFields, UntilField } from "./fields.tsx";
import { type AmountTexts, differenceOf, isEmpty, readAmounts, textsOf, untilFault } from "./form.ts";
import { mayDecide } from "./model.ts";
import styles from "./requests.module.css";
import type { RequestsStore } from "./store.ts";
import { grantedWords, raiseTitle, raiseWords, subjectPath } from "./words.ts";

interface Shown {
  readonly store: RequestsStore;
  readonly model: QuotaModel | null;
  readonly me: Me;
  readonly now: number;
}

const personWords = (person: { readonly uid: number; readonly user: string | null }) =>
  person.user ?? String(person.uid);

export function RequestPanel({
  request,
  grant,
  ...shown
}: Shown & {
  readonly request: RequestView;
  /** What was granted of it; null where nothing was. */
  readonly grant: GrantView | null;
}) {
  const t = useText();
  const format = useFormat();
  const { store, model, me, now } = shown;
  const { isSending, refused } = useStore(store);
  const { id, subject, raise, until, askedBy, askedAt, decidedBy, decidedAt, version: basedOn } = request;
  const isOpen = request.state === "asked";
  return (
    <>
      <p className="muted">{subjectPath(model?.nodes ?? new Map(), subject)}</p>
      <h2 title={raiseTitle(t, raise)}>{raiseWords(t, raise)}</h2>
      {refused?.about === id ? (
        <div role="alert">
          <ErrorText error={refused.error} />
        </div>
      ) : null}
      <blockquote className={styles.quote}>{request.why}</blockquote>
      <dl className="facts">
        <dt>{t("requests.askedBy")}</dt>
        <dd title={format.exact(askedAt)}>
          {personWords(askedBy)}
          {t("common.separator")}
          {t("common.ago", { duration: format.duration(now - Date.parse(askedAt)) })}
        </dd>
        <dt>{t("requests.until")}</dt>
        <dd title={format.exact(until)}>{format.clock(until, now)}</dd>
        {isOpen ? null : (
          <>
            <dt>{t(`requests.state-${request.state}`)}</dt>
            <dd title={decidedAt === null ? "" : format.exact(decidedAt)}>
              {decidedBy === null ? t("common.unknown") : personWords(decidedBy)}
              {decidedAt === null ? "" : `${t("common.separator")}${format.clock(decidedAt, now)}`}
            </dd>
            {grant === null ? null : (
              <>
                <dt>{t("requests.granted")}</dt>
                <dd>
                  {grantedWords(t, raise, grant.raise)}
                  {grant.until === until || grant.state === "cut short"
                    ? ""
                    : `${t("common.separator")}${t("requests.endsAt", { time: format.clock(grant.until, now) })}`}
                </dd>
              </>
            )}
            {grant?.state !== "cut short" || grant.endedAt === null ? null : (
              <>
                <dt>{t("requests.cutShort")}</dt>
                <dd title={format.exact(grant.endedAt)}>{format.clock(grant.endedAt, now)}</dd>
              </>
            )}
          </>
        )}
      </dl>
      {request.answer === null || request.answer === "" ? null : (
        <blockquote className={styles.quote}>{request.answer}</blockquote>
      )}
      {isOpen ? (
        <div>
          <span className={request.approver === "lead" ? "tag good" : "tag warning"}>
            {t(request.approver === "lead" ? "requests.fits" : "requests.needsAdministrator")}
          </span>
          {request.notes.map((note) => (
            <p key={note} className="muted">
              {note}
            </p>
          ))}
        </div>
      ) : null}
      {mayDecide(me, request) ? (
        <Decision key={`${id} ${basedOn}`} request={request} {...shown} />
      ) : isOpen && model !== null ? (
        <Becomes model={model} subject={subject} raise={raise} />
      ) : null}
      {isOpen && askedBy.uid === me.uid ? (
        <div className={styles.actions}>
          <button
            type="button"
            className="button"
            disabled={isSending}
            onClick={() => void store.withdraw({ subject, requestId: id, basedOn })}
          >
            {t("requests.withdraw")}
          </button>
        </div>
      ) : null}
    </>
  );
}

function Decision({ request, store, model, now }: Shown & { readonly request: RequestView }) {
  const t = useText();
  const { isSending } = useStore(store);
  const { id: requestId, subject, version: basedOn } = request;
  const [texts, setTexts] = useState<AmountTexts>(() => textsOf(request.raise));
  const [untilMs, setUntilMs] = useState(() => Date.parse(request.until));
  const [answer, setAnswer] = useState("");
  const [isAnswerMissing, setAnswerMissing] = useState(false);
  const resources = amountsOf(request.raise).map(([resource]) => resource);
  const { raise, faults } = readAmounts(texts, resources);
  const difference = differenceOf(request.raise, limitsOf(amountsOf(raise)));
  const isShorter = untilMs < Date.parse(request.until);
  const isLess = difference === "less" || isShorter;
  const isBeyond = difference === "more" || untilMs > Date.parse(request.until);
  const canApprove = !isEmpty(raise) && faults.size === 0 && !isBeyond && untilFault(untilMs, now) === null;
  const decide = (decision: "approve" | "refuse") => {
    const change = decision === "approve" ? { raise, until: new Date(untilMs).toISOString() } : {};
    void store.decide({ subject, requestId, basedOn, decision, answer: answer.trim(), ...change });
  };
  return (
    <form
      className={styles.form}
      aria-label={t("requests.decide")}
      onSubmit={(event) => {
        event.preventDefault();
        if (canApprove) decide("approve");
      }}
    >
      <AmountFields resources={resources} texts={texts} faults={faults} onChange={setTexts} />
      <UntilField untilMs={untilMs} now={now} onChange={setUntilMs} />
      {isBeyond ? <p className={styles.warning}>{t("requests.notMore")}</p> : null}
      {model === null ? null : <Becomes model={model} subject={subject} raise={raise} />}
      <label className={styles.field}>
        <span>{t("requests.answer")}</span>
        <textarea
          className="field"
          rows={2}
          maxLength={2_000}
          value={answer}
          aria-invalid={isAnswerMissing}
          onChange={(event) => {
            setAnswer(event.target.value);
            setAnswerMissing(false);
          }}
        />
        {isAnswerMissing ? <span className={styles.fault}>{t("requests.sayWhy")}</span> : null}
      </label>
      <div className={styles.actions}>
        <button type="submit" className="button primary" disabled={!canApprove || isSending}>
          {t(isLess ? "requests.approveLess" : "requests.approve")}
        </button>
        <button
          type="button"
          className="button danger"
          disabled={isSending}
          onClick={() => (answer.trim() === "" ? setAnswerMissing(true) : decide("refuse"))}
        >
          {t("requests.refuse")}
        </button>
      </div>
    </form>
  );
}

export function GrantPanel({
  grant,
  request,
  store,
  model,
  me,
  now,
}: Shown & { readonly grant: GrantView; readonly request: RequestView | null }) {
  const t = useText();
  const format = useFormat();
  const { isSending, refused } = useStore(store);
  const [isConfirming, setConfirming] = useState(false);
  const { id: grantId, subject, raise, until, startedAt, version: basedOn } = grant;
  const about = parseSubject(subject);
  const isLead = about !== null && about.level !== "cluster" && me.leads.includes(about.tenantId);
  const mayEnd = me.role === "administrator" || me.open || isLead;
  return (
    <>
      <p className="muted">{subjectPath(model?.nodes ?? new Map(), subject)}</p>
      <h2 title={raiseTitle(t, raise)}>{raiseWords(t, raise)}</h2>
      {refused?.about === grantId ? <ErrorText error={refused.error} /> : null}
      <dl className="facts">
        <dt>{t("requests.since")}</dt>
        <dd>{startedAt === null ? t("requests.notYet") : format.clock(startedAt, now)}</dd>
        <dt>{t("requests.until")}</dt>
        <dd title={format.exact(until)}>{format.clock(until, now)}</dd>
        {request?.decidedBy == null ? null : (
          <>
            <dt>{t("requests.state-approved")}</dt>
            <dd>{personWords(request.decidedBy)}</dd>
          </>
        )}
      </dl>
      {request === null ? null : <blockquote className={styles.quote}>{request.why}</blockquote>}
      {!mayEnd ? null : isConfirming ? (
        <div role="alert">
          <p>{t("requests.endAsk")}</p>
          <div className={styles.actions}>
            <button
              type="button"
              className="button danger"
              disabled={isSending}
              onClick={() => void store.cut({ subject, grantId, basedOn })}
            >
              {t("requests.endNow")}
            </button>
            <button type="button" className="button" onClick={() => setConfirming(false)}>
              {t("requests.keep")}
            </button>
          </div>
        </div>
      ) : (
        <div className={styles.actions}>
          <button type="button" className="button" onClick={() => setConfirming(true)}>
            {t("requests.endNow")}
          </button>
        </div>
      )}
    </>
  );
}

/** Requests for more: what is open, what was granted, what was decided; the selected one at the right. */
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { useStore } from "zustand";
import type { Me } from "../../shared/protocol/control.ts";
import { go, useRoute } from "../app/views.ts";
import { Notice } from "../design/controls.tsx";
import { PlusIcon } from "../design/icons.tsx";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { useFormat } from "../i18n/format.ts";
import { useText } from "../i18n/index.ts";
import { useNow } from "../inspector/now.ts";
import { LedgerGate, ViewNotice } from "../ledger/LedgerGate.tsx";
import { modelOf } from "../quota/model.ts";
import { AskForm } from "./AskForm.tsx";
import { GrantPanel, RequestPanel } from "./DecisionPanel.tsx";
import { differenceOf, parseAsk } from "./form.ts";
import { useRequestsStore } from "./live.ts";
import { countdown, inboxOf, mayDecide } from "./model.ts";
import styles from "./requests.module.css";
import { grantedWords, raiseTitle, raiseWords, subjectPath } from "./words.ts";

export function RequestsView() {
  return (
    <LedgerGate>
      {({ me, control }) => <Inbox me={me} revision={`${control.ledgerRevision} ${control.usageRevision}`} />}
    </LedgerGate>
  );
}

function useInbox(me: Me, revision: string) {
  const store = useRequestsStore();
  const { answer, quotas, error } = useStore(store);
  // biome-ignore lint/correctness/useExhaustiveDependencies: limits and usage are looked at again at another revision
  useEffect(() => {
    // What failed before is tried again when somebody comes back.
    if (store.getState().error !== null) void store.load();
    void store.loadQuotas();
  }, [store, revision]);
  const model = useMemo(() => (quotas === null ? null : modelOf(quotas, Date.now())), [quotas]);
  const inbox = useMemo(() => (answer === null ? null : inboxOf(answer, me)), [answer, me]);
  const grantOf = useMemo(() => new Map(answer?.grants.map((grant) => [grant.requestId, grant] as const)), [answer]);
  return { store, inbox, grantOf, model, error };
}

interface RowWords {
  readonly id: string;
  readonly who: string;
  readonly subject: string;
  readonly raise: string;
  readonly raiseTitle: string;
  readonly why: string;
  readonly time: string;
  readonly exact: string;
  readonly tag: { readonly words: string; readonly tone: "good" | "warning" | "bad" | "" };
}

function Inbox({ me, revision }: { readonly me: Me; readonly revision: string }) {
  const t = useText();
  const format = useFormat();
  const now = useNow();
  const { store, inbox, grantOf, model, error } = useInbox(me, revision);
  const ask = parseAsk(useRoute(({ argument }) => argument));
  const [chosen, setSelected] = useState<string | null>(null);
  const selected = ask === null ? chosen : null;
  const root = useRef<HTMLDivElement>(null);
  const panel = useRef<HTMLElement>(null);
  if (inbox === null)
    return <ViewNotice title={t(error === null ? "requests.loading" : "ledger.failed")} error={error} />;
  const requests = [...inbox.open, ...inbox.history];
  const request = requests.find(({ id }) => id === selected);
  const grant = inbox.grants.find(({ id }) => id === selected);
  const select = (id: string | null) => {
    store.dismiss();
    setSelected(id);
    if (ask !== null) go("requests");
  };
  const path = (subject: string) => subjectPath(model?.nodes ?? new Map(), subject);
  const who = ({ uid, user }: { readonly uid: number; readonly user: string | null }) => user ?? String(uid);
  const ago = (time: string) => t("common.ago", { duration: format.duration(now - Date.parse(time)) });
  const left = (until: string) => {
    const rest = countdown(Date.parse(until), now);
    if (rest.days > 0) return t("requests.leftDays", { days: rest.days, hours: rest.hours });
    if (rest.hours === 0 && rest.minutes === 0) return t("requests.leftSoon");
    return t("requests.leftHours", { hours: rest.hours, minutes: rest.minutes });
  };
  const open = inbox.open.map((each): RowWords => {
    const { id, subject, why, askedBy, until } = each;
    const fits = each.approver === "lead";
    return {
      ...{
        id,
        why,
        who: `${who(askedBy)}${t("common.separator")}${ago(each.askedAt)}`,
        subject: path(subject),
        raise: raiseWords(t, each.raise),
        raiseTitle: raiseTitle(t, each.raise),
      },
      time: t("requests.endsAt", { time: format.clock(until, now) }),
      exact: `${t("requests.asked")} ${format.exact(each.askedAt)}`,
      tag: { words: t(fits ? "requests.fits" : "requests.needsAdministrator"), tone: fits ? "good" : "warning" },
    };
  });
  const grants = inbox.grants.map((each): RowWords => {
    const from = requests.find(({ id }) => id === each.requestId);
    return {
      ...{
        id: each.id,
        subject: path(each.subject),
        raise: raiseWords(t, each.raise),
        raiseTitle: raiseTitle(t, each.raise),
      },
      ...{ who: from === undefined ? "" : who(from.askedBy), why: from?.why ?? "" },
      ...{ time: left(each.until), exact: format.exact(each.until) },
      tag: { words: t(each.state === "running" ? "requests.running" : "requests.notYet"), tone: "" },
    };
  });
  const history = inbox.history.map((each): RowWords => {
    const by = each.decidedBy === null ? "" : who(each.decidedBy);
    const tone = ({ approved: "good", refused: "bad", withdrawn: "", asked: "" } as const)[each.state];
    const given = grantOf.get(each.id);
    const cutAt = given?.state === "cut short" ? given.endedAt : null;
    const asAsked = given === undefined || differenceOf(each.raise, given.raise) === "same";
    return {
      ...{
        id: each.id,
        who: who(each.askedBy),
        subject: path(each.subject),
        raise: asAsked ? raiseWords(t, each.raise) : grantedWords(t, each.raise, given.raise),
        raiseTitle: raiseTitle(t, each.raise),
      },
      why: each.answer === null || each.answer === "" ? each.why : each.answer,
      time: format.clock(cutAt ?? each.decidedAt ?? each.askedAt, now),
      exact: format.exact(cutAt ?? each.decidedAt ?? each.askedAt),
      tag:
        cutAt === null
          ? { words: `${t(`requests.state-${each.state}`)} ${by}`.trim(), tone }
          : { words: t("requests.cutShort"), tone: "warning" },
    };
  });
  const keys = (event: KeyboardEvent) => {
    const isInPanel = panel.current?.contains(event.target as Node) === true;
    const rows = [...(root.current?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];
    const at = rows.findIndex((row) => row.dataset.row === selected);
    if (event.key === "Escape" && (isInPanel || selected !== null)) {
      event.preventDefault();
      if (isInPanel && at >= 0 && ask === null) rows[at]?.focus();
      else select(null);
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (isInPanel || rows.length === 0) return;
    if (step !== undefined) {
      event.preventDefault();
      const next = rows[at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + step))];
      next?.focus();
      select(next?.dataset.row ?? null);
    } else if (event.key === "Enter" && at >= 0 && event.target === rows[at]) {
      event.preventDefault();
      panel.current?.querySelector<HTMLElement>("input:not([type=radio]), textarea, button")?.focus();
    }
  };
  const shown = { store, model, me, now };
  const decides = me.role === "administrator" || me.open || me.leads.length > 0;
  const mine = inbox.open.filter((each) => mayDecide(me, each)).length;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the rows in it have the focus, their keys come up to here
    <div className={styles.view} ref={root} onKeyDown={keys}>
      <div className={styles.main}>
        <div className={styles.head}>
          <h2>{t("app.requests")}</h2>
          {mine === 0 ? null : <span className="muted">{t("requests.toDecide", { count: mine })}</span>}
          <button
            type="button"
            className="button"
            onClick={() => {
              store.dismiss();
              go("requests", "ask");
            }}
          >
            <PlusIcon />
            {t("requests.ask")}
          </button>
        </div>
        {error === null ? null : <ErrorText error={error} />}
        {requests.length + grants.length === 0 ? (
          <Notice title={t("requests.empty")}>{t("requests.emptyText")}</Notice>
        ) : null}
        {requests.length + grants.length === 0 ? null : (
          <Rows
            title={t("requests.open")}
            rows={open}
            selected={selected}
            onSelect={select}
            empty={t(decides ? "requests.nothingToDecide" : "requests.nothingOpen")}
          />
        )}
        <Rows title={t("requests.grants")} rows={grants} selected={selected} onSelect={select} />
        <Rows title={t("requests.history")} rows={history} selected={selected} onSelect={select} />
      </div>
      <aside className={styles.panel} ref={panel} aria-label={t("requests.selected")}>
        {ask !== null ? (
          model === null ? (
            <p className="muted">{t("requests.loading")}</p>
          ) : (
            <AskForm
              key={JSON.stringify(ask)}
              {...{ store, model, me, now }}
              ask={ask === "empty" ? null : ask}
              onDone={select}
            />
          )
        ) : request !== undefined ? (
          <RequestPanel request={request} grant={grantOf.get(request.id) ?? null} {...shown} />
        ) : grant !== undefined ? (
          <GrantPanel
            key={grant.id}
            grant={grant}
            request={requests.find(({ id }) => id === grant.requestId) ?? null}
            {...shown}
          />
        ) : (
          <p className="muted">{t("requests.selectHint")}</p>
        )}
      </aside>
    </div>
  );
}

function Rows({
  title,
  rows,
  selected,
  onSelect,
  empty,
}: {
  readonly title: string;
  readonly rows: readonly RowWords[];
  readonly selected: string | null;
  readonly onSelect: (id: string) => void;
  readonly empty?: string;
}) {
  if (rows.length === 0 && empty === undefined) return null;
  return (
    <section>
      <h3 className={styles.title}>{title}</h3>
      {rows.length === 0 ? <p className="muted">{empty}</p> : null}
      <ul aria-label={title}>
        {rows.map((row) => (
          <li key={row.id}>
            <button
              type="button"
              className={styles.row}
              data-row={row.id}
              aria-current={row.id === selected}
              onClick={() => onSelect(row.id)}
            >
              <span className="truncate" title={row.subject}>
                {row.subject}
              </span>
              <strong className="truncate" title={row.raiseTitle}>
                {row.raise}
              </strong>
              <span className="truncate" title={row.who}>
                {row.who}
              </span>
              <span className="truncate muted" title={row.why}>
                {row.why}
              </span>
              <span className="truncate" title={row.exact}>
                {row.time}
              </span>
              <span className={`tag ${row.tag.tone}`}>{row.tag.words}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

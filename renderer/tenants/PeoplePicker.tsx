/** People are picked from the accounts of the control host, several at once. */
import { useEffect, useState } from "react";
import { type AppErrorData, toErrorData } from "../../shared/errors.ts";
import type { Account } from "../../shared/protocol/control.ts";
import { client } from "../client/index.ts";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { useText } from "../i18n/index.ts";
import { ChangeTrouble, useChange, useClusterId } from "./change.tsx";
import styles from "./tenants.module.css";

export function PeoplePicker({
  label,
  subject,
  present,
  add,
  onClose,
}: {
  readonly label: string;
  /** For whom is searched. */
  readonly subject: string;
  readonly present: ReadonlySet<number>;
  readonly add: (uid: number) => Promise<unknown>;
  readonly onClose: () => void;
}) {
  const t = useText();
  const clusterId = useClusterId();
  const change = useChange();
  const [text, setText] = useState("");
  const [accounts, setAccounts] = useState<readonly Account[] | null>(null);
  const [picked, setPicked] = useState<ReadonlyMap<number, Account>>(new Map());
  const [unread, setUnread] = useState<AppErrorData | null>(null);
  useEffect(() => {
    if (text.trim() === "") {
      setAccounts(null);
      return;
    }
    const end = new AbortController();
    const search = () =>
      client()
        .request("people.search", { clusterId, input: { subject, text: text.trim() } }, end.signal)
        .then(
          (answer) => {
            setUnread(null);
            setAccounts(answer);
          },
          (thrown: unknown) => {
            if (!end.signal.aborted) setUnread(toErrorData(thrown));
          },
        );
    const timer = setTimeout(search, 150);
    return () => {
      clearTimeout(timer);
      end.abort();
    };
  }, [clusterId, subject, text]);
  const toggle = (account: Account) => {
    const next = new Map(picked);
    if (!next.delete(account.uid)) next.set(account.uid, account);
    setPicked(next);
  };
  const shown = [...picked.values(), ...(accounts ?? []).filter(({ uid }) => !picked.has(uid))];
  const addAll = () =>
    change.run(async () => {
      // One after the other, so that after a failure those who are not in yet are still picked.
      for (const uid of picked.keys()) {
        await add(uid);
        setPicked((before) => new Map([...before].filter(([one]) => one !== uid)));
      }
      onClose();
    });
  return (
    <form
      className={styles.picker}
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        if (picked.size > 0) void addAll();
      }}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Escape") onClose();
      }}
    >
      <input
        className="field"
        type="search"
        // biome-ignore lint/a11y/noAutofocus: opened to type
        autoFocus
        maxLength={100}
        aria-label={t("tenants.search")}
        placeholder={t("tenants.search")}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {unread === null ? null : <ErrorText error={unread} />}
      {shown.length === 0 ? (
        <p className="muted">{t(accounts === null ? "tenants.searchHint" : "tenants.noAccount")}</p>
      ) : (
        <ul className={styles.accounts}>
          {shown.map((account) => (
            <li key={account.uid}>
              <label className={styles.account}>
                <input
                  type="checkbox"
                  disabled={present.has(account.uid)}
                  checked={present.has(account.uid) || picked.has(account.uid)}
                  onChange={() => toggle(account)}
                />
                <span>{account.fullName === "" ? account.user : account.fullName}</span>
                <span className="muted">{account.fullName === "" ? "" : account.user}</span>
                <span className="muted">{t("tenants.uid", { uid: account.uid })}</span>
                {present.has(account.uid) ? <span className="tag">{t("tenants.already")}</span> : null}
              </label>
            </li>
          ))}
        </ul>
      )}
      <ChangeTrouble change={change} />
      <div className={styles.actions}>
        <button type="submit" className="button primary" disabled={picked.size === 0 || change.busy}>
          {picked.size === 0 ? t("tenants.addNobody") : t("tenants.addPicked", { count: picked.size })}
        </button>
        <button type="button" className="button" onClick={onClose}>
          {t("common.cancel")}
        </button>
      </div>
    </form>
  );
}

/** One change of the organisation at a time: what came of it stands where it was asked for. */
import { useState } from "react";
import { type AppErrorData, toErrorData } from "../../shared/errors.ts";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { useFormat } from "../i18n/format.ts";
import { useText } from "../i18n/index.ts";
import { meanwhileLines } from "../quota/meanwhile.ts";
import { useControlStore } from "../stores/control.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import { versionOf } from "./model.ts";
import styles from "./tenants.module.css";

export interface Change {
  readonly busy: boolean;
  readonly error: AppErrorData | null;
  /** Answers whether it was done. */
  run(send: () => Promise<unknown>): Promise<boolean>;
  /** As `run`, against a version; after a conflict it can be sent again against the version of then. */
  edit(subject: string, basedOn: number, send: (basedOn: number) => Promise<unknown>, done: () => void): Promise<void>;
  /** Null where there is nothing to send again. */
  readonly again: (() => void) | null;
  clear(): void;
}

export function useChange(): Change {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<AppErrorData | null>(null);
  const [again, setAgain] = useState<(() => void) | null>(null);
  const run = async (send: () => Promise<unknown>): Promise<boolean> => {
    setBusy(true);
    setError(null);
    setAgain(null);
    try {
      await send();
      return true;
    } catch (thrown) {
      setError(toErrorData(thrown));
      return false;
    } finally {
      setBusy(false);
    }
  };
  const edit: Change["edit"] = async (subject, basedOn, send, done) => {
    if (await run(() => send(basedOn))) done();
    else {
      setAgain(() => () => {
        const latest = versionOf(useControlStore.getState().organisation, subject);
        void edit(subject, latest ?? basedOn, send, done);
      });
    }
  };
  const clear = () => {
    setError(null);
    setAgain(null);
  };
  return { busy, error, run, edit, again, clear };
}

/** The active cluster's id; views of the ledger are only shown where there is one. */
export function useClusterId(): string {
  return useSnapshot((state) => state.activeClusterId) ?? "";
}

/** Why a change was not made; for a conflict what others changed, and the way on. */
export function ChangeTrouble({ change, onLeave }: { readonly change: Change; readonly onLeave?: () => void }) {
  const t = useText();
  const format = useFormat();
  const { error, again } = change;
  if (error === null) return null;
  const meanwhile = error.code === "conflict" ? (error.evidence?.changedMeanwhile ?? []) : [];
  if (meanwhile.length === 0) return <ErrorText error={error} />;
  return (
    <div className={styles.conflict} role="alert">
      <strong>{t("tenants.changed", { by: [...new Set(meanwhile.map(({ by }) => by))].join(", ") })}</strong>
      <ul>
        {meanwhileLines(t, format, meanwhile).map(({ what, before, after, at }) => (
          <li key={`${at} ${what}`} title={format.exact(at)}>
            {t("tenants.changedField", { field: what, before, after })}
          </li>
        ))}
      </ul>
      <div className={styles.actions}>
        {again === null ? null : (
          <button type="button" className="button" disabled={change.busy} onClick={again}>
            {t("tenants.again")}
          </button>
        )}
        <button
          type="button"
          className="button"
          onClick={() => {
            change.clear();
            onLeave?.();
          }}
        >
          {t("tenants.leave")}
        </button>
      </div>
    </div>
  );
}

/** The audit: who changed what, newest first, with what a row changed beside it. */
import { useEffect, useRef, useState } from "react";
import { type AppErrorData, toErrorData } from "../../shared/errors.ts";
import type { AuditPageView, AuditRowView, AuditVerdictView, Me } from "../../shared/protocol/control.ts";
import { client } from "../client/index.ts";
import { Notice } from "../design/controls.tsx";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { type MessageKey, useText } from "../i18n/index.ts";
import { useControl, useControlStore, useOrganisation } from "../stores/control.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import { csvOf, saveCsv } from "../topology/csv.ts";
import { differencesOf } from "./differences.ts";
import { allRows, shellText, withPage } from "./entries.ts";
import { auditCells, auditColumns } from "./table.ts";
import "./audit.css";

const outcomes = ["begun", "done", "failed", "refused"] as const;
type Outcome = (typeof outcomes)[number];
const outcomeWords: Readonly<Record<string, MessageKey>> = {
  begun: "audit.begun",
  done: "audit.done",
  failed: "audit.failed",
  refused: "audit.refused",
};

export function AuditView() {
  const t = useText();
  const control = useControl();
  const clusterId = useSnapshot((state) => state.activeClusterId);
  const error = useControlStore((state) => state.error);
  if (clusterId === null || control?.state === "none") return <Notice title={t("audit.none")} />;
  if (control?.state === "no-ledger") return <Notice title={t("audit.noLedger")} />;
  const failed = control?.error ?? error;
  if (control?.me == null) {
    if (failed === null) return <Notice title={t("audit.connecting")} />;
    return (
      <Notice title={t("audit.title")} tone="bad">
        <ErrorText error={failed} />
      </Notice>
    );
  }
  const { me } = control;
  const first = me.role === "administrator" ? "cluster" : me.leads[0];
  if (first === undefined) return <Notice title={t("audit.noneForYou")} />;
  return <Audit key={clusterId} clusterId={clusterId} me={me} first={first} revision={control.ledgerRevision} />;
}

interface AuditProps {
  readonly clusterId: string;
  readonly me: Me;
  readonly first: string;
  readonly revision: number;
}

function Audit({ clusterId, me, first, revision }: AuditProps) {
  const t = useText();
  const tenants = useOrganisation()?.tenants ?? [];
  const [subject, setSubject] = useState(first);
  const [words, setWords] = useState("");
  const [outcome, setOutcome] = useState<Outcome | "">("");
  const [rows, setRows] = useState<readonly AuditRowView[]>([]);
  const [next, setNext] = useState<number | null>(null);
  const [chosen, setChosen] = useState<AuditRowView | null>(null);
  const [verdict, setVerdict] = useState<AuditVerdictView | null>(null);
  const [error, setError] = useState<AppErrorData | null>(null);
  const name = (id: string | null) => tenants.find((tenant) => tenant.id === id)?.displayName ?? id ?? "";

  const asked = JSON.stringify([subject, words, outcome]);
  const shown = useRef("");
  const page = (before: number | null, signal?: AbortSignal): Promise<AuditPageView> => {
    const input = {
      subject,
      limit: 200,
      ...(words === "" ? {} : { text: words }),
      ...(outcome === "" ? {} : { outcome }),
      ...(before === null ? {} : { before }),
    };
    return client().request("audit.list", { clusterId, input }, signal);
  };
  const attempt = (work: () => Promise<void>) => {
    setError(null);
    void work().catch((thrown: unknown) => setError(toErrorData(thrown)));
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: `page` is made of these, and `revision` says that rows came
  useEffect(() => {
    const end = new AbortController();
    page(null, end.signal).then(
      (answer) => {
        if (end.signal.aborted) return;
        // New rows join those that are read; another question replaces them.
        const again = shown.current === asked;
        shown.current = asked;
        setRows((held) => (again ? withPage(held, answer.rows) : answer.rows));
        if (!again) setNext(answer.next);
        setError(null);
      },
      (thrown: unknown) => end.signal.aborted || setError(toErrorData(thrown)),
    );
    return () => end.abort();
  }, [clusterId, subject, words, outcome, revision]);

  return (
    <div className="audit">
      <div className="audit-bar">
        <select aria-label={t("audit.of")} value={subject} onChange={(event) => setSubject(event.target.value)}>
          {me.role === "administrator" ? <option value="cluster">{t("audit.cluster")}</option> : null}
          {(me.role === "administrator" ? tenants.map(({ id }) => id) : me.leads).map((id) => (
            <option key={id} value={id}>
              {name(id)}
            </option>
          ))}
        </select>
        <input
          type="search"
          aria-label={t("audit.text")}
          placeholder={t("audit.text")}
          value={words}
          maxLength={200}
          onChange={(event) => setWords(event.target.value)}
        />
        <select
          aria-label={t("audit.outcome")}
          value={outcome}
          onChange={(event) => setOutcome(outcomes.find((one) => one === event.target.value) ?? "")}
        >
          <option value="">{t("audit.any")}</option>
          {outcomes.map((one) => (
            <option key={one} value={one}>
              {t(`audit.${one}`)}
            </option>
          ))}
        </select>
        {me.role === "administrator" ? (
          <button
            type="button"
            className="button"
            onClick={() =>
              attempt(async () => setVerdict(await client().request("audit.verify", { clusterId, input: {} })))
            }
          >
            {t("audit.verify")}
          </button>
        ) : null}
        <button
          type="button"
          className="button"
          onClick={() =>
            attempt(async () => {
              const all = await allRows((before) => page(before));
              saveCsv("audit.csv", csvOf(auditColumns, all.map(auditCells)));
            })
          }
        >
          {t("audit.export")}
        </button>
      </div>
      {verdict === null ? null : (
        <p className="audit-verdict" role="status">
          {verdict.intact
            ? t("audit.intact", { rows: verdict.rows, hash: verdict.head.hash })
            : [t("audit.damaged"), ...verdict.findings.map((one) => `${one.seq ?? ""} ${one.message}`)].join("; ")}
        </p>
      )}
      {error === null ? null : <ErrorText error={error} />}
      <div className="audit-main">
        <div className="audit-list">
          <table>
            <thead>
              <tr>
                <th>{t("audit.time")}</th>
                <th>{t("audit.who")}</th>
                <th>{t("audit.from")}</th>
                <th>{t("audit.role")}</th>
                <th>{t("audit.command")}</th>
                <th>{t("audit.object")}</th>
                <th>{t("audit.outcome")}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.seq} aria-selected={row.seq === chosen?.seq} onClick={() => setChosen(row)}>
                  <td>
                    <button type="button" onClick={() => setChosen(row)}>
                      {row.at.slice(0, 19).replace("T", " ")}
                    </button>
                  </td>
                  <td>{row.user ?? row.uid}</td>
                  <td>{row.address}</td>
                  <td>{row.role}</td>
                  <td>{row.command}</td>
                  <td title={row.object ?? ""}>{name(row.object)}</td>
                  <td data-outcome={row.outcome}>
                    {outcomeWords[row.outcome] === undefined
                      ? row.outcome
                      : t(outcomeWords[row.outcome] ?? "audit.done")}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          {rows.length === 0 ? <p className="muted">{t("audit.empty")}</p> : null}
          {next === null ? null : (
            <button
              type="button"
              className="button"
              onClick={() =>
                attempt(async () => {
                  const answer = await page(next);
                  if (shown.current !== asked) return;
                  setRows((held) => withPage(held, answer.rows));
                  setNext(answer.next);
                })
              }
            >
              {t("audit.older")}
            </button>
          )}
        </div>
        {chosen === null ? null : <RowPanel row={chosen} onClose={() => setChosen(null)} />}
      </div>
    </div>
  );
}

function RowPanel({ row, onClose }: { readonly row: AuditRowView; readonly onClose: () => void }) {
  const t = useText();
  const differences = differencesOf(row.before, row.after);
  return (
    <aside className="audit-panel" aria-label={`${row.command} ${row.seq}`}>
      <button type="button" className="button quiet" onClick={onClose}>
        {t("audit.close")}
      </button>
      <h2>
        {row.command} <span className="muted">{row.seq}</span>
      </h2>
      <h3>{t("audit.changes")}</h3>
      {differences.length === 0 ? <p className="muted">{t("audit.noChanges")}</p> : null}
      <ul>
        {differences.map(({ field, before, after }) => (
          <li key={field}>
            {field} <del>{before}</del> → <ins>{after}</ins>
          </li>
        ))}
      </ul>
      {row.commandLine === null ? null : (
        <>
          <h3>{t("audit.commandLine")}</h3>
          <pre>{shellText(row.commandLine)}</pre>
        </>
      )}
      {row.error === null ? null : (
        <>
          <h3>{t("audit.error")}</h3>
          <pre>{row.error}</pre>
        </>
      )}
      <h3>{t("audit.hash")}</h3>
      <pre>{row.hash}</pre>
      {row.keyFingerprint === null ? null : (
        <>
          <h3>{t("audit.key")}</h3>
          <pre>{row.keyFingerprint}</pre>
        </>
      )}
    </aside>
  );
}

import { useMemo, useRef, useState } from "react";
import { toErrorData } from "../../shared/errors.ts";
import type { AuditRowView, AuditVerdictView, Me, TenantView } from "../../shared/protocol/control.ts";
import { client } from "../client/index.ts";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { useText } from "../i18n/index.ts";
import { useOrganisation } from "../stores/control.ts";
import { csvOf, saveCsv } from "../topology/csv.ts";
import { AuditBar } from "./AuditBar.tsx";
import { AuditTable } from "./AuditTable.tsx";
import { recentDays, slurmSpan } from "./days.ts";
import { entriesOf } from "./entries.ts";
import { objectNames } from "./names.ts";
import { RowPanel } from "./RowPanel.tsx";
import { type Looked, useAuditRows } from "./rows.ts";
import { useSlurmTransactions } from "./slurm.ts";
import { auditCells, auditColumns } from "./table.ts";

interface AuditPageProps {
  readonly clusterId: string;
  readonly me: Me;
  /** What is looked at first: the cluster, or a lead's tenant. */
  readonly first: string;
  readonly revision: number;
}

const none: readonly TenantView[] = [];

export function AuditPage({ clusterId, me, first, revision }: AuditPageProps) {
  const t = useText();
  const tenants = useOrganisation()?.tenants ?? none;
  const [looked, setLooked] = useState<Looked>({
    subject: first,
    text: "",
    actor: "",
    command: "",
    outcome: "",
    firstDay: "",
    lastDay: "",
  });
  const [chosen, setChosen] = useState<AuditRowView | null>(null);
  const [verdict, setVerdict] = useState<AuditVerdictView | null>(null);
  const [beside, setBeside] = useState(false);
  const { rows, next, error, setError, older, everything } = useAuditRows(clusterId, looked, revision);
  const names = useMemo(() => objectNames(tenants), [tenants]);
  const administrator = me.role === "administrator";
  const told = useSlurmTransactions(clusterId, beside, looked, setError);
  const entries = useMemo(() => entriesOf(rows, told, next === null), [rows, told, next]);

  const attempt = (work: () => Promise<void>) => {
    setError(null);
    void work().catch((thrown: unknown) => setError(toErrorData(thrown)));
  };
  const look = (part: Partial<Looked>) => setLooked({ ...looked, ...part });
  // Once a page did not come, the next is asked for by hand.
  const reading = useRef(false);
  const readOlder = () => {
    if (next === null || reading.current) return;
    reading.current = true;
    attempt(() => older().finally(() => (reading.current = false)));
  };

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes what is open wherever the focus is in here
    <div
      className="audit"
      onKeyDown={({ key, target }) => {
        if (key === "Escape" && !(target instanceof HTMLInputElement)) setChosen(null);
      }}
    >
      <AuditBar me={me} tenants={tenants} names={names} looked={looked} onLook={look}>
        {administrator && me.engine === "slurm" ? (
          <label className="audit-beside">
            <input type="checkbox" checked={beside} onChange={(event) => setBeside(event.target.checked)} />
            {t("audit.beside")}
          </label>
        ) : null}
        <span className="audit-space" />
        {administrator ? (
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
            attempt(async () => saveCsv("audit.csv", csvOf(auditColumns, (await everything()).map(auditCells))))
          }
        >
          {t("audit.export")}
        </button>
      </AuditBar>
      {verdict === null ? null : <Verdict verdict={verdict} />}
      {error === null ? null : <ErrorText error={error} />}
      {beside ? (
        <p className="audit-note muted">
          {slurmSpan(looked.firstDay, looked.lastDay, new Date()).kind === "recent"
            ? t("audit.besideRecent", { days: recentDays })
            : t("audit.besideChosen")}
        </p>
      ) : null}
      <div className="audit-main">
        <div className="audit-list">
          <AuditTable
            entries={entries}
            chosen={chosen?.seq ?? null}
            names={names}
            onChoose={setChosen}
            onEnd={() => error === null && readOlder()}
          />
          {next === null ? null : (
            <button type="button" className="button quiet audit-older" onClick={readOlder}>
              {t("audit.older")}
            </button>
          )}
        </div>
        {chosen === null ? null : <RowPanel row={chosen} names={names} onClose={() => setChosen(null)} />}
      </div>
    </div>
  );
}

function Verdict({ verdict }: { readonly verdict: AuditVerdictView }) {
  const t = useText();
  if (verdict.intact) {
    return (
      <p className="audit-verdict good" role="status">
        {t("audit.intact", { rows: verdict.rows, hash: verdict.head.hash })}
      </p>
    );
  }
  return (
    <div className="audit-verdict bad" role="status">
      <strong>{t("audit.damaged")}</strong>
      <ul>
        {verdict.findings.map(({ seq, message }) => (
          <li key={`${seq} ${message}`}>
            {seq === null ? "" : `${seq}: `}
            {message}
          </li>
        ))}
      </ul>
    </div>
  );
}

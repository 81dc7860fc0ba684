import { type KeyboardEvent, useState } from "react";
import { toErrorData } from "../../shared/errors.ts";
import type { AuditRowView, AuditVerdictView, Me, SlurmTransactionView } from "../../shared/protocol/control.ts";
import { client } from "../client/index.ts";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { useText } from "../i18n/index.ts";
import { useOrganisation } from "../stores/control.ts";
import { csvOf, saveCsv } from "../topology/csv.ts";
import { AuditBar } from "./AuditBar.tsx";
import { AuditTable } from "./AuditTable.tsx";
import { beginningOf } from "./days.ts";
import { entriesOf } from "./entries.ts";
import { objectNames } from "./names.ts";
import { RowPanel } from "./RowPanel.tsx";
import { type Looked, useAuditRows } from "./rows.ts";
import { auditCells, auditColumns } from "./table.ts";

interface AuditPageProps {
  readonly clusterId: string;
  readonly me: Me;
  /** What is looked at first: the cluster, or a lead's tenant. */
  readonly first: string;
  readonly revision: number;
}

const slurmDays = 30;
const dayMs = 86_400_000;

export function AuditPage({ clusterId, me, first, revision }: AuditPageProps) {
  const t = useText();
  const tenants = useOrganisation()?.tenants ?? [];
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
  const [told, setTold] = useState<readonly SlurmTransactionView[] | null>(null);
  const { rows, next, error, setError, older, everything } = useAuditRows(clusterId, looked, revision);
  const names = objectNames(tenants);
  const administrator = me.role === "administrator";
  const [from, to] = [beginningOf(looked.firstDay), beginningOf(looked.lastDay, 1)];
  const beside = (told ?? []).filter(({ at }) => (from === null || at >= from) && (to === null || at < to));

  const attempt = (work: () => Promise<void>) => {
    setError(null);
    void work().catch((thrown: unknown) => setError(toErrorData(thrown)));
  };
  const look = (part: Partial<Looked>) => setLooked({ ...looked, ...part });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement) return;
    if (event.key === "Escape") setChosen(null);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = rows.findIndex(({ seq }) => seq === chosen?.seq);
    setChosen(rows[at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + step))] ?? null);
  };

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the arrows move through the rows wherever the focus is in here
    <div className="audit" onKeyDown={onKeyDown}>
      <AuditBar me={me} tenants={tenants} names={names} looked={looked} onLook={look}>
        {administrator && me.engine === "slurm" ? (
          <label className="audit-beside">
            <input
              type="checkbox"
              checked={told !== null}
              onChange={(event) => {
                if (!event.target.checked) return setTold(null);
                const since = new Date(Date.now() - slurmDays * dayMs).toISOString().slice(0, 10);
                attempt(async () => setTold(await client().request("audit.slurm", { clusterId, input: { since } })));
              }}
            />
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
      <div className="audit-main">
        <div className="audit-list">
          <AuditTable
            entries={entriesOf(rows, beside, next === null)}
            chosen={chosen?.seq ?? null}
            names={names}
            onChoose={setChosen}
          />
          {next === null ? null : (
            <button type="button" className="button audit-older" onClick={() => attempt(older)}>
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

import type { AuditRowView } from "../../shared/protocol/control.ts";
import { type MessageKey, useText } from "../i18n/index.ts";
import type { AuditEntry } from "./entries.ts";
import { objectInWords } from "./names.ts";
import { commandInWords, roleInWords } from "./words.ts";

const outcomeWords: Readonly<Record<string, MessageKey>> = {
  begun: "audit.begun",
  done: "audit.done",
  failed: "audit.failed",
  refused: "audit.refused",
};

interface AuditTableProps {
  readonly entries: readonly AuditEntry[];
  readonly chosen: number | null;
  readonly names: ReadonlyMap<string, string>;
  readonly onChoose: (row: AuditRowView) => void;
}

export function AuditTable({ entries, chosen, names, onChoose }: AuditTableProps) {
  const t = useText();
  if (entries.length === 0) return <p className="muted audit-empty">{t("audit.empty")}</p>;
  return (
    <table>
      <thead>
        <tr>
          <th>{t("audit.time")}</th>
          <th>{t("audit.who")}</th>
          <th>{t("audit.role")}</th>
          <th>{t("audit.command")}</th>
          <th>{t("audit.object")}</th>
          <th>{t("audit.outcome")}</th>
          <th>{t("audit.from")}</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) =>
          entry.kind === "ledger" ? (
            <LedgerRow
              key={entry.key}
              row={entry.row}
              chosen={entry.row.seq === chosen}
              names={names}
              onChoose={onChoose}
            />
          ) : (
            <tr key={entry.key} className="audit-slurm">
              <td>{timeText(entry.transaction.at)}</td>
              <td>{entry.transaction.actor}</td>
              <td>Slurm</td>
              <td>{entry.transaction.action}</td>
              <td title={entry.transaction.where}>{entry.transaction.where}</td>
              <td colSpan={2} title={entry.transaction.info}>
                {entry.transaction.info}
              </td>
            </tr>
          ),
        )}
      </tbody>
    </table>
  );
}

interface LedgerRowProps {
  readonly row: AuditRowView;
  readonly chosen: boolean;
  readonly names: ReadonlyMap<string, string>;
  readonly onChoose: (row: AuditRowView) => void;
}

function LedgerRow({ row, chosen, names, onChoose }: LedgerRowProps) {
  const t = useText();
  const outcome = outcomeWords[row.outcome];
  return (
    <tr aria-selected={chosen} onClick={() => onChoose(row)}>
      <td>
        <button type="button" onClick={() => onChoose(row)}>
          {timeText(row.at)}
        </button>
      </td>
      <td>{row.user ?? row.uid}</td>
      <td className="muted" title={row.role}>
        {roleInWords(t, row.role)}
      </td>
      <td title={row.command}>{commandInWords(t, row.command)}</td>
      <td title={row.object ?? ""}>{objectInWords(t, row.object, names)}</td>
      <td data-outcome={row.outcome}>{outcome === undefined ? row.outcome : t(outcome)}</td>
      <td className="muted">{row.address}</td>
    </tr>
  );
}

/** In the reader's own time zone, to the second. */
function timeText(at: string): string {
  const time = new Date(at);
  const two = (number: number) => String(number).padStart(2, "0");
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}

import type { AuditRowView } from "../../shared/protocol/control.ts";
import { useText } from "../i18n/index.ts";
import { differencesOf } from "./differences.ts";
import { shellText } from "./entries.ts";
import { objectInWords, valueInWords } from "./names.ts";
import { commandInWords, roleInWords } from "./words.ts";

interface RowPanelProps {
  readonly row: AuditRowView;
  readonly names: ReadonlyMap<string, string>;
  readonly onClose: () => void;
}

export function RowPanel({ row, names, onClose }: RowPanelProps) {
  const t = useText();
  const differences = differencesOf(row.before, row.after).filter(({ field }) => field !== "version");
  const facts = [
    [t("audit.command"), row.command],
    [t("audit.object"), row.object],
    [t("audit.who"), `${row.user ?? ""} (${row.uid})`],
    [t("audit.role"), roleInWords(t, row.role)],
    [t("audit.from"), row.address],
    [t("audit.key"), row.keyFingerprint],
    [t("audit.row"), String(row.seq)],
    [t("audit.hash"), row.hash],
  ] as const;
  return (
    <aside className="audit-panel" aria-label={`${row.command} ${row.seq}`}>
      <header>
        <h2>
          {commandInWords(t, row.command)}
          {row.object === null ? null : <span>{objectInWords(t, row.object, names)}</span>}
        </h2>
        <button type="button" className="button quiet" onClick={onClose}>
          {t("audit.close")}
        </button>
      </header>
      {differences.length === 0 ? (
        <p className="muted">{t("audit.noChanges")}</p>
      ) : (
        <table aria-label={t("audit.changes")}>
          <tbody>
            {differences.map(({ field, before, after }) => (
              <tr key={field}>
                <th scope="row">{field}</th>
                <td>
                  <del>{valueInWords(before)}</del>
                </td>
                <td>
                  <ins>{valueInWords(after)}</ins>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {row.commandLine === null ? null : (
        <>
          <h3>{t("audit.commandLine")}</h3>
          <pre>{shellText(row.commandLine)}</pre>
        </>
      )}
      {row.error === null ? null : (
        <>
          <h3>{t("audit.error")}</h3>
          <pre className="bad">{errorText(row.error)}</pre>
        </>
      )}
      <dl>
        {facts.map(([name, value]) =>
          value === null ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
        )}
      </dl>
    </aside>
  );
}

function errorText(json: string): string {
  try {
    const { code, message, remedy } = JSON.parse(json);
    return [`${code}: ${message}`, remedy].filter((line) => typeof line === "string" && line !== "").join("\n");
  } catch {
    return json;
  }
}

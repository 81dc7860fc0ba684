/** What of the audit is looked for, and beside it what can be done with it. */
import type { ReactNode } from "react";
import type { Me, TenantView } from "../../shared/protocol/control.ts";
import { useText } from "../i18n/index.ts";
import { type Looked, outcomes } from "./rows.ts";
import { commandChoices } from "./words.ts";

interface AuditBarProps {
  readonly me: Me;
  readonly tenants: readonly TenantView[];
  readonly names: ReadonlyMap<string, string>;
  readonly looked: Looked;
  readonly onLook: (part: Partial<Looked>) => void;
  readonly children: ReactNode;
}

export function AuditBar({ me, tenants, names, looked, onLook, children }: AuditBarProps) {
  const t = useText();
  const administrator = me.role === "administrator";
  return (
    <div className="audit-bar">
      <select
        className="field"
        aria-label={t("audit.of")}
        value={looked.subject}
        onChange={(event) => onLook({ subject: event.target.value })}
      >
        {administrator ? <option value="cluster">{t("audit.cluster")}</option> : null}
        {(administrator ? tenants.map(({ id }) => id) : me.leads).map((id) => (
          <option key={id} value={id}>
            {names.get(id) ?? id}
          </option>
        ))}
      </select>
      <SearchField label={t("audit.text")} value={looked.text} onChange={(text) => onLook({ text })} />
      <SearchField label={t("audit.who")} value={looked.actor} onChange={(actor) => onLook({ actor })} />
      <select
        className="field"
        aria-label={t("audit.command")}
        value={looked.command}
        onChange={(event) => onLook({ command: event.target.value })}
      >
        <option value="">{t("audit.anyCommand")}</option>
        {commandChoices(t).map(([command, words]) => (
          <option key={command} value={command}>
            {words}
          </option>
        ))}
      </select>
      <select
        className="field"
        aria-label={t("audit.outcome")}
        value={looked.outcome}
        onChange={(event) => onLook({ outcome: outcomes.find((one) => one === event.target.value) ?? "" })}
      >
        <option value="">{t("audit.any")}</option>
        {outcomes.map((one) => (
          <option key={one} value={one}>
            {t(`audit.${one}`)}
          </option>
        ))}
      </select>
      <DayField
        label={t("audit.firstDay")}
        value={looked.firstDay}
        max={looked.lastDay}
        onChange={(firstDay) => onLook({ firstDay })}
      />
      <DayField
        label={t("audit.lastDay")}
        value={looked.lastDay}
        min={looked.firstDay}
        onChange={(lastDay) => onLook({ lastDay })}
      />
      {children}
    </div>
  );
}

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function SearchField({ label, value, onChange }: FieldProps) {
  return (
    <input
      type="search"
      className="field"
      aria-label={label}
      placeholder={label}
      value={value}
      maxLength={200}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

function DayField({
  label,
  value,
  onChange,
  ...limits
}: FieldProps & { readonly min?: string; readonly max?: string }) {
  return (
    <input
      type="date"
      className="field"
      aria-label={label}
      title={label}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      {...limits}
    />
  );
}

import type { ReactNode } from "react";
import { useText } from "../i18n/index.ts";

/** Name and value a row. What is null is left out; what is not known is said to be unknown by the caller. */
export function Facts({ rows }: { readonly rows: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {rows.map(([name, value]) => (
        <FactRow key={name} name={name} value={value} />
      ))}
    </dl>
  );
}

function FactRow({ name, value }: { readonly name: string; readonly value: ReactNode }) {
  const t = useText();
  const unknown = value === null || value === "";
  return (
    <>
      <dt>{name}</dt>
      <dd className={unknown ? "muted" : undefined}>{unknown ? t("common.unknown") : value}</dd>
    </>
  );
}

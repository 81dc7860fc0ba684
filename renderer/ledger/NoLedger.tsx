/** The control host has no ledger yet: what one is, and for administrators the way to make it. */
import { useState } from "react";
import type { Me } from "../../shared/protocol/control.ts";
import { client } from "../client/index.ts";
import { Segments } from "../design/controls.tsx";
import { useText } from "../i18n/index.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import { ChangeTrouble, useChange } from "../tenants/change.tsx";
import { ViewNotice } from "./LedgerGate.tsx";
import styles from "./ledger.module.css";

const engines = ["auto", "local", "slurm"] as const;
type Engine = (typeof engines)[number];

export function NoLedger({
  clusterId,
  me,
  hostId,
}: {
  readonly clusterId: string;
  readonly me: Me | null;
  readonly hostId: string | null;
}) {
  const t = useText();
  const host = useSnapshot((state) => (hostId === null ? undefined : state.hosts.get(hostId))?.name);
  const change = useChange();
  const [engine, setEngine] = useState<Engine>("auto");
  const mayMake = me?.role === "administrator" && hostId !== null;
  const make = () => change.run(() => client().request("ledger.create", { clusterId, input: { engine } }));
  return (
    <ViewNotice
      title={t("ledger.missing")}
      action={
        mayMake ? (
          <div className={styles.making}>
            <span className="muted">{t("ledger.engine")}</span>
            <Segments<Engine>
              label={t("ledger.engine")}
              value={engine}
              segments={engines.map((value) => ({ value, label: t(`ledger.engine-${value}`) }))}
              onChange={setEngine}
            />
            <button type="button" className="button primary" disabled={change.busy} onClick={() => void make()}>
              {t("ledger.make", { host: host ?? hostId })}
            </button>
          </div>
        ) : undefined
      }
    >
      <p>{t("ledger.missingText")}</p>
      {mayMake ? null : <p>{t("ledger.missingAsk")}</p>}
      <ChangeTrouble change={change} />
    </ViewNotice>
  );
}

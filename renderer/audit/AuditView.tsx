/** The audit: who changed what, newest first, with what a row changed beside it. */
import { useText } from "../i18n/index.ts";
import { LedgerGate, ViewNotice } from "../ledger/LedgerGate.tsx";
import { AuditPage } from "./AuditPage.tsx";
import "./audit.css";

export function AuditView() {
  const t = useText();
  return (
    <LedgerGate>
      {({ clusterId, control, me }) => {
        const first = me.role === "administrator" ? "cluster" : me.leads[0];
        if (first === undefined)
          return <ViewNotice title={t("audit.noneForYou")}>{t("audit.noneForYouText")}</ViewNotice>;
        return (
          <AuditPage key={clusterId} clusterId={clusterId} me={me} first={first} revision={control.ledgerRevision} />
        );
      }}
    </LedgerGate>
  );
}

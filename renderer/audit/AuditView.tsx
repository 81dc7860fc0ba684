/** The audit: who changed what, newest first, with what a row changed beside it. */
import { Notice } from "../design/controls.tsx";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { useText } from "../i18n/index.ts";
import { useControl, useControlStore } from "../stores/control.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import { AuditPage } from "./AuditPage.tsx";
import "./audit.css";

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
  return <AuditPage key={clusterId} clusterId={clusterId} me={me} first={first} revision={control.ledgerRevision} />;
}

/** What stands where a view of the ledger would be, until there is a ledger and the operator has a part in it. */
import type { ReactNode } from "react";
import type { ControlState } from "../../shared/api/contract.ts";
import type { AppErrorData } from "../../shared/errors.ts";
import type { Me } from "../../shared/protocol/control.ts";
import { Notice } from "../design/controls.tsx";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { useText } from "../i18n/index.ts";
import { useControl, useControlStore } from "../stores/control.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import styles from "./ledger.module.css";
import { NoLedger } from "./NoLedger.tsx";

export interface Ledger {
  readonly clusterId: string;
  readonly control: ControlState;
  readonly me: Me;
}

/** A notice in the middle of a view that has nothing else to show. */
export function ViewNotice({
  title,
  children,
  error = null,
  action,
}: {
  readonly title: string;
  readonly children?: ReactNode;
  readonly error?: AppErrorData | null;
  readonly action?: ReactNode;
}) {
  return (
    <div className={styles.centred}>
      <Notice title={title} tone={error === null ? "calm" : "bad"} action={action}>
        {error === null ? children : <ErrorText error={error} />}
      </Notice>
    </div>
  );
}

export function LedgerGate({ children }: { readonly children: (ledger: Ledger) => ReactNode }) {
  const t = useText();
  const control = useControl();
  const clusterId = useSnapshot((state) => state.activeClusterId);
  const unread = useControlStore((state) => state.error);
  if (clusterId === null) return <ViewNotice title={t("ledger.noCluster")} />;
  if (control?.state === "none") return <ViewNotice title={t("ledger.noHost")}>{t("ledger.noHostText")}</ViewNotice>;
  if (control?.state === "no-ledger") {
    return <NoLedger clusterId={clusterId} me={control.me} hostId={control.controlHostId} />;
  }
  const trouble = control?.state === "failed" ? (control.error ?? unread) : unread;
  const me = control?.me ?? null;
  if (control === null || me === null) {
    const title = t(trouble === null ? "ledger.connecting" : "ledger.failed");
    return <ViewNotice title={title} error={trouble} />;
  }
  if (me.role === "none" && !me.open)
    return <ViewNotice title={t("ledger.noRole")}>{t("ledger.noRoleText")}</ViewNotice>;
  return (
    <div className={styles.view}>
      {trouble === null ? null : (
        <div className={styles.trouble} role="alert">
          <ErrorText error={trouble} />
        </div>
      )}
      <div className={styles.content}>{children({ clusterId, control, me })}</div>
    </div>
  );
}

/** Before something is removed: what runs and waits in it, by name, and what goes with it. */
import { useEffect, useState } from "react";
import { Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { type AppErrorData, toErrorData } from "../../shared/errors.ts";
import type { AllocationView, Consequences } from "../../shared/protocol/control.ts";
import { client } from "../client/index.ts";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { useText } from "../i18n/index.ts";
import { ChangeTrouble, useChange, useClusterId } from "./change.tsx";
import styles from "./tenants.module.css";

export interface Removal {
  readonly name: string;
  /** Null for leads and administrators: nothing but the right goes. */
  readonly subject: string | null;
  readonly basedOn: number;
  /** A tenant's jobs are cancelled with its projects, not with it. */
  readonly cancels: boolean;
  send(basedOn: number, cancelAllocations: boolean): Promise<unknown>;
}

function Jobs({ jobs }: { readonly jobs: readonly AllocationView[] }) {
  const t = useText();
  return jobs.map(({ id, user, name, state }) => (
    <li key={id}>
      {t(state === "running" ? "tenants.runs" : "tenants.waits", { user: user ?? t("tenants.someone"), name, id })}
    </li>
  ));
}

function What({ found }: { readonly found: Consequences }) {
  const t = useText();
  const { running, waiting, limits, openRequests, activeGrants, members } = found;
  const names = members.map(({ user, uid }) => user ?? String(uid)).join(", ");
  return (
    <ul className={styles.consequences}>
      <Jobs jobs={running} />
      <Jobs jobs={waiting} />
      {running.length + waiting.length === 0 ? <li>{t("tenants.nothingAffected")}</li> : null}
      {limits.length === 0 ? null : <li>{t("tenants.limits", { count: limits.length })}</li>}
      {openRequests === 0 ? null : <li>{t("tenants.requests", { count: openRequests })}</li>}
      {activeGrants === 0 ? null : <li>{t("tenants.grants", { count: activeGrants })}</li>}
      {members.length === 0 ? null : <li>{t("tenants.members", { names })}</li>}
    </ul>
  );
}

export function RemoveDialog({ removal, onClose }: { readonly removal: Removal; readonly onClose: () => void }) {
  const t = useText();
  const clusterId = useClusterId();
  const change = useChange();
  const [found, setFound] = useState<Consequences | null>(null);
  const [unread, setUnread] = useState<AppErrorData | null>(null);
  const [ticked, setTicked] = useState(false);
  const { subject, name } = removal;
  useEffect(() => {
    if (subject === null) return;
    const end = new AbortController();
    client()
      .request("removal.consequences", { clusterId, input: { subject } }, end.signal)
      .then(setFound, (thrown: unknown) => {
        if (!end.signal.aborted) setUnread(toErrorData(thrown));
      });
    return () => end.abort();
  }, [clusterId, subject]);
  const jobs = found === null ? 0 : found.running.length + found.waiting.length;
  const ready = subject === null || (found !== null && (jobs === 0 || (removal.cancels && ticked)));
  return (
    <ModalOverlay
      className={styles.overlay ?? ""}
      isOpen
      isDismissable
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
    >
      <Modal className={styles.modal ?? ""}>
        <Dialog className={styles.dialog ?? ""} role="alertdialog">
          <Heading slot="title">{t("tenants.remove", { name })}</Heading>
          {subject === null ? <p>{t("tenants.leadStays")}</p> : null}
          {subject !== null && found === null && unread === null ? <p>{t("tenants.reading")}</p> : null}
          {unread === null ? null : <ErrorText error={unread} />}
          {found === null ? null : <What found={found} />}
          {jobs > 0 && removal.cancels ? (
            <label className={styles.tick}>
              <input type="checkbox" checked={ticked} onChange={(event) => setTicked(event.target.checked)} />
              {t("tenants.cancelJobs", { count: jobs })}
            </label>
          ) : null}
          {jobs > 0 && !removal.cancels ? <p>{t("tenants.jobsFirst")}</p> : null}
          <ChangeTrouble change={change} onLeave={onClose} />
          <div className={styles.actions}>
            <button
              type="button"
              className="button"
              // biome-ignore lint/a11y/noAutofocus: keeping it is the safe answer
              autoFocus
              onClick={onClose}
            >
              {t("common.cancel")}
            </button>
            <button
              type="button"
              className="button danger"
              disabled={!ready || change.busy}
              onClick={() =>
                void change.edit(subject ?? "", removal.basedOn, (at) => removal.send(at, jobs > 0 && ticked), onClose)
              }
            >
              {t("common.remove")}
            </button>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

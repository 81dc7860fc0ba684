/** Gives a lease back. Somebody else's only after a second word. */
import { useState } from "react";
import { useStore } from "zustand";
import type { LeaseView } from "../../shared/protocol/control.ts";
import { Key } from "../design/controls.tsx";
import { useText } from "../i18n/index.ts";
import inspector from "../inspector/inspector.module.css";
import type { Leasing } from "./live.ts";
import { isMine, mayRelease } from "./model.ts";

export function ReleaseButton({
  lease,
  leasing: { store, me },
  withKey = false,
  label,
  onDone,
}: {
  readonly lease: LeaseView;
  readonly leasing: Leasing;
  /** It is the one that the key goes to. */
  readonly withKey?: boolean;
  /** What it releases, where several buttons stand together. */
  readonly label?: string;
  readonly onDone?: () => void;
}) {
  const t = useText();
  const isSending = useStore(store, (state) => state.isSending);
  const [isAsking, setAsking] = useState(false);
  if (!mayRelease(me, lease)) return null;
  const release = async () => {
    setAsking(false);
    if (await store.release(lease)) onDone?.();
  };
  if (isAsking) {
    return (
      <div role="alert" className={inspector.section}>
        <p>{t("lease.releaseOf", { user: lease.user ?? t("common.unknown") })}</p>
        <div className={inspector.actions}>
          {/* biome-ignore lint/a11y/noAutofocus: the question stands where the button was */}
          <button type="button" className="button" autoFocus onClick={() => setAsking(false)}>
            {t("common.cancel")}
          </button>
          <button type="button" className="button danger" disabled={isSending} onClick={() => void release()}>
            {t("lease.release")}
          </button>
        </div>
      </div>
    );
  }
  return (
    <div className={inspector.actions}>
      <button
        type="button"
        className="button"
        disabled={isSending}
        aria-label={label === undefined ? undefined : t("lease.releaseNamed", { name: label })}
        {...(withKey ? { "data-lease-action": true } : {})}
        onClick={() => (isMine(me, lease) ? void release() : setAsking(true))}
      >
        {t("lease.release")}
      </button>
      {withKey ? <Key>T</Key> : null}
    </div>
  );
}

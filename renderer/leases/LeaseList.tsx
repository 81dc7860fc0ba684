/** The leases of a machine: one's own first, then those that the caller may see. A click goes to what is leased. */
import { useStore } from "zustand";
import type { HostView } from "../../shared/api/snapshot.ts";
import type { LeaseView } from "../../shared/protocol/control.ts";
import { useFormat } from "../i18n/format.ts";
import { useText } from "../i18n/index.ts";
import inspector from "../inspector/inspector.module.css";
import { useNow } from "../inspector/now.ts";
import { useOrganisation } from "../stores/control.ts";
import { useSelection } from "../stores/selection.ts";
import { gpuOf, useSnapshot } from "../stores/snapshot.ts";
import { InTheWay } from "./InTheWay.tsx";
import styles from "./leases.module.css";
import { type Leasing, useLeasing } from "./live.ts";
import { heldAt, inOrder, isMine, projectPath } from "./model.ts";
import { ReleaseButton } from "./ReleaseButton.tsx";

const listed = 100;

/** `hostId`: only where that is the machine whose GPUs are leased. */
export function LeaseList({ hostId }: { readonly hostId?: string }) {
  const leasing = useLeasing();
  if (leasing === null || (hostId !== undefined && hostId !== leasing.hostId)) return null;
  return <Lists leasing={leasing} />;
}

function Lists({ leasing }: { readonly leasing: Leasing }) {
  const t = useText();
  const now = useNow();
  const { store, me, hostId } = leasing;
  const { leases, error, refused } = useStore(store);
  const host = useSnapshot((state) => state.hosts.get(hostId));
  if (leases === null) return error === null ? null : <InTheWay error={error} me={me} />;
  const held = inOrder(me, heldAt(leases, now));
  const mine = held.filter((lease) => isMine(me, lease));
  const others = held.filter((lease) => !isMine(me, lease));
  const failed = refused !== null && held.some(({ id }) => id === refused.about) ? refused.error : null;
  const list = (title: string, rows: readonly LeaseView[]) => (
    <section className={inspector.section}>
      <h3>{title}</h3>
      <ul className={styles.list} aria-label={title}>
        {rows.slice(0, listed).map((lease) => (
          <Row key={lease.id} lease={lease} leasing={leasing} host={host} />
        ))}
        {rows.length > listed ? <li className="muted">{t("board.more", { count: rows.length - listed })}</li> : null}
      </ul>
    </section>
  );
  return (
    <>
      {mine.length > 0 ? (
        list(t("lease.mine"), mine)
      ) : me.projects.length === 0 ? null : (
        <section className={inspector.section}>
          <h3>{t("lease.mine")}</h3>
          <p className="muted">{t("lease.none", { host: host?.name ?? "" })}</p>
        </section>
      )}
      {others.length > 0 ? list(t("lease.others"), others) : null}
      {failed === null ? null : <InTheWay error={failed} me={me} />}
    </>
  );
}

function Row({
  lease,
  leasing,
  host,
}: {
  readonly lease: LeaseView;
  readonly leasing: Leasing;
  readonly host: HostView | undefined;
}) {
  const t = useText();
  const format = useFormat();
  const now = useNow();
  const organisation = useOrganisation();
  const select = useSelection((state) => state.select);
  const { hostId, me } = leasing;
  const { gpuUuid, gpuInstanceId, user, until, subject } = lease;
  const gpu = host === undefined ? null : gpuOf(host, gpuUuid);
  const instance = gpu?.instances.find(({ id }) => id === gpuInstanceId);
  const what =
    gpuInstanceId === null
      ? t("inspector.wholeGpu")
      : instance === undefined
        ? t("lease.gone", { id: gpuInstanceId })
        : t("inspector.at", { profile: instance.profile, start: instance.placement.start });
  const where = gpu === null ? gpuUuid : `GPU ${gpu.index}`;
  const who = isMine(me, lease) ? [] : [user ?? t("common.unknown")];
  const end = until === null ? t("lease.noEnd") : t("lease.untilTime", { time: format.clock(until, now) });
  const isThere = gpu !== null && (gpuInstanceId === null || instance !== undefined);
  return (
    <li>
      <button
        type="button"
        className={styles.what}
        disabled={!isThere}
        onClick={() =>
          select(
            gpuInstanceId === null
              ? { kind: "gpu", hostId, gpuUuid }
              : { kind: "instance", hostId, gpuUuid, gpuInstanceId },
          )
        }
      >
        <span>{[what, where].join(t("common.separator"))}</span>
        <span className="muted truncate" title={until === null ? undefined : format.exact(until)}>
          {[...who, projectPath(organisation, subject), end].join(t("common.separator"))}
        </span>
      </button>
      <ReleaseButton lease={lease} leasing={leasing} label={`${what}, ${where}`} />
    </li>
  );
}

/** At the right of the board: everything known about what is selected, and the draft of its layout. */
import { useEffect } from "react";
import { useFormat } from "../i18n/format.ts";
import { useText } from "../i18n/index.ts";
import { LeaseList } from "../leases/LeaseList.tsx";
import { useSelection } from "../stores/selection.ts";
import { gpuOf, useSnapshot } from "../stores/snapshot.ts";
import { observeSnapshots } from "./empty-since.ts";
import { GpuPanel } from "./GpuPanel.tsx";
import { HostPanel } from "./HostPanel.tsx";
import styles from "./inspector.module.css";
import { useNow } from "./now.ts";

function Selected() {
  const t = useText();
  const format = useFormat();
  const now = useNow();
  const selected = useSelection((state) => state.selected);
  const select = useSelection((state) => state.select);
  const host = useSnapshot((state) => (selected === null ? undefined : state.hosts.get(selected.hostId)));
  if (selected === null) {
    return (
      <>
        <p className="muted">{t("inspector.nothing")}</p>
        <LeaseList />
      </>
    );
  }
  if (host === undefined) return <p className="muted">{t("inspector.gone")}</p>;
  if (selected.kind === "host") return <HostPanel host={host} />;
  const gpu = gpuOf(host, selected.gpuUuid);
  if (gpu === null) return <p className="muted">{t("inspector.gone")}</p>;
  const instance =
    selected.kind === "instance" ? gpu.instances.find(({ id }) => id === selected.gpuInstanceId) : undefined;
  const age = host.state.kind === "live" ? null : format.since(host.asOf, now);
  return (
    <>
      <nav className={styles.path} aria-label={t("inspector.path")}>
        <button type="button" onClick={() => select({ kind: "host", hostId: host.id })}>
          {host.name}
        </button>
        <span aria-hidden="true">/</span>
        {instance !== undefined ? (
          <button type="button" onClick={() => select({ kind: "gpu", hostId: host.id, gpuUuid: gpu.uuid })}>
            GPU {gpu.index}
          </button>
        ) : (
          <span>GPU {gpu.index}</span>
        )}
        {instance === undefined ? null : (
          <>
            <span aria-hidden="true">/</span>
            <span>{t("inspector.at", { profile: instance.profile, start: instance.placement.start })}</span>
          </>
        )}
        {age === null ? null : (
          <span className={styles.age} title={host.asOf === null ? undefined : format.exact(host.asOf)}>
            {t(`inspector.state-${host.state.kind}`)}, {t("inspector.stateStale", { age })}
          </span>
        )}
      </nav>
      <GpuPanel host={host} gpu={gpu} instance={instance ?? null} />
    </>
  );
}

export function Inspector() {
  const t = useText();
  useEffect(observeSnapshots, []);
  return (
    <aside className={styles.inspector} aria-label={t("inspector.label")}>
      <Selected />
    </aside>
  );
}

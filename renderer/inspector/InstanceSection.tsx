/** One GPU instance: where it lies, who holds it since when, what is inside. */
import type { HostView } from "../../shared/api/snapshot.ts";
import type { Gpu, GpuInstance } from "../../shared/protocol/inventory.ts";
import { Key } from "../design/controls.tsx";
import { useFormat } from "../i18n/format.ts";
import { useText } from "../i18n/index.ts";
import { useDraft } from "../partition/draft.ts";
import { profileOf } from "../partition/edits.ts";
import { factsOf, holderName, isInUse, usersOf } from "../partition/facts.ts";
import { useMayPartition } from "../partition/may-partition.ts";
import { openMoveTo } from "../partition/target-picker.ts";
import { emptySince } from "./empty-since.ts";
import { Facts } from "./Facts.tsx";
import styles from "./inspector.module.css";
import { useNow } from "./now.ts";
import { Processes } from "./Processes.tsx";

export function InstanceSection({
  host,
  gpu,
  instance,
}: {
  readonly host: HostView;
  readonly gpu: Gpu;
  readonly instance: GpuInstance;
}) {
  const t = useText();
  const format = useFormat();
  const now = useNow();
  const may = useMayPartition();
  const facts = factsOf(host, gpu);
  const { start, size } = instance.placement;
  const held = isInUse(gpu, instance);
  const users = usersOf(gpu, instance);
  const since = instance.holder?.since ?? null;
  const empty = emptySince(gpu.uuid, start, instance.profileId);
  const profile = facts === null ? null : profileOf(facts.geometry, instance.profileId);
  const engines = profile === null ? null : profile.engines;
  const known = (count: number | null) => count ?? t("common.unknown");
  const holder = held
    ? (holderName(instance.holder) ?? users ?? t("inspector.inUseUnknown"))
    : empty === null
      ? t("inspector.emptyNow")
      : t("inspector.emptySince", { duration: format.duration(now - empty) });
  return (
    <>
      <h3 className={styles.instanceTitle}>{t("inspector.instanceTitle", { profile: instance.profile, start })}</h3>
      {facts === null || !may ? null : held ? (
        <p className="muted">{t("instance.locked", { holder: users ?? t("rule.someone") })}</p>
      ) : (
        <div className={styles.actions}>
          <button
            type="button"
            className="button"
            onClick={() => openMoveTo({ kind: "instance", gpuUuid: gpu.uuid, start, profile: instance.profile })}
          >
            {t("inspector.moveInstance")}
          </button>
          <button type="button" className="button" onClick={() => useDraft.getState().remove(gpu.uuid, start)}>
            {t("inspector.removeInstance")}
          </button>
          <Key>M</Key>
        </div>
      )}
      <section className={styles.section}>
        <Facts
          rows={[
            [t("inspector.holder"), holder],
            ...(instance.holder?.allocation == null
              ? []
              : ([
                  [
                    t(instance.holder.by === "job" ? "inspector.byJob" : "inspector.byLease"),
                    instance.holder.allocation,
                  ],
                ] as const)),
            ...(held
              ? ([
                  [
                    t("inspector.heldSince"),
                    since === null ? null : (
                      <span key="since" title={format.exact(since)}>
                        {t("common.ago", { duration: format.since(since, now) ?? t("common.unknown") })}
                      </span>
                    ),
                  ],
                ] as const)
              : []),
            [t("inspector.utilisation"), format.percent(instance.utilisationPercent)],
            [
              t("inspector.memoryUsed"),
              t("inspector.ofTotal", {
                used: format.memory(instance.memory.usedMiB),
                total: format.memory(instance.memory.totalMiB),
              }),
            ],
            [
              t("inspector.placement"),
              t("inspector.placementValue", {
                count: size,
                range: size === 1 ? start : `${start}-${start + size - 1}`,
              }),
            ],
            [t("inspector.gpuInstanceId"), instance.id],
            [
              t("inspector.engines"),
              engines === null
                ? null
                : t("inspector.enginesValue", {
                    copy: known(engines.copy),
                    decoder: known(engines.decoder),
                    encoder: known(engines.encoder),
                    jpeg: known(engines.jpeg),
                    opticalFlow: known(engines.opticalFlow),
                  }),
            ],
          ]}
        />
      </section>
      <section className={styles.section}>
        <h3>{t("inspector.computeInstances")}</h3>
        {instance.computeInstances.length === 0 ? <p className={styles.bad}>{t("inspector.orphan")}</p> : null}
        <ul className={styles.rows}>
          {instance.computeInstances.map((compute) => (
            <li key={compute.id} className={styles.row}>
              <span>{compute.profile}</span>
              <code className="truncate" title={compute.uuid ?? t("common.unknown")}>
                {compute.uuid ?? t("common.unknown")}
              </code>
            </li>
          ))}
        </ul>
      </section>
      <Processes
        processes={gpu.processes.filter(({ gpuInstanceId }) => gpuInstanceId === instance.id)}
        instances={[instance]}
      />
    </>
  );
}

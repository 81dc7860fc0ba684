import { useState } from "react";
import type { GpuInstance, GpuProcess } from "../../shared/protocol/inventory.ts";
import { useFormat } from "../i18n/format.ts";
import { useText } from "../i18n/index.ts";
import styles from "./inspector.module.css";
import { useNow } from "./now.ts";

const first = 6;

export function Processes({
  processes,
  instances,
}: {
  readonly processes: readonly GpuProcess[];
  readonly instances: readonly GpuInstance[];
}) {
  const t = useText();
  const format = useFormat();
  const now = useNow();
  const [all, showAll] = useState(false);
  const shown = all ? processes : processes.slice(0, first);
  return (
    <section className={styles.section}>
      <h3>{t("inspector.processes")}</h3>
      {processes.length === 0 ? <p className="muted">{t("inspector.noProcesses")}</p> : null}
      <ul className={styles.rows}>
        {shown.map((process) => {
          const instance = instances.find(({ id }) => id === process.gpuInstanceId);
          const where =
            instance === undefined
              ? null
              : t("inspector.at", { profile: instance.profile, start: instance.placement.start });
          const since = format.since(process.startedAt, now);
          const title = [
            `${process.pid} ${process.name}`,
            where,
            process.startedAt === null ? null : format.exact(process.startedAt),
          ]
            .filter((part) => part !== null)
            .join(", ");
          return (
            <li key={`${process.pid} ${process.gpuInstanceId}`} className={styles.row} title={title}>
              <span className="truncate">
                <span className="muted">{process.pid}</span> {process.name.split("/").at(-1)}
              </span>
              <span>
                {[
                  t("inspector.processMemory", {
                    user: process.user ?? t("common.unknown"),
                    memory: format.memory(process.usedMemoryMiB),
                  }),
                  since,
                ]
                  .filter((part) => part !== null)
                  .join(t("common.separator"))}
              </span>
            </li>
          );
        })}
      </ul>
      {processes.length > first && !all ? (
        <button type="button" className={styles.link} onClick={() => showAll(true)}>
          {t("inspector.moreProcesses", { count: processes.length - first })}
        </button>
      ) : null}
    </section>
  );
}

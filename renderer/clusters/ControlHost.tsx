/** Which of the cluster's hosts keeps the ledger. */
import { useText } from "../i18n/index.ts";
import styles from "./page.module.css";

export function ControlHost({
  hosts,
  chosen,
  onChange,
}: {
  readonly hosts: readonly string[];
  /** Empty where the console shall find it. */
  readonly chosen: string;
  readonly onChange: (host: string) => void;
}) {
  const t = useText();
  return (
    <div className={styles.field}>
      <label htmlFor="cluster-control-host">{t("clusters.controlHost")}</label>
      <select
        id="cluster-control-host"
        className={`field ${styles.controlHost}`}
        aria-describedby="cluster-control-host-hint"
        disabled={hosts.length === 0}
        value={hosts.includes(chosen) ? chosen : ""}
        onChange={(event) => onChange(event.target.value)}
      >
        <option value="">{t("clusters.controlHostFound")}</option>
        {hosts.map((host) => (
          <option key={host} value={host}>
            {host}
          </option>
        ))}
      </select>
      <p id="cluster-control-host-hint" className={styles.small}>
        {t(hosts.length === 0 ? "clusters.controlHostNoHosts" : "clusters.controlHostHint")}
      </p>
    </div>
  );
}

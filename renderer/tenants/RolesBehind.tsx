/** Hosts that still decide by older roles than those shown here. */
import { useText } from "../i18n/index.ts";
import { useControl } from "../stores/control.ts";
import styles from "./tenants.module.css";

const namesShown = 5;

export function RolesBehind() {
  const t = useText();
  const behind = useControl()?.rolesBehind ?? [];
  if (behind.length === 0) return null;
  const more = behind.length > namesShown ? ", …" : "";
  const hosts = `${behind.slice(0, namesShown).join(", ")}${more}`;
  return (
    <p className={styles.banner} role="status">
      {t("tenants.behind", { count: behind.length, hosts })}
    </p>
  );
}

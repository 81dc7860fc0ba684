/** Lines that are meant for a terminal or a file, whole and with a button that takes them along. */
import { useEffect, useState } from "react";
import { useText } from "../i18n/index.ts";
import styles from "./quota.module.css";

export function Copyable({ text, label }: { readonly text: string; readonly label: string }) {
  const t = useText();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2_000);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <div className={styles.copyable}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>{text}</pre>
      <button
        type="button"
        className={styles.link}
        onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
      >
        {copied ? t("common.copied") : label}
      </button>
    </div>
  );
}

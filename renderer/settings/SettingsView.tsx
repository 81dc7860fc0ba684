/** Language and theme, at once and kept; and what this console is. */
import { useEffect, useState } from "react";
import type { AppInfo, Settings } from "../../shared/api/contract.ts";
import { type AppErrorData, toErrorData } from "../../shared/errors.ts";
import { applyTheme, useTheme } from "../app/theme.ts";
import { client } from "../client/index.ts";
import styles from "../clusters/page.module.css";
import { Segments } from "../design/controls.tsx";
import { ErrorText } from "../i18n/ErrorText.tsx";
import { setLanguage, useLanguageStore, useText } from "../i18n/index.ts";

export function SettingsView() {
  const t = useText();
  const theme = useTheme((state) => state.choice);
  const language = useLanguageStore((state) => state.choice);
  const [info, setInfo] = useState<AppInfo | null>(null);
  const [error, setError] = useState<AppErrorData | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    client()
      .request("app.info", {}, controller.signal)
      .then(setInfo, (thrown: unknown) => {
        if (!controller.signal.aborted) setError(toErrorData(thrown));
      });
    return () => controller.abort();
  }, []);
  const change = async (part: Partial<Settings>) => {
    const settings: Settings = { language, theme, ...part };
    // The choice shows at once; that it could not be kept is said, and takes nothing back.
    applyTheme(settings.theme);
    setLanguage(settings.language);
    setError(null);
    try {
      await client().request("settings.set", settings);
    } catch (thrown) {
      setError(toErrorData(thrown));
    }
  };
  return (
    <div className={styles.page}>
      <div className={styles.head}>
        <h2>{t("app.settings")}</h2>
      </div>
      {error === null ? null : <ErrorText error={error} />}
      <dl className={styles.settings}>
        <dt>{t("settings.language")}</dt>
        <dd>
          <Segments
            label={t("settings.language")}
            value={language}
            segments={[
              { value: "system", label: t("settings.system") },
              { value: "en", label: "English" },
              { value: "zh-CN", label: "简体中文" },
            ]}
            onChange={(value) => void change({ language: value })}
          />
        </dd>
        <dt>{t("settings.theme")}</dt>
        <dd>
          <Segments
            label={t("settings.theme")}
            value={theme}
            segments={[
              { value: "system", label: t("settings.system") },
              { value: "light", label: t("settings.light") },
              { value: "dark", label: t("settings.dark") },
              { value: "high-contrast", label: t("settings.highContrast") },
            ]}
            onChange={(value) => void change({ theme: value })}
          />
        </dd>
        <dt>{t("settings.secrets")}</dt>
        <dd>{info === null ? t("common.unknown") : t(`settings.secrets-${info.secrets}`)}</dd>
        <dt>{t("settings.version")}</dt>
        <dd>
          {info === null
            ? t("common.unknown")
            : `Tessera ${info.version}, ${t(info.desktop ? "settings.desktop" : "settings.browser")}, ${info.platform}`}
        </dd>
      </dl>
    </div>
  );
}

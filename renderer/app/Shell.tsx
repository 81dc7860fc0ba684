import { useEffect } from "react";
import { HelpSheet } from "../help/HelpSheet.tsx";
import { t } from "../i18n/index.ts";
import { PromptHost } from "../prompts/PromptHost.tsx";
import { useFollowing } from "../stores/control.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import { Rail } from "./Rail.tsx";
import { views } from "./registry.tsx";
import { StoreTrouble } from "./StoreTrouble.tsx";
import { TopBar } from "./TopBar.tsx";
import { useRoute } from "./views.ts";

export function Shell() {
  useFollowing();
  const current = useRoute((route) => route.view);
  const clusterName = useSnapshot((state) => state.clusterName);
  const view = views.find((entry) => entry.id === current) ?? views[0];
  const View = view?.component;
  useEffect(() => {
    document.title = clusterName === null ? t("app.title") : `${clusterName} - ${t("app.title")}`;
  }, [clusterName]);
  return (
    <div className="shell">
      <Rail views={views} />
      <TopBar />
      <StoreTrouble />
      <main className="view" aria-label={view === undefined ? undefined : t(view.title)}>
        {View === undefined ? null : <View />}
      </main>
      <PromptHost />
      <HelpSheet />
    </div>
  );
}
